-- Wallets, and the addresses that are derived from them.

CREATE TABLE hub.wallet (
  network    text COLLATE "C" PRIMARY KEY,
  wallet_id  text COLLATE "C" NOT NULL,
  hot_wallet text COLLATE "C" NOT NULL,
  next_index integer NOT NULL DEFAULT 0 CHECK (next_index >= 0),
  -- The cold wallet as the service was last started with it; null: none is configured. A transfer of the hot
  -- wallet to it that the books do not know is no loss.
  cold_wallet text COLLATE "C" CHECK (cold_wallet <> hot_wallet),
  -- Digest of the public part that the addresses are derived from, kept at the first start: with another
  -- wallet file no address is handed out later.
  fingerprint text COLLATE "C" CHECK (fingerprint ~ '^[0-9a-f]{64}$'),
  -- The time at which a signer first said that its keys are those of the public part. Nothing is handed out before: the
  -- file might have been exchanged before the first start.
  attested_at timestamptz,
  CONSTRAINT wallet_is_identified CHECK (fingerprint IS NOT NULL)
);
CREATE TRIGGER wallet_is_kept BEFORE UPDATE ON hub.wallet FOR EACH ROW
  WHEN ((OLD.network, OLD.wallet_id, OLD.hot_wallet, OLD.fingerprint) IS DISTINCT FROM (NEW.network, NEW.wallet_id, NEW.hot_wallet, NEW.fingerprint)
    OR (OLD.attested_at IS NOT NULL AND NEW.attested_at IS DISTINCT FROM OLD.attested_at))
  EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER wallet_is_never_deleted BEFORE DELETE ON hub.wallet FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

-- An address in the form in which its network's event logs carry it. A scan looks that up as it is,
-- so that it never makes the text of an unlinked address: two SHA-256 and a long division each.
-- TRON: base58 of 25 bytes, which are 0x41, the 20 bytes of the event (40 lower-case hex digits
-- here) and 4 of a checksum, which is not read: the writer has derived or checked it.
-- Any other text, and any address of another network, is returned unchanged.
CREATE FUNCTION hub.event_address(network text, address text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  -- value of a base58 digit by its character code; with strpos() the whole takes twice as long
  digits CONSTANT bytea := '\x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001020304050607080000000'
                           '0000000090a0b0c0d0e0f1000111213141500161718191a1b1c1d1e1f200000000000002122232425262728292a2b002c2d2e2f30313233343536373839';
  code  bytea;
  chunk bigint;
  value numeric := 0;
BEGIN
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

-- The number by which a scan looks an address up, as chains/text_key.ts makes it: a third of the
-- index that whole texts would need, and half the time. Few share one, so the text is compared as
-- well. Of ten bytes the sum stays below 2^63; its lowest 32 bits are those of a sum that wraps.
CREATE FUNCTION hub.text_key(text text) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (
    ascii(text)               * 26439622160671 + ascii(substr(text, length(text)))        * 852891037441 +
    ascii(substr(text, 2, 1)) * 27512614111    + ascii(substr(text, length(text) - 1, 1)) * 887503681::bigint +
    ascii(substr(text, 3, 1)) * 28629151::bigint + ascii(substr(text, length(text) - 2, 1)) * 923521 +
    ascii(substr(text, 4, 1)) * 29791          + ascii(substr(text, length(text) - 3, 1)) * 961 +
    ascii(substr(text, 5, 1)) * 31             + ascii(substr(text, length(text) - 4, 1))
  )::bit(32)::integer
$$;

-- Every address that was ever handed out is watched for ever.
CREATE TABLE hub.address (
  address       text COLLATE "C" NOT NULL,
  network       text COLLATE "C" NOT NULL,
  merchant_id   text COLLATE "C" NOT NULL,
  address_id    text COLLATE "C" NOT NULL,
  wallet_index  integer NOT NULL CHECK (wallet_index >= 0),
  created_at    timestamptz NOT NULL DEFAULT now(),
  -- what scans look up, in whatever form it was inserted: one place on the chain has one row
  event_address text COLLATE "C" NOT NULL GENERATED ALWAYS AS (hub.event_address(network, address)) STORED,
  PRIMARY KEY (address, network),
  UNIQUE (event_address, network),
  -- where hub.text_key is the same as chains/text_key.ts
  CHECK (event_address ~ '^[ -~]+$')
);
-- with the network: a plan that was made for an empty table would else read all of a network by another index
CREATE INDEX address_by_event ON hub.address (hub.text_key(event_address), network);
-- The address that a sweep has left.
CREATE INDEX address_of_index ON hub.address (network, wallet_index);

-- Payouts that would credit no other account: to a deposit address of the merchant that pays, or to one
-- whose account is not known any more (ledger/own_accounts.ts). The signer asks it by ids, with
-- the owner's rights, so that its role need not read whose payouts and addresses are whose.
CREATE FUNCTION book.closed_destinations(p_outgoing_ids text[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT o.id FROM book.outgoing o JOIN hub.address a ON a.address = o.destination AND a.network = o.network
  WHERE o.id = ANY (p_outgoing_ids) AND a.merchant_id IN (o.merchant_id, 'mer_lost')
$$;
REVOKE ALL ON FUNCTION book.closed_destinations(text[]) FROM PUBLIC;
