-- Deposit addresses, deposits, and the rules of deposits by hand and of top-ups.

CREATE TABLE book.deposit_address (
  id           text COLLATE "C" NOT NULL,
  merchant_id  text COLLATE "C" NOT NULL REFERENCES book.merchant,
  network      text COLLATE "C" NOT NULL,
  address      text COLLATE "C" NOT NULL,
  wallet_index integer NOT NULL CHECK (wallet_index >= 0),
  kind         text COLLATE "C" NOT NULL CHECK (kind IN ('issued','session','top_up')),
  identifier   text COLLATE "C",
  reference_id text,
  activated    boolean NOT NULL DEFAULT false,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (id, merchant_id),
  UNIQUE (network, address, merchant_id)
);
CREATE UNIQUE INDEX deposit_address_of_customer ON book.deposit_address (merchant_id, network, identifier) WHERE kind = 'issued';
CREATE UNIQUE INDEX deposit_address_top_up ON book.deposit_address (merchant_id, network) WHERE kind = 'top_up';
-- addresses of hosted pages are many and in no list
CREATE INDEX deposit_address_list ON book.deposit_address (merchant_id, network, id) WHERE kind = 'issued';

-- Numbers of a merchant's issued addresses, without gaps: the list is as fast at its end. In a table
-- of its own, filled by the statement that inserts them, under the lock of the merchant's account.
CREATE TABLE book.address_number (
  merchant_id text COLLATE "C" NOT NULL,
  seq         bigint NOT NULL CHECK (seq > 0),
  address_id  text COLLATE "C" NOT NULL,
  PRIMARY KEY (merchant_id, seq)
);

CREATE FUNCTION book.number_addresses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO book.address_number
  SELECT g.merchant_id, g.last + u.place, u.id
  FROM (
    -- the last number is looked up once per merchant, before any of these rows are there
    SELECT a.merchant_id, array_agg(a.id ORDER BY a.id) AS ids, coalesce((
      SELECT max(n.seq) FROM book.address_number n WHERE n.merchant_id = a.merchant_id), 0) AS last
    FROM added a WHERE a.kind = 'issued' GROUP BY a.merchant_id OFFSET 0) g,
    unnest(g.ids) WITH ORDINALITY u(id, place);
  RETURN NULL;
END $$;
CREATE TRIGGER address_numbered AFTER INSERT ON book.deposit_address REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION book.number_addresses();

