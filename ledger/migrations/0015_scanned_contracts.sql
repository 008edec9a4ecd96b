-- The token contracts that the scan knows, and solid blocks that were read without one of them: its
-- transfers in them were passed over, until they are read again.
CREATE TABLE hub.scanned_contract (
  network     text COLLATE "C" NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  contract    text COLLATE "C" NOT NULL,
  missed_from bigint,
  missed_to   bigint,
  -- newest solid block that was read when it was found to be configured no more; null: it is configured
  left_at     bigint,
  PRIMARY KEY (network, currency, contract),
  CHECK ((missed_from IS NULL) = (missed_to IS NULL)),
  CHECK (missed_to >= missed_from)
);

-- Notes the contracts that are configured. One that is new to a network which was read before has missed
-- all of it; one that comes back has missed what was read since it left.
CREATE FUNCTION hub.store_contracts(of_network text, currencies text[], contracts text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  newest bigint;
  oldest bigint;
  is_first boolean;
BEGIN
  SELECT height INTO newest FROM hub.cursor WHERE network = of_network AND view = 'solid' FOR UPDATE;
  SELECT min(first_height) INTO oldest FROM hub.scanned_range WHERE network = of_network;
  SELECT NOT EXISTS (SELECT FROM hub.scanned_contract WHERE network = of_network) INTO is_first;
  UPDATE hub.scanned_contract SET left_at = coalesce(newest, 0)
  WHERE network = of_network AND left_at IS NULL AND NOT EXISTS (
    SELECT FROM unnest(currencies, contracts) AS c(currency, contract)
    WHERE c.currency = scanned_contract.currency AND c.contract = scanned_contract.contract);
  INSERT INTO hub.scanned_contract AS s (network, currency, contract, missed_from, missed_to)
  SELECT of_network, c.currency, c.contract,
    CASE WHEN NOT is_first AND oldest <= newest THEN oldest END,
    CASE WHEN NOT is_first AND oldest <= newest THEN newest END
  FROM unnest(currencies, contracts) AS c(currency, contract)
  ON CONFLICT (network, currency, contract) DO UPDATE SET left_at = NULL,
    missed_from = CASE WHEN s.left_at < newest THEN least(s.missed_from, s.left_at + 1) ELSE s.missed_from END,
    missed_to = CASE WHEN s.left_at < newest THEN newest ELSE s.missed_to END;
END $$;
