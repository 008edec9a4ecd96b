-- Nonces that a signer has told of while a hold is open, and that cannot be promised yet as lower ones are missing. Nodes may
-- have signers of their own, which know of each other's nothing: what one has told, the others promise to these transfers,
-- and to no others. It stays true for ever, and is a few rows of each failover.
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
  IF EXISTS (SELECT FROM book.told_nonce t WHERE t.network = NEW.network AND t.payer = NEW.payer AND t.nonce = NEW.nonce
      AND t.intents <> NEW.intents AND EXISTS (
        SELECT FROM book.outgoing o WHERE o.id = ANY (t.intents) AND o.status = 'queued' AND o.nonce IS NULL)) THEN
    RAISE EXCEPTION 'Cannot promise a nonce as a signer has given it to others that wait: % % %', NEW.network, NEW.payer, NEW.nonce
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER lane_nonce_is_not_told_of_others BEFORE INSERT ON book.lane_nonce FOR EACH ROW
  WHEN (NOT NEW.foreign_hand) EXECUTE FUNCTION book.check_told_nonce();