CREATE TABLE book.deposit (
  id              text COLLATE "C" NOT NULL,
  merchant_id     text COLLATE "C" NOT NULL,
  seq             bigint NOT NULL CHECK (seq > 0),
  transaction_seq bigint NOT NULL CHECK (transaction_seq > 0),
  currency        text COLLATE "C" NOT NULL,
  network         text COLLATE "C" NOT NULL,
  -- the sums that a payment goes into have 20 digits before the point: bounded to 10^12, a hundred million
  -- payments fit; what a chain says beyond that is quarantined in the inbox
  amount          numeric(38,18) NOT NULL CHECK (amount > 0)
                  CONSTRAINT deposit_within_bounds CHECK (amount <= 1000000000000),
  status          text COLLATE "C" NOT NULL CHECK (status IN ('PENDING','CONFIRMED','FAILED','CANCELLED')),
  reason          text,
  source          text NOT NULL,
  reference_id    text,
  description     text,
  commission      numeric(38,18) NOT NULL DEFAULT 0 CHECK (commission >= 0),
  commission_rate numeric(19,18) NOT NULL DEFAULT 0,
  fixed_fee       numeric(38,18) NOT NULL DEFAULT 0 CHECK (fixed_fee >= 0),
  usd_rate        numeric(38,18),
  margin          numeric(38,18) NOT NULL DEFAULT 0 CHECK (margin >= 0),
  margin_to       text COLLATE "C",
  address_id      text COLLATE "C",
  address         text COLLATE "C",
  txid            text COLLATE "C",
  log_index       integer,
  sender          text COLLATE "C",
  height          bigint,
  expires_at      timestamptz,
  metadata        jsonb NOT NULL DEFAULT '{}',
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  cleared_at      timestamptz,
  -- key and administrator who made the record, and who let it go
  created_by      text COLLATE "C",
  created_admin   text COLLATE "C",
  approved_by     text COLLATE "C",
  approved_admin  text COLLATE "C",
  -- the first of two administrators who confirm a large deposit by hand
  endorsed_by     text COLLATE "C",
  endorsed_admin  text COLLATE "C",
  PRIMARY KEY (id, merchant_id),
  UNIQUE (merchant_id, seq),
  CHECK (commission + fixed_fee <= amount),
  CHECK ((txid IS NULL) = (log_index IS NULL)),
  CHECK ((status = 'CONFIRMED') = (cleared_at IS NOT NULL))
) WITH (fillfactor = 80);
-- One on-chain transfer, one deposit.
CREATE UNIQUE INDEX deposit_transfer ON book.deposit (merchant_id, network, txid, log_index) WHERE txid IS NOT NULL;
CREATE INDEX deposit_of_address ON book.deposit (address_id, id) WHERE address_id IS NOT NULL;
CREATE INDEX deposit_pending ON book.deposit (id) WHERE status = 'PENDING';
-- Rows of a status that may lie far apart are found one by one; a page of them would otherwise read
-- every bucket in which there is one.
CREATE INDEX deposit_rare ON book.deposit (merchant_id, status, seq) WHERE status IN ('PENDING','FAILED','CANCELLED');
CREATE INDEX deposit_reference ON book.deposit (merchant_id, reference_id, seq) WHERE reference_id IS NOT NULL;
-- Deposits that administrators have confirmed by hand, the newest first: they are summed up by day.
CREATE INDEX deposit_confirmed_by_hand ON book.deposit (cleared_at) WHERE approved_by IS NOT NULL;
-- One transaction, one confirmed deposit by hand, whichever merchant booked it: operators look before they
-- confirm, and two who confirm at once cannot both.
CREATE UNIQUE INDEX deposit_by_hand ON book.deposit (network, txid) WHERE log_index = -1 AND status = 'CONFIRMED';
CREATE TRIGGER deposit_transition BEFORE UPDATE OF status ON book.deposit FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION book.check_transition('deposit');
CREATE TRIGGER deposit_maker_is_kept BEFORE UPDATE OF created_by, created_admin ON book.deposit FOR EACH ROW
  WHEN (OLD.created_by IS DISTINCT FROM NEW.created_by OR OLD.created_admin IS DISTINCT FROM NEW.created_admin)
  EXECUTE FUNCTION book.keep_maker();

-- A top-up is available only by a sweep that lists it, is final and has moved money: the transfer that was
-- intended, or what an operator has found to have arrived (a sweep never lists more than that).
CREATE FUNCTION book.check_top_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM book.sweep_item i
    JOIN book.outgoing o ON o.id = i.outgoing_id AND o.merchant_id = 'mer_platform' AND o.status = 'final'
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
    WHERE i.network = NEW.network AND i.txid = NEW.txid AND i.log_index = NEW.log_index
      AND i.merchant_id = NEW.merchant_id AND (a.outcome = 'paid' OR a.outcome = 'unexpected' AND v.verdict = 'moved')) THEN
    RAISE EXCEPTION 'Cannot confirm a top-up as no final sweep lists it: %', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER top_up_by_sweep BEFORE INSERT OR UPDATE OF status ON book.deposit FOR EACH ROW
  WHEN (NEW.status = 'CONFIRMED' AND NEW.source = 'top_up' AND NEW.log_index >= 0) EXECUTE FUNCTION book.check_top_up();

-- A deposit by hand is not confirmed with a transaction that has paid another merchant: the scan knows whom,
-- whatever a node says. What paid an address that a restore forgot is credited by hand. Refused like a second
-- confirmation (`deposit_by_hand`), so that it is decided again and refused.
-- A transfer that waits for its proof has paid its merchant as surely as one that is to be swept: no deposit by hand
-- of another merchant is confirmed with its transaction. What was discarded is still its merchant's, as a later
-- sight of it may be proven.
CREATE FUNCTION book.check_deposit_by_hand() RETURNS trigger LANGUAGE plpgsql AS $$
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
      AND (p.evidence IS NULL OR p.evidence ? 'discarded')) THEN
    RAISE EXCEPTION 'Cannot confirm a deposit by hand as its transaction paid another merchant: %', NEW.id
      USING ERRCODE = 'unique_violation', CONSTRAINT = 'deposit_by_hand';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER deposit_by_hand_is_unpaid BEFORE INSERT OR UPDATE OF status ON book.deposit FOR EACH ROW
  WHEN (NEW.status = 'CONFIRMED' AND NEW.log_index = -1) EXECUTE FUNCTION book.check_deposit_by_hand();
