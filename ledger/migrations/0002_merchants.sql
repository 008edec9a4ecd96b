-- Merchants, and the money of each: balances, the accounts of the system, and every posting between them.

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
  direct_deposit_fee      numeric(38,18) NOT NULL DEFAULT 1 CHECK (direct_deposit_fee BETWEEN 0 AND 1000000000000),
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

-- The narrow, hot part of a merchant. Version and last commit are the fence that every money commit compares.
-- A version alone can be reached again: a standby that takes over without the last commits counts on from
-- where it stood; the id of a commit is made once, so that what was decided on another history misses. The
-- counters number the rows of the merchant's lists without gaps. fillfactor leaves room for in-page updates.
CREATE TABLE book.account (
  merchant_id     text COLLATE "C" PRIMARY KEY REFERENCES book.merchant,
  version         bigint NOT NULL DEFAULT 0,
  deposit_seq     bigint NOT NULL DEFAULT 0,
  withdrawal_seq  bigint NOT NULL DEFAULT 0,
  transaction_seq bigint NOT NULL DEFAULT 0,
  charge_seq      bigint NOT NULL DEFAULT 0,
  settlement_seq  bigint NOT NULL DEFAULT 0,
  last_at         timestamptz NOT NULL DEFAULT '1970-01-01',
  last_commit     uuid NOT NULL DEFAULT gen_random_uuid()
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

-- Amounts that are not added to book.system_balance yet. Every commit of every merchant and node moves
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
