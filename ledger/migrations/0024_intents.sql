-- One transaction may carry several intents (sweeps that the hot wallet sends), and on chains whose senders number
-- their transactions it ends by its number: never by itself, only when a solid block has another one of its
-- sender with that number.

-- Rows of one transaction share its id, bytes, number and purpose; `fee` and `fee_limit` are each intent's
-- share, so that every sum over rows is exact. Where there is one intent its place is 0, and the unique key says
-- what it said before: no second transfer has its transaction.
ALTER TABLE book.attempt
  ADD COLUMN nonce bigint CHECK (nonce >= 0),
  ADD COLUMN purpose text COLLATE "C" NOT NULL DEFAULT 'pay' CHECK (purpose IN ('pay', 'cancel')),
  ADD COLUMN place integer NOT NULL DEFAULT 0,
  ADD COLUMN intents integer NOT NULL DEFAULT 1;
ALTER TABLE book.attempt
  ALTER COLUMN dies_after DROP NOT NULL,
  ALTER COLUMN expires_at DROP NOT NULL,
  ADD CONSTRAINT attempt_ends_one_way CHECK ((dies_after IS NULL) = (nonce IS NOT NULL) AND (expires_at IS NULL) = (nonce IS NOT NULL)),
  ADD CONSTRAINT attempt_cancels_a_nonce CHECK (purpose = 'pay' OR nonce IS NOT NULL),
  ADD CONSTRAINT attempt_place CHECK (place BETWEEN 0 AND intents - 1),
  DROP CONSTRAINT attempt_outcome_check,
  ADD CONSTRAINT attempt_outcome_check CHECK (outcome IN ('paid','failed','unexpected','expired','superseded','cancelled')),
  DROP CONSTRAINT attempt_dead_by_proof,
  -- Nothing is dead without its proof: our own solid scan past its last tick, or the transaction that a solid block
  -- shows with its number; each named by the block's height and hash.
  ADD CONSTRAINT attempt_dead_by_proof CHECK (CASE
    WHEN outcome = 'expired' THEN coalesce(
      evidence ?& ARRAY['height', 'hash'] AND (evidence->>'previousTick')::bigint > dies_after, false)
    WHEN outcome = 'superseded' THEN coalesce(
      nonce IS NOT NULL AND evidence ?& ARRAY['height', 'hash', 'by'] AND evidence->>'by' <> txid, false)
    ELSE true END),
  ADD CONSTRAINT attempt_ends_by_purpose CHECK (outcome IS NULL OR outcome IN ('expired', 'superseded')
    OR (outcome = 'cancelled') = (purpose = 'cancel') AND (outcome <> 'cancelled' OR height IS NOT NULL)),
  DROP CONSTRAINT attempt_txid_network_key;
CREATE UNIQUE INDEX attempt_of_transaction ON book.attempt (txid, network, place);
-- One living attempt of what expires; of a number there may be several, of which one at most is ever in a block.
DROP INDEX book.attempt_in_flight;
CREATE UNIQUE INDEX attempt_in_flight ON book.attempt (outgoing_id) WHERE outcome IS NULL AND nonce IS NULL;
DROP INDEX book.attempt_fee_limits;
CREATE INDEX attempt_fee_limits ON book.attempt (network) INCLUDE (fee_limit) WHERE outcome IS NULL AND nonce IS NULL;
CREATE INDEX attempt_of_nonce ON book.attempt (network, nonce) INCLUDE (outgoing_id, fee_limit) WHERE outcome IS NULL AND nonce IS NOT NULL;

CREATE OR REPLACE FUNCTION book.keep_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.outgoing_id, NEW.number, NEW.merchant_id, NEW.network, NEW.txid, NEW.bytes, NEW.expires_at, NEW.dies_after,
      NEW.nonce, NEW.purpose, NEW.place, NEW.intents)
     IS DISTINCT FROM
     (OLD.outgoing_id, OLD.number, OLD.merchant_id, OLD.network, OLD.txid, OLD.bytes, OLD.expires_at, OLD.dies_after,
      OLD.nonce, OLD.purpose, OLD.place, OLD.intents)
     OR (OLD.outcome IS NOT NULL AND (NEW.outcome, NEW.height) IS DISTINCT FROM (OLD.outcome, OLD.height)) THEN
    RAISE EXCEPTION 'Cannot change an attempt as it is written once: %', OLD.txid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

