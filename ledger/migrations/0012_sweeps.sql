-- Sweeps: what moves money from deposit addresses to the hot wallet, with the gas that needs.

-- One final transfer to an address of the service, to be carried to the hot wallet. `outgoing_id`: the sweep
-- that carries it, at most one that may live. `done`: carried, and the merchant that waits for it was informed.
CREATE TABLE book.sweep_item (
  merchant_id text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  txid        text COLLATE "C" NOT NULL,
  log_index   integer NOT NULL,
  address     text COLLATE "C" NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  amount      numeric(38,18) NOT NULL CHECK (amount > 0),
  height      bigint NOT NULL,
  found_at    timestamptz NOT NULL DEFAULT now(),
  outgoing_id text COLLATE "C",
  done        boolean NOT NULL DEFAULT false,
  write_off   text COLLATE "C",
  PRIMARY KEY (network, txid, log_index, merchant_id),
  -- done by a sweep that carried it, or by its being written off: never both
  CONSTRAINT sweep_item_done_by CHECK (NOT done OR (outgoing_id IS NULL) <> (write_off IS NULL)),
  CONSTRAINT sweep_item_written_off CHECK (write_off IS NULL OR done)
) WITH (fillfactor = 80);
CREATE INDEX sweep_item_open ON book.sweep_item (network, address, currency) WHERE NOT done;
CREATE INDEX sweep_item_of_sweep ON book.sweep_item (outgoing_id) WHERE outgoing_id IS NOT NULL;
CREATE INDEX sweep_item_of_write_off ON book.sweep_item (write_off) WHERE write_off IS NOT NULL;

-- An operator's finding on a sweep that succeeded without the intended transfer, checked
-- against its receipt: what left the address by it, and what of that reached the hot wallet.
CREATE TABLE book.sweep_verdict (
  outgoing_id text COLLATE "C" PRIMARY KEY,
  verdict     text COLLATE "C" NOT NULL CHECK (verdict IN ('moved','nothing_moved','lost')),
  taken       numeric(38,18) NOT NULL,
  arrived     numeric(38,18) NOT NULL CHECK (arrived >= 0 AND arrived <= taken),
  reason      text NOT NULL CHECK (trim(reason) <> ''),
  actor       text COLLATE "C" NOT NULL,
  created_at  timestamptz NOT NULL,
  CHECK ((verdict = 'moved') = (arrived > 0)),
  CHECK (verdict <> 'nothing_moved' OR taken = 0)
);
CREATE TRIGGER sweep_verdict_is_written_once BEFORE UPDATE OR DELETE ON book.sweep_verdict FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_verdict_is_not_truncated BEFORE TRUNCATE ON book.sweep_verdict FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

-- Two transactions at once would each miss what the other writes: one that settles a sweep, or lists
-- transfers under it, holds its row until it has committed, and looks with a statement begun after that. It
-- is held before anything else is: in the order in which the scan ends sweeps, row first, transfers later.
CREATE FUNCTION book.check_sweep_verdict() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM book.outgoing o WHERE o.id = NEW.outgoing_id AND o.merchant_id = 'mer_platform' FOR NO KEY UPDATE;
  IF NOT EXISTS (
    SELECT FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome = 'unexpected'
    WHERE o.id = NEW.outgoing_id AND o.merchant_id = 'mer_platform' AND o.kind = 'sweep' AND o.status = 'final') THEN
    RAISE EXCEPTION 'Cannot settle a sweep as its end needs no verdict: %', NEW.outgoing_id USING ERRCODE = 'check_violation';
  END IF;
  NEW.created_at := now();
  RETURN NEW;
END $$;
CREATE TRIGGER sweep_verdict_is_needed BEFORE INSERT ON book.sweep_verdict FOR EACH ROW EXECUTE FUNCTION book.check_sweep_verdict();

-- A transfer that did not arrive has left its sweep when the verdict commits: in a statement of its own. The row of
-- the sweep is held since the verdict was written; held here too, so that this does not depend on that.
CREATE FUNCTION book.check_settled_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM book.outgoing o WHERE o.id = NEW.outgoing_id AND o.merchant_id = 'mer_platform' FOR NO KEY UPDATE;
  IF NEW.arrived < (SELECT coalesce(sum(i.amount), 0) FROM book.sweep_item i WHERE i.outgoing_id = NEW.outgoing_id) THEN
    RAISE EXCEPTION 'Cannot settle a sweep as it lists more than has arrived: %', NEW.outgoing_id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER sweep_verdict_settles_items AFTER INSERT ON book.sweep_verdict
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION book.check_settled_items();

