-- A claim reads what it may take. It passed over every event that waits for a retry, and over the second event of each of
-- those payments: 150,000 such payments of one merchant made each claim for all merchants take 2.8 s.

-- When an event is due: the time of its retry, or -infinity where none was set since it was written, as for nearly all.
CREATE FUNCTION book.due_at(next_attempt_at timestamptz, created_at timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN next_attempt_at = created_at THEN '-infinity'::timestamptz ELSE next_attempt_at END;

-- In place of outbox_waiting, so that an event is written as quickly as before. It has no column that a claim changes
-- (attempts, claimed_until): a claim would write all indexes of the row anew.
CREATE INDEX outbox_due ON book.outbox (merchant_id, book.due_at(next_attempt_at, created_at), id) WHERE status = 'PENDING';
DROP INDEX book.outbox_waiting;

-- Claims due events of many merchants, as in 0008, but by outbox_due: of new events the oldest; of retries that are due those
-- that are due longest, as many as there is room for and 32 at least; and those further ahead than any wait lasts, which
-- were written while a clock was wrong. Of all these the oldest are claimed. An event behind one that waits has the time
-- of that one (markAttempts), so that it is not met either.
--
-- The merchant is compared as a list of one and leads the order, which only outbox_due serves (for paused endpoints, of whose
-- backlog the oldest 100 are looked at, only outbox_list). With an equals sign the primary key looks as good, and every
-- claim reads all that was delivered; with a range the columns behind it do not bound what is read. Only what these parts
-- found is sorted.
CREATE OR REPLACE FUNCTION book.claim_events(
  p_merchants        text[],
  p_rooms            integer[],
  p_claimed_by       text,
  p_lease_margin_ms  integer,
  p_probe_ms         integer)
RETURNS TABLE (
  id text, merchant_id text, type text, payload text, attempts integer, url text, secret text,
  previous text, timeout_ms integer, retry_count integer)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_bitmapscan = off SET enable_sort = off
AS $$
#variable_conflict use_column
DECLARE
  v_ids    text[];
  v_owners text[];
  v_probed text[];
BEGIN
  SELECT array_agg(p.id), array_agg(w.merchant_id), array_agg(w.merchant_id) FILTER (WHERE w.probes)
  INTO v_ids, v_owners, v_probed
  FROM (
    SELECT w.room, m.merchant_id, e.next_probe_at IS NOT NULL AS is_paused, k.probes
    FROM unnest(p_merchants, p_rooms) AS w (id, room)
    JOIN book.merchant m ON m.merchant_id = w.id
    LEFT JOIN book.webhook_endpoint e ON e.merchant_id = m.merchant_id AND e.url = m.webhook_url
    JOIN (VALUES (false), (true)) AS k (probes) ON NOT k.probes OR e.next_probe_at <= now()
      OR e.next_probe_at > now() + make_interval(secs => 2.0 * p_probe_ms / 1000)
    WHERE m.webhook_enabled AND m.webhook_url IS NOT NULL) w
  CROSS JOIN LATERAL (
    SELECT c.id FROM (
      SELECT d.id FROM (VALUES
        ('-infinity'::timestamptz, '-infinity'::timestamptz, 0), ('epoch', now(), 32),
        (now() + interval '2 minutes', 'infinity', 32)) AS t (due_from, due_up_to, at_least)
      CROSS JOIN LATERAL (
        SELECT o.id FROM book.outbox o
        WHERE NOT w.is_paused
          AND o.merchant_id = ANY (ARRAY[w.merchant_id]) AND o.status = 'PENDING'
          AND book.due_at(o.next_attempt_at, o.created_at) >= t.due_from
          AND book.due_at(o.next_attempt_at, o.created_at) <= t.due_up_to
          AND (o.attempts = 0 OR book.is_over(o.next_attempt_at))
          AND (o.claimed_until IS NULL OR book.is_over(o.claimed_until))
          AND o.id = (
            SELECT older.id FROM book.outbox older
            WHERE older.payment_id = o.payment_id AND older.merchant_id = o.merchant_id
              AND older.status = 'PENDING'
            ORDER BY older.id LIMIT 1)
        ORDER BY o.merchant_id, book.due_at(o.next_attempt_at, o.created_at), o.id
        LIMIT greatest(w.room, t.at_least) FOR UPDATE SKIP LOCKED) d
      UNION ALL
      SELECT b.id FROM (
        SELECT o.id FROM book.outbox o
        WHERE w.is_paused
          AND o.merchant_id = ANY (ARRAY[w.merchant_id]) AND o.status = 'PENDING'
          AND o.id <= (
            SELECT max(x.id) FROM (
              SELECT y.id FROM book.outbox y
              WHERE y.merchant_id = ANY (ARRAY[w.merchant_id]) AND y.status = 'PENDING'
              ORDER BY y.merchant_id, y.id LIMIT 100) x)
          AND (o.attempts = 0) = w.probes
          AND (o.attempts = 0 OR book.is_over(o.next_attempt_at))
          AND (o.claimed_until IS NULL OR book.is_over(o.claimed_until))
          AND o.id = (
            SELECT older.id FROM book.outbox older
            WHERE older.payment_id = o.payment_id AND older.merchant_id = o.merchant_id
              AND older.status = 'PENDING'
            ORDER BY older.id LIMIT 1)
        ORDER BY o.merchant_id, o.id LIMIT CASE WHEN w.probes THEN 1 ELSE w.room END FOR UPDATE SKIP LOCKED) b) c
    ORDER BY c.id LIMIT w.room) p;
  IF v_ids IS NULL THEN
    RETURN;
  END IF;
  IF v_probed IS NOT NULL THEN
    UPDATE book.webhook_endpoint e SET probes = e.probes + 1, next_probe_at =
      now() + make_interval(secs => p_probe_ms / 1000.0)
    WHERE e.merchant_id IN (
      SELECT x.merchant_id FROM book.webhook_endpoint x WHERE x.merchant_id = ANY (v_probed)
      FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN QUERY
    UPDATE book.outbox o SET attempts = o.attempts + 1, claimed_by = p_claimed_by, claimed_until =
      now() + make_interval(secs => (m.webhook_timeout_ms + p_lease_margin_ms) / 1000.0)
    FROM unnest(v_ids, v_owners) AS p (id, owner)
    JOIN book.merchant m ON m.merchant_id = p.owner AND m.webhook_enabled AND m.webhook_url IS NOT NULL
    WHERE o.id = p.id AND o.merchant_id = p.owner
    RETURNING o.id, o.merchant_id, o.type, o.payload, o.attempts, m.webhook_url, m.webhook_secret,
      CASE WHEN m.webhook_previous_until > now() THEN m.webhook_secret_previous END,
      m.webhook_timeout_ms, m.webhook_retry_count;
END $$;

-- As in 0008; and what is behind an event that waited for a retry, and is acknowledged late, is due at once.
CREATE OR REPLACE FUNCTION book.mark_acknowledged(
  p_ids       text[],
  p_merchants text[],
  p_attempts  integer[],
  p_outcomes  text[],
  p_statuses  integer[],
  p_durations integer[],
  p_answers   text[])
RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
-- one row that something else holds must not keep the others of the batch from being written: they are
-- written without it after this
SET lock_timeout = '200ms'
AS $$
DECLARE
  v_late      text[];
  v_payments  text[];
  v_merchants text[];
BEGIN
  IF EXISTS (SELECT FROM book.webhook_endpoint e WHERE e.merchant_id = ANY (p_merchants))
     OR EXISTS (SELECT FROM book.second_chance s WHERE s.merchant_id = ANY (p_merchants)) THEN
    RETURN false;
  END IF;
  INSERT INTO book.delivery_attempt
    (event_id, number, merchant_id, outcome, http_status, duration_ms, answer)
  SELECT * FROM unnest(
    p_ids, p_attempts, p_merchants, p_outcomes, p_statuses, p_durations, p_answers)
  ON CONFLICT DO NOTHING;
  WITH marked AS (
    UPDATE book.outbox o SET status = 'DELIVERED', delivered_at = now(), next_attempt_at = now(),
      claimed_until = NULL, last_outcome = t.outcome
    FROM unnest(p_ids, p_merchants, p_attempts, p_outcomes) AS t (id, merchant_id, attempt, outcome)
    WHERE o.id = t.id AND o.merchant_id = t.merchant_id AND o.status = 'PENDING'
    RETURNING o.id, o.payment_id, o.merchant_id, o.attempts > t.attempt AS is_late)
  SELECT array_agg(m.id), array_agg(m.payment_id), array_agg(m.merchant_id) INTO v_late, v_payments, v_merchants
  FROM marked m WHERE m.is_late;
  IF v_late IS NOT NULL THEN
    UPDATE book.outbox o SET next_attempt_at = now()
    FROM unnest(v_late, v_payments, v_merchants) AS t (id, payment_id, merchant_id)
    WHERE o.payment_id = t.payment_id AND o.merchant_id IS NOT DISTINCT FROM t.merchant_id AND o.id > t.id
      AND o.status = 'PENDING' AND o.attempts = 0 AND o.next_attempt_at > now();
  END IF;
  RETURN true;
END $$;
