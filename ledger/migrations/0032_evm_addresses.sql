-- Addresses of Ethereum and BNB Smart Chain: `0x` and 40 digits whose case is a checksum. Event logs carry the same
-- 20 bytes, here as 40 lower-case digits; so the texts of one place on the chain, in whatever case, are one row.
-- No such address was ever handed out before: nothing that is kept changes its form.
-- TRON's is as it was (0010_addresses.sql). Any other text, and any address of another network, is returned unchanged.
CREATE OR REPLACE FUNCTION hub.event_address(network text, address text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  -- value of a base58 digit by its character code; with strpos() the whole takes twice as long
  digits CONSTANT bytea := '\x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001020304050607080000000'
                           '0000000090a0b0c0d0e0f1000111213141500161718191a1b1c1d1e1f200000000000002122232425262728292a2b002c2d2e2f30313233343536373839';
  code  bytea;
  chunk bigint;
  value numeric := 0;
BEGIN
  IF network IN ('ETH','SEP','BNB','tBNB') THEN
    RETURN CASE WHEN address ~ '^0x[0-9a-fA-F]{40}$' THEN lower(substr(address, 3) COLLATE "C") ELSE address END;
  END IF;
  IF network NOT IN ('TRX','TRX_SHASTA') OR length(address) <> 34
     OR address ~ '[^1-9A-HJ-NP-Za-km-z]' THEN
    RETURN address;
  END IF;
  code := convert_to(address, 'UTF8');
  -- 7 digits, then three times 9, which is as many as a bigint holds: numerics are slow
  FOR part IN 0..3 LOOP
    chunk := 0;
    FOR place IN greatest(0, 9 * part - 2)..9 * part + 6 LOOP
      chunk := chunk * 58 + get_byte(digits, get_byte(code, place));
    END LOOP;
    value := value * 7427658739644928 + chunk;  -- 58^9
  END LOOP;
  value := div(value, 4294967296);  -- without the checksum
  IF div(value, 1461501637330902918203684832716283019655932542976) <> 65 THEN  -- 2^160
    RETURN address;
  END IF;
  value := value - 94997606426508689683239514126558396277635615293440;  -- 65 * 2^160
  -- 10 hex digits, then two times 15 (2^60), which is as many as a bigint holds
  RETURN lpad(to_hex(div(value, 1329227995784915872903807060280344576)::bigint), 10, '0')
    || lpad(to_hex(mod(div(value, 1152921504606846976), 1152921504606846976)::bigint), 15, '0')
    || lpad(to_hex(mod(value, 1152921504606846976)::bigint), 15, '0');
END $$;

-- A destination on these networks is `0x` and 40 digits. That the case is its checksum's is the interface's affair: it
-- needs Keccak.
CREATE OR REPLACE FUNCTION hub.is_canonical_address(network text, address text) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN network IN ('TRX','TRX_SHASTA')
      THEN length(address) = 34 AND starts_with(address, 'T') AND address !~ '[^1-9A-HJ-NP-Za-km-z]'
    WHEN network IN ('ETH','SEP','BNB','tBNB') THEN address ~ '^0x[0-9a-fA-F]{40}$'
    ELSE true
  END
$$;
