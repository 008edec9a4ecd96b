-- Two schemas. book: everything a merchant owns, merchant_id in every key (after the time-ordered
-- id, which measured 17-26 % faster; list keys lead with the merchant). hub: what belongs to nobody
-- in particular. No transaction spans both; what crosses is a row with a unique key.
-- Ids are text compared byte by byte. The busiest tables have no foreign key to the merchant: every
-- row of theirs is written while the merchant's account row is locked, which proves it exists. Money is numeric(38,18): 20 integer digits, 18 decimals.

CREATE SCHEMA IF NOT EXISTS book;
CREATE SCHEMA IF NOT EXISTS hub;

-- ---------------------------------------------------------------- settings shared by all merchants

-- One row. Every change of a pair, a threshold or the fees begins a new epoch; the journal's write compares
-- it, so that nothing is decided on settings that have changed meanwhile. Its id is made once and never
-- again: a count would be reached a second time after a failover that lacks the last changes.
CREATE TABLE book.setting (
  slot_group   smallint PRIMARY KEY DEFAULT 0 CHECK (slot_group = 0),
  epoch        uuid NOT NULL DEFAULT gen_random_uuid(),
  fees_enabled boolean NOT NULL DEFAULT true,
  base_fee     numeric(38,18) NOT NULL DEFAULT 1 CHECK (base_fee >= 0),
  markup_rate  numeric(19,18) NOT NULL DEFAULT 0 CHECK (markup_rate BETWEEN 0 AND 1)
);
INSERT INTO book.setting DEFAULT VALUES;

-- Settlements of this amount and more wait for an administrator.
CREATE TABLE book.settlement_threshold (
  currency text COLLATE "C" PRIMARY KEY CHECK (currency IN ('USDT', 'USDC')),
  amount   numeric(38,18) NOT NULL DEFAULT 10000 CHECK (amount >= 0)
);
INSERT INTO book.settlement_threshold (currency) VALUES ('USDT'), ('USDC');

CREATE TABLE book.pair (
  currency            text COLLATE "C" NOT NULL CHECK (currency IN ('USDT', 'USDC')),
  network             text COLLATE "C" NOT NULL
                      CHECK (network IN ('TRX','ETH','BNB','SOL','TRX_SHASTA','SEP','tBNB','SOL_DEVNET')),
  deposits_enabled    boolean NOT NULL DEFAULT false,
  withdrawals_enabled boolean NOT NULL DEFAULT false,
  min_withdrawal      numeric(38,18) NOT NULL DEFAULT 1 CHECK (min_withdrawal > 0),
  network_fee_mode    text COLLATE "C" NOT NULL DEFAULT 'fixed' CHECK (network_fee_mode IN ('fixed','dynamic')),
  network_fee         numeric(38,18) NOT NULL DEFAULT 1 CHECK (network_fee >= 0),
  PRIMARY KEY (currency, network)
);
INSERT INTO book.pair (currency, network, deposits_enabled, withdrawals_enabled)
SELECT c, n, c = 'USDT' AND n IN ('TRX','TRX_SHASTA'), c = 'USDT' AND n IN ('TRX','TRX_SHASTA')
FROM unnest(ARRAY['USDT','USDC']) c,
     unnest(ARRAY['TRX','ETH','BNB','SOL','TRX_SHASTA','SEP','tBNB','SOL_DEVNET']) n;

CREATE FUNCTION book.begin_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'setting' THEN
    NEW.epoch := gen_random_uuid();
    RETURN NEW;
  END IF;
  UPDATE book.setting SET base_fee = base_fee;  -- its own trigger begins the epoch
  RETURN NULL;
END $$;
CREATE TRIGGER setting_epoch BEFORE UPDATE ON book.setting FOR EACH ROW EXECUTE FUNCTION book.begin_epoch();
CREATE TRIGGER pair_epoch AFTER INSERT OR UPDATE OR DELETE ON book.pair FOR EACH STATEMENT EXECUTE FUNCTION book.begin_epoch();
CREATE TRIGGER threshold_epoch AFTER INSERT OR UPDATE OR DELETE ON book.settlement_threshold
  FOR EACH STATEMENT EXECUTE FUNCTION book.begin_epoch();

-- ---------------------------------------------------------------- which status may follow which

