-- Nonces that a signer has told of while a hold is open, and that cannot be promised yet as lower ones are missing, or that
-- are promised to others by then. Nodes may have signers of their own, which know of each other's nothing: what one has told,
-- the others promise to these transfers, and to no others. It stays true for ever, and is a few rows of each failover.
CREATE TABLE book.told_nonce (
  network text COLLATE "C" NOT NULL,
  payer   text COLLATE "C" NOT NULL CHECK (payer = 'hot' OR payer ~ '^[0-9]{1,10}$'),
  nonce   bigint NOT NULL CHECK (nonce BETWEEN 0 AND 9007199254740991),
  intents text[] NOT NULL CHECK (cardinality(intents) > 0),
  PRIMARY KEY (network, payer, nonce)
);
CREATE TRIGGER told_nonce_is_kept BEFORE UPDATE OR DELETE ON book.told_nonce FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER told_nonce_is_not_truncated BEFORE TRUNCATE ON book.told_nonce FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

CREATE FUNCTION book.check_told_nonce() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- those of which one no longer waits are signed together no more
  IF EXISTS (SELECT FROM book.told_nonce t WHERE t.network = NEW.network AND t.payer = NEW.payer AND t.nonce = NEW.nonce
      AND t.intents <> NEW.intents AND NOT EXISTS (
        SELECT FROM unnest(t.intents) i WHERE NOT EXISTS (
          SELECT FROM book.outgoing o WHERE o.id = i AND o.status = 'queued' AND o.nonce IS NULL))) THEN
    RAISE EXCEPTION 'Cannot promise a nonce as a signer has given it to others that wait: % % %', NEW.network, NEW.payer, NEW.nonce
      USING ERRCODE = 'check_violation';
  END IF;
  -- what was signed with the told nonce may still land until a block has taken that: with another nonce it would be paid twice
  IF EXISTS (SELECT FROM book.told_nonce t WHERE t.network = NEW.network AND t.payer = NEW.payer AND t.nonce <> NEW.nonce
      AND t.intents && NEW.intents AND EXISTS (
        SELECT FROM book.lane_nonce n WHERE n.network = t.network AND n.payer = t.payer AND n.nonce = t.nonce
          AND n.used_by IS NULL AND NOT n.intents && t.intents)) THEN
    RAISE EXCEPTION 'Cannot promise a nonce as a transfer may still be paid with one that a signer gave it: % % %',
      NEW.network, NEW.payer, NEW.nonce USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER lane_nonce_is_not_told_of_others BEFORE INSERT ON book.lane_nonce FOR EACH ROW
  WHEN (NOT NEW.foreign_hand) EXECUTE FUNCTION book.check_told_nonce();

-- A transfer that a signer has told of, and whose transactions are not added yet, may still be paid by them: it is not given
-- back before a block has taken its nonce.
CREATE FUNCTION book.check_told_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.told_nonce t JOIN book.lane_nonce n
      ON n.network = t.network AND n.payer = t.payer AND n.nonce = t.nonce
      WHERE t.network = OLD.network AND t.payer = book.payer_of(OLD.wallet, OLD.fee_payer) AND t.nonce = OLD.nonce
        AND OLD.id = ANY (t.intents) AND n.used_by IS NULL) THEN
    RAISE EXCEPTION 'Cannot give up a transfer as what a signer has signed of it may still pay it: %', OLD.id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER outgoing_told_is_not_given_up BEFORE UPDATE OF status ON book.outgoing FOR EACH ROW
  WHEN (OLD.status = 'queued' AND NEW.status = 'void' AND OLD.nonce IS NOT NULL AND OLD.attempts = 0)
  EXECUTE FUNCTION book.check_told_transfer();
