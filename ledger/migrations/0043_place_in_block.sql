-- Position of a transfer's log among all logs of its block, where its chain proves that (null elsewhere, and of what was
-- stored before): with the height it names the transfer. Ids of transactions are not under the root that receipts are
-- proven by, so a node can rename them in a true block.
ALTER TABLE book.sweep_item ADD COLUMN block_log integer CHECK (block_log >= 0);
ALTER TABLE book.deposit_proof ADD COLUMN block_log integer CHECK (block_log >= 0);
CREATE TRIGGER sweep_item_block_log_is_kept BEFORE UPDATE OF block_log ON book.sweep_item FOR EACH ROW
  WHEN (OLD.block_log IS DISTINCT FROM NEW.block_log) EXECUTE FUNCTION book.refuse_change();

-- One place, one transfer. What was written off never arrived, as where its block has vanished: another may take its place.
CREATE UNIQUE INDEX sweep_item_place ON book.sweep_item (network, height, block_log, merchant_id)
  WHERE block_log IS NOT NULL AND write_off IS NULL;

-- A transfer whose place is another's by an id that differs is `bookedAs` that one: it stays quarantined.
ALTER TABLE book.inbox ADD CONSTRAINT inbox_of_taken_place_waits
  CHECK (quarantine IS NOT NULL OR NOT data ? 'bookedAs');
