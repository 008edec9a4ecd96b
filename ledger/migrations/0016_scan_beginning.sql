-- Where the scan of a network began, what wallet its surplus goes to, and blocks that wait to be read again.

-- The solid block at which the scan began. Blocks up to it say nothing about these books, read again or
-- not: it stays where it is, as ranges that are read again below it move the lowest height that was read.
ALTER TABLE hub.cursor ADD COLUMN began_height bigint;
UPDATE hub.cursor c SET began_height = (
  SELECT min(r.first_height) - 1 FROM hub.scanned_range r WHERE r.network = c.network)
WHERE c.view = 'solid';
CREATE TRIGGER cursor_beginning_is_kept BEFORE UPDATE OF began_height ON hub.cursor FOR EACH ROW
  WHEN (OLD.began_height IS DISTINCT FROM NEW.began_height) EXECUTE FUNCTION book.refuse_change();

-- The cold wallet as the service was last started with it; null: none is configured. A transfer of the hot
-- wallet to it that the books do not know has stayed in the house.
ALTER TABLE hub.wallet ADD COLUMN cold_wallet text COLLATE "C" CHECK (cold_wallet <> hot_wallet);

-- `again`: a block that the scan has passed and that has to be read once more; see `read_again`.
ALTER TABLE hub.unreadable_block DROP CONSTRAINT unreadable_block_view_check,
  ADD CONSTRAINT unreadable_block_view_check CHECK (view IN ('head','solid','again'));
