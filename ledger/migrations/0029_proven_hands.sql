-- A transaction counts as the hot wallet's when its own bytes prove it: a node's word for its sender is not under any
-- root of its block.

-- The bytes of a transaction that the service did not sign and that has used a nonce: the signer reads sender and nonce
-- from them itself, before it gives what was signed with that nonce another one.
ALTER TABLE book.lane_nonce ADD COLUMN foreign_bytes text COLLATE "C",
  ADD CONSTRAINT lane_nonce_foreign_is_proven CHECK (foreign_hand = (foreign_bytes IS NOT NULL));

-- `unproven`: a node says that the hot wallet has sent it, and nothing shows that yet; it stops nothing. `not_ours`: its
-- signature is another's, or it is in no block; it stops nothing, and may be adopted all the same where its bytes prove it.
ALTER TABLE hub.unknown_spend DROP CONSTRAINT unknown_spend_status_check,
  ADD CONSTRAINT unknown_spend_status_check CHECK (
    status IN ('open','listed','cold','known','matched','booked','written_off')
    OR (status IN ('unproven','not_ours') AND log_index = -1)),
  DROP CONSTRAINT unknown_spend_check,
  ADD CONSTRAINT unknown_spend_check CHECK (
    status = 'not_ours' OR (status IN ('matched','booked','written_off')) = (actor IS NOT NULL)),
  DROP CONSTRAINT unknown_spend_check2,
  ADD CONSTRAINT unknown_spend_check2 CHECK ((status IN ('open','listed','cold','unproven')) = (decided_at IS NULL)),
  DROP CONSTRAINT unknown_spend_check4,
  ADD CONSTRAINT unknown_spend_check4 CHECK (status NOT IN ('written_off','not_ours') OR trim(reason) <> '');
CREATE INDEX unknown_spend_unproven ON hub.unknown_spend (network) WHERE status = 'unproven';

CREATE OR REPLACE FUNCTION hub.keep_unknown_spend() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.network, NEW.txid, NEW.log_index, NEW.height, NEW.sender, NEW.recipient, NEW.currency, NEW.amount)
     IS DISTINCT FROM (OLD.network, OLD.txid, OLD.log_index, OLD.height, OLD.sender, OLD.recipient, OLD.currency, OLD.amount)
     OR (OLD.status NOT IN ('open', 'listed', 'cold', 'unproven', 'not_ours') AND NEW.status <> OLD.status)
     -- what was said not to be ours is adopted by its proof, or known by its attempt, and nothing else
     OR (OLD.status = 'not_ours' AND NEW.status NOT IN ('not_ours', 'written_off', 'known'))
     OR (NEW.status = 'unproven' AND OLD.status <> 'unproven')
     -- what stops signing is explained by a verdict or by an attempt, and by no address that was configured later
     OR (NEW.status = 'cold' AND OLD.status <> 'cold') THEN
    RAISE EXCEPTION 'Cannot change what left a wallet as it is decided once: %', OLD.txid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
