-- Rules of money that the code keeps as well: what may be taken back, and what was promised to whom.

-- Who is paid what, from where, is written once: it is what was reserved, and what is signed.
CREATE TRIGGER outgoing_is_kept BEFORE UPDATE ON book.outgoing FOR EACH ROW
  WHEN ((OLD.id, OLD.merchant_id, OLD.kind, OLD.payment_id, OLD.network, OLD.currency, OLD.amount, OLD.wallet, OLD.destination)
        IS DISTINCT FROM
        (NEW.id, NEW.merchant_id, NEW.kind, NEW.payment_id, NEW.network, NEW.currency, NEW.amount, NEW.wallet, NEW.destination))
  EXECUTE FUNCTION book.refuse_change();

-- Money goes back, or is promised anew, only when every signature of it is proven to have moved nothing.
-- Looked at when the transaction commits: row and attempt change in statements of their own.
CREATE FUNCTION book.check_nothing_lands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.id AND a.merchant_id = NEW.merchant_id
             AND (a.outcome IS NULL OR a.outcome NOT IN ('failed', 'expired'))) THEN
    RAISE EXCEPTION 'Cannot take a transfer back as a transaction of it may land: % is %', NEW.id, NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER outgoing_ends_by_proof AFTER UPDATE OF status ON book.outgoing
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.status IN ('queued', 'dead', 'void') AND NEW.attempts > 0) EXECUTE FUNCTION book.check_nothing_lands();

-- A top-up is available only by a sweep that lists it, is final and has moved money: the transfer that was
-- intended, or what an operator has found to have arrived (a sweep never lists more than that).
CREATE FUNCTION book.check_top_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM book.sweep_item i
    JOIN book.outgoing o ON o.id = i.outgoing_id AND o.merchant_id = 'mer_platform' AND o.status = 'final'
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
    WHERE i.network = NEW.network AND i.txid = NEW.txid AND i.log_index = NEW.log_index
      AND i.merchant_id = NEW.merchant_id AND (a.outcome = 'paid' OR a.outcome = 'unexpected' AND v.verdict = 'moved')) THEN
    RAISE EXCEPTION 'Cannot confirm a top-up as no final sweep lists it: %', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER top_up_by_sweep BEFORE INSERT OR UPDATE OF status ON book.deposit FOR EACH ROW
  WHEN (NEW.status = 'CONFIRMED' AND NEW.source = 'top_up' AND NEW.log_index >= 0) EXECUTE FUNCTION book.check_top_up();

-- One transaction, one confirmed deposit by hand, whichever merchant booked it: operators look before they
-- confirm, and two who confirm at once cannot both.
CREATE UNIQUE INDEX deposit_by_hand ON book.deposit (network, txid) WHERE log_index = -1 AND status = 'CONFIRMED';

-- Nor one that has paid another merchant: the scan knows whom, whatever a node says. What paid an address that
-- a restore forgot is credited by hand. Told like the index above, so that it is decided again and refused.
CREATE FUNCTION book.check_deposit_by_hand() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.status = 'CONFIRMED' THEN
    RETURN NEW;
  END IF;
  IF EXISTS (
    SELECT FROM book.sweep_item i
    WHERE i.network = NEW.network AND i.txid = NEW.txid AND i.merchant_id NOT IN (NEW.merchant_id, 'mer_lost')) THEN
    RAISE EXCEPTION 'Cannot confirm a deposit by hand as its transaction paid another merchant: %', NEW.id
      USING ERRCODE = 'unique_violation', CONSTRAINT = 'deposit_by_hand';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER deposit_by_hand_is_nobodys BEFORE INSERT OR UPDATE OF status ON book.deposit FOR EACH ROW
  WHEN (NEW.status = 'CONFIRMED' AND NEW.log_index = -1) EXECUTE FUNCTION book.check_deposit_by_hand();
