-- What was signed before a database lost it may be in a block, whatever an administrator has asked for since: it is kept as
-- `adopted`, which is never sent from here, and only while a hold is open. New payments of such a nonce are refused as before.
CREATE OR REPLACE FUNCTION book.check_lane_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_nonce book.lane_nonce;
BEGIN
  SELECT n.* INTO v_nonce FROM book.outgoing o JOIN book.lane_nonce n ON n.network = o.network
    AND n.payer = book.payer_of(o.wallet, o.fee_payer) AND n.nonce = NEW.nonce
  WHERE o.id = NEW.outgoing_id AND o.merchant_id = NEW.merchant_id AND (TG_OP = 'UPDATE' OR o.nonce = NEW.nonce)
    AND o.id = ANY (n.intents);
  IF TG_OP = 'INSERT' THEN
    IF v_nonce.nonce IS NULL OR v_nonce.used_by IS NOT NULL OR NEW.outcome IS NOT NULL THEN
      RAISE EXCEPTION 'Cannot keep a signature of a nonce that is not promised to it: % %', NEW.outgoing_id, NEW.nonce
        USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.purpose = 'pay' AND v_nonce.cancel_by IS NOT NULL AND NOT (NEW.adopted AND EXISTS (
        SELECT FROM hub.failover_network f WHERE f.network = NEW.network AND f.compared_at IS NULL)) THEN
      RAISE EXCEPTION 'Cannot pay with a nonce that was taken out of use: % %', NEW.outgoing_id, NEW.nonce
        USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF NEW.outcome = 'superseded' AND v_nonce.used_by <> NEW.txid AND NEW.evidence->>'by' = v_nonce.used_by
    OR NEW.outcome IN ('paid', 'failed', 'unexpected', 'cancelled') AND v_nonce.used_by = NEW.txid THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'Cannot end an attempt otherwise than its nonce was used: % %', NEW.txid, NEW.outcome
    USING ERRCODE = 'check_violation';
END $$;

-- A transaction that the books do not know may have used a payout's nonce and paid that payout: while its transfer waits for a
-- verdict, the money is not given back.
CREATE OR REPLACE FUNCTION book.check_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.outgoing_id AND a.merchant_id = NEW.merchant_id
             AND a.purpose = 'pay' AND (a.outcome IS NULL OR a.outcome = 'paid')) THEN
    RAISE EXCEPTION 'Cannot give a withdrawal back as a transaction of it has paid or may land: %', NEW.id
      USING ERRCODE = 'check_violation';
  END IF;
  IF EXISTS (SELECT FROM book.outgoing o
             JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome = 'superseded'
             JOIN hub.unknown_spend s ON s.network = o.network AND s.txid = a.evidence->>'by'
             WHERE o.id = NEW.outgoing_id AND o.merchant_id = NEW.merchant_id AND s.log_index >= 0
               AND s.status IN ('open', 'listed', 'cold') AND s.recipient = o.destination AND s.currency = o.currency
               AND s.amount = o.amount) THEN
    RAISE EXCEPTION 'Cannot give a withdrawal back as what has used its nonce has paid it: %', NEW.id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
