-- What shares a transaction expires together: while one of its transfers may still be paid by it, so may all.
CREATE FUNCTION book.check_expires_whole() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.txid = NEW.txid AND a.network = NEW.network AND a.outcome IS DISTINCT FROM 'expired') THEN
    RAISE EXCEPTION 'Cannot expire a part of a transaction: %', NEW.txid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER attempt_expires_whole AFTER UPDATE OF outcome ON book.attempt DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.outcome = 'expired' AND NEW.intents > 1) EXECUTE FUNCTION book.check_expires_whole();

-- All living attempts of a transfer end together: they have one number, or there is one, which expires.
CREATE FUNCTION book.check_lives_one_way() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.outgoing_id AND a.outcome IS NULL
      AND a.nonce IS DISTINCT FROM NEW.nonce) THEN
    RAISE EXCEPTION 'Cannot keep a signature of a transfer that another one may still pay: %', NEW.outgoing_id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER attempt_lives_one_way BEFORE INSERT ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.check_lives_one_way();

-- What the transfers of a transaction move together, by which it is large or not.
CREATE FUNCTION book.sum_of_transaction(p_txid text, p_network text) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT sum(o.amount) FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id AND o.merchant_id = a.merchant_id
  WHERE a.txid = p_txid AND a.network = p_network
$$;
