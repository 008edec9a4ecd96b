-- Addresses that were handed out after the copy was made that a database was restored from. Nobody
-- knows whose they are, so they belong to an account of the house (ledger/own_accounts.ts):
-- what is paid to them waits for an operator, and no release of rows that were quarantined may let
-- anybody consume it.
ALTER TABLE book.inbox ADD CONSTRAINT inbox_of_lost_waits
  CHECK (merchant_id <> 'mer_lost' OR consumed_at IS NOT NULL OR coalesce(quarantine LIKE 'lost:%', false));
