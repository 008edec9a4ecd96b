-- What leaves the wallets of the service: what is to be sent, what was signed for it, how it ended, what it cost.

-- One row per intended on-chain transfer of the service. Signing moves queued -> signed; whatever gives
-- the money back moves queued|dead -> void in its own commit: exactly one of them wins.
--
-- `gas`: the chain's coin for an address. `delegation`: energy delegated to one, its amount the coin staked
-- for it, which stays ours; `reclaim`: energy undelegated.
CREATE TABLE book.outgoing (
  id          text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  kind        text COLLATE "C" NOT NULL CHECK (kind IN ('payout','settlement','sweep','gas','delegation','reclaim','cold')),
  payment_id  text COLLATE "C",
  network     text COLLATE "C" NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  amount      numeric(38,18) NOT NULL CHECK (amount > 0),
  wallet      text COLLATE "C" NOT NULL DEFAULT 'hot' CHECK (wallet = 'hot' OR wallet ~ '^[0-9]{1,10}$'),
  destination text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL CHECK (status IN ('queued','signed','final','dead','void')),
  reason      text,
  attempts    integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  lease_until timestamptz,
  created_at  timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL,
  -- how often a queued transfer was tried in vain: its pause grows with it, and a restart does not begin anew.
  -- The journal does not write it (`book.outgoing_row` lacks it).
  tries       integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  PRIMARY KEY (id, merchant_id),
  CHECK ((kind IN ('payout','settlement')) = (payment_id IS NOT NULL)),
  CONSTRAINT outgoing_asset_of_kind CHECK (kind = 'cold' OR (currency = 'native') = (kind IN ('gas','delegation','reclaim'))),
  -- only sweeps leave from deposit addresses, and nothing but sweeps
  CONSTRAINT outgoing_wallet_of_kind CHECK ((kind = 'sweep') = (wallet <> 'hot')),
  -- transfers of the service itself belong to the platform account (ledger/own_accounts.ts)
  CONSTRAINT outgoing_of_platform CHECK ((merchant_id = 'mer_platform') = (kind NOT IN ('payout','settlement'))),
  -- the payout of a transfer that has left already is never in the queue
  CONSTRAINT outgoing_booked_is_void CHECK (status = 'void' OR NOT book.is_booked(payment_id))
) WITH (fillfactor = 80);
CREATE INDEX outgoing_queued ON book.outgoing (network, id) WHERE status = 'queued';
CREATE INDEX outgoing_signed ON book.outgoing (network, id) WHERE status = 'signed';
-- The surplus above a ceiling is worked out from what is under way: a second one would be taken twice.
CREATE UNIQUE INDEX outgoing_cold_once ON book.outgoing (network, currency)
  WHERE kind = 'cold' AND status IN ('queued', 'signed', 'dead');
-- One living sweep per address and currency, one living helper per address: nothing is sent twice.
CREATE UNIQUE INDEX outgoing_living_sweep ON book.outgoing (network, wallet, currency)
  WHERE kind = 'sweep' AND status IN ('queued','signed','dead');
CREATE UNIQUE INDEX outgoing_living_helper ON book.outgoing (network, destination)
  WHERE kind IN ('gas','delegation','reclaim') AND status IN ('queued','signed','dead');
CREATE INDEX outgoing_of_wallet ON book.outgoing (network, wallet, currency, id) WHERE wallet <> 'hot';
CREATE INDEX outgoing_for_address ON book.outgoing (network, destination, id)
  WHERE kind IN ('gas','delegation','reclaim');
CREATE TRIGGER outgoing_transition BEFORE UPDATE OF status ON book.outgoing FOR EACH ROW
  WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION book.check_step('outgoing');

-- Payee, amount and payer are written once: they are what was reserved, and what is signed.
CREATE TRIGGER outgoing_is_kept BEFORE UPDATE ON book.outgoing FOR EACH ROW
  WHEN ((OLD.id, OLD.merchant_id, OLD.kind, OLD.payment_id, OLD.network, OLD.currency, OLD.amount, OLD.wallet, OLD.destination)
        IS DISTINCT FROM
        (NEW.id, NEW.merchant_id, NEW.kind, NEW.payment_id, NEW.network, NEW.currency, NEW.amount, NEW.wallet, NEW.destination))
  EXECUTE FUNCTION book.refuse_change();

