-- Settlement addresses are named by merchants themselves and counted for each one more, so an account has so many and
-- no more. One that has more since an earlier version keeps them: the rule is for those to come.
CREATE FUNCTION book.bound_whitelist() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- until the transaction ends no other adds one
  PERFORM pg_advisory_xact_lock(hashtextextended('book.settlement_address ' || NEW.merchant_id, 0));
  IF (SELECT count(*) FROM (
      SELECT FROM book.settlement_address a WHERE a.merchant_id = NEW.merchant_id AND a.removed_at IS NULL
      ORDER BY a.merchant_id, a.network, a.address LIMIT 200) counted) >= 200 THEN
    RAISE EXCEPTION 'Cannot list an address as a merchant has 200 settlement addresses at most: %', NEW.merchant_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'settlement_addresses_are_bounded';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER settlement_addresses_are_bounded BEFORE INSERT ON book.settlement_address FOR EACH ROW
  WHEN (NEW.removed_at IS NULL) EXECUTE FUNCTION book.bound_whitelist();
CREATE TRIGGER settlement_addresses_stay_bounded BEFORE UPDATE OF removed_at ON book.settlement_address FOR EACH ROW
  WHEN (OLD.removed_at IS NOT NULL AND NEW.removed_at IS NULL) EXECUTE FUNCTION book.bound_whitelist();
