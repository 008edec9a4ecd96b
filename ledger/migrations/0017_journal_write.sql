-- The journal's single write: one call, one transaction, for one batch of merchants' decisions.
-- Fixed steps: lock the accounts in order; name the merchants whose version or compare-and-set missed;
-- if there are any, write nothing, and the caller sends the rest again without them; otherwise write
-- every row. A unique key that was taken meanwhile has the batch decided again. Any other broken
-- constraint is a bug, and the journal looks for the message that caused it.
-- Parameters are passed by name: ledger/rows.ts lists the kinds of rows.

CREATE TYPE book.account_change AS (
  merchant_id     text COLLATE "C",
  version         bigint,
  last_commit     uuid,
  deposit_seq     bigint,
  withdrawal_seq  bigint,
  transaction_seq bigint,
  charge_seq      bigint,
  settlement_seq  bigint,
  last_at         timestamptz
);
CREATE TYPE book.balance_key AS (merchant_id text, currency text, network text);
CREATE TYPE book.outgoing_void AS (id text, merchant_id text, from_status text, reason text);
CREATE TYPE book.inbox_key AS (merchant_id text, network text, txid text, log_index integer, phase text);

-- A withdrawal as it begins in the ordinary way, PENDING and queued: all its rows follow from this one
-- (ledger/payment_rows.ts). One row is sent and read where eight are written.
CREATE TYPE book.payout_opening AS (
  id text COLLATE "C", merchant_id text COLLATE "C", seq bigint, transaction_id text COLLATE "C", transaction_seq bigint,
  charge_seq bigint, commission_charge_id text COLLATE "C", network_fee_charge_id text COLLATE "C",
  outgoing_id text COLLATE "C", currency text COLLATE "C", network text COLLATE "C",
  amount numeric(38,18), base_fee numeric(38,18), markup_rate numeric(19,18), markup_amount numeric(38,18),
  network_fee numeric(38,18), margin numeric(38,18), margin_to text COLLATE "C", effect numeric(38,18),
  destination text COLLATE "C", from_address text COLLATE "C", reference_id text, description text,
  created_at timestamptz, created_by text COLLATE "C", created_admin text COLLATE "C"
);

