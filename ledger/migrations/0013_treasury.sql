-- How often a queued transfer was tried in vain: its pause grows with it, and a restart does not begin anew.
ALTER TABLE book.outgoing ADD COLUMN tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0);
-- The same for an address that cannot be looked at.
ALTER TABLE book.sweep_address ADD COLUMN tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0);
CREATE INDEX sweep_target_failing ON book.sweep_address (network) WHERE tries >= 3;

-- A payout whose transaction succeeded without the intended transfer ends by an operator's verdict alone, which
-- the chain has confirmed. It is the line of book.ingested that is written with the end: one for ever.
CREATE FUNCTION book.check_verdict() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.outgoing_id AND a.merchant_id = NEW.merchant_id
             AND a.outcome = 'unexpected')
    AND NOT EXISTS (SELECT FROM book.ingested i WHERE i.event_id = 'verdict:' || NEW.id
             AND i.merchant_id = NEW.merchant_id
             AND i.body_hash = CASE NEW.status WHEN 'CONFIRMED' THEN 'paid' ELSE 'not_paid' END) THEN
    RAISE EXCEPTION 'Cannot end a withdrawal as nobody has found out what its transaction did: % is %', NEW.id, NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER withdrawal_ends_by_verdict AFTER UPDATE OF status ON book.withdrawal
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.status = 'PENDING' AND NEW.status IN ('CONFIRMED', 'FAILED')) EXECUTE FUNCTION book.check_verdict();

-- Nor is money given back for a transaction that has paid, whatever became of its row.
CREATE FUNCTION book.check_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.outgoing_id AND a.merchant_id = NEW.merchant_id
             AND (a.outcome IS NULL OR a.outcome = 'paid')) THEN
    RAISE EXCEPTION 'Cannot give a withdrawal back as a transaction of it has paid or may land: %', NEW.id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER withdrawal_fails_unpaid AFTER UPDATE OF status ON book.withdrawal
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.status = 'PENDING' AND NEW.status = 'FAILED') EXECUTE FUNCTION book.check_refund();

-- A verdict is given once and stays.
CREATE TRIGGER ingested_verdict_is_kept BEFORE UPDATE ON book.ingested FOR EACH ROW
  WHEN (OLD.event_id LIKE 'verdict:%') EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER ingested_verdict_is_never_deleted BEFORE DELETE ON book.ingested FOR EACH ROW
  WHEN (OLD.event_id LIKE 'verdict:%') EXECUTE FUNCTION book.refuse_change();