-- The same table as ledger/money/transitions.ts; a test compares them, triggers below enforce it.
CREATE TABLE book.transition (
  record      text COLLATE "C" NOT NULL,
  from_status text COLLATE "C" NOT NULL,
  to_status   text COLLATE "C" NOT NULL,
  PRIMARY KEY (record, from_status, to_status)
);
INSERT INTO book.transition VALUES
  ('deposit','PENDING','CONFIRMED'), ('deposit','PENDING','FAILED'), ('deposit','PENDING','CANCELLED'),
  ('deposit','FAILED','CONFIRMED'),
  ('withdrawal','PENDING_APPROVAL','PENDING'), ('withdrawal','PENDING_APPROVAL','CANCELLED'),
  ('withdrawal','PENDING','CONFIRMED'), ('withdrawal','PENDING','FAILED'),
  ('transaction','PENDING','CONFIRMED'), ('transaction','PENDING','FAILED'), ('transaction','PENDING','CANCELLED'),
  ('transaction','FAILED','CONFIRMED'),
  ('settlement','PENDING','APPROVAL_REQUIRED'), ('settlement','PENDING','PROCESSING'),
  ('settlement','APPROVAL_REQUIRED','APPROVED'), ('settlement','APPROVAL_REQUIRED','REJECTED'),
  ('settlement','APPROVAL_REQUIRED','CANCELLED'), ('settlement','APPROVED','PROCESSING'),
  ('settlement','PROCESSING','SUBMITTED_TO_LEDGER'), ('settlement','PROCESSING','FAILED'),
  ('settlement','SUBMITTED_TO_LEDGER','COMPLETED'), ('settlement','SUBMITTED_TO_LEDGER','FAILED'),
  ('outgoing','queued','signed'), ('outgoing','queued','void'),
  ('outgoing','signed','final'), ('outgoing','signed','dead'),
  ('outgoing','dead','queued'), ('outgoing','dead','void');

-- One commit may take several steps at once (approved and paid): what counts is that the end can
-- be reached. The common single step costs one index look-up.
CREATE FUNCTION book.check_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM book.transition t
             WHERE t.record = TG_ARGV[0] AND t.from_status = OLD.status AND t.to_status = NEW.status) THEN
    RETURN NEW;
  END IF;
  IF NOT EXISTS (
    WITH RECURSIVE reach(status) AS (
      SELECT t.to_status FROM book.transition t WHERE t.record = TG_ARGV[0] AND t.from_status = OLD.status
      UNION
      SELECT t.to_status FROM book.transition t JOIN reach r ON t.from_status = r.status WHERE t.record = TG_ARGV[0])
    SELECT 1 FROM reach WHERE status = NEW.status) THEN
    RAISE EXCEPTION 'Cannot move a % as its states do not allow it: % -> %', TG_ARGV[0], OLD.status, NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

-- The same where every single step has to be its own: transfers out of our wallets.
CREATE FUNCTION book.check_step() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM book.transition t
                 WHERE t.record = TG_ARGV[0] AND t.from_status = OLD.status AND t.to_status = NEW.status) THEN
    RAISE EXCEPTION 'Cannot move a % as its states do not allow it: % -> %', TG_ARGV[0], OLD.status, NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION book.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Cannot change %.% as it is written once: %', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'check_violation';
END $$;

-- ---------------------------------------------------------------- merchants and their money

-- Which of 256 slots a merchant belongs to: stored with it, so that nodes agree on who serves whom.
CREATE FUNCTION book.slot_of(merchant_id text) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
  SELECT get_byte(sha256(convert_to(merchant_id, 'UTF8')), 0)::smallint
$$;

CREATE TABLE book.merchant (
  merchant_id             text COLLATE "C" PRIMARY KEY,
  slot                    smallint NOT NULL CHECK (slot BETWEEN 0 AND 255),
  status                  text COLLATE "C" NOT NULL DEFAULT 'ACTIVE' CHECK (status IN ('ACTIVE','SUSPENDED','INACTIVE')),
  name                    text NOT NULL,
  deposit_commission_rate numeric(19,18) NOT NULL DEFAULT 0 CHECK (deposit_commission_rate BETWEEN 0 AND 1),
  direct_deposit_fee      numeric(38,18) NOT NULL DEFAULT 1 CHECK (direct_deposit_fee >= 0),
  webhook_url             text,
  webhook_secret          text NOT NULL,
  webhook_secret_previous text,
  webhook_previous_until  timestamptz,
  webhook_enabled         boolean NOT NULL DEFAULT false,
  webhook_events          text[],
  webhook_timeout_ms      integer NOT NULL DEFAULT 10000 CHECK (webhook_timeout_ms BETWEEN 1000 AND 30000),
  webhook_retry_count     integer NOT NULL DEFAULT 3 CHECK (webhook_retry_count BETWEEN 0 AND 20),
  success_url             text,
  failure_url             text,
  -- who may show the hosted page in a frame: origins only, as they end up in a response header
  page_origins            text[] CHECK (cardinality(page_origins) <= 16 AND array_to_string(page_origins, ' ') ~ '^(https?://[a-z0-9.:\[\]-]+( |$))*$'),
  logo_color              text COLLATE "C" CHECK (logo_color ~ '^#[0-9a-f]{6}$'),
  rate_limits             jsonb NOT NULL DEFAULT '{}',
  reseller_id             text COLLATE "C",
  -- the line: who earns which part of this merchant's fees. beneficiary is a merchant account.
  margin_rate             numeric(19,18) NOT NULL DEFAULT 0 CHECK (margin_rate BETWEEN 0 AND 1),
  margin_beneficiary      text COLLATE "C",
  created_at              timestamptz NOT NULL,
  CHECK (margin_rate = 0 OR margin_beneficiary IS NOT NULL)
);

