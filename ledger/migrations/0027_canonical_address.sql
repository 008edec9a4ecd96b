-- An address that money is sent to has one spelling in these tables: texts are compared here, so that a
-- second spelling would be another place, on no whitelist, none of the service's own and not the reseller's.
-- The interface keeps only that spelling; here it cannot be passed by. Addresses of the service's own need
-- no rule beside that of hub.address: what events carry is unique there, however the text is spelled.
--
-- TRON: 34 digits of base58 from T on, which is what 25 bytes with 0x41 before them are. Their checksum is the
-- interface's affair: a wrong one is no other spelling, and would take SHA-256 twice for each row.
-- The other networks' spelling cannot be told in SQL: that of Ethereum's needs Keccak.
CREATE FUNCTION hub.is_canonical_address(network text, address text) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT network NOT IN ('TRX','TRX_SHASTA')
    OR length(address) = 34 AND starts_with(address, 'T') AND address !~ '[^1-9A-HJ-NP-Za-km-z]'
$$;

ALTER TABLE book.withdrawal ADD CONSTRAINT withdrawal_destination_is_canonical
  CHECK (hub.is_canonical_address(network, destination));
ALTER TABLE book.settlement_address ADD CONSTRAINT settlement_address_is_canonical
  CHECK (hub.is_canonical_address(network, address));
ALTER TABLE hub.reseller ADD CONSTRAINT reseller_address_is_canonical
  CHECK (hub.is_canonical_address(network, withdrawal_address));