-- An item leaves its sweep only when that sweep can never land any more, or in the verdict on it; later
-- only where nothing has arrived.
CREATE FUNCTION book.keep_sweep_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.merchant_id, NEW.network, NEW.txid, NEW.log_index, NEW.address, NEW.currency, NEW.amount, NEW.height)
     IS DISTINCT FROM
     (OLD.merchant_id, OLD.network, OLD.txid, OLD.log_index, OLD.address, OLD.currency, OLD.amount, OLD.height)
     OR (OLD.done AND NOT NEW.done) THEN
    RAISE EXCEPTION 'Cannot change what is to be swept as it is written once: %/%', OLD.txid, OLD.log_index
      USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.outgoing_id IS NOT NULL AND NEW.outgoing_id IS DISTINCT FROM OLD.outgoing_id AND (OLD.done
    OR NOT EXISTS (
      SELECT FROM book.outgoing o
      WHERE o.id = OLD.outgoing_id AND o.merchant_id = 'mer_platform' AND o.status = 'void')
    AND NOT EXISTS (
      SELECT FROM book.sweep_verdict v
      WHERE v.outgoing_id = OLD.outgoing_id AND (v.arrived = 0 OR v.created_at = now()))) THEN
    RAISE EXCEPTION 'Cannot take a transfer from its sweep as that may land: %', OLD.outgoing_id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER sweep_item_is_kept BEFORE UPDATE ON book.sweep_item FOR EACH ROW EXECUTE FUNCTION book.keep_sweep_item();
CREATE TRIGGER sweep_item_is_never_deleted BEFORE DELETE ON book.sweep_item FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

-- A sweep carries no more than it moves, and nothing that came after it: otherwise money would become
-- available that was never moved. One sweep at a time and by its key, whatever the database knows of
-- sizes: a join was planned as a walk over every transfer of the service, for each item that changed. Their
-- rows are held in the order of their ids, as every writer does that holds several.
CREATE FUNCTION book.check_sweep_items() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  v_sweep text;
BEGIN
  FOR v_sweep IN SELECT DISTINCT n.outgoing_id FROM changed n WHERE n.outgoing_id IS NOT NULL ORDER BY 1 LOOP
    PERFORM FROM book.outgoing o WHERE o.id = v_sweep AND o.merchant_id = 'mer_platform' FOR NO KEY UPDATE;
    IF EXISTS (
      SELECT FROM book.outgoing o
      WHERE o.id = v_sweep AND o.merchant_id = 'mer_platform' AND (o.kind <> 'sweep'
        OR coalesce((SELECT v.arrived FROM book.sweep_verdict v WHERE v.outgoing_id = v_sweep), o.amount)
           < (SELECT sum(i.amount) FROM book.sweep_item i WHERE i.outgoing_id = v_sweep)
        OR EXISTS (SELECT FROM book.sweep_item i WHERE i.outgoing_id = v_sweep
                   AND (i.network, i.currency) <> (o.network, o.currency))
        OR EXISTS (SELECT FROM book.sweep_item i JOIN book.attempt a
                     ON a.outgoing_id = v_sweep AND a.merchant_id = o.merchant_id
                       AND a.outcome IN ('paid', 'unexpected')
                   WHERE i.outgoing_id = v_sweep AND i.height >= a.height))) THEN
      RAISE EXCEPTION 'Cannot carry transfers as their sweep moves less: %', v_sweep USING ERRCODE = 'check_violation';
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER sweep_item_begins_open BEFORE INSERT ON book.sweep_item FOR EACH ROW
  WHEN (NEW.outgoing_id IS NOT NULL OR NEW.done) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_carries_its_items AFTER UPDATE ON book.sweep_item REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION book.check_sweep_items();

-- Transfers that are on their address no more although no own sweep has taken them: what an operator
-- has written off, checked against the balance. Nothing is left to be swept of them, and a top-up among
-- them stays unconfirmed. `unexplained`: what of it no own transaction accounts for; a sweep that was
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

CREATE TRIGGER sweep_item_is_written_off_once BEFORE UPDATE ON book.sweep_item FOR EACH ROW
  WHEN (OLD.write_off IS NOT NULL) EXECUTE FUNCTION book.refuse_change();

-- Only open transfers of that address are written off, and only in the transaction that says so.
CREATE FUNCTION book.check_written_off() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.outgoing_id IS NOT NULL OR NOT EXISTS (
    SELECT FROM book.sweep_write_off w
    WHERE w.id = NEW.write_off AND w.network = NEW.network AND w.address = NEW.address
      AND w.currency = NEW.currency AND w.created_at = now()) THEN
    RAISE EXCEPTION 'Cannot write a transfer off as a sweep lists it, or no write-off of this commit names its address: %/%', NEW.txid, NEW.log_index
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

-- An address with something to sweep in one currency: when the planner looks at it next, and why it
-- was not swept when it last did. `touched` counts what happened to it meanwhile.
CREATE TABLE book.sweep_address (
  network     text COLLATE "C" NOT NULL,
  address     text COLLATE "C" NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  touched     bigint NOT NULL DEFAULT 0,
  poll_at     timestamptz NOT NULL DEFAULT now(),
  reason      text COLLATE "C",
  detail      text,
  amount      numeric(38,18),
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now(),
  -- how often it could not be looked at in vain: its pause grows with it
  tries       integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  PRIMARY KEY (network, address, currency)
) WITH (fillfactor = 70);
CREATE INDEX sweep_address_due ON book.sweep_address (network, poll_at);
CREATE INDEX sweep_address_reason ON book.sweep_address (network, reason, address, currency) WHERE reason IS NOT NULL;
CREATE INDEX sweep_address_failing ON book.sweep_address (network) WHERE tries >= 3;

-- Addresses that were paid while another session held their row of `sweep_address`: the scan notes them here
-- and goes on, and the planner's next look that finds the row free takes them over.
CREATE TABLE book.late_sweep_address (
  network     text COLLATE "C" NOT NULL,
  address     text COLLATE "C" NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  noted_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (network, address, currency)
);