CREATE INDEX merchant_of_reseller ON book.merchant (reseller_id, merchant_id) WHERE reseller_id IS NOT NULL;

-- The narrow, hot part of a merchant: its version is the fence that every money commit compares, its
-- counters number the rows of its lists without gaps. fillfactor leaves room for in-page updates.
CREATE TABLE book.account (
  merchant_id     text COLLATE "C" PRIMARY KEY REFERENCES book.merchant,
  version         bigint NOT NULL DEFAULT 0,
  deposit_seq     bigint NOT NULL DEFAULT 0,
  withdrawal_seq  bigint NOT NULL DEFAULT 0,
  transaction_seq bigint NOT NULL DEFAULT 0,
  charge_seq      bigint NOT NULL DEFAULT 0,
  settlement_seq  bigint NOT NULL DEFAULT 0,
  last_at         timestamptz NOT NULL DEFAULT '1970-01-01'
) WITH (fillfactor = 50);

CREATE TABLE book.balance (
  merchant_id text COLLATE "C" NOT NULL REFERENCES book.merchant,
  currency    text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  available   numeric(38,18) NOT NULL DEFAULT 0 CONSTRAINT available_not_negative CHECK (available >= 0),
  pending     numeric(38,18) NOT NULL DEFAULT 0 CONSTRAINT pending_not_negative CHECK (pending >= 0),
  reserved    numeric(38,18) NOT NULL DEFAULT 0 CONSTRAINT reserved_not_negative CHECK (reserved >= 0),
  updated_at  timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, currency, network),
  FOREIGN KEY (currency, network) REFERENCES book.pair
) WITH (fillfactor = 50);

-- Accounts that are not a merchant's. `world` is the chain: what it owes us is negative there. They
-- are shared by all merchants, so their sum has room for more than any one of them can book.
CREATE TABLE book.system_balance (
  account  text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network  text COLLATE "C" NOT NULL,
  balance  numeric(76,18) NOT NULL DEFAULT 0,
  PRIMARY KEY (account, currency, network)
) WITH (fillfactor = 50);

-- What has not been added to book.system_balance yet. Every commit of every merchant and node moves
-- the same few accounts: each only inserts here, so that none waits for another, nor for a session
-- that holds a row. Both tables together are the balance.
CREATE TABLE book.system_delta (
  account  text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network  text COLLATE "C" NOT NULL,
  amount   numeric(76,18) NOT NULL
);

CREATE VIEW book.system_total AS
SELECT account, currency, network, sum(amount) AS balance FROM (
  SELECT account, currency, network, balance AS amount FROM book.system_balance
  UNION ALL SELECT account, currency, network, amount FROM book.system_delta) part
GROUP BY account, currency, network;

-- A posting moves a positive amount between two accounts of one pair. The key says that each leg of
-- a payment happens at most once: reserved once, paid once, refunded once.
CREATE TABLE book.entry (
  payment_id   text COLLATE "C" NOT NULL,
  leg          text COLLATE "C" NOT NULL,
  merchant_id  text COLLATE "C" NOT NULL,
  from_account text COLLATE "C" NOT NULL
               CHECK (from_account IN ('available','pending','reserved','world','commission','network_fee','activation_fee','direct_deposit_fee','margin_held','margin_due')),
  to_account   text COLLATE "C" NOT NULL
               CHECK (to_account IN ('available','pending','reserved','world','commission','network_fee','activation_fee','direct_deposit_fee','margin_held','margin_due')),
  currency     text COLLATE "C" NOT NULL,
  network      text COLLATE "C" NOT NULL,
  amount       numeric(38,18) NOT NULL CHECK (amount > 0),
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (payment_id, leg, merchant_id),
  CHECK (from_account <> to_account)
);
CREATE TRIGGER entry_is_written_once BEFORE UPDATE OR DELETE ON book.entry FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER entry_is_not_truncated BEFORE TRUNCATE ON book.entry FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

-- ---------------------------------------------------------------- payments

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

