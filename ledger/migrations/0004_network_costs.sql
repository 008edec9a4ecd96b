-- What the chain took for our transactions, beside what merchants were charged for them; what those
-- under way may take; the proof behind a dead attempt; and the rules that one cold transfer of a
-- currency is under way, and one node signs for a hot wallet, at a time.

-- Stablecoin per unit of the chain's coin when the fee was counted: what makes `fee` comparable with
-- the network fee that was charged. Null where no rate was known then.
ALTER TABLE book.attempt ADD COLUMN coin_rate numeric(38,18) CHECK (coin_rate > 0);
-- When the fee was added to book.network_cost; it is added once.
ALTER TABLE book.attempt ADD COLUMN costed_at timestamptz;
ALTER TABLE book.attempt ADD CONSTRAINT attempt_cost_of_fee CHECK (costed_at IS NULL OR fee IS NOT NULL);
ALTER TABLE book.attempt ADD CONSTRAINT attempt_rate_of_cost CHECK (coin_rate IS NULL OR costed_at IS NOT NULL);
-- Height of our scan when it was signed: it can only be in a later block, so that blocks read without a
-- gap from there on are what its absence is proven by. Before the scan has begun: of the node's newest solid block.
ALTER TABLE book.attempt ADD COLUMN since_height bigint;
-- The most coin that it may take from the hot wallet, besides what it moves: what must not be reserved
-- again before its end is known. Sweeps pay from their own addresses, and take none of it.
ALTER TABLE book.attempt ADD COLUMN fee_limit numeric(38,18) NOT NULL CHECK (fee_limit >= 0);
CREATE TRIGGER attempt_limit_is_kept BEFORE UPDATE OF fee_limit ON book.attempt FOR EACH ROW
  WHEN (OLD.fee_limit IS DISTINCT FROM NEW.fee_limit) EXECUTE FUNCTION book.refuse_change();
CREATE INDEX attempt_fee_limits ON book.attempt (network) INCLUDE (fee_limit) WHERE outcome IS NULL;
-- By which block the newest of our transactions ended: a balance of an older one still has its money.
CREATE INDEX attempt_ended ON book.attempt (network, height) WHERE height IS NOT NULL;
-- Nothing is dead without its proof: our own solid scan past the expiry, named by height and hash.
ALTER TABLE book.attempt ADD CONSTRAINT attempt_dead_by_proof CHECK (
  outcome IS DISTINCT FROM 'expired' OR coalesce(evidence ?& ARRAY['height', 'hash', 'previousTime'], false));
CREATE INDEX attempt_uncosted ON book.attempt (network, outgoing_id) WHERE fee IS NOT NULL AND costed_at IS NULL;
CREATE INDEX attempt_costed ON book.attempt (network, outgoing_id) WHERE costed_at IS NOT NULL;

-- Sums of costs per day (UTC) and kind of transfer, kept in the statement that counts them.
CREATE TABLE book.network_cost (
  network   text COLLATE "C" NOT NULL,
  currency  text COLLATE "C" NOT NULL,
  kind      text COLLATE "C" NOT NULL,
  day       date NOT NULL,
  transfers bigint NOT NULL CHECK (transfers >= 0),
  -- of them: included and failed, so that the fee was burned for nothing
  failed    bigint NOT NULL CHECK (failed >= 0),
  -- network fees that merchants paid for them; a refunded one is none
  charged   numeric(38,18) NOT NULL CHECK (charged >= 0),
  -- in the chain's own coin
  coin      numeric(38,18) NOT NULL CHECK (coin >= 0),
  -- the same in the currency, at the rate of the time; `unpriced` transfers are missing in it
  cost      numeric(38,18) NOT NULL CHECK (cost >= 0),
  unpriced  bigint NOT NULL CHECK (unpriced >= 0),
  PRIMARY KEY (network, currency, kind, day)
) WITH (fillfactor = 50);

-- The surplus above a ceiling is worked out from what is under way: a second one would be taken twice.
CREATE UNIQUE INDEX outgoing_cold_once ON book.outgoing (network, currency)
  WHERE kind = 'cold' AND status IN ('queued', 'signed', 'dead');

-- Whose turn it is to sign for a network. A batch is signed on what the hot wallet had reserved when
-- it was pulled, and commits only while `batches` is what it was then, which every commit moves on:
-- two nodes never reserve the same money. `node` and `until` are a hint, so that one does not work in vain.
CREATE TABLE book.signing_turn (
  network text COLLATE "C" PRIMARY KEY,
  batches bigint NOT NULL DEFAULT 0 CHECK (batches >= 0),
  node    text COLLATE "C" NOT NULL,
  until   timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE TRIGGER signing_turn_moves_on BEFORE UPDATE ON book.signing_turn FOR EACH ROW
  WHEN (NEW.network <> OLD.network OR NEW.batches NOT IN (OLD.batches, OLD.batches + 1))
  EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER signing_turn_is_never_deleted BEFORE DELETE ON book.signing_turn FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