-- Which batches were committed: answers "did it?" after a connection was lost during a commit.
CREATE TABLE book.commit_log (
  id         text COLLATE "C" PRIMARY KEY,
  survivors  text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX commit_log_age ON book.commit_log USING brin (created_at);

-- The rows of each table as plain types. PostgreSQL copies every CHECK constraint of a table each
-- time it unfolds an array of the table's own row type, which cost a fifth of a small batch. What the journal
-- does not write is left out: `outgoing.tries`.
DO $$
DECLARE
  v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY[
    'entry', 'withdrawal', 'deposit', 'transaction', 'charge', 'outgoing', 'outbox',
    'deposit_address', 'merchant', 'settlement', 'settlement_address', 'margin', 'inbox', 'ingested', 'audit'
  ] LOOP
    EXECUTE format('CREATE TYPE book.%I AS (%s)', v_table || '_row', (
      SELECT string_agg(format('%I %s%s', a.attname, format_type(a.atttypid, a.atttypmod),
                               CASE WHEN c.collname = 'C' THEN ' COLLATE "C"' ELSE '' END), ', ' ORDER BY a.attnum)
      FROM pg_attribute a LEFT JOIN pg_collation c ON c.oid = a.attcollation
      WHERE a.attrelid = format('book.%I', v_table)::regclass AND a.attnum > 0 AND NOT a.attisdropped
        AND (v_table, a.attname) <> ('outgoing', 'tries')));
  END LOOP;
END $$;

-- Full buckets of all lists of an account together: none of its counters ever falls.
CREATE FUNCTION book.full_buckets(deposit_seq bigint, withdrawal_seq bigint, transaction_seq bigint, charge_seq bigint, settlement_seq bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE
RETURN deposit_seq / 250 + withdrawal_seq / 250 + transaction_seq / 250 + charge_seq / 250 + settlement_seq / 250;

CREATE FUNCTION book.commit_batch(
  p_commit_id        text,
  p_epoch            uuid,
  p_accounts         book.account_change[],
  p_opened           book.balance_key[],
  p_openings         book.payout_opening[],
  p_entries          book.entry_row[],
  p_new_withdrawals  book.withdrawal_row[],
  p_withdrawals      book.withdrawal_row[],
  p_new_deposits     book.deposit_row[],
  p_deposits         book.deposit_row[],
  p_new_transactions book.transaction_row[],
  p_transactions     book.transaction_row[],
  p_charges          book.charge_row[],
  p_outgoing         book.outgoing_row[],
  p_voided           book.outgoing_void[],
  p_events           book.outbox_row[],
  p_new_addresses    book.deposit_address_row[],
  p_addresses        book.deposit_address_row[],
  p_consumed         book.inbox_key[],
  p_merchants        book.merchant_row[],
  p_new_settlements  book.settlement_row[],
  p_settlements      book.settlement_row[],
  p_new_whitelist    book.settlement_address_row[],
  p_whitelist        book.settlement_address_row[],
  p_margins          book.margin_row[],
  p_inbox            book.inbox_row[],
  p_ingested         book.ingested_row[],
  p_audits           book.audit_row[]
) RETURNS TABLE (merchant_id text, reason text)
LANGUAGE plpgsql
-- Some thirty statements: planning them anew takes ten times as long as a small batch. A kept plan
-- must not depend on how large the tables were when it was made: always by index, row by row, and
-- records by the index of their id (IS NOT DISTINCT FROM keeps it from those that begin with the
-- merchant, which look as good on a small table and read all of a merchant's rows on a large one).
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
-- Any other row of a merchant is waited for but a moment: one that another session holds (left open by
-- hand) must stop its merchant alone, and the caller tries merchants apart to find whose it is.
SET lock_timeout = '50ms'
AS $$
#variable_conflict use_column
DECLARE
  v_ids      text[];
  v_versions bigint[];
  v_commits  uuid[];
  v_free     text[];
  v_found    bigint[];
  v_last     uuid[];
  v_full     bigint[];
  v_full_now bigint[];
  v_stopped  text[];
  v_count    bigint;
  v_bad      boolean;
BEGIN
  IF (SELECT s.epoch FROM book.setting s) <> p_epoch THEN
    RETURN QUERY SELECT s.merchant_id, 'epoch' FROM unnest(p_accounts) s;
    RETURN;
  END IF;

  -- 1. lock in order; a merchant that was decided on another version or another history than the row's is out,
  --    and so is one whose row is locked: no batch waits for the account of one of its merchants
  SELECT array_agg(s.merchant_id), array_agg(s.version), array_agg(s.last_commit), array_agg(book.full_buckets(
    s.deposit_seq, s.withdrawal_seq, s.transaction_seq, s.charge_seq, s.settlement_seq))
  INTO v_ids, v_versions, v_commits, v_full_now FROM (SELECT * FROM unnest(p_accounts) x ORDER BY x.merchant_id) s;
  SELECT array_agg(a.merchant_id), array_agg(a.version), array_agg(a.last_commit), array_agg(a.full_buckets)
  INTO v_free, v_found, v_last, v_full
  FROM (SELECT x.merchant_id, x.version, x.last_commit, book.full_buckets(x.deposit_seq, x.withdrawal_seq,
          x.transaction_seq, x.charge_seq, x.settlement_seq) AS full_buckets
        FROM book.account x WHERE x.merchant_id = ANY (v_ids)
        ORDER BY x.merchant_id FOR NO KEY UPDATE SKIP LOCKED) a;
  IF v_free IS DISTINCT FROM v_ids OR v_found <> v_versions OR v_last <> v_commits THEN
    RETURN QUERY
      SELECT s.merchant_id, CASE WHEN f.merchant_id IS NULL AND a.merchant_id IS NOT NULL THEN 'locked' ELSE 'version' END
      FROM unnest(p_accounts) s
      LEFT JOIN unnest(v_free, v_found, v_last) AS f(merchant_id, version, last_commit) ON f.merchant_id = s.merchant_id
      LEFT JOIN book.account a ON a.merchant_id = s.merchant_id
      WHERE f.version IS DISTINCT FROM s.version OR f.last_commit IS DISTINCT FROM s.last_commit;
    RETURN;
  END IF;

  -- 2. money comes back only together with its payout's row: exactly one of refund and signing wins
  IF cardinality(p_voided) > 0 THEN
    v_free := ARRAY(SELECT o.id FROM book.outgoing o JOIN unnest(p_voided) v ON v.id = o.id AND v.merchant_id = o.merchant_id
                    ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED);
    RETURN QUERY
      SELECT DISTINCT ON (v.merchant_id) v.merchant_id, CASE WHEN o.id <> ALL (v_free) THEN 'locked' ELSE 'outgoing' END
      FROM unnest(p_voided) v LEFT JOIN book.outgoing o ON o.id = v.id AND o.merchant_id = v.merchant_id
      WHERE o.id IS NULL OR o.id <> ALL (v_free) OR o.status <> v.from_status
      ORDER BY v.merchant_id;
    IF FOUND THEN
      RETURN;
    END IF;
    -- what is queued here may be signed and paid in a history that the database has lost: no refund of it while
    -- signing is stopped. The session that commits asks: the answer of an earlier one may be of the lost history.
    IF EXISTS (SELECT FROM unnest(p_voided) v JOIN unnest(p_withdrawals) w ON w.outgoing_id = v.id
               WHERE v.from_status = 'queued' AND w.status <> 'CONFIRMED') THEN
      v_stopped := ARRAY(
        SELECT n.network FROM (SELECT DISTINCT w.network FROM unnest(p_voided) v
          JOIN unnest(p_withdrawals) w ON w.outgoing_id = v.id WHERE v.from_status = 'queued') n
        WHERE hub.signing_stop(n.network) IS NOT NULL);
      RETURN QUERY
        SELECT DISTINCT v.merchant_id, 'stopped' FROM unnest(p_voided) v JOIN unnest(p_withdrawals) w ON w.outgoing_id = v.id
        WHERE v.from_status = 'queued' AND w.status <> 'CONFIRMED' AND w.network = ANY (v_stopped);
      IF FOUND THEN
        RETURN;
      END IF;
    END IF;
  END IF;

  -- 3. counts and sums of full buckets: images before and after of changed rows. Rows of the last bucket
  --    are counted when they are read, and added up below when it is full.
  IF cardinality(p_withdrawals) + cardinality(p_deposits) + cardinality(p_transactions)
     + cardinality(p_settlements) > 0 THEN
    WITH change AS (
      SELECT c.merchant_id, 'withdrawal' AS list, c.seq, c.currency, c.network, c.status, '' AS type, 1 AS n, 0::numeric AS effect
        FROM unnest(p_withdrawals) c JOIN book.account a ON a.merchant_id = c.merchant_id
        WHERE c.seq <= a.withdrawal_seq / 250 * 250
      UNION ALL
      SELECT o.merchant_id, 'withdrawal', o.seq, o.currency, o.network, o.status, '', -1, 0
        FROM unnest(p_withdrawals) c JOIN book.account a ON a.merchant_id = c.merchant_id
        JOIN book.withdrawal o ON o.id = c.id AND o.merchant_id IS NOT DISTINCT FROM c.merchant_id
        WHERE c.seq <= a.withdrawal_seq / 250 * 250
      UNION ALL
      SELECT c.merchant_id, 'deposit', c.seq, c.currency, c.network, c.status, '', 1, 0
        FROM unnest(p_deposits) c JOIN book.account a ON a.merchant_id = c.merchant_id
        WHERE c.seq <= a.deposit_seq / 250 * 250
      UNION ALL
      SELECT o.merchant_id, 'deposit', o.seq, o.currency, o.network, o.status, '', -1, 0
        FROM unnest(p_deposits) c JOIN book.account a ON a.merchant_id = c.merchant_id
        JOIN book.deposit o ON o.id = c.id AND o.merchant_id IS NOT DISTINCT FROM c.merchant_id
        WHERE c.seq <= a.deposit_seq / 250 * 250
      UNION ALL
      SELECT c.merchant_id, 'transaction', c.seq, c.currency, c.network, c.status, c.type, 1, c.effect
        FROM unnest(p_transactions) c JOIN book.account a ON a.merchant_id = c.merchant_id
        WHERE c.seq <= a.transaction_seq / 250 * 250
      UNION ALL
      SELECT o.merchant_id, 'transaction', o.seq, o.currency, o.network, o.status, o.type, -1, -o.effect
        FROM unnest(p_transactions) c JOIN book.account a ON a.merchant_id = c.merchant_id
        JOIN book.transaction o ON o.merchant_id = c.merchant_id AND o.seq = c.seq
        WHERE c.seq <= a.transaction_seq / 250 * 250
      UNION ALL
      SELECT c.merchant_id, 'settlement', c.seq, c.currency, c.network, c.status, '', 1, 0
        FROM unnest(p_settlements) c JOIN book.account a ON a.merchant_id = c.merchant_id
        WHERE c.seq <= a.settlement_seq / 250 * 250
      UNION ALL
      SELECT o.merchant_id, 'settlement', o.seq, o.currency, o.network, o.status, '', -1, 0
        FROM unnest(p_settlements) c JOIN book.account a ON a.merchant_id = c.merchant_id
        JOIN book.settlement o ON o.id = c.id AND o.merchant_id IS NOT DISTINCT FROM c.merchant_id
        WHERE c.seq <= a.settlement_seq / 250 * 250
    ), folded AS (
      SELECT merchant_id, list, (seq - 1) / 250 AS bucket, currency, network, status, type, sum(n) AS n, sum(effect) AS effect
      FROM change GROUP BY 1, 2, 3, 4, 5, 6, 7
      HAVING sum(n) <> 0 OR sum(effect) <> 0
    ), written AS (
      INSERT INTO book.list_bucket AS b (merchant_id, list, bucket, currency, network, status, type, count, effect)
      SELECT merchant_id, list, bucket, currency, network, status, type, n, effect FROM folded ORDER BY 1, 2, 3, 4, 5, 6, 7
      ON CONFLICT (merchant_id, list, bucket, currency, network, status, type)
      DO UPDATE SET count = b.count + excluded.count, effect = b.effect + excluded.effect
      RETURNING b.count
    ), summed AS (
      INSERT INTO book.list_large_bucket AS b (merchant_id, list, large_bucket, currency, network, status, type, count, effect)
      SELECT f.merchant_id, f.list, f.bucket / 256, f.currency, f.network, f.status, f.type, sum(f.n), sum(f.effect)
      FROM folded f JOIN book.list_summed s ON s.merchant_id = f.merchant_id AND s.list = f.list AND f.bucket / 256 < s.large_buckets
      GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7
      ON CONFLICT (merchant_id, list, large_bucket, currency, network, status, type)
      DO UPDATE SET count = b.count + excluded.count, effect = b.effect + excluded.effect
    )
    SELECT bool_or(count < 0) INTO v_bad FROM written;
    IF v_bad THEN
      RAISE EXCEPTION 'Cannot keep a list count as it would fall below zero' USING ERRCODE = 'check_violation';
    END IF;
  END IF;

  -- 4. records: changes first, so that a released reference is free for a new withdrawal
  IF cardinality(p_withdrawals) > 0 THEN
    UPDATE book.withdrawal w SET status = c.status, reason = c.reason, txid = c.txid, processed_at = c.processed_at,
      approved_by = c.approved_by, approved_admin = c.approved_admin
    FROM unnest(p_withdrawals) c WHERE w.id = c.id AND w.merchant_id IS NOT DISTINCT FROM c.merchant_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_withdrawals) THEN
      RAISE EXCEPTION 'Cannot change withdrawals as some do not exist: % of %', v_count, cardinality(p_withdrawals);
    END IF;
  END IF;
  IF cardinality(p_deposits) > 0 THEN
    UPDATE book.deposit d SET status = c.status, reason = c.reason, currency = c.currency, amount = c.amount,
      sender = c.sender, commission = c.commission,
      commission_rate = c.commission_rate, fixed_fee = c.fixed_fee, usd_rate = c.usd_rate, height = c.height,
      expires_at = c.expires_at, metadata = c.metadata, updated_at = c.updated_at, cleared_at = c.cleared_at,
      margin = c.margin, margin_to = c.margin_to, approved_by = c.approved_by, approved_admin = c.approved_admin,
      endorsed_by = c.endorsed_by, endorsed_admin = c.endorsed_admin
    FROM unnest(p_deposits) c WHERE d.id = c.id AND d.merchant_id IS NOT DISTINCT FROM c.merchant_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_deposits) THEN
      RAISE EXCEPTION 'Cannot change deposits as some do not exist: % of %', v_count, cardinality(p_deposits);
    END IF;
  END IF;
  IF cardinality(p_transactions) > 0 THEN
    UPDATE book.transaction t SET status = c.status, currency = c.currency, effect = c.effect, fee = c.fee,
      txid = c.txid, height = c.height, from_address = c.from_address
    FROM unnest(p_transactions) c WHERE t.merchant_id = c.merchant_id AND t.seq = c.seq;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_transactions) THEN
      RAISE EXCEPTION 'Cannot change transactions as some do not exist: % of %', v_count, cardinality(p_transactions);
    END IF;
  END IF;
  IF cardinality(p_settlements) > 0 THEN
    UPDATE book.settlement s SET status = c.status, reason = c.reason, updated_at = c.updated_at, history = c.history,
      approved_by = c.approved_by, approved_admin = c.approved_admin
    FROM unnest(p_settlements) c WHERE s.id = c.id AND s.merchant_id IS NOT DISTINCT FROM c.merchant_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_settlements) THEN
      RAISE EXCEPTION 'Cannot change settlements as some do not exist: % of %', v_count, cardinality(p_settlements);
    END IF;
  END IF;
  IF cardinality(p_whitelist) > 0 THEN
    UPDATE book.settlement_address a SET active = c.active, removed_at = c.removed_at,
      approved_by = c.approved_by, approved_admin = c.approved_admin
    FROM unnest(p_whitelist) c WHERE a.id = c.id AND a.merchant_id IS NOT DISTINCT FROM c.merchant_id;
  END IF;
  IF cardinality(p_addresses) > 0 THEN
    UPDATE book.deposit_address a SET reference_id = c.reference_id, activated = c.activated
    FROM unnest(p_addresses) c WHERE a.id = c.id AND a.merchant_id IS NOT DISTINCT FROM c.merchant_id;
  END IF;
  IF cardinality(p_merchants) > 0 THEN
    UPDATE book.merchant m SET status = c.status, name = c.name, deposit_commission_rate = c.deposit_commission_rate,
      direct_deposit_fee = c.direct_deposit_fee, webhook_url = c.webhook_url, webhook_secret = c.webhook_secret,
      webhook_secret_previous = c.webhook_secret_previous, webhook_previous_until = c.webhook_previous_until,
      webhook_enabled = c.webhook_enabled, webhook_events = c.webhook_events, webhook_timeout_ms = c.webhook_timeout_ms,
      webhook_retry_count = c.webhook_retry_count, success_url = c.success_url, failure_url = c.failure_url,
      page_origins = c.page_origins, logo_color = c.logo_color,
      rate_limits = c.rate_limits, reseller_id = c.reseller_id, margin_rate = c.margin_rate,
      margin_beneficiary = c.margin_beneficiary
    FROM unnest(p_merchants) c WHERE m.merchant_id = c.merchant_id;
  END IF;

  IF cardinality(p_openings) > 0 THEN
    INSERT INTO book.withdrawal (id, merchant_id, seq, transaction_seq, outgoing_id, currency, network, amount, base_fee,
      markup_rate, markup_amount, network_fee, margin, margin_to, destination, reference_id, description, status, created_at,
      created_by, created_admin)
    SELECT id, merchant_id, seq, transaction_seq, outgoing_id, currency, network, amount, base_fee,
      markup_rate, markup_amount, network_fee, margin, margin_to, destination, reference_id, description, 'PENDING', created_at,
      created_by, created_admin
    FROM unnest(p_openings);
    INSERT INTO book.transaction (merchant_id, seq, id, payment_id, type, status, currency, network, effect, fee,
      from_address, to_address, reference_id, description, created_at)
    SELECT merchant_id, transaction_seq, transaction_id, id, 'WITHDRAWAL', 'PENDING', currency, network, effect,
      base_fee + markup_amount + network_fee, from_address, destination, reference_id, description, created_at
    FROM unnest(p_openings);
    INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, wallet, destination, status,
      attempts, created_at, updated_at)
    SELECT outgoing_id, merchant_id, 'payout', id, network, currency, amount, 'hot', destination, 'queued',
      0, created_at, created_at
    FROM unnest(p_openings);
    INSERT INTO book.charge (merchant_id, seq, id, payment_id, type, currency, network, amount, created_at)
    SELECT o.merchant_id, c.seq, c.id, o.id, c.type, o.currency, o.network, c.amount, o.created_at
    FROM unnest(p_openings) o CROSS JOIN LATERAL (VALUES
      (o.charge_seq, o.commission_charge_id, 'WITHDRAWAL_COMMISSION', o.base_fee + o.markup_amount),
      (o.charge_seq + (o.base_fee + o.markup_amount > 0)::int, o.network_fee_charge_id, 'NETWORK_FEE', o.network_fee))
      c(seq, id, type, amount)
    WHERE c.amount > 0;
    INSERT INTO book.entry (payment_id, leg, merchant_id, from_account, to_account, currency, network, amount, created_at)
    SELECT o.id, l.leg, o.merchant_id, 'available', l.account, o.currency, o.network, l.amount, o.created_at
    FROM unnest(p_openings) o CROSS JOIN LATERAL (VALUES
      ('reserve', 'reserved', o.amount), ('commission', 'commission', o.base_fee + o.markup_amount),
      ('network_fee', 'network_fee', o.network_fee)) l(leg, account, amount)
    WHERE l.amount > 0;
  END IF;
  IF cardinality(p_new_withdrawals) > 0 THEN
    INSERT INTO book.withdrawal SELECT * FROM unnest(p_new_withdrawals);
  END IF;
  IF cardinality(p_new_deposits) > 0 THEN
    INSERT INTO book.deposit SELECT * FROM unnest(p_new_deposits);
  END IF;
  IF cardinality(p_new_transactions) > 0 THEN
    INSERT INTO book.transaction SELECT * FROM unnest(p_new_transactions);
  END IF;
  IF cardinality(p_events) > 0 THEN
    INSERT INTO book.outbox SELECT * FROM unnest(p_events);
  END IF;
  IF cardinality(p_new_addresses) > 0 THEN
    INSERT INTO book.deposit_address SELECT * FROM unnest(p_new_addresses);
    -- It was made known to the watcher in a commit before this one. Where the history changed between the
    -- two, the account of lost addresses watches it, or nothing does: it is watched for its merchant from here on.
    v_bad := EXISTS (
      SELECT FROM unnest(p_new_addresses) n LEFT JOIN hub.address w ON w.address = n.address AND w.network = n.network
      WHERE w.merchant_id IS DISTINCT FROM n.merchant_id);
    IF v_bad THEN
      INSERT INTO hub.address AS w (address, network, merchant_id, address_id, wallet_index)
      SELECT n.address, n.network, n.merchant_id, n.id, n.wallet_index FROM unnest(p_new_addresses) n
      ORDER BY n.network, n.wallet_index
      ON CONFLICT (address, network) DO UPDATE SET merchant_id = excluded.merchant_id, address_id = excluded.address_id
      WHERE w.merchant_id = 'mer_lost';
      IF EXISTS (
        SELECT FROM unnest(p_new_addresses) n JOIN hub.address w ON w.address = n.address AND w.network = n.network
        WHERE w.merchant_id <> n.merchant_id) THEN
        RAISE EXCEPTION 'Cannot hand out an address as another merchant has it' USING ERRCODE = 'check_violation';
      END IF;
    END IF;
  END IF;
  IF cardinality(p_outgoing) > 0 THEN
    INSERT INTO book.outgoing SELECT * FROM unnest(p_outgoing);
  END IF;
  IF cardinality(p_new_settlements) > 0 THEN
    INSERT INTO book.settlement SELECT * FROM unnest(p_new_settlements);
  END IF;
  IF cardinality(p_new_whitelist) > 0 THEN
    INSERT INTO book.settlement_address SELECT * FROM unnest(p_new_whitelist);
  END IF;
  IF cardinality(p_margins) > 0 THEN
    INSERT INTO book.margin SELECT * FROM unnest(p_margins);
    INSERT INTO book.margin_day AS d
      (merchant_id, beneficiary, day, currency, network, events, volume, fee, earned, reversed)
    SELECT merchant_id, beneficiary, (created_at AT TIME ZONE 'UTC')::date, currency, network,
      count(*) FILTER (WHERE fee > 0), sum(volume), sum(fee), sum(earned), sum(reversed)
    FROM unnest(p_margins) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (merchant_id, beneficiary, day, currency, network)
    DO UPDATE SET events = d.events + excluded.events, volume = d.volume + excluded.volume,
      fee = d.fee + excluded.fee, earned = d.earned + excluded.earned, reversed = d.reversed + excluded.reversed;
  END IF;
  IF cardinality(p_inbox) > 0 THEN
    INSERT INTO book.inbox SELECT * FROM unnest(p_inbox) ON CONFLICT DO NOTHING;
  END IF;
  IF cardinality(p_ingested) > 0 THEN
    INSERT INTO book.ingested SELECT * FROM unnest(p_ingested);
  END IF;
  IF cardinality(p_audits) > 0 THEN
    INSERT INTO book.audit SELECT * FROM unnest(p_audits);
  END IF;
  IF cardinality(p_charges) > 0 THEN
    INSERT INTO book.charge SELECT * FROM unnest(p_charges);
  END IF;
  -- buckets that this batch has filled, from the rows themselves
  IF v_full_now <> v_full THEN
    INSERT INTO book.list_bucket
    SELECT b.* FROM unnest(p_accounts) s JOIN book.account a ON a.merchant_id = s.merchant_id
    CROSS JOIN LATERAL (VALUES
      ('withdrawal', a.withdrawal_seq / 250, s.withdrawal_seq / 250),
      ('deposit', a.deposit_seq / 250, s.deposit_seq / 250),
      ('transaction', a.transaction_seq / 250, s.transaction_seq / 250),
      ('charge', a.charge_seq / 250, s.charge_seq / 250),
      ('settlement', a.settlement_seq / 250, s.settlement_seq / 250)) l(list, full_before, full_now)
    CROSS JOIN LATERAL book.count_rows(l.list, s.merchant_id, l.full_before, l.full_now) b
    WHERE l.full_now > l.full_before
    -- what the rows say counts, should anything else have written a count there
    ON CONFLICT (merchant_id, list, bucket, currency, network, status, type)
    DO UPDATE SET count = excluded.count, effect = excluded.effect;
  END IF;
  IF cardinality(p_voided) > 0 THEN
    UPDATE book.outgoing o SET status = 'void', reason = v.reason, lease_until = NULL, updated_at = now()
    FROM unnest(p_voided) v WHERE o.id = v.id AND o.merchant_id = v.merchant_id AND o.status = v.from_status;
  END IF;

  -- 5. entries, and balances as their sums: the two cannot disagree
  IF cardinality(p_entries) + cardinality(p_openings) > 0 THEN
    INSERT INTO book.entry SELECT * FROM unnest(p_entries);
    IF cardinality(p_opened) > 0 THEN
      INSERT INTO book.balance (merchant_id, currency, network, updated_at)
      SELECT o.merchant_id, o.currency, o.network, s.last_at
      FROM unnest(p_opened) o JOIN unnest(p_accounts) s ON s.merchant_id = o.merchant_id;
    END IF;
    WITH movement AS (
      SELECT merchant_id, currency, network, created_at,
        CASE 'available' WHEN to_account THEN amount WHEN from_account THEN -amount ELSE 0 END AS available,
        CASE 'pending' WHEN to_account THEN amount WHEN from_account THEN -amount ELSE 0 END AS pending,
        CASE 'reserved' WHEN to_account THEN amount WHEN from_account THEN -amount ELSE 0 END AS reserved
      FROM unnest(p_entries)
      UNION ALL
      SELECT merchant_id, currency, network, created_at, -(amount + base_fee + markup_amount + network_fee), 0, amount
      FROM unnest(p_openings)
    ), delta AS (
      SELECT merchant_id, currency, network, max(created_at) AS at,
        sum(available) AS available, sum(pending) AS pending, sum(reserved) AS reserved
      FROM movement GROUP BY 1, 2, 3
    ), moved AS (
      UPDATE book.balance b SET available = b.available + d.available, pending = b.pending + d.pending,
        reserved = b.reserved + d.reserved, updated_at = d.at
      FROM delta d WHERE b.merchant_id = d.merchant_id AND b.currency = d.currency AND b.network = d.network
      RETURNING 1
    )
    SELECT (SELECT count(*) FROM delta) <> (SELECT count(*) FROM moved) INTO v_bad;
    IF v_bad THEN
      RAISE EXCEPTION 'Cannot post as a balance row is missing';
    END IF;
    INSERT INTO book.system_delta (account, currency, network, amount)
    SELECT account, currency, network, sum(amount) FROM (
      SELECT to_account AS account, currency, network, amount FROM unnest(p_entries)
      UNION ALL
      SELECT from_account, currency, network, -amount FROM unnest(p_entries)
      UNION ALL
      SELECT 'commission', currency, network, base_fee + markup_amount FROM unnest(p_openings)
      UNION ALL
      SELECT 'network_fee', currency, network, network_fee FROM unnest(p_openings)) leg
    WHERE account NOT IN ('available','pending','reserved')
    GROUP BY 1, 2, 3 HAVING sum(amount) <> 0;
  END IF;

  -- 6. what was consumed, the fence, and the proof that this batch happened
  IF cardinality(p_consumed) > 0 THEN
    UPDATE book.inbox i SET consumed_at = now()
    FROM unnest(p_consumed) c
    WHERE i.merchant_id = c.merchant_id AND i.network = c.network AND i.txid = c.txid
      AND i.log_index = c.log_index AND i.phase = c.phase AND i.consumed_at IS NULL;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_consumed) THEN
      RAISE EXCEPTION 'Cannot consume inbox rows as some are gone: % of %', v_count, cardinality(p_consumed);
    END IF;
  END IF;
  UPDATE book.account a SET version = a.version + 1, last_commit = p_commit_id::uuid, deposit_seq = s.deposit_seq, withdrawal_seq = s.withdrawal_seq,
    transaction_seq = s.transaction_seq, charge_seq = s.charge_seq, settlement_seq = s.settlement_seq, last_at = s.last_at
  FROM unnest(p_accounts) s WHERE a.merchant_id = s.merchant_id;
  INSERT INTO book.commit_log (id, survivors)
  VALUES (p_commit_id, ARRAY(SELECT s.merchant_id FROM unnest(p_accounts) s));
END $$;

-- Settles what became of a batch whose answer was lost. An account that nothing holds is locked and given
-- a fence that is never reached again: a write that is still on its way can no longer land on it. One that
-- is locked may be just being written by that batch: it is named as waiting, and asked about again. For
-- all others the answer is final.
CREATE FUNCTION book.resolve_commit(p_commit_id text, p_merchant_ids text[], OUT survivors text[], OUT waiting text[])
LANGUAGE plpgsql AS $$
DECLARE
  v_fenced text[];
BEGIN
  v_fenced := ARRAY(SELECT a.merchant_id FROM book.account a WHERE a.merchant_id = ANY (p_merchant_ids)
                    ORDER BY a.merchant_id FOR NO KEY UPDATE SKIP LOCKED);
  UPDATE book.account a SET version = a.version + 1, last_commit = gen_random_uuid() WHERE a.merchant_id = ANY (v_fenced);
  survivors := (SELECT c.survivors FROM book.commit_log c WHERE c.id = p_commit_id);
  waiting := ARRAY(SELECT a.merchant_id FROM book.account a
                   WHERE a.merchant_id = ANY (p_merchant_ids) AND a.merchant_id <> ALL (v_fenced));
END $$;