CREATE TABLE book.deposit (
  id              text COLLATE "C" NOT NULL,
  merchant_id     text COLLATE "C" NOT NULL,
  seq             bigint NOT NULL CHECK (seq > 0),
  transaction_seq bigint NOT NULL CHECK (transaction_seq > 0),
  currency        text COLLATE "C" NOT NULL,
  network         text COLLATE "C" NOT NULL,
  amount          numeric(38,18) NOT NULL CHECK (amount > 0),
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
-- every block of 1,000 in which there is one.
CREATE INDEX deposit_rare ON book.deposit (merchant_id, status, seq) WHERE status IN ('PENDING','FAILED','CANCELLED');
CREATE TRIGGER deposit_transition BEFORE UPDATE OF status ON book.deposit FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION book.check_transition('deposit');

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
  PRIMARY KEY (id, merchant_id),
  UNIQUE (merchant_id, seq),
  CHECK ((status IN ('CONFIRMED','FAILED','CANCELLED')) = (processed_at IS NOT NULL)),
  CHECK (status <> 'CONFIRMED' OR txid IS NOT NULL),
  CHECK ((seq IS NULL) = (settlement_id IS NOT NULL))
) WITH (fillfactor = 80);
-- A reference is taken while its withdrawal is neither failed nor cancelled.
CREATE UNIQUE INDEX withdrawal_reference ON book.withdrawal (reference_id, merchant_id)
  WHERE reference_id IS NOT NULL AND status NOT IN ('FAILED','CANCELLED');
CREATE INDEX withdrawal_rare ON book.withdrawal (merchant_id, status, seq) WHERE status IN ('FAILED','CANCELLED','PENDING_APPROVAL');
-- The approval queue of all merchants.
CREATE INDEX withdrawal_waiting ON book.withdrawal (id) WHERE status = 'PENDING_APPROVAL';
CREATE TRIGGER withdrawal_transition BEFORE UPDATE OF status ON book.withdrawal FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION book.check_transition('withdrawal');

-- The merchant's statement. `effect` is the row's whole effect on available; running balances are
-- sums of effects in the order of `seq`, kept per bucket of rows in book.list_bucket.
CREATE TABLE book.transaction (
  merchant_id  text COLLATE "C" NOT NULL,
  seq          bigint NOT NULL CHECK (seq > 0),
  id           text COLLATE "C" NOT NULL,
  payment_id   text COLLATE "C" NOT NULL,
  type         text COLLATE "C" NOT NULL CHECK (type IN ('DEPOSIT','WITHDRAWAL','SETTLEMENT')),
  status       text COLLATE "C" NOT NULL CHECK (status IN ('PENDING','CONFIRMED','FAILED','CANCELLED')),
  currency     text COLLATE "C" NOT NULL,
  network      text COLLATE "C" NOT NULL,
  effect       numeric(38,18) NOT NULL,
  fee          numeric(38,18) NOT NULL CHECK (fee >= 0),
  txid         text COLLATE "C",
  height       bigint,
  from_address text COLLATE "C",
  to_address   text COLLATE "C",
  reference_id text,
  description  text,
  category     text,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, seq),
  CHECK (status NOT IN ('FAILED','CANCELLED') OR effect = 0)
) WITH (fillfactor = 80);
CREATE INDEX transaction_rare ON book.transaction (merchant_id, status, seq) WHERE status IN ('FAILED','CANCELLED');
CREATE INDEX transaction_settlement ON book.transaction (merchant_id, type, seq) WHERE type = 'SETTLEMENT';
CREATE TRIGGER transaction_transition BEFORE UPDATE OF status ON book.transaction FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION book.check_transition('transaction');

-- The fees a merchant was charged, and their reversals (negative).
CREATE TABLE book.charge (
  merchant_id text COLLATE "C" NOT NULL,
  seq         bigint NOT NULL CHECK (seq > 0),
  id          text COLLATE "C" NOT NULL,
  payment_id  text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL
              CHECK (type IN ('ADDRESS_ACTIVATION','DIRECT_DEPOSIT','DEPOSIT_COMMISSION','WITHDRAWAL_COMMISSION','NETWORK_FEE','REVERSAL')),
  currency    text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  amount      numeric(38,18) NOT NULL CHECK (amount <> 0 AND (amount < 0) = (type = 'REVERSAL')),
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, seq)
);
-- Only of those that withdrawals do not write: they are the busiest, and seldom rare.
CREATE INDEX charge_rare ON book.charge (merchant_id, type, seq) WHERE type IN ('ADDRESS_ACTIVATION','DIRECT_DEPOSIT','REVERSAL');
CREATE TRIGGER charge_is_written_once BEFORE UPDATE OR DELETE ON book.charge FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

