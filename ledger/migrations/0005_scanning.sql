-- What was read of each network, what still waits to be read, what nodes were asked, and whether
-- the books agree with the chains.

-- Which chain a network is: the id of its first block, kept when it was first read. A node that
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
-- only delay the news.
CREATE TABLE hub.unreadable_block (
  network     text COLLATE "C" NOT NULL,
  view        text COLLATE "C" NOT NULL CHECK (view IN ('head','solid')),
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

-- When work is due that one service does for all of them.
CREATE TABLE hub.job (
  name   text COLLATE "C" PRIMARY KEY,
  due_at timestamptz NOT NULL
);

-- What the hot wallet held at a block, as found when it was last compared: what has come and gone
-- since then must be ours to explain.
CREATE TABLE hub.wallet_level (
  network  text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  height   bigint NOT NULL,
  balance  numeric(38,18) NOT NULL CHECK (balance >= 0),
  PRIMARY KEY (network, currency)
);

-- Which of our transactions were in which blocks; rows come nearly in that order.
CREATE INDEX attempt_height ON book.attempt USING brin (height) WHERE height IS NOT NULL;