-- One signed envelope of an outgoing row, stored before it is first broadcast. Bytes and id never
-- change; `outcome` is set once, from our own scan of solid blocks.
CREATE TABLE book.attempt (
  outgoing_id text COLLATE "C" NOT NULL,
  number      integer NOT NULL CHECK (number > 0),
  merchant_id text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  txid        text COLLATE "C" NOT NULL,
  bytes       text NOT NULL,
  expires_at  timestamptz NOT NULL,
  created_at  timestamptz NOT NULL,
  outcome     text COLLATE "C" CHECK (outcome IN ('paid','failed','unexpected','expired')),
  reason      text,
  height      bigint,
  fee         numeric(38,18),
  evidence    jsonb,
  -- Stablecoin per unit of the chain's coin when the fee was counted: what makes `fee` comparable with
  -- the network fee that was charged. Null where no rate was known then.
  coin_rate   numeric(38,18) CHECK (coin_rate > 0),
  -- The time at which the fee was added to book.network_cost; it is added once.
  costed_at   timestamptz,
  -- The block that the bytes refer to: they can only be in a later one, whenever they are committed, so that
  -- blocks read without a gap from there on are what their absence is proven by.
  since_height bigint,
  -- The most coin that it may take from the hot wallet, besides what it moves: what must not be reserved
  -- again before its end is known. Sweeps pay from their own addresses, and take none of it.
  fee_limit   numeric(38,18) NOT NULL CHECK (fee_limit >= 0),
  -- Height of our scan when this database came to know it: blocks up to it were read without looking for
  -- it, and prove nothing before they are read again.
  known_height bigint,
  -- Up to which block they were read again since, from `since_height` on without a gap.
  reread_height bigint,
  -- A signer's bytes that this history did not commit: they may be in a block, and so are looked for, but
  -- another signer may have signed the same transfer in the lost history. They are never sent from here.
  adopted     boolean NOT NULL DEFAULT false,
  PRIMARY KEY (outgoing_id, number, merchant_id),
  UNIQUE (txid, network),
  FOREIGN KEY (outgoing_id, merchant_id) REFERENCES book.outgoing (id, merchant_id),
  CONSTRAINT attempt_cost_of_fee CHECK (costed_at IS NULL OR fee IS NOT NULL),
  CONSTRAINT attempt_rate_of_cost CHECK (coin_rate IS NULL OR costed_at IS NOT NULL),
  -- Nothing is dead without its proof: our own solid scan past the expiry, named by height and hash.
  CONSTRAINT attempt_dead_by_proof CHECK (
    outcome IS DISTINCT FROM 'expired' OR coalesce(evidence ?& ARRAY['height', 'hash', 'previousTime'], false))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX attempt_in_flight ON book.attempt (outgoing_id) WHERE outcome IS NULL;
CREATE INDEX attempt_fee_limits ON book.attempt (network) INCLUDE (fee_limit) WHERE outcome IS NULL;
-- By which block the newest of our transactions ended: a balance of an older one still has its money.
CREATE INDEX attempt_ended ON book.attempt (network, height) WHERE height IS NOT NULL;
-- Which of our transactions were in which blocks; rows come nearly in that order.
CREATE INDEX attempt_height ON book.attempt USING brin (height) WHERE height IS NOT NULL;
CREATE INDEX attempt_uncosted ON book.attempt (network, outgoing_id) WHERE fee IS NOT NULL AND costed_at IS NULL;
CREATE INDEX attempt_costed ON book.attempt (network, outgoing_id) WHERE costed_at IS NOT NULL;

CREATE FUNCTION book.keep_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.outgoing_id, NEW.number, NEW.merchant_id, NEW.network, NEW.txid, NEW.bytes, NEW.expires_at)
     IS DISTINCT FROM (OLD.outgoing_id, OLD.number, OLD.merchant_id, OLD.network, OLD.txid, OLD.bytes, OLD.expires_at)
     OR (OLD.outcome IS NOT NULL AND (NEW.outcome, NEW.height) IS DISTINCT FROM (OLD.outcome, OLD.height)) THEN
    RAISE EXCEPTION 'Cannot change an attempt as it is written once: %', OLD.txid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER attempt_is_kept BEFORE UPDATE ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.keep_attempt();
CREATE TRIGGER attempt_is_never_deleted BEFORE DELETE ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER attempt_limit_is_kept BEFORE UPDATE OF fee_limit ON book.attempt FOR EACH ROW
  WHEN (OLD.fee_limit IS DISTINCT FROM NEW.fee_limit) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER attempt_adoption_is_kept BEFORE UPDATE OF adopted ON book.attempt FOR EACH ROW
  WHEN (OLD.adopted IS DISTINCT FROM NEW.adopted) EXECUTE FUNCTION book.refuse_change();

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

-- A payout whose transaction succeeded without the intended transfer ends by an operator's verdict alone, which
-- the chain has confirmed. It is the line of book.ingested that is written with the end: one for ever.
CREATE FUNCTION book.check_verdict() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.outgoing_id AND a.merchant_id = NEW.merchant_id
             AND a.outcome = 'unexpected')
    AND NOT EXISTS (SELECT FROM book.ingested i WHERE i.event_id = 'verdict:' || NEW.id
             AND i.merchant_id = NEW.merchant_id
             AND i.body_hash = CASE NEW.status WHEN 'CONFIRMED' THEN 'paid' ELSE 'not_paid' END) THEN
    RAISE EXCEPTION 'Cannot end a withdrawal as no verdict says what its transaction did: % is %', NEW.id, NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER withdrawal_ends_by_verdict AFTER UPDATE OF status ON book.withdrawal
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.status = 'PENDING' AND NEW.status IN ('CONFIRMED', 'FAILED')) EXECUTE FUNCTION book.check_verdict();

-- Money of a withdrawal is not given back where a transaction has paid, whatever became of its row.
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

-- Sums of costs per day (UTC) and kind of transfer, kept in the statement that counts them.
CREATE TABLE book.network_cost (
  network   text COLLATE "C" NOT NULL,
  currency  text COLLATE "C" NOT NULL,
  kind      text COLLATE "C" NOT NULL,
  day       date NOT NULL,
  transfers bigint NOT NULL CHECK (transfers >= 0),
  -- of them: included and failed, so that the fee was paid for nothing
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

-- Ends of our transactions that a solid block shows and that the scan could not write, as another session
-- held their rows. The cursor moves on, so their blocks are read again; until then none of them may be
-- declared expired. No foreign key: its check would wait for the very row that is held.
CREATE TABLE book.late_outcome (
  outgoing_id text COLLATE "C" NOT NULL,
  number      integer NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  height      bigint NOT NULL,
  noted_at    timestamptz NOT NULL DEFAULT now(),
  -- when its block was last read again
  tried_at    timestamptz,
  PRIMARY KEY (outgoing_id, number, merchant_id)
);
CREATE INDEX late_outcome_of_network ON book.late_outcome (network, height);
