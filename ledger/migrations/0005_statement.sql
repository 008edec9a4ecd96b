-- A merchant's statement, charges and margins, and the counts and sums behind the pages and totals of its lists.

-- The merchant's statement. `effect` is the row's whole effect on available; running balances are
-- sums of effects in the order of `seq`, kept per 250 rows in book.list_bucket.
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
CREATE TRIGGER margin_is_written_once BEFORE UPDATE OR DELETE ON book.margin FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

-- Margins per day (UTC), kept in the commits that take them. events counts the fees, not their
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

-- Counts and sums per 250 rows of a list: fewer, and the sums were many; more, and a page whose rows lie far
-- apart would read too many others. The commit that writes the last row of a bucket adds it up; later ones that
-- change a row of it keep it. The rows after the last full bucket are counted when they are read. `effect` sums what a
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

-- Counts and sums of a merchant's list from one bucket to before another, from the rows themselves.
CREATE FUNCTION book.count_rows(p_list text, p_merchant_id text, p_from bigint, p_until bigint)
RETURNS SETOF book.list_bucket LANGUAGE plpgsql STABLE ROWS 5
SET enable_seqscan = off AS $$
BEGIN
  CASE p_list
    WHEN 'withdrawal' THEN RETURN QUERY
      SELECT r.merchant_id, p_list, (r.seq - 1) / 250, r.currency, r.network, r.status, '', count(*)::int, 0::numeric(58,18)
      FROM book.withdrawal r WHERE r.merchant_id = p_merchant_id AND r.seq > p_from * 250 AND r.seq <= p_until * 250
      GROUP BY 1, 3, 4, 5, 6;
    WHEN 'deposit' THEN RETURN QUERY
      SELECT r.merchant_id, p_list, (r.seq - 1) / 250, r.currency, r.network, r.status, '', count(*)::int, 0::numeric(58,18)
      FROM book.deposit r WHERE r.merchant_id = p_merchant_id AND r.seq > p_from * 250 AND r.seq <= p_until * 250
      GROUP BY 1, 3, 4, 5, 6;
    WHEN 'settlement' THEN RETURN QUERY
      SELECT r.merchant_id, p_list, (r.seq - 1) / 250, r.currency, r.network, r.status, '', count(*)::int, 0::numeric(58,18)
      FROM book.settlement r WHERE r.merchant_id = p_merchant_id AND r.seq > p_from * 250 AND r.seq <= p_until * 250
      GROUP BY 1, 3, 4, 5, 6;
    WHEN 'transaction' THEN RETURN QUERY
      SELECT r.merchant_id, p_list, (r.seq - 1) / 250, r.currency, r.network, r.status, r.type, count(*)::int, sum(r.effect)::numeric(58,18)
      FROM book.transaction r WHERE r.merchant_id = p_merchant_id AND r.seq > p_from * 250 AND r.seq <= p_until * 250
      GROUP BY 1, 3, 4, 5, 6, 7;
    WHEN 'charge' THEN RETURN QUERY
      SELECT r.merchant_id, p_list, (r.seq - 1) / 250, r.currency, r.network, '', r.type, count(*)::int, sum(r.amount)::numeric(58,18)
      FROM book.charge r WHERE r.merchant_id = p_merchant_id AND r.seq > p_from * 250 AND r.seq <= p_until * 250
      GROUP BY 1, 3, 4, 5, 7;
  END CASE;
END $$;

-- The rows of a list after its last full bucket, as a bucket of their own.
CREATE FUNCTION book.last_bucket(p_list text, p_merchant_id text) RETURNS SETOF book.list_bucket
LANGUAGE sql STABLE ROWS 5 AS $$
  SELECT b.* FROM book.account a
  CROSS JOIN LATERAL (SELECT CASE p_list WHEN 'deposit' THEN a.deposit_seq WHEN 'withdrawal' THEN a.withdrawal_seq
    WHEN 'transaction' THEN a.transaction_seq WHEN 'charge' THEN a.charge_seq ELSE a.settlement_seq END / 250 AS bucket) l
  CROSS JOIN LATERAL book.count_rows(p_list, a.merchant_id, l.bucket, l.bucket + 1) b
  WHERE a.merchant_id = p_merchant_id
