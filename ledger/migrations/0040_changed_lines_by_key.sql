-- The statement lines that a batch changes are each found by merchant and number. The planner may look them up by the merchant
-- that it has from the account, and compare the numbers of all its lines: on a database without statistics it did for each
-- payment that became final. A subquery of its own is given nothing but the line's key. The rest of the function stays as it is.
DO $$
DECLARE
  v_function text := pg_get_functiondef('book.commit_batch'::regproc);
  v_join text := 'JOIN book.transaction o ON o.merchant_id = c.merchant_id AND o.seq = c.seq';
  v_look text := 'CROSS JOIN LATERAL (
          SELECT x.* FROM book.transaction x WHERE x.merchant_id = c.merchant_id AND x.seq = c.seq OFFSET 0) o';
BEGIN
  IF position(v_join IN v_function) = 0 THEN
    RAISE EXCEPTION 'Cannot change book.commit_batch as it is another one than that of migration 0017';
  END IF;
  EXECUTE replace(v_function, v_join, v_look);
END $$;