-- A transaction of several intents is stored whole: each place once, each intent once, all with the same bytes. Only
-- sweeps of the hot wallet share one, and what takes such a one's number out of use.
CREATE FUNCTION book.check_shared_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT count(DISTINCT a.outgoing_id) <> NEW.intents OR count(*) <> NEW.intents
        OR bool_or((a.bytes, a.nonce, a.purpose, a.dies_after, a.expires_at, a.intents)
          IS DISTINCT FROM (NEW.bytes, NEW.nonce, NEW.purpose, NEW.dies_after, NEW.expires_at, NEW.intents))
        OR bool_or((o.kind, o.fee_payer, o.network) IS DISTINCT FROM ('sweep', 'hot', NEW.network))
      FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
      WHERE a.txid = NEW.txid AND a.network = NEW.network) THEN
    RAISE EXCEPTION 'Cannot store a part of a transaction, or one that its intents must not share: %', NEW.txid
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER attempt_is_stored_whole AFTER INSERT ON book.attempt DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.intents > 1) EXECUTE FUNCTION book.check_shared_attempt();

-- Roles that read intents to sign them read what decides it now as well: who pays, and which numbers were used.
DO $$
DECLARE v_role name;
BEGIN
  FOR v_role IN SELECT r.rolname FROM pg_attribute c CROSS JOIN aclexplode(c.attacl) g JOIN pg_roles r ON r.oid = g.grantee
    WHERE c.attrelid = 'book.outgoing'::regclass AND c.attname = 'wallet' AND g.privilege_type = 'SELECT' LOOP
    EXECUTE format('GRANT SELECT (fee_payer) ON book.outgoing TO %I', v_role);
    EXECUTE format('GRANT SELECT (outgoing_id, txid, nonce, outcome) ON book.attempt TO %I', v_role);
  END LOOP;
END $$;

-- Of a transfer that is signed the newest of its bytes' times counts.
CREATE OR REPLACE VIEW hub.spend_candidate AS
SELECT s.network, s.txid, s.log_index, w.id AS withdrawal_id, w.merchant_id, w.reference_id, o.state, o.expires_at
FROM hub.unknown_spend s
JOIN (
  -- one part per state: each has an index of its own, and what has ended is never read
  SELECT q.network, q.destination, q.currency, q.amount, q.payment_id, q.merchant_id, 'queued' AS state,
    NULL::timestamptz AS expires_at
  FROM book.outgoing q WHERE q.status = 'queued'
  UNION ALL
  SELECT q.network, q.destination, q.currency, q.amount, q.payment_id, q.merchant_id, 'signed',
    (SELECT max(a.expires_at) FROM book.attempt a
     WHERE a.outgoing_id = q.id AND a.merchant_id = q.merchant_id AND a.outcome IS NULL)
  FROM book.outgoing q WHERE q.status = 'signed'
) o ON o.network = s.network AND o.destination = s.recipient AND o.currency = s.currency AND o.amount = s.amount
JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
WHERE s.status = 'open'
UNION ALL
SELECT s.network, s.txid, s.log_index, w.id, w.merchant_id, w.reference_id, 'approval', NULL
FROM hub.unknown_spend s
JOIN book.withdrawal w ON w.status = 'PENDING_APPROVAL' AND w.network = s.network AND w.destination = s.recipient
  AND w.currency = s.currency AND w.amount = s.amount
WHERE s.status = 'open';

-- What takes a number out of use moves no money, and what another transaction took the number of never will.
CREATE OR REPLACE FUNCTION book.check_nothing_lands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.id AND a.merchant_id = NEW.merchant_id AND a.purpose = 'pay'
             AND (a.outcome IS NULL OR a.outcome NOT IN ('failed', 'expired', 'superseded'))) THEN
    RAISE EXCEPTION 'Cannot take a transfer back as a transaction of it may land: % is %', NEW.id, NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION book.check_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.outgoing_id AND a.merchant_id = NEW.merchant_id
             AND a.purpose = 'pay' AND (a.outcome IS NULL OR a.outcome = 'paid')) THEN
    RAISE EXCEPTION 'Cannot give a withdrawal back as a transaction of it has paid or may land: %', NEW.id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
