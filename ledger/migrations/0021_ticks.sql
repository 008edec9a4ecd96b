-- What a transaction's life is counted in is its chain's own affair: a tick, which each block has and which only
-- grows (TRON: block time in milliseconds). A transaction is dead when the block before the scan's newest is
-- past the last tick at which a block may hold it; times are for people and for timers.

-- 2^53 - 1 stands for a transaction that no tick ends.
ALTER TABLE hub.cursor ADD COLUMN tick bigint, ADD COLUMN previous_tick bigint;
UPDATE hub.cursor SET tick = extract(epoch FROM time) * 1000, previous_tick = extract(epoch FROM previous_time) * 1000;
ALTER TABLE hub.cursor ALTER COLUMN tick SET NOT NULL, ALTER COLUMN previous_tick SET NOT NULL;

-- One pass over the table, which leaves no dead rows and calls no triggers. Proofs that were kept with the
-- time of the block before get its tick besides, so that one rule holds for all.
ALTER TABLE book.attempt ADD COLUMN dies_after bigint;
ALTER TABLE book.attempt
  ALTER COLUMN dies_after TYPE bigint USING (extract(epoch FROM expires_at) * 1000)::bigint,
  ALTER COLUMN evidence TYPE jsonb USING CASE WHEN outcome = 'expired' THEN evidence || jsonb_build_object('previousTick',
    (extract(epoch FROM (evidence->>'previousTime')::timestamptz) * 1000)::bigint) ELSE evidence END;
ALTER TABLE book.attempt
  ALTER COLUMN dies_after SET NOT NULL,
  ADD CONSTRAINT attempt_dies_within CHECK (dies_after BETWEEN 0 AND 9007199254740991),
  DROP CONSTRAINT attempt_dead_by_proof,
  -- Nothing is dead without its proof: our own solid scan past its last tick, named by height and hash.
  ADD CONSTRAINT attempt_dead_by_proof CHECK (outcome IS DISTINCT FROM 'expired' OR coalesce(
    evidence ?& ARRAY['height', 'hash'] AND (evidence->>'previousTick')::bigint > dies_after, false));

CREATE OR REPLACE FUNCTION book.keep_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.outgoing_id, NEW.number, NEW.merchant_id, NEW.network, NEW.txid, NEW.bytes, NEW.expires_at, NEW.dies_after)
     IS DISTINCT FROM
     (OLD.outgoing_id, OLD.number, OLD.merchant_id, OLD.network, OLD.txid, OLD.bytes, OLD.expires_at, OLD.dies_after)
     OR (OLD.outcome IS NOT NULL AND (NEW.outcome, NEW.height) IS DISTINCT FROM (OLD.outcome, OLD.height)) THEN
    RAISE EXCEPTION 'Cannot change an attempt as it is written once: %', OLD.txid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

-- `expires_at` keeps its second meaning (null: it can vanish no more) and is when a timer looks first;
-- `dies_after` is what the proof compares. The row type of the journal's write ends with it as well.
ALTER TABLE book.deposit ADD COLUMN dies_after bigint;
ALTER TYPE book.deposit_row ADD ATTRIBUTE dies_after bigint;
UPDATE book.deposit SET dies_after = extract(epoch FROM expires_at) * 1000
WHERE status = 'PENDING' AND expires_at IS NOT NULL;
ALTER TABLE book.deposit ADD CONSTRAINT deposit_dies_by_tick CHECK (
  status <> 'PENDING' OR txid IS NULL OR expires_at IS NULL OR dies_after IS NOT NULL);
CREATE TRIGGER deposit_tick_is_kept BEFORE UPDATE OF dies_after ON book.deposit FOR EACH ROW
  WHEN (OLD.dies_after IS DISTINCT FROM NEW.dies_after) EXECUTE FUNCTION book.refuse_change();

-- Transfers that no merchant has read yet, those in quarantine included.
UPDATE book.inbox SET data = data || jsonb_build_object('diesAfter', data->'expiresAt')
WHERE consumed_at IS NULL AND phase IN ('seen', 'solid') AND data ? 'expiresAt';
