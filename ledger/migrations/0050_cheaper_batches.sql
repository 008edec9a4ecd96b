-- What a batch costs before its first row: less of it, with the same rules. PostgreSQL reads and plans each CHECK of a table
-- anew for every INSERT, so that the five tables of a payout took a quarter of a small batch:
-- constants are written as they are stored (a list is one array, an amount is numeric), where each was folded from an
-- expression at every INSERT; and functions that a CHECK calls have a body that is parsed already (RETURN).

CREATE OR REPLACE FUNCTION book.is_booked(payment_id text) RETURNS boolean LANGUAGE sql IMMUTABLE
-- the service's own transfers name no payment
RETURN coalesce(payment_id LIKE 'wd\_________-____-8%', false);

CREATE OR REPLACE FUNCTION hub.is_canonical_address(network text, address text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN network IN ('TRX','TRX_SHASTA')
    THEN length(address) = 34 AND starts_with(address, 'T') AND address !~ '[^1-9A-HJ-NP-Za-km-z]'
  WHEN network IN ('ETH','SEP','BNB','tBNB') THEN address ~ '^0x[0-9a-fA-F]{40}$'
  ELSE true
END;

ALTER TABLE book.withdrawal
  DROP CONSTRAINT withdrawal_amount_check,
  DROP CONSTRAINT withdrawal_base_fee_check,
  DROP CONSTRAINT withdrawal_markup_rate_check,
  DROP CONSTRAINT withdrawal_markup_amount_check,
  DROP CONSTRAINT withdrawal_network_fee_check,
  DROP CONSTRAINT withdrawal_margin_check,
  DROP CONSTRAINT withdrawal_status_check,
  DROP CONSTRAINT withdrawal_check,
  ADD CONSTRAINT withdrawal_amount_check CHECK (amount > '0'::numeric),
  ADD CONSTRAINT withdrawal_base_fee_check CHECK (base_fee >= '0'::numeric),
  ADD CONSTRAINT withdrawal_markup_rate_check CHECK (markup_rate BETWEEN '0'::numeric AND '1'::numeric),
  ADD CONSTRAINT withdrawal_markup_amount_check CHECK (markup_amount >= '0'::numeric),
  ADD CONSTRAINT withdrawal_network_fee_check CHECK (network_fee >= '0'::numeric),
  ADD CONSTRAINT withdrawal_margin_check CHECK (margin >= '0'::numeric),
  ADD CONSTRAINT withdrawal_status_check CHECK (status = ANY ('{PENDING_APPROVAL,PENDING,CONFIRMED,FAILED,CANCELLED}'::text[])),
  ADD CONSTRAINT withdrawal_check CHECK ((status = ANY ('{CONFIRMED,FAILED,CANCELLED}'::text[])) = (processed_at IS NOT NULL));

ALTER TABLE book.transaction
  DROP CONSTRAINT transaction_fee_check,
  DROP CONSTRAINT transaction_type_check,
  DROP CONSTRAINT transaction_status_check,
  DROP CONSTRAINT transaction_check,
  ADD CONSTRAINT transaction_fee_check CHECK (fee >= '0'::numeric),
  ADD CONSTRAINT transaction_type_check CHECK (type = ANY ('{DEPOSIT,WITHDRAWAL,SETTLEMENT}'::text[])),
  ADD CONSTRAINT transaction_status_check CHECK (status = ANY ('{PENDING,CONFIRMED,FAILED,CANCELLED}'::text[])),
  ADD CONSTRAINT transaction_check CHECK (status <> ALL ('{FAILED,CANCELLED}'::text[]) OR effect = '0'::numeric);

ALTER TABLE book.outgoing
  DROP CONSTRAINT outgoing_amount_check,
  DROP CONSTRAINT outgoing_kind_check,
  DROP CONSTRAINT outgoing_status_check,
  DROP CONSTRAINT outgoing_check,
  DROP CONSTRAINT outgoing_of_platform,
  DROP CONSTRAINT outgoing_asset_of_kind,
  ADD CONSTRAINT outgoing_amount_check CHECK (CASE kind WHEN 'setup' THEN amount = '0'::numeric ELSE amount > '0'::numeric END),
  ADD CONSTRAINT outgoing_kind_check CHECK (kind = ANY ('{payout,settlement,sweep,gas,delegation,reclaim,cold,setup}'::text[])),
  ADD CONSTRAINT outgoing_status_check CHECK (status = ANY ('{queued,signed,final,dead,void}'::text[])),
  ADD CONSTRAINT outgoing_check CHECK ((kind = ANY ('{payout,settlement}'::text[])) = (payment_id IS NOT NULL)),
  ADD CONSTRAINT outgoing_of_platform CHECK ((merchant_id = 'mer_platform') = (kind <> ALL ('{payout,settlement}'::text[]))),
  ADD CONSTRAINT outgoing_asset_of_kind CHECK (kind = 'cold' OR (currency = 'native') = (kind = ANY ('{gas,delegation,reclaim,setup}'::text[])));

ALTER TABLE book.charge
  DROP CONSTRAINT charge_type_check,
  DROP CONSTRAINT charge_check,
  ADD CONSTRAINT charge_type_check CHECK (type = ANY ('{ADDRESS_ACTIVATION,DIRECT_DEPOSIT,DEPOSIT_COMMISSION,WITHDRAWAL_COMMISSION,NETWORK_FEE,REVERSAL}'::text[])),
  ADD CONSTRAINT charge_check CHECK (amount <> '0'::numeric AND (amount < '0'::numeric) = (type = 'REVERSAL'));

ALTER TABLE book.entry
  DROP CONSTRAINT entry_amount_check,
  DROP CONSTRAINT entry_from_account_check,
  DROP CONSTRAINT entry_to_account_check,
  ADD CONSTRAINT entry_amount_check CHECK (amount > '0'::numeric),
  ADD CONSTRAINT entry_from_account_check CHECK (from_account = ANY (
    '{available,pending,reserved,world,commission,network_fee,activation_fee,direct_deposit_fee,margin_held,margin_due}'::text[])),
  ADD CONSTRAINT entry_to_account_check CHECK (to_account = ANY (
    '{available,pending,reserved,world,commission,network_fee,activation_fee,direct_deposit_fee,margin_held,margin_due}'::text[]));

-- The whole function anew, as 0040 and 0046 had changed it by its text. What is new in it: the rows of payouts are one
-- statement that reads the payouts once; their charges and entries come from a list of kinds, where the executor built the
-- VALUES of each payout anew, and in the order of their keys, so that indexes grow at their end; and nothing is done for
-- postings that a batch does not have.
CREATE OR REPLACE FUNCTION book.commit_batch(
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

  -- A living withdrawal may hold a reference that a payout wants: its merchant decides again with that withdrawal at hand.
  -- One that this batch itself brings to an end holds its reference no more: the journal had read it then.
  IF cardinality(p_openings) > 0 THEN
    RETURN QUERY
      SELECT DISTINCT k.merchant_id, 'reference' FROM unnest(p_openings) k
      CROSS JOIN LATERAL (
        SELECT x.id FROM book.withdrawal x
        WHERE x.reference_id IS NOT NULL
          AND (x.reference_id, x.merchant_id) >= (k.reference_id, k.merchant_id)
          AND (x.reference_id, x.merchant_id) <= (k.reference_id, k.merchant_id)
          AND x.status NOT IN ('FAILED','CANCELLED')
        ORDER BY x.reference_id, x.merchant_id LIMIT 1) w
      WHERE k.reference_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM unnest(p_withdrawals) c WHERE c.id = w.id AND c.status IN ('FAILED','CANCELLED'));
    IF FOUND THEN
      RETURN;
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
        -- a subquery of its own is given nothing but the line's key: joined, the planner may compare all lines of the merchant
        CROSS JOIN LATERAL (
          SELECT x.* FROM book.transaction x WHERE x.merchant_id = c.merchant_id AND x.seq = c.seq OFFSET 0) o
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
    -- one statement, as each has its own cost of being begun and ended
    WITH opening AS MATERIALIZED (
      SELECT *, base_fee + markup_amount AS commission FROM unnest(p_openings)
    ), withdrawal AS (
      INSERT INTO book.withdrawal (id, merchant_id, seq, transaction_seq, outgoing_id, currency, network, amount, base_fee,
        markup_rate, markup_amount, network_fee, margin, margin_to, destination, reference_id, description, status, created_at,
        created_by, created_admin)
      SELECT id, merchant_id, seq, transaction_seq, outgoing_id, currency, network, amount, base_fee,
        markup_rate, markup_amount, network_fee, margin, margin_to, destination, reference_id, description, 'PENDING', created_at,
        created_by, created_admin
      FROM opening
    ), line AS (
      INSERT INTO book.transaction (merchant_id, seq, id, payment_id, type, status, currency, network, effect, fee,
        from_address, to_address, reference_id, description, created_at)
      SELECT merchant_id, transaction_seq, transaction_id, id, 'WITHDRAWAL', 'PENDING', currency, network, effect,
        commission + network_fee, from_address, destination, reference_id, description, created_at
      FROM opening
    ), outgoing AS (
      INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, wallet, destination, status,
        attempts, created_at, updated_at)
      SELECT outgoing_id, merchant_id, 'payout', id, network, currency, amount, 'hot', destination, 'queued',
        0, created_at, created_at
      FROM opening
    ), charge AS (
      INSERT INTO book.charge (merchant_id, seq, id, payment_id, type, currency, network, amount, created_at)
      SELECT merchant_id,
        CASE type WHEN 'NETWORK_FEE' THEN charge_seq + (commission > 0)::int ELSE charge_seq END,
        CASE type WHEN 'NETWORK_FEE' THEN network_fee_charge_id ELSE commission_charge_id END,
        id, type, currency, network, CASE type WHEN 'NETWORK_FEE' THEN network_fee ELSE commission END, created_at
      FROM (SELECT *, unnest('{WITHDRAWAL_COMMISSION,NETWORK_FEE}'::text[]) AS type FROM opening) o
      WHERE CASE type WHEN 'NETWORK_FEE' THEN network_fee ELSE commission END > 0
    )
    INSERT INTO book.entry (payment_id, leg, merchant_id, from_account, to_account, currency, network, amount, created_at)
    SELECT id, leg, merchant_id, 'available', CASE leg WHEN 'reserve' THEN 'reserved' ELSE leg END, currency, network,
      CASE leg WHEN 'reserve' THEN amount WHEN 'commission' THEN commission ELSE network_fee END, created_at
    FROM (SELECT *, unnest('{commission,network_fee,reserve}'::text[]) AS leg FROM opening) o
    WHERE CASE leg WHEN 'reserve' THEN amount WHEN 'commission' THEN commission ELSE network_fee END > 0;
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
    IF cardinality(p_entries) > 0 THEN
      INSERT INTO book.entry SELECT * FROM unnest(p_entries);
    END IF;
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
  VALUES (p_commit_id, v_ids);
END $$;
