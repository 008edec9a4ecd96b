-- Transfers that are on their address no more although no sweep of ours has taken them: what an operator
-- has written off, checked against the balance. Nothing is left to be swept of them, and a top-up among
-- them stays unconfirmed. `unexplained`: what of it no transaction of ours accounts for; a sweep that was
-- settled as lost has accounted for what it took.
CREATE TABLE book.sweep_write_off (
  id          text COLLATE "C" PRIMARY KEY,
  network     text COLLATE "C" NOT NULL,
  address     text COLLATE "C" NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  amount      numeric(38,18) NOT NULL CHECK (amount > 0),
  unexplained numeric(38,18) NOT NULL CHECK (unexplained >= 0 AND unexplained <= amount),
  height      bigint NOT NULL,
  reason      text NOT NULL CHECK (trim(reason) <> ''),
  actor       text COLLATE "C" NOT NULL,
  created_at  timestamptz NOT NULL
);
CREATE INDEX sweep_write_off_of_address ON book.sweep_write_off (network, address);
CREATE TRIGGER sweep_write_off_is_written_once BEFORE UPDATE OR DELETE ON book.sweep_write_off FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_write_off_is_not_truncated BEFORE TRUNCATE ON book.sweep_write_off FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

-- A transfer is done by a sweep that carried it, or by its being written off: never both.
ALTER TABLE book.sweep_item ADD COLUMN write_off text COLLATE "C";
ALTER TABLE book.sweep_item DROP CONSTRAINT sweep_item_check;
ALTER TABLE book.sweep_item ADD CONSTRAINT sweep_item_done_by CHECK (NOT done OR (outgoing_id IS NULL) <> (write_off IS NULL));
ALTER TABLE book.sweep_item ADD CONSTRAINT sweep_item_written_off CHECK (write_off IS NULL OR done);
CREATE INDEX sweep_item_of_write_off ON book.sweep_item (write_off) WHERE write_off IS NOT NULL;
CREATE TRIGGER sweep_item_is_written_off_once BEFORE UPDATE ON book.sweep_item FOR EACH ROW
  WHEN (OLD.write_off IS NOT NULL) EXECUTE FUNCTION book.refuse_change();

-- Only open transfers of that address are written off, and only in the transaction that says so.
CREATE FUNCTION book.check_written_off() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.outgoing_id IS NOT NULL OR NOT EXISTS (
    SELECT FROM book.sweep_write_off w
    WHERE w.id = NEW.write_off AND w.network = NEW.network AND w.address = NEW.address
      AND w.currency = NEW.currency AND w.created_at = now()) THEN
    RAISE EXCEPTION 'Cannot write a transfer off as nobody says so: %/%', NEW.txid, NEW.log_index
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER sweep_item_is_written_off BEFORE UPDATE ON book.sweep_item FOR EACH ROW
  WHEN (OLD.write_off IS NULL AND NEW.write_off IS NOT NULL) EXECUTE FUNCTION book.check_written_off();

CREATE FUNCTION book.check_sweep_write_off() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.created_at <> now() OR NEW.amount <> (
    SELECT coalesce(sum(i.amount), 0) FROM book.sweep_item i WHERE i.write_off = NEW.id) THEN
    RAISE EXCEPTION 'Cannot write off another amount than that of its transfers: %', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER sweep_write_off_is_of_items AFTER INSERT ON book.sweep_write_off
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION book.check_sweep_write_off();

-- Nor more than that, when what is looked at in the end was looked at before all of it was written.
CREATE FUNCTION book.check_written_off_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM (SELECT DISTINCT n.write_off FROM changed n WHERE n.write_off IS NOT NULL) c
    JOIN book.sweep_write_off w ON w.id = c.write_off
    WHERE w.amount < (SELECT sum(i.amount) FROM book.sweep_item i WHERE i.write_off = c.write_off)) THEN
    RAISE EXCEPTION 'Cannot write off another amount than that of its transfers: %',
      (SELECT min(n.write_off) FROM changed n) USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER sweep_write_off_has_its_items AFTER UPDATE ON book.sweep_item REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION book.check_written_off_items();
