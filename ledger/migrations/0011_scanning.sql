-- Blocks that were read of each network and those that still wait, calls to nodes, and comparisons of the
-- books with the chains.

-- The newest block that was read of a network. `head` informs, `solid` moves money.
CREATE TABLE hub.cursor (
  network text COLLATE "C" NOT NULL,
  view    text COLLATE "C" NOT NULL CHECK (view IN ('head','solid')),
  height  bigint NOT NULL,
  hash    text COLLATE "C" NOT NULL,
  time    timestamptz NOT NULL,
  -- time of the block before: once that is past a transaction's expiry, no later block can hold it
  previous_time timestamptz NOT NULL,
  -- The solid block at which the scan began. Blocks up to it say nothing about these books, read again or
  -- not: it stays where it is, as ranges that are read again below it move the lowest height that was read.
  began_height bigint,
  PRIMARY KEY (network, view)
);
CREATE TRIGGER cursor_beginning_is_kept BEFORE UPDATE OF began_height ON hub.cursor FOR EACH ROW
  WHEN (OLD.began_height IS DISTINCT FROM NEW.began_height) EXECUTE FUNCTION book.refuse_change();

-- The chain of a network: the id of its first block, kept when it was first read. A node that
-- answers another one is not believed.
CREATE TABLE hub.chain (
  network text COLLATE "C" PRIMARY KEY,
  genesis text COLLATE "C" NOT NULL
);

-- Solid blocks that were read, as ranges without a gap; the proof that absence rests on. Ranges that
-- touch are joined, so that more than one of a network means a gap between them.
CREATE TABLE hub.scanned_range (
  network      text COLLATE "C" NOT NULL,
  first_height bigint NOT NULL CHECK (first_height >= 0),
  last_height  bigint NOT NULL,
  PRIMARY KEY (network, first_height),
  UNIQUE (network, last_height),
  CHECK (last_height >= first_height)
) WITH (fillfactor = 50);

