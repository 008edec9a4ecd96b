-- Lanes: on chains whose wallets number their transactions, a number (nonce) is promised to transfers before
-- anything is signed, never to others, and ends what was signed with it when a solid block holds one transaction of it.

-- Whose coin pays for a transfer, and whose nonce it has: `hot`, or the derivation index of a deposit address.
CREATE FUNCTION book.payer_of(wallet text, fee_payer text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE fee_payer WHEN 'hot' THEN 'hot' ELSE wallet END
$$;

-- The hot wallet's first nonce that is the service's own, as solid blocks had it when its lane was opened.
ALTER TABLE hub.wallet ADD COLUMN first_nonce bigint CHECK (first_nonce BETWEEN 0 AND 9007199254740991);
CREATE TRIGGER wallet_first_nonce_is_kept BEFORE UPDATE OF first_nonce ON hub.wallet FOR EACH ROW
  WHEN (OLD.first_nonce IS NOT NULL AND OLD.first_nonce IS DISTINCT FROM NEW.first_nonce)
  EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.lane_nonce (
  network      text COLLATE "C" NOT NULL,
  payer        text COLLATE "C" NOT NULL CHECK (payer = 'hot' OR payer ~ '^[0-9]{1,10}$'),
  nonce        bigint NOT NULL CHECK (nonce BETWEEN 0 AND 9007199254740991),
  -- the transfers that it is promised to, all in one transaction; none where another signer took it
  intents      text[] NOT NULL,
  promised_at  timestamptz NOT NULL DEFAULT now(),
  -- the transaction in a solid block that has it, and that block; null: none has it yet
  used_by      text COLLATE "C",
  height       bigint,
  -- a transaction that the service did not sign has it, and an administrator has adopted that
  foreign_hand boolean NOT NULL DEFAULT false,
  -- the administrator who has asked to take it out of use: its payouts are given back, not paid by another one
  cancel_by    text COLLATE "C",
  PRIMARY KEY (network, payer, nonce),
  CHECK ((used_by IS NULL) = (height IS NULL)),
  CHECK (used_by IS NOT NULL OR NOT foreign_hand),
  CHECK (cardinality(intents) > 0 OR foreign_hand)
) WITH (fillfactor = 80);
CREATE INDEX lane_nonce_open ON book.lane_nonce (network, payer, nonce) WHERE used_by IS NULL;

ALTER TABLE book.outgoing ADD COLUMN nonce bigint,
  ADD CONSTRAINT outgoing_dead_has_no_nonce CHECK (status <> 'dead' OR nonce IS NULL);
CREATE INDEX outgoing_of_nonce ON book.outgoing (network, nonce) WHERE nonce IS NOT NULL;

CREATE FUNCTION book.keep_lane_nonce() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_first bigint;
BEGIN
  IF TG_OP = 'INSERT' THEN
    v_first := CASE WHEN NEW.payer = 'hot' THEN (SELECT w.first_nonce FROM hub.wallet w WHERE w.network = NEW.network)
      ELSE NEW.nonce END;
    IF (NEW.used_by IS NOT NULL) <> NEW.foreign_hand
      OR (CASE WHEN EXISTS (SELECT FROM book.lane_nonce n WHERE n.network = NEW.network AND n.payer = NEW.payer)
         THEN NOT EXISTS (SELECT FROM book.lane_nonce n
           WHERE n.network = NEW.network AND n.payer = NEW.payer AND n.nonce = NEW.nonce - 1)
         ELSE NEW.nonce IS DISTINCT FROM v_first END) THEN
      RAISE EXCEPTION 'Cannot promise a nonce that does not follow the last one: % % %', NEW.network, NEW.payer, NEW.nonce
        USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF TG_OP = 'DELETE' OR OLD.used_by IS NOT NULL OR (OLD.cancel_by IS NOT NULL AND OLD.cancel_by IS DISTINCT FROM NEW.cancel_by)
    OR (NEW.network, NEW.payer, NEW.nonce, NEW.intents, NEW.promised_at)
       IS DISTINCT FROM (OLD.network, OLD.payer, OLD.nonce, OLD.intents, OLD.promised_at) THEN
    RAISE EXCEPTION 'Cannot change a nonce as it is promised, and used, once: % % %', OLD.network, OLD.payer, OLD.nonce
      USING ERRCODE = 'check_violation';
  END IF;
  -- a transaction of another signer is none of the attempts, and any other is one
  IF NEW.used_by IS NOT NULL AND NEW.foreign_hand = EXISTS (
      SELECT FROM book.attempt a WHERE a.network = NEW.network AND a.nonce = NEW.nonce AND a.txid = NEW.used_by
        AND a.outgoing_id = ANY (NEW.intents)) THEN
    RAISE EXCEPTION 'Cannot give a nonce to another transaction than its own: % % %', OLD.network, OLD.nonce, NEW.used_by
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER lane_nonce_is_kept BEFORE INSERT OR UPDATE OR DELETE ON book.lane_nonce FOR EACH ROW EXECUTE FUNCTION book.keep_lane_nonce();

-- What had a nonce that is used ends in the same commit: no transaction of it lives on, and no transfer waits with it.
CREATE FUNCTION book.check_nonce_ends_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.network = NEW.network AND a.nonce = NEW.nonce AND a.outcome IS NULL
      AND a.outgoing_id = ANY (NEW.intents))
    OR EXISTS (SELECT FROM book.outgoing o WHERE o.network = NEW.network AND o.nonce = NEW.nonce
      AND o.id = ANY (NEW.intents) AND o.status IN ('queued', 'signed')) THEN
    RAISE EXCEPTION 'Cannot use a nonce as a transaction of it would live on: % %', NEW.network, NEW.nonce
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER lane_nonce_ends_all AFTER UPDATE OF used_by ON book.lane_nonce
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION book.check_nonce_ends_all();

