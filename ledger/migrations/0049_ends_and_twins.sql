-- Ends that could not be written are listed by their blocks: what one node has said of one block hides nothing that another
-- block shows, and goes when its block is read again without it and a second node agrees.
ALTER TABLE book.late_outcome DROP CONSTRAINT late_outcome_pkey,
  ADD PRIMARY KEY (outgoing_id, number, merchant_id, height),
  -- from when its block is taken to be read again until that shows the transaction
  ADD COLUMN is_missing boolean NOT NULL DEFAULT false;

-- A transfer that a node has told by two ids is credited by one of them: the other is quarantined as `bookedAs` that one.
CREATE INDEX inbox_renamed ON book.inbox (network, txid) WHERE data ? 'bookedAs';
CREATE INDEX inbox_booked_as ON book.inbox (network, (data ->> 'bookedAs')) WHERE data ? 'bookedAs';

-- True where a transaction has told a transfer that is credited by another id, by the scan or by hand.
CREATE FUNCTION book.is_credited_by_another_id(of_network text, of_txid text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM (
      SELECT i.merchant_id, i.data ->> 'bookedAs' AS txid FROM book.inbox i
      WHERE i.network = of_network AND i.txid = of_txid AND i.data ? 'bookedAs'
      UNION ALL
      SELECT i.merchant_id, i.txid FROM book.inbox i
      WHERE i.network = of_network AND i.data ->> 'bookedAs' = of_txid AND i.data ? 'bookedAs') twin
    -- what was paid to a lost address is credited by hand alone
    WHERE twin.merchant_id <> 'mer_lost' AND (
        EXISTS (SELECT FROM book.deposit d WHERE d.merchant_id = twin.merchant_id AND d.network = of_network
          AND d.txid = twin.txid AND d.status IN ('PENDING', 'CONFIRMED'))
        OR EXISTS (SELECT FROM book.inbox b WHERE b.merchant_id = twin.merchant_id AND b.network = of_network
          AND b.txid = twin.txid AND b.phase = 'solid' AND b.consumed_at IS NULL))
      -- its block has vanished, and with it what was credited: the loss is written off
      AND NOT EXISTS (SELECT FROM book.sweep_item s WHERE s.merchant_id = twin.merchant_id AND s.network = of_network
        AND s.txid = twin.txid AND s.write_off IS NOT NULL)
      OR EXISTS (SELECT FROM book.deposit d WHERE d.network = of_network AND d.txid = twin.txid
        AND d.log_index = -1 AND d.status = 'CONFIRMED'))
$$;

CREATE OR REPLACE FUNCTION book.check_deposit_by_hand() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.status = 'CONFIRMED' THEN
    RETURN NEW;
  END IF;
  IF EXISTS (
    SELECT FROM book.sweep_item i
    WHERE i.network = NEW.network AND i.txid = NEW.txid AND i.merchant_id NOT IN (NEW.merchant_id, 'mer_lost'))
  OR EXISTS (
    SELECT FROM book.deposit_proof p
    WHERE p.network = NEW.network AND p.txid = NEW.txid AND p.merchant_id <> NEW.merchant_id
      AND (p.evidence IS NULL OR p.evidence ? 'discarded'))
  OR book.is_credited_by_another_id(NEW.network, NEW.txid) THEN
    RAISE EXCEPTION 'Cannot confirm a deposit by hand as its transaction paid another merchant: %', NEW.id
      USING ERRCODE = 'unique_violation', CONSTRAINT = 'deposit_by_hand';
  END IF;
  RETURN NEW;
END $$;
