-- Large transfers become spendable only by the word of a second node (ledger/watcher/deposit_proofs.ts).

-- The amount of a transfer above which that holds, in any token; no row: one node's word is enough.
-- Kept here, so that whatever writes a final transfer goes by it. kept_at: when a node that is configured
-- so was last heard of; one that is not takes the rule away only when there is none any more.
CREATE TABLE hub.deposit_proof_rule (
  network text COLLATE "C" PRIMARY KEY,
  above   numeric(38,18) NOT NULL CHECK (above >= 0),
  kept_at timestamptz NOT NULL DEFAULT now()
);

-- Final transfers that a second node has to prove: what it must have, when it is asked next, and its
-- word. hash: of the block in which our scan met the transfer; null: read once more when it is asked.
CREATE TABLE book.deposit_proof (
  merchant_id text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  txid        text COLLATE "C" NOT NULL,
  log_index   integer NOT NULL,
  address_id  text COLLATE "C" NOT NULL,
  height      bigint NOT NULL,
  hash        text COLLATE "C",
  currency    text COLLATE "C" NOT NULL,
  amount      numeric(38,18) NOT NULL CHECK (amount > 0),
  sender      text COLLATE "C" NOT NULL,
  receiver    text COLLATE "C" NOT NULL,
  since       timestamptz NOT NULL DEFAULT now(),
  next_ask_at timestamptz NOT NULL DEFAULT now(),
  tries       integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  reason      text,
  -- the second node contradicts our scan
  is_disputed boolean NOT NULL DEFAULT false,
  -- it once did, or our scan has read the transfer in two ways: no change of the bound lets it go
  contested   boolean NOT NULL DEFAULT false,
  -- the second node's word; "waived": the bound no longer covers it; "discarded": an operator's verdict that
  -- there is no such transfer, which every later sight of it takes back
  evidence    jsonb,
  PRIMARY KEY (merchant_id, network, txid, log_index),
  CONSTRAINT deposit_proof_contested CHECK (NOT contested OR NOT coalesce(evidence ? 'waived', false))
) WITH (fillfactor = 80);
CREATE INDEX deposit_proof_open ON book.deposit_proof (network, next_ask_at) WHERE evidence IS NULL;
CREATE INDEX deposit_proof_named ON book.deposit_proof (network, txid)
  WHERE evidence IS NULL OR evidence ? 'discarded';

-- A transfer that waits for its proof is given to its merchant by that alone, as it was proven, by any writer;
-- one that was discarded only waits again.
CREATE FUNCTION book.require_deposit_proof() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.quarantine LIKE 'unproven:%' AND NEW.consumed_at IS NULL THEN
    RETURN NEW;
  END IF;
  IF NOT EXISTS (
    SELECT FROM book.deposit_proof p
    WHERE p.merchant_id = OLD.merchant_id AND p.network = OLD.network AND p.txid = OLD.txid
      AND p.log_index = OLD.log_index AND p.evidence IS NOT NULL
      AND CASE WHEN p.evidence ? 'discarded' THEN NEW.quarantine LIKE 'discarded:%' AND NEW.consumed_at IS NOT NULL
        ELSE p.amount = (NEW.data ->> 'amount')::numeric AND p.currency = NEW.data ->> 'currency' END) THEN
    RAISE EXCEPTION 'Cannot credit a transfer as no second node has proven it: %/%', OLD.txid, OLD.log_index
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER transfer_waits_for_proof BEFORE UPDATE ON book.inbox
  FOR EACH ROW WHEN ((OLD.quarantine LIKE 'unproven:%' OR OLD.quarantine LIKE 'discarded:%') AND
    (NEW.quarantine IS DISTINCT FROM OLD.quarantine OR NEW.consumed_at IS DISTINCT FROM OLD.consumed_at))
  EXECUTE FUNCTION book.require_deposit_proof();
