-- The references that payouts of a batch want are looked up by its write, under the locks of the accounts, where they were
-- read by the journal before: one round trip less for each batch. A merchant one of whose references a living withdrawal
-- holds is named as missed, and decides again with that withdrawal at hand. A withdrawal that this batch itself brings to an
-- end holds its reference no more: the journal had read it then. The rest of the function stays as it is.
DO $$
DECLARE
  v_function text := pg_get_functiondef('book.commit_batch'::regproc);
  v_before text := '  -- 3. counts and sums of full buckets';
  v_check text := '  IF cardinality(p_openings) > 0 THEN
    RETURN QUERY
      SELECT DISTINCT k.merchant_id, ''reference'' FROM unnest(p_openings) k
      CROSS JOIN LATERAL (
        SELECT x.id FROM book.withdrawal x
        WHERE x.reference_id IS NOT NULL
          AND (x.reference_id, x.merchant_id) >= (k.reference_id, k.merchant_id)
          AND (x.reference_id, x.merchant_id) <= (k.reference_id, k.merchant_id)
          AND x.status NOT IN (''FAILED'',''CANCELLED'')
        ORDER BY x.reference_id, x.merchant_id LIMIT 1) w
      WHERE k.reference_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM unnest(p_withdrawals) c WHERE c.id = w.id AND c.status IN (''FAILED'',''CANCELLED''));
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;

';
BEGIN
  IF position(v_before IN v_function) = 0 THEN
    RAISE EXCEPTION 'Cannot change book.commit_batch as it is another one than that of migration 0040';
  END IF;
  EXECUTE replace(v_function, v_before, v_check || v_before);
END $$;
