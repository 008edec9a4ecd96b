-- A withdrawal that waits for approval here may have been approved and paid in a history that the database has lost: as
-- with queued ones (`book.commit_batch`), its money is not given back while signing is stopped. It has no row that the
-- write gives up, so the rule is at its own move; the journal knows the code.
CREATE FUNCTION book.check_decline() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_stop text := hub.signing_stop(NEW.network);
BEGIN
  IF v_stop IS NOT NULL THEN
    RAISE EXCEPTION 'Cannot give % back while payouts of % are held: %', NEW.id, NEW.network, v_stop USING ERRCODE = 'SD003';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER withdrawal_is_declined_unpaid BEFORE UPDATE OF status ON book.withdrawal FOR EACH ROW
  WHEN (OLD.status = 'PENDING_APPROVAL' AND NEW.status = 'CANCELLED') EXECUTE FUNCTION book.check_decline();