-- Adds what was read to the ranges. `blocks` is how many were really read: fewer than the heights
-- from `low` to `high` are a gap, and nothing is marked.
CREATE FUNCTION hub.mark_scanned(of_network text, low bigint, high bigint, blocks bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  joined_low bigint;
  joined_high bigint;
BEGIN
  IF blocks IS DISTINCT FROM high - low + 1 OR blocks < 1 THEN
    RAISE EXCEPTION 'Cannot mark blocks as read as some were not: % of % to % on %', blocks, low, high, of_network
      USING ERRCODE = 'check_violation';
  END IF;
  -- one writer per network: the scan and a rescan may end at the same time
  PERFORM FROM hub.cursor WHERE network = of_network AND view = 'solid' FOR UPDATE;
  UPDATE hub.scanned_range r SET last_height = high
  WHERE r.network = of_network AND r.last_height = low - 1 AND NOT EXISTS (
    SELECT FROM hub.scanned_range o WHERE o.network = of_network AND o.first_height BETWEEN low AND high + 1);
  IF FOUND THEN RETURN; END IF;
  WITH gone AS (
    DELETE FROM hub.scanned_range r
    WHERE r.network = of_network AND r.first_height <= high + 1 AND r.last_height >= low - 1
    RETURNING r.first_height, r.last_height)
  SELECT min(g.first_height), max(g.last_height) INTO joined_low, joined_high FROM gone g;
  INSERT INTO hub.scanned_range (network, first_height, last_height)
  VALUES (of_network, least(low, joined_low), greatest(high, joined_high));
END $$;

-- Blocks that no node gives whole. Those of the solid view hold the cursor; those of the head view
-- only delay the news. `again`: a block that the scan has passed and that has to be read once more.
CREATE TABLE hub.unreadable_block (
  network     text COLLATE "C" NOT NULL,
  view        text COLLATE "C" NOT NULL CHECK (view IN ('head','solid','again')),
  height      bigint NOT NULL,
  reason      text NOT NULL,
  tries       integer NOT NULL DEFAULT 1 CHECK (tries > 0),
  since       timestamptz NOT NULL DEFAULT now(),
  next_try_at timestamptz NOT NULL,
  PRIMARY KEY (network, view, height)
);

-- Calls per node and day (UTC), all services together: quotas are counted by key and address.
CREATE TABLE hub.node_calls (
  network text COLLATE "C" NOT NULL,
  node    text COLLATE "C" NOT NULL,
  day     date NOT NULL,
  calls   bigint NOT NULL CHECK (calls >= 0),
  PRIMARY KEY (network, node, day)
) WITH (fillfactor = 50);

-- Comparisons of the books with themselves and with the chains. `report` names every difference.
CREATE TABLE hub.reconciliation (
  id          text COLLATE "C" PRIMARY KEY,
  scope       text COLLATE "C" NOT NULL CHECK (scope IN ('quick','full')),
  started_at  timestamptz NOT NULL,
  finished_at timestamptz NOT NULL,
  differences integer NOT NULL CHECK (differences >= 0),
  unchecked   integer NOT NULL CHECK (unchecked >= 0),
  report      jsonb NOT NULL
);
CREATE INDEX reconciliation_of_scope ON hub.reconciliation (scope, id);

-- The balance of the hot wallet at a block, as found when it was last compared: what has come and gone
-- since then must be ours to explain.
CREATE TABLE hub.wallet_level (
  network  text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  height   bigint NOT NULL,
  balance  numeric(38,18) NOT NULL CHECK (balance >= 0),
  PRIMARY KEY (network, currency)
);

-- The token contracts that the scan knows, and solid blocks that were read without one of them: its
-- transfers in them were passed over, until they are read again.
CREATE TABLE hub.scanned_contract (
  network     text COLLATE "C" NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  contract    text COLLATE "C" NOT NULL,
  missed_from bigint,
  missed_to   bigint,
  -- newest solid block that was read when it was found to be configured no more; null: it is configured
  left_at     bigint,
  PRIMARY KEY (network, currency, contract),
  CHECK ((missed_from IS NULL) = (missed_to IS NULL)),
  CHECK (missed_to >= missed_from)
);

-- Notes the contracts that are configured. One that is new to a network which was read before has missed
-- all of it; one that comes back has missed what was read since it left.
CREATE FUNCTION hub.store_contracts(of_network text, currencies text[], contracts text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  newest bigint;
  oldest bigint;
  is_first boolean;
BEGIN
  SELECT height INTO newest FROM hub.cursor WHERE network = of_network AND view = 'solid' FOR UPDATE;
  SELECT min(first_height) INTO oldest FROM hub.scanned_range WHERE network = of_network;
  SELECT NOT EXISTS (SELECT FROM hub.scanned_contract WHERE network = of_network) INTO is_first;
  UPDATE hub.scanned_contract SET left_at = coalesce(newest, 0)
  WHERE network = of_network AND left_at IS NULL AND NOT EXISTS (
    SELECT FROM unnest(currencies, contracts) AS c(currency, contract)
    WHERE c.currency = scanned_contract.currency AND c.contract = scanned_contract.contract);
  INSERT INTO hub.scanned_contract AS s (network, currency, contract, missed_from, missed_to)
  SELECT of_network, c.currency, c.contract,
    CASE WHEN NOT is_first AND oldest <= newest THEN oldest END,
    CASE WHEN NOT is_first AND oldest <= newest THEN newest END
  FROM unnest(currencies, contracts) AS c(currency, contract)
  ON CONFLICT (network, currency, contract) DO UPDATE SET left_at = NULL,
    missed_from = CASE WHEN s.left_at < newest THEN least(s.missed_from, s.left_at + 1) ELSE s.missed_from END,
    missed_to = CASE WHEN s.left_at < newest THEN newest ELSE s.missed_to END;
END $$;
