-- Whose coin pays for a transaction: that of the wallet it leaves, or the hot wallet's. On chains where the hot
-- wallet sends sweeps itself, their fees leave it, and are promised and charged there; else each of them
-- would look like coin that was stolen.
ALTER TABLE book.outgoing ADD COLUMN fee_payer text COLLATE "C" NOT NULL DEFAULT 'wallet',
  ADD CONSTRAINT outgoing_fee_payer CHECK (fee_payer = 'wallet' OR fee_payer = 'hot' AND kind = 'sweep');
CREATE TRIGGER outgoing_fee_payer_is_kept BEFORE UPDATE OF fee_payer ON book.outgoing FOR EACH ROW
  WHEN (OLD.fee_payer IS DISTINCT FROM NEW.fee_payer) EXECUTE FUNCTION book.refuse_change();
