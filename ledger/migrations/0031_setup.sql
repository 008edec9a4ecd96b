-- What the hot wallet sends once before it can send sweeps (on Ethereum it creates their contract, whose address is
-- the destination): a transaction like any other, which moves nothing. One lives or has ended well per
-- destination: what a chain does not do the first time is not paid for again and again.
ALTER TABLE book.outgoing
  DROP CONSTRAINT outgoing_kind_check,
  ADD CONSTRAINT outgoing_kind_check
    CHECK (kind IN ('payout','settlement','sweep','gas','delegation','reclaim','cold','setup')),
  DROP CONSTRAINT outgoing_amount_check,
  ADD CONSTRAINT outgoing_amount_check CHECK (CASE kind WHEN 'setup' THEN amount = 0 ELSE amount > 0 END),
  DROP CONSTRAINT outgoing_asset_of_kind,
  ADD CONSTRAINT outgoing_asset_of_kind
    CHECK (kind = 'cold' OR (currency = 'native') = (kind IN ('gas','delegation','reclaim','setup')));
CREATE UNIQUE INDEX outgoing_setup_once ON book.outgoing (network, destination) WHERE kind = 'setup' AND status <> 'void';
