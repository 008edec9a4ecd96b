-- Withdrawals, settlements, and messages that take effect once.

-- True where a withdrawal was made for a transfer that had left already. Its UUID is of version 8, derived
-- from the transfer; all others are of version 7.
CREATE FUNCTION book.is_booked(payment_id text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  -- the service's own transfers name no payment
  SELECT coalesce(payment_id LIKE 'wd\_________-____-8%', false)
$$;

CREATE TABLE book.withdrawal (
  id              text COLLATE "C" NOT NULL,
  merchant_id     text COLLATE "C" NOT NULL,
  seq             bigint CHECK (seq > 0),
  transaction_seq bigint NOT NULL CHECK (transaction_seq > 0),
  settlement_id   text COLLATE "C",
  outgoing_id     text COLLATE "C" NOT NULL,
  currency        text COLLATE "C" NOT NULL,
  network         text COLLATE "C" NOT NULL,
  amount          numeric(38,18) NOT NULL CHECK (amount > 0),
  base_fee        numeric(38,18) NOT NULL CHECK (base_fee >= 0),
  markup_rate     numeric(19,18) NOT NULL CHECK (markup_rate BETWEEN 0 AND 1),
  markup_amount   numeric(38,18) NOT NULL CHECK (markup_amount >= 0),
  network_fee     numeric(38,18) NOT NULL CHECK (network_fee >= 0),
  margin          numeric(38,18) NOT NULL DEFAULT 0 CHECK (margin >= 0),
  margin_to       text COLLATE "C",
  destination     text COLLATE "C" NOT NULL,
  reference_id    text,
  description     text,
  status          text COLLATE "C" NOT NULL CHECK (status IN ('PENDING_APPROVAL','PENDING','CONFIRMED','FAILED','CANCELLED')),
  reason          text,
  txid            text COLLATE "C",
  created_at      timestamptz NOT NULL,
  processed_at    timestamptz,
  created_by      text COLLATE "C",
  created_admin   text COLLATE "C",
  approved_by     text COLLATE "C",
  approved_admin  text COLLATE "C",
  PRIMARY KEY (id, merchant_id),
  UNIQUE (merchant_id, seq),
  CHECK ((status IN ('CONFIRMED','FAILED','CANCELLED')) = (processed_at IS NOT NULL)),
  CHECK (status <> 'CONFIRMED' OR txid IS NOT NULL),
  CHECK ((seq IS NULL) = (settlement_id IS NOT NULL)),
  -- one that was made for a transfer that has left is CONFIRMED from its first moment
  CONSTRAINT withdrawal_booked_is_paid CHECK (status = 'CONFIRMED' OR NOT book.is_booked(id))
) WITH (fillfactor = 80);
-- A reference is taken while its withdrawal is neither failed nor cancelled.
CREATE UNIQUE INDEX withdrawal_reference ON book.withdrawal (reference_id, merchant_id)
  WHERE reference_id IS NOT NULL AND status NOT IN ('FAILED','CANCELLED');
CREATE INDEX withdrawal_rare ON book.withdrawal (merchant_id, status, seq) WHERE status IN ('FAILED','CANCELLED','PENDING_APPROVAL');
-- The approval queue of all merchants.
CREATE INDEX withdrawal_waiting ON book.withdrawal (id) WHERE status = 'PENDING_APPROVAL';
CREATE TRIGGER withdrawal_transition BEFORE UPDATE OF status ON book.withdrawal FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION book.check_transition('withdrawal');
CREATE TRIGGER withdrawal_maker_is_kept BEFORE UPDATE OF created_by, created_admin ON book.withdrawal FOR EACH ROW
  WHEN (OLD.created_by IS DISTINCT FROM NEW.created_by OR OLD.created_admin IS DISTINCT FROM NEW.created_admin)
  EXECUTE FUNCTION book.keep_maker();

-- Addresses that a merchant may settle to; an administrator activates an address.
CREATE TABLE book.settlement_address (
  id          text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL REFERENCES book.merchant,
  network     text COLLATE "C" NOT NULL,
  address     text COLLATE "C" NOT NULL,
  label       text NOT NULL,
  active      boolean NOT NULL DEFAULT false,
  removed_at  timestamptz,
  created_at  timestamptz NOT NULL,
  created_by  text COLLATE "C",
  created_admin  text COLLATE "C",
  approved_by text COLLATE "C",
  approved_admin text COLLATE "C",
  PRIMARY KEY (id, merchant_id)
);
CREATE UNIQUE INDEX settlement_address_once ON book.settlement_address (merchant_id, network, address) WHERE removed_at IS NULL;
CREATE TRIGGER settlement_address_maker_is_kept BEFORE UPDATE OF created_by, created_admin ON book.settlement_address FOR EACH ROW
  WHEN (OLD.created_by IS DISTINCT FROM NEW.created_by OR OLD.created_admin IS DISTINCT FROM NEW.created_admin)
  EXECUTE FUNCTION book.keep_maker();

CREATE TABLE book.settlement (
  id              text COLLATE "C" NOT NULL,
  merchant_id     text COLLATE "C" NOT NULL,
  seq             bigint NOT NULL CHECK (seq > 0),
  withdrawal_id   text COLLATE "C" NOT NULL,
  currency        text COLLATE "C" NOT NULL,
  network         text COLLATE "C" NOT NULL,
  amount          numeric(38,18) NOT NULL CHECK (amount > 0),
  total_fees      numeric(38,18) NOT NULL CHECK (total_fees >= 0),
  address         text COLLATE "C" NOT NULL,
  label           text NOT NULL,
  status          text COLLATE "C" NOT NULL CHECK (status IN
                  ('PENDING','APPROVAL_REQUIRED','APPROVED','PROCESSING','SUBMITTED_TO_LEDGER','COMPLETED','FAILED','CANCELLED','REJECTED')),
  reason          text,
  idempotency_key text,
  body_hash       text COLLATE "C",
  -- whether an administrator had to approve it: what its creation answered, for the repeated request
  needed_approval boolean NOT NULL,
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  created_by      text COLLATE "C",
  created_admin   text COLLATE "C",
  approved_by     text COLLATE "C",
  approved_admin  text COLLATE "C",
  -- every state that a settlement was in, oldest first, as [{"status", "at"}]. One commit may take several
  -- steps, so a status alone does not tell that a settlement was PENDING or APPROVED
  history         jsonb NOT NULL,
  PRIMARY KEY (id, merchant_id),
  UNIQUE (merchant_id, seq)
) WITH (fillfactor = 80);
CREATE INDEX settlement_key ON book.settlement (merchant_id, idempotency_key, seq) WHERE idempotency_key IS NOT NULL;
CREATE INDEX settlement_rare ON book.settlement (merchant_id, status, seq) WHERE status <> 'COMPLETED';
CREATE INDEX settlement_waiting ON book.settlement (id) WHERE status = 'APPROVAL_REQUIRED';
CREATE TRIGGER settlement_maker_is_kept BEFORE UPDATE OF created_by, created_admin ON book.settlement FOR EACH ROW
  WHEN (OLD.created_by IS DISTINCT FROM NEW.created_by OR OLD.created_admin IS DISTINCT FROM NEW.created_admin)
  EXECUTE FUNCTION book.keep_maker();

-- A history begins with PENDING, only grows, takes no step that book.transition does not allow, and ends
-- with the status.
CREATE FUNCTION book.check_settlement_history() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_steps text[] := ARRAY(SELECT s.step ->> 'status' FROM jsonb_array_elements(NEW.history) WITH ORDINALITY s(step, n) ORDER BY n);
  v_known integer := CASE WHEN TG_OP = 'UPDATE' THEN jsonb_array_length(OLD.history) ELSE 0 END;
  v_from  text;
BEGIN
  IF v_steps[1] IS DISTINCT FROM 'PENDING' OR v_steps[cardinality(v_steps)] IS DISTINCT FROM NEW.status THEN
    RAISE EXCEPTION 'Cannot write a settlement as its history does not lead to its status: % in %', NEW.status, v_steps
      USING ERRCODE = 'check_violation';
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.history IS DISTINCT FROM (
    SELECT jsonb_agg(s.step ORDER BY n) FROM jsonb_array_elements(NEW.history) WITH ORDINALITY s(step, n) WHERE n <= v_known) THEN
    RAISE EXCEPTION 'Cannot change the history of a settlement as it is written once: %', NEW.id
      USING ERRCODE = 'check_violation';
  END IF;
  FOR v_step IN greatest(v_known, 1) + 1 .. cardinality(v_steps) LOOP
    v_from := v_steps[v_step - 1];
    IF NOT EXISTS (SELECT FROM book.transition t
                   WHERE t.record = 'settlement' AND t.from_status = v_from AND t.to_status = v_steps[v_step]) THEN
      RAISE EXCEPTION 'Cannot move a settlement as its states do not allow it: % -> %', v_from, v_steps[v_step]
        USING ERRCODE = 'check_violation';
    END IF;
  END LOOP;
  RETURN NEW;
END $$;
CREATE TRIGGER settlement_history BEFORE INSERT OR UPDATE OF status, history ON book.settlement FOR EACH ROW
  EXECUTE FUNCTION book.check_settlement_history();

-- Messages of trusted upstream systems, kept in the commit of their effect. `txid`: the transaction
-- of another wallet that paid a withdrawal; it pays one.
CREATE TABLE book.ingested (
  event_id    text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  body_hash   text COLLATE "C" NOT NULL,
  network     text COLLATE "C",
  txid        text COLLATE "C",
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (event_id),
  CHECK ((network IS NULL) = (txid IS NULL)),
  -- what an upstream system sends holds the SHA-256 of its message and is never an operator's verdict
  CONSTRAINT ingested_verdict_is_the_services
    CHECK (event_id !~ '^(verdict:|failover/)' OR body_hash !~ '^[0-9a-f]{64}$')
);
CREATE UNIQUE INDEX ingested_payment ON book.ingested (network, txid) WHERE txid IS NOT NULL;

-- A verdict is given once and stays.
CREATE TRIGGER ingested_verdict_is_kept BEFORE UPDATE ON book.ingested FOR EACH ROW
  WHEN (OLD.event_id LIKE 'verdict:%') EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER ingested_verdict_is_never_deleted BEFORE DELETE ON book.ingested FOR EACH ROW
  WHEN (OLD.event_id LIKE 'verdict:%') EXECUTE FUNCTION book.refuse_change();

-- One verdict per unknown transfer: its line is written with the booking that it stands for, or with the
-- write-off, and stays.
CREATE TRIGGER ingested_failover_is_kept BEFORE UPDATE ON book.ingested FOR EACH ROW
  WHEN (OLD.event_id LIKE 'failover/%') EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER ingested_failover_is_never_deleted BEFORE DELETE ON book.ingested FOR EACH ROW
  WHEN (OLD.event_id LIKE 'failover/%') EXECUTE FUNCTION book.refuse_change();