$$;

-- Counts and sums per 256 buckets (64,000 rows), so that a page, a total and a running balance cost the same
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

-- Sums the large buckets of a merchant's lists that have all their rows. Under the lock of its account, as
-- every commit: nothing of them changes meanwhile.
CREATE FUNCTION book.sum_large_buckets(p_merchant_id text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_account book.account;
  v_list    text;
  v_rows    bigint;
  v_done    bigint;
BEGIN
  SELECT * INTO v_account FROM book.account a WHERE a.merchant_id = p_merchant_id FOR UPDATE;
  FOR v_list, v_rows IN VALUES ('deposit', v_account.deposit_seq), ('withdrawal', v_account.withdrawal_seq),
      ('transaction', v_account.transaction_seq), ('settlement', v_account.settlement_seq), ('charge', v_account.charge_seq)
  LOOP
    v_done := coalesce((SELECT s.large_buckets FROM book.list_summed s WHERE s.merchant_id = p_merchant_id AND s.list = v_list), 0);
    CONTINUE WHEN v_rows / 64000 <= v_done;
    INSERT INTO book.list_large_bucket
    SELECT b.merchant_id, b.list, b.bucket / 256, b.currency, b.network, b.status, b.type, sum(b.count), sum(b.effect)
    FROM book.list_bucket b
    WHERE b.merchant_id = p_merchant_id AND b.list = v_list AND b.bucket >= v_done * 256 AND b.bucket < v_rows / 64000 * 256
    GROUP BY 1, 2, 3, 4, 5, 6, 7;
    INSERT INTO book.list_summed VALUES (p_merchant_id, v_list, v_rows / 64000)
    ON CONFLICT (merchant_id, list) DO UPDATE SET large_buckets = excluded.large_buckets;
  END LOOP;
END $$;

-- The first row of a merchant's list that is not older than a time. Rows are numbered in the order
-- of their times, so this is a binary search of some 20 index look-ups, whatever the list's length.
-- One past the last row where all are older.
CREATE FUNCTION book.first_seq_since(p_list text, p_merchant_id text, p_time timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_low  bigint := 1;
  v_high bigint;
  v_middle bigint;
  v_at   timestamptz;
BEGIN
  SELECT CASE p_list WHEN 'deposit' THEN a.deposit_seq WHEN 'withdrawal' THEN a.withdrawal_seq
                     WHEN 'transaction' THEN a.transaction_seq WHEN 'charge' THEN a.charge_seq
                     WHEN 'settlement' THEN a.settlement_seq END + 1
  INTO v_high FROM book.account a WHERE a.merchant_id = p_merchant_id;
  IF v_high IS NULL THEN
    RETURN 1;
  END IF;
  WHILE v_low < v_high LOOP
    v_middle := (v_low + v_high) / 2;
    CASE p_list
      WHEN 'deposit' THEN
        SELECT x.created_at INTO v_at FROM book.deposit x WHERE x.merchant_id = p_merchant_id AND x.seq = v_middle;
      WHEN 'withdrawal' THEN
        SELECT x.created_at INTO v_at FROM book.withdrawal x WHERE x.merchant_id = p_merchant_id AND x.seq = v_middle;
      WHEN 'transaction' THEN
        SELECT x.created_at INTO v_at FROM book.transaction x WHERE x.merchant_id = p_merchant_id AND x.seq = v_middle;
      WHEN 'charge' THEN
        SELECT x.created_at INTO v_at FROM book.charge x WHERE x.merchant_id = p_merchant_id AND x.seq = v_middle;
      WHEN 'settlement' THEN
        SELECT x.created_at INTO v_at FROM book.settlement x WHERE x.merchant_id = p_merchant_id AND x.seq = v_middle;
    END CASE;
    IF v_at IS NULL THEN
      RAISE EXCEPTION 'Cannot search a list as a row is missing: % % %', p_list, p_merchant_id, v_middle;
    END IF;
    IF v_at < p_time THEN
      v_low := v_middle + 1;
    ELSE
      v_high := v_middle;
    END IF;
  END LOOP;
  RETURN v_low;
END $$;
