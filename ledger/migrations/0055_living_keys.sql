-- A merchant may make and end any number of keys: those that live are counted, and those that are listed found, without
-- reading what has ended, by revocation or by its time.
CREATE INDEX api_key_living ON hub.api_key (merchant_id, coalesce(expires_at, 'infinity')) WHERE revoked_at IS NULL;
CREATE INDEX api_key_listed ON hub.api_key (merchant_id, id) WHERE revoked_at IS NULL;
DROP INDEX hub.api_key_of_merchant;

CREATE OR REPLACE FUNCTION hub.living_keys(merchant text) RETURNS integer
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('hub.api_key ' || merchant, 0));
  RETURN (SELECT count(*) FROM hub.api_key k WHERE k.merchant_id = merchant
    AND k.revoked_at IS NULL AND coalesce(k.expires_at, 'infinity') > now());
END $$;