-- One share of a fee that was credited to (or held for) a beneficiary, or taken back (`reversed`).
CREATE TABLE book.margin (
  payment_id     text COLLATE "C" NOT NULL,
  leg            text COLLATE "C" NOT NULL,
  merchant_id    text COLLATE "C" NOT NULL,
  beneficiary    text COLLATE "C" NOT NULL,
  currency       text COLLATE "C" NOT NULL,
  network        text COLLATE "C" NOT NULL,
  volume         numeric(38,18) NOT NULL CHECK (volume >= 0),
  fee            numeric(38,18) NOT NULL CHECK (fee >= 0),
  earned         numeric(38,18) NOT NULL CHECK (earned >= 0),
  reversed       numeric(38,18) NOT NULL CHECK (reversed >= 0),
  created_at     timestamptz NOT NULL,
  PRIMARY KEY (payment_id, leg, merchant_id)
);
CREATE INDEX margin_of_merchant ON book.margin (merchant_id, created_at);
CREATE INDEX margin_of_beneficiary ON book.margin (beneficiary, created_at) WHERE beneficiary <> merchant_id;
-- The same per day (UTC), kept in the commits that take them. events counts the fees, not their
-- reversals.
CREATE TABLE book.margin_day (
  merchant_id text COLLATE "C" NOT NULL,
  beneficiary text COLLATE "C" NOT NULL,
  day         date NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  events      bigint NOT NULL,
  volume      numeric(38,18) NOT NULL,
  fee         numeric(38,18) NOT NULL,
  earned      numeric(38,18) NOT NULL,
  reversed    numeric(38,18) NOT NULL,
  PRIMARY KEY (merchant_id, beneficiary, day, currency, network)
) WITH (fillfactor = 50);
CREATE INDEX margin_day_of_beneficiary ON book.margin_day (beneficiary, day) WHERE beneficiary <> merchant_id;
CREATE TRIGGER margin_is_written_once BEFORE UPDATE OR DELETE ON book.margin FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

-- Where a merchant may settle to; an administrator activates an address.
CREATE TABLE book.settlement_address (
  id          text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL REFERENCES book.merchant,
  network     text COLLATE "C" NOT NULL,
  address     text COLLATE "C" NOT NULL,
  label       text NOT NULL,
  active      boolean NOT NULL DEFAULT false,
  removed_at  timestamptz,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (id, merchant_id)
);
CREATE UNIQUE INDEX settlement_address_once ON book.settlement_address (merchant_id, network, address) WHERE removed_at IS NULL;

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
  PRIMARY KEY (id, merchant_id),
  UNIQUE (merchant_id, seq)
) WITH (fillfactor = 80);
CREATE INDEX settlement_key ON book.settlement (merchant_id, idempotency_key, seq) WHERE idempotency_key IS NOT NULL;
CREATE INDEX settlement_rare ON book.settlement (merchant_id, status, seq) WHERE status <> 'COMPLETED';
CREATE INDEX settlement_waiting ON book.settlement (id) WHERE status = 'APPROVAL_REQUIRED';

-- Messages of trusted upstream systems, kept in the commit of their effect. `txid`: the transaction
-- of somebody else's wallet that paid a withdrawal; it pays one.
CREATE TABLE book.ingested (
  event_id    text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  body_hash   text COLLATE "C" NOT NULL,
  network     text COLLATE "C",
  txid        text COLLATE "C",
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (event_id),
  CHECK ((network IS NULL) = (txid IS NULL))
);
CREATE UNIQUE INDEX ingested_payment ON book.ingested (network, txid) WHERE txid IS NOT NULL;

-- What administrators did to a merchant's records or to the settings: who, what, before, after.
-- Written in the commit of the effect, so that neither is ever without the other.
CREATE TABLE book.audit (
  id          text COLLATE "C" PRIMARY KEY,
  merchant_id text COLLATE "C",
  actor       text COLLATE "C" NOT NULL,
  action      text COLLATE "C" NOT NULL,
  subject     text COLLATE "C" NOT NULL,
  before      jsonb,
  after       jsonb,
  request_id  text COLLATE "C",
  created_at  timestamptz NOT NULL
);
CREATE INDEX audit_of_merchant ON book.audit (merchant_id, id) WHERE merchant_id IS NOT NULL;
CREATE TRIGGER audit_is_written_once BEFORE UPDATE OR DELETE ON book.audit FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

-- Counts and sums per 250 rows of a list, kept in the commits that change the rows: fewer, and the
-- sums were many; more, and a page whose rows lie far apart would read too many others. `effect` sums what a
-- transaction does to available, and the amounts of charges. Only charges have no status, only
-- transactions and charges have a type: '' otherwise.
CREATE TABLE book.list_bucket (
  merchant_id text COLLATE "C" NOT NULL,
  list        text COLLATE "C" NOT NULL CHECK (list IN ('deposit','withdrawal','transaction','settlement','charge')),
  bucket      bigint NOT NULL CHECK (bucket >= 0),
  currency    text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL DEFAULT '',
  count       integer NOT NULL,
  effect      numeric(58,18) NOT NULL DEFAULT 0,
  PRIMARY KEY (merchant_id, list, bucket, currency, network, status, type)
) WITH (fillfactor = 50);

-- The same per 256 buckets (64,000 rows), so that a page, a total and a running balance cost the same
-- at row one million as at row one. A large bucket is summed when it has all its rows; from then on the
-- commits that change one of them keep it.
CREATE TABLE book.list_large_bucket (
  merchant_id text COLLATE "C" NOT NULL,
  list        text COLLATE "C" NOT NULL,
  large_bucket bigint NOT NULL CHECK (large_bucket >= 0),
  currency    text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  count       bigint NOT NULL,
  effect      numeric(58,18) NOT NULL,
  PRIMARY KEY (merchant_id, list, large_bucket, currency, network, status, type)
);
-- Number of large buckets of a list that are summed.
CREATE TABLE book.list_summed (
  merchant_id text COLLATE "C" NOT NULL,
  list        text COLLATE "C" NOT NULL,
  large_buckets bigint NOT NULL CHECK (large_buckets > 0),
  PRIMARY KEY (merchant_id, list)
);

