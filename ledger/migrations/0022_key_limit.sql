-- Every key brings its own share of the limits, so a merchant has so many that live and no more.

-- Living keys of a merchant. Until the transaction ends no other adds one.
CREATE FUNCTION hub.living_keys(merchant text) RETURNS integer
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('hub.api_key ' || merchant, 0));
  RETURN (SELECT count(*) FROM hub.api_key k WHERE k.merchant_id = merchant
    AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()));
END $$;

CREATE FUNCTION hub.bound_keys() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF hub.living_keys(NEW.merchant_id) >= 50 THEN
    RAISE EXCEPTION 'a merchant has 50 living keys at most: %', NEW.merchant_id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER bound_keys BEFORE INSERT ON hub.api_key
  FOR EACH ROW WHEN (NEW.merchant_id IS NOT NULL) EXECUTE FUNCTION hub.bound_keys();
