-- Transfers of the house itself, and sweeps: what moves money from deposit addresses to the hot
-- wallet, with the gas that needs. They belong to the platform account (ledger/own_accounts.ts).

-- `gas`: the chain's coin for an address. `delegation`: energy lent to one, its amount the coin staked
-- for it, which stays ours; `reclaim`: lent energy taken back.
ALTER TABLE book.outgoing DROP CONSTRAINT outgoing_kind_check;
ALTER TABLE book.outgoing ADD CONSTRAINT outgoing_kind_check
  CHECK (kind IN ('payout','settlement','sweep','gas','delegation','reclaim','cold'));
ALTER TABLE book.outgoing ADD CONSTRAINT outgoing_asset_of_kind CHECK (
  kind = 'cold' OR (currency = 'native') = (kind IN ('gas','delegation','reclaim')));
-- Only sweeps leave from deposit addresses, and nothing but sweeps.
ALTER TABLE book.outgoing ADD CONSTRAINT outgoing_wallet_of_kind CHECK ((kind = 'sweep') = (wallet <> 'hot'));
ALTER TABLE book.outgoing ADD CONSTRAINT outgoing_of_platform
  CHECK ((merchant_id = 'mer_platform') = (kind NOT IN ('payout','settlement')));

-- One living sweep per address and currency, one living helper per address: nothing is sent twice.
CREATE UNIQUE INDEX outgoing_living_sweep ON book.outgoing (network, wallet, currency)
  WHERE kind = 'sweep' AND status IN ('queued','signed','dead');
CREATE UNIQUE INDEX outgoing_living_helper ON book.outgoing (network, destination)
  WHERE kind IN ('gas','delegation','reclaim') AND status IN ('queued','signed','dead');
CREATE INDEX outgoing_of_wallet ON book.outgoing (network, wallet, currency, id) WHERE wallet <> 'hot';
CREATE INDEX outgoing_for_address ON book.outgoing (network, destination, id)
  WHERE kind IN ('gas','delegation','reclaim');

-- Which address a sweep has left.
CREATE INDEX address_of_index ON hub.address (network, wallet_index);

ALTER TABLE book.inbox DROP CONSTRAINT inbox_phase_check;
ALTER TABLE book.inbox ADD CONSTRAINT inbox_phase_check
  CHECK (phase IN ('seen','solid','vanished','submitted','outcome','margin','swept'));

-- One final transfer to an address of ours, to be carried to the hot wallet. `outgoing_id`: the sweep
-- that carries it, at most one that may live. `done`: carried, and whoever waits for that was told.
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
  PRIMARY KEY (network, txid, log_index, merchant_id),
  CHECK (NOT done OR outgoing_id IS NOT NULL)
) WITH (fillfactor = 80);
CREATE INDEX sweep_item_open ON book.sweep_item (network, address, currency) WHERE NOT done;
CREATE INDEX sweep_item_of_sweep ON book.sweep_item (outgoing_id) WHERE outgoing_id IS NOT NULL;

-- What an operator has found out about a sweep that succeeded without the intended transfer, checked
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

-- What did not arrive has left its sweep when the verdict commits: in a statement of its own. The row of
-- the sweep is held since the verdict was written; held here too, so that this does not rest on that.
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
-- sizes: a join was planned as a look at every transfer of the house, for each item that changed. Their
-- rows are held in the order of their ids, as everybody does who holds several.
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

-- An address with something to sweep in one currency: when the planner looks at it next, and why it
-- was not swept when it last did. `touched` counts what happened to it meanwhile.
CREATE TABLE book.sweep_address (
  network     text COLLATE "C" NOT NULL,
  address     text COLLATE "C" NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  touched     bigint NOT NULL DEFAULT 0,
  look_at     timestamptz NOT NULL DEFAULT now(),
  reason      text COLLATE "C",
  detail      text,
  amount      numeric(38,18),
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (network, address, currency)
) WITH (fillfactor = 70);
CREATE INDEX sweep_address_due ON book.sweep_address (network, look_at);
CREATE INDEX sweep_address_reason ON book.sweep_address (network, reason, address, currency) WHERE reason IS NOT NULL;
