-- Withdrawals that failed or were cancelled, by the merchant's reference. Their reference is free again, so that
-- withdrawal_reference leaves them out and several may have the same. Without this index a look-up of one
-- reference reads all of them: by status is the only other way to them.
CREATE INDEX withdrawal_reference_refused ON book.withdrawal (merchant_id, reference_id)
  WHERE reference_id IS NOT NULL AND status IN ('FAILED', 'CANCELLED');