-- ---------------------------------------------------------------- what leaves our wallets

-- One row per intended on-chain transfer of ours. Signing moves queued -> signed; whatever gives
-- the money back moves queued|dead -> void in its own commit: exactly one of them wins.
CREATE TABLE book.outgoing (
  id          text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  kind        text COLLATE "C" NOT NULL CHECK (kind IN ('payout','settlement','sweep','gas','delegation','cold')),
  payment_id  text COLLATE "C",
  network     text COLLATE "C" NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  amount      numeric(38,18) NOT NULL CHECK (amount > 0),
  wallet      text COLLATE "C" NOT NULL DEFAULT 'hot' CHECK (wallet ~ '^(hot|[0-9]{1,10})$'),
  destination text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL CHECK (status IN ('queued','signed','final','dead','void')),
  reason      text,
  attempts    integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  lease_until timestamptz,
  created_at  timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL,
  PRIMARY KEY (id, merchant_id),
  CHECK ((kind IN ('payout','settlement')) = (payment_id IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX outgoing_queued ON book.outgoing (network, id) WHERE status = 'queued';
CREATE INDEX outgoing_signed ON book.outgoing (network, id) WHERE status = 'signed';
CREATE TRIGGER outgoing_transition BEFORE UPDATE OF status ON book.outgoing FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION book.check_step('outgoing');

-- One signed envelope of an outgoing row, stored before it is first broadcast. Bytes and id never
-- change; `outcome` is set once, from our own scan of solid blocks.
CREATE TABLE book.attempt (
  outgoing_id text COLLATE "C" NOT NULL,
  number      integer NOT NULL CHECK (number > 0),
  merchant_id text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  txid        text COLLATE "C" NOT NULL,
  bytes       text NOT NULL,
  expires_at  timestamptz NOT NULL,
  created_at  timestamptz NOT NULL,
  outcome     text COLLATE "C" CHECK (outcome IN ('paid','failed','unexpected','expired')),
  reason      text,
  height      bigint,
  fee         numeric(38,18),
  evidence    jsonb,
  PRIMARY KEY (outgoing_id, number, merchant_id),
  UNIQUE (txid, network),
  FOREIGN KEY (outgoing_id, merchant_id) REFERENCES book.outgoing (id, merchant_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX attempt_in_flight ON book.attempt (outgoing_id) WHERE outcome IS NULL;

CREATE FUNCTION book.keep_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.outgoing_id, NEW.number, NEW.merchant_id, NEW.network, NEW.txid, NEW.bytes, NEW.expires_at)
     IS DISTINCT FROM (OLD.outgoing_id, OLD.number, OLD.merchant_id, OLD.network, OLD.txid, OLD.bytes, OLD.expires_at)
     OR (OLD.outcome IS NOT NULL AND (NEW.outcome, NEW.height) IS DISTINCT FROM (OLD.outcome, OLD.height)) THEN
    RAISE EXCEPTION 'Cannot change an attempt as it is written once: %', OLD.txid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER attempt_is_kept BEFORE UPDATE ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.keep_attempt();
CREATE TRIGGER attempt_is_never_deleted BEFORE DELETE ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

-- ---------------------------------------------------------------- in and out boxes

-- What the chain said, addressed to a merchant. Written by the watcher, consumed by the merchant in
-- the commit of its effect.
CREATE TABLE book.inbox (
  merchant_id text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  txid        text COLLATE "C" NOT NULL,
  log_index   integer NOT NULL,
  phase       text COLLATE "C" NOT NULL CHECK (phase IN ('seen','solid','vanished','submitted','outcome','margin')),
  data        jsonb NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  consumed_at timestamptz,
  quarantine  text,
  PRIMARY KEY (merchant_id, network, txid, log_index, phase)
) WITH (fillfactor = 80);
CREATE INDEX inbox_waiting ON book.inbox (merchant_id, created_at) WHERE consumed_at IS NULL AND quarantine IS NULL;
CREATE INDEX inbox_quarantine ON book.inbox (network) WHERE consumed_at IS NULL AND quarantine IS NOT NULL;

-- Events for merchants, written in the commit of the change they tell of.
CREATE TABLE book.outbox (
  id              text COLLATE "C" NOT NULL,
  merchant_id     text COLLATE "C" NOT NULL,
  payment_id      text COLLATE "C" NOT NULL,
  type            text COLLATE "C" NOT NULL,
  payload         text NOT NULL,
  status          text COLLATE "C" NOT NULL CHECK (status IN ('PENDING','DELIVERED','FAILED','SKIPPED')),
  attempts        integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  claimed_until   timestamptz,
  claimed_by      text,
  last_outcome    text,
  created_at      timestamptz NOT NULL,
  delivered_at    timestamptz,
  PRIMARY KEY (id, merchant_id)
) WITH (fillfactor = 50);
CREATE INDEX outbox_waiting ON book.outbox (merchant_id, id) WHERE status = 'PENDING';

CREATE FUNCTION book.keep_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.merchant_id, NEW.payment_id, NEW.type, NEW.payload)
     IS DISTINCT FROM (OLD.id, OLD.merchant_id, OLD.payment_id, OLD.type, OLD.payload) THEN
    RAISE EXCEPTION 'Cannot change an event as its bytes are signed: %', OLD.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER event_is_kept BEFORE UPDATE OF id, merchant_id, payment_id, type, payload ON book.outbox
  FOR EACH ROW EXECUTE FUNCTION book.keep_event();

-- Which batches were committed: answers "did it?" after a connection was lost during a commit.
CREATE TABLE book.commit_log (
  id         text COLLATE "C" PRIMARY KEY,
  survivors  text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX commit_log_age ON book.commit_log USING brin (created_at);

-- ---------------------------------------------------------------- hub

CREATE TABLE hub.api_key (
  id           text COLLATE "C" PRIMARY KEY,
  hash         bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  merchant_id  text COLLATE "C",
  role         text COLLATE "C" NOT NULL CHECK (role IN ('MERCHANT','RESELLER','ADMIN')),
  permissions  text[] NOT NULL,
  label        text NOT NULL,
  ip_allowlist text[],
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  created_at   timestamptz NOT NULL,
  CHECK ((role = 'ADMIN') = (merchant_id IS NULL))
);
CREATE INDEX api_key_of_merchant ON hub.api_key (merchant_id) WHERE merchant_id IS NOT NULL;

CREATE TABLE hub.wallet (
  network    text COLLATE "C" PRIMARY KEY,
  wallet_id  text COLLATE "C" NOT NULL,
  hot_wallet text COLLATE "C" NOT NULL,
  next_index integer NOT NULL DEFAULT 0 CHECK (next_index >= 0)
);

-- A reseller: a merchant account of its own, and the one address its withdrawals may go to.
CREATE TABLE hub.reseller (
  id                 text COLLATE "C" PRIMARY KEY,
  merchant_id        text COLLATE "C" NOT NULL UNIQUE,
  name               text NOT NULL,
  withdrawal_address text COLLATE "C" NOT NULL,
  network            text COLLATE "C" NOT NULL,
  created_at         timestamptz NOT NULL DEFAULT now(),
  updated_at         timestamptz NOT NULL DEFAULT now()
);

-- A hosted payment page. Only the hash of its token is kept; the token is made again from id and nonce.
CREATE TABLE hub.session (
  id                 text COLLATE "C" PRIMARY KEY,
  token_hash         bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  nonce              text COLLATE "C" NOT NULL,
  merchant_id        text COLLATE "C" NOT NULL,
  seq                bigint NOT NULL CHECK (seq > 0),
  address_id         text COLLATE "C" NOT NULL,
  address            text COLLATE "C" NOT NULL,
  network            text COLLATE "C" NOT NULL,
  identifier         text COLLATE "C" NOT NULL,
  reference_id       text,
  requested_amount   numeric(38,18),
  requested_currency text COLLATE "C",
  exchange_rate      numeric(38,18),
  -- what the page asks for: this token, and with a quote this much of it
  currency           text COLLATE "C" NOT NULL,
  amount             numeric(38,18),
  token              text,
  expires_at         timestamptz NOT NULL,
  created_at         timestamptz NOT NULL
);
CREATE UNIQUE INDEX session_of_merchant ON hub.session (merchant_id, seq);

-- Numbers the pages of a merchant without gaps, so that its list is as fast at its end.
CREATE TABLE hub.session_counter (
  merchant_id text COLLATE "C" PRIMARY KEY,
  last        bigint NOT NULL
) WITH (fillfactor = 50);

-- What was done to keys and resellers, in the transaction that did it; and what administrators
-- asked for and were refused (`refused`), which changed nothing.
CREATE TABLE hub.audit (
  id          text COLLATE "C" PRIMARY KEY,
  merchant_id text COLLATE "C",
  actor       text COLLATE "C" NOT NULL,
  action      text COLLATE "C" NOT NULL,
  subject     text COLLATE "C" NOT NULL,
  before      jsonb,
  after       jsonb,
  refused     text,
  request_id  text COLLATE "C",
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_of_merchant ON hub.audit (merchant_id, id) WHERE merchant_id IS NOT NULL;
CREATE TRIGGER audit_is_written_once BEFORE UPDATE OR DELETE ON hub.audit FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

-- An address in the form in which its network's event logs carry it. A scan looks that up as it is,
-- so that it never makes the text of a stranger's address: two SHA-256 and a long division each.
-- TRON: base58 of 25 bytes, which are 0x41, the 20 bytes of the event (40 lower-case hex digits
-- here) and 4 of a checksum, which is not looked at: whoever inserts has derived or checked it.
-- What is no such text, and any address of another network, is returned unchanged.
CREATE FUNCTION hub.event_address(network text, address text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  -- value of a base58 digit by its character code; with strpos() the whole takes twice as long
  digits CONSTANT bytea := '\x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001020304050607080000000'
                           '0000000090a0b0c0d0e0f1000111213141500161718191a1b1c1d1e1f200000000000002122232425262728292a2b002c2d2e2f30313233343536373839';
  code  bytea;
  chunk bigint;
  value numeric := 0;
BEGIN
  IF network NOT IN ('TRX','TRX_SHASTA') OR length(address) <> 34
     OR address ~ '[^1-9A-HJ-NP-Za-km-z]' THEN
    RETURN address;
  END IF;
  code := convert_to(address, 'UTF8');
  -- 7 digits, then three times 9, which is as many as a bigint holds: numerics are slow
  FOR part IN 0..3 LOOP
    chunk := 0;
    FOR place IN greatest(0, 9 * part - 2)..9 * part + 6 LOOP
      chunk := chunk * 58 + get_byte(digits, get_byte(code, place));
    END LOOP;
    value := value * 7427658739644928 + chunk;  -- 58^9
  END LOOP;
  value := div(value, 4294967296);  -- without the checksum
  IF div(value, 1461501637330902918203684832716283019655932542976) <> 65 THEN  -- 2^160
    RETURN address;
  END IF;
  value := value - 94997606426508689683239514126558396277635615293440;  -- 65 * 2^160
  -- 10 hex digits, then two times 15 (2^60), which is as many as a bigint holds
  RETURN lpad(to_hex(div(value, 1329227995784915872903807060280344576)::bigint), 10, '0')
    || lpad(to_hex(mod(div(value, 1152921504606846976), 1152921504606846976)::bigint), 15, '0')
    || lpad(to_hex(mod(value, 1152921504606846976)::bigint), 15, '0');
END $$;

-- The number by which a scan looks an address up, as chains/text_key.ts makes it: a third of the
-- index that whole texts would need, and half the time. Few share one, so the text is compared as
-- well. Of ten bytes the sum stays below 2^63; its lowest 32 bits are those of a sum that wraps.
CREATE FUNCTION hub.text_key(text text) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (
    ascii(text)               * 26439622160671 + ascii(substr(text, length(text)))        * 852891037441 +
    ascii(substr(text, 2, 1)) * 27512614111    + ascii(substr(text, length(text) - 1, 1)) * 887503681::bigint +
    ascii(substr(text, 3, 1)) * 28629151::bigint + ascii(substr(text, length(text) - 2, 1)) * 923521 +
    ascii(substr(text, 4, 1)) * 29791          + ascii(substr(text, length(text) - 3, 1)) * 961 +
    ascii(substr(text, 5, 1)) * 31             + ascii(substr(text, length(text) - 4, 1))
  )::bit(32)::integer
$$;

-- Every address that was ever handed out is watched for ever.
CREATE TABLE hub.address (
  address       text COLLATE "C" NOT NULL,
  network       text COLLATE "C" NOT NULL,
  merchant_id   text COLLATE "C" NOT NULL,
  address_id    text COLLATE "C" NOT NULL,
  wallet_index  integer NOT NULL CHECK (wallet_index >= 0),
  created_at    timestamptz NOT NULL DEFAULT now(),
  -- what scans look up, in whatever form it was inserted: one place on the chain has one row
  event_address text COLLATE "C" NOT NULL GENERATED ALWAYS AS (hub.event_address(network, address)) STORED,
  PRIMARY KEY (address, network),
  UNIQUE (event_address, network),
  -- where hub.text_key is the same as chains/text_key.ts
  CHECK (event_address ~ '^[ -~]+$')
);
-- with the network: a plan that was made for an empty table would else read all of a network by another index
CREATE INDEX address_by_event ON hub.address (hub.text_key(event_address), network);

-- How far a network was read. `head` informs, `solid` moves money.
CREATE TABLE hub.cursor (
  network text COLLATE "C" NOT NULL,
  view    text COLLATE "C" NOT NULL CHECK (view IN ('head','solid')),
  height  bigint NOT NULL,
  hash    text COLLATE "C" NOT NULL,
  time    timestamptz NOT NULL,
  -- time of the block before: once that is past a transaction's expiry, no later block can hold it
  previous_time timestamptz NOT NULL,
  PRIMARY KEY (network, view)
);

-- Wake-ups that outlive the process.
CREATE TABLE hub.timer (
  actor   text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  due_at  timestamptz NOT NULL,
  payload jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (actor, name)
);
CREATE INDEX timer_due ON hub.timer (due_at);