-- The nonce of a transfer is a column, so that there is one at a time; it is changed when the last one is used.
CREATE FUNCTION book.keep_outgoing_nonce() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_nonce book.lane_nonce;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    SELECT * INTO v_nonce FROM book.lane_nonce n WHERE n.network = NEW.network
      AND n.payer = book.payer_of(NEW.wallet, NEW.fee_payer) AND n.nonce = coalesce(NEW.nonce, OLD.nonce);
    IF OLD.nonce IS NULL AND NEW.status = 'queued' AND v_nonce.used_by IS NULL AND NEW.id = ANY (v_nonce.intents)
      OR NEW.nonce IS NULL AND v_nonce.used_by IS NOT NULL THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'Cannot change the nonce of a transfer as it is promised to others, or not used: % to %', NEW.id, NEW.nonce
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER outgoing_nonce_is_kept BEFORE UPDATE OF nonce ON book.outgoing FOR EACH ROW
  WHEN (OLD.nonce IS DISTINCT FROM NEW.nonce) EXECUTE FUNCTION book.keep_outgoing_nonce();
CREATE TRIGGER outgoing_begins_without_nonce BEFORE INSERT ON book.outgoing FOR EACH ROW
  WHEN (NEW.nonce IS NOT NULL) EXECUTE FUNCTION book.keep_outgoing_nonce();

CREATE FUNCTION book.check_lane_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
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
    RETURN NEW;
  END IF;
  IF NEW.outcome = 'superseded' AND v_nonce.used_by <> NEW.txid AND NEW.evidence->>'by' = v_nonce.used_by
    OR NEW.outcome IN ('paid', 'failed', 'unexpected', 'cancelled') AND v_nonce.used_by = NEW.txid THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'Cannot end an attempt otherwise than its nonce was used: % %', NEW.txid, NEW.outcome
    USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER lane_attempt_is_promised BEFORE INSERT ON book.attempt FOR EACH ROW
  WHEN (NEW.nonce IS NOT NULL) EXECUTE FUNCTION book.check_lane_attempt();
CREATE TRIGGER lane_attempt_ends_by_nonce BEFORE UPDATE OF outcome ON book.attempt FOR EACH ROW
  WHEN (NEW.nonce IS NOT NULL AND NEW.outcome IS DISTINCT FROM OLD.outcome) EXECUTE FUNCTION book.check_lane_attempt();

-- A transaction of the hot wallet that the books do not know takes a nonce, whether it moved a token or not: it is
-- listed beside transfers that left unknown, with -1 for its place in the log and no amount, and stops signing
-- until an administrator has adopted it.
ALTER TABLE hub.unknown_spend DROP CONSTRAINT unknown_spend_amount_check,
  ADD CONSTRAINT unknown_spend_amount_check CHECK (CASE log_index WHEN -1 THEN amount = 0 ELSE amount > 0 END);
