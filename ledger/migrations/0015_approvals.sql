-- Payments by hand and payouts that wait: approved by another administrator than the one who made the record.

-- The rules of this installation, written by the service when it starts with other ones.
CREATE TABLE book.duty (
  only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  four_eyes  text NOT NULL DEFAULT 'keys' CHECK (four_eyes IN ('off', 'keys', 'persons')),
  -- deposits by hand above this need two administrators
  alone_up_to numeric(38,18) NOT NULL DEFAULT 100000 CHECK (alone_up_to >= 0),
  updated_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO book.duty DEFAULT VALUES;

-- True where two acts count as those of one person, as `ledger/money/duties.ts` says it.
CREATE FUNCTION book.is_same_hand(key text, administrator text, other_key text, other_administrator text)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT CASE d.four_eyes
    WHEN 'off' THEN false
    WHEN 'keys' THEN key = other_key
    ELSE key = other_key OR coalesce(administrator = other_administrator, false) END FROM book.duty d), false)
$$;

-- The rules below refuse with an SQLSTATE of their own, so that the caller returns the refusal it is: SD001, another
-- administrator has to decide; SD002, one alone may not, and the second word is missing.

-- True where a merchant's money in a pair may come from deposits that the same person has confirmed by hand.
CREATE FUNCTION book.has_funded(merchant text, of_currency text, of_network text, key text, administrator text)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM book.deposit d JOIN book.duty u ON u.four_eyes = 'persons'
    WHERE d.approved_by IS NOT NULL AND d.cleared_at > now() - interval '30 days' AND d.merchant_id = merchant
      AND d.currency = of_currency AND d.network = of_network
      AND (book.is_same_hand(d.approved_by, d.approved_admin, key, administrator)
        OR book.is_same_hand(d.endorsed_by, d.endorsed_admin, key, administrator)))
$$;

-- A maker does not approve, and what was made through a key is approved through one.
CREATE FUNCTION book.check_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.created_by IS NOT NULL AND NEW.approved_by IS NULL THEN
    RAISE EXCEPTION 'Cannot approve % as no key is named', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  IF book.is_same_hand(NEW.created_by, NEW.created_admin, NEW.approved_by, NEW.approved_admin) THEN
    RAISE EXCEPTION 'Cannot approve % as the one who made it would', NEW.id USING ERRCODE = 'SD001';
  END IF;
  IF TG_TABLE_NAME <> 'settlement_address' AND book.has_funded(
       NEW.merchant_id, to_jsonb(NEW) ->> 'currency', NEW.network, NEW.approved_by, NEW.approved_admin) THEN
    RAISE EXCEPTION 'Cannot approve % as the one who confirmed its money would', NEW.id USING ERRCODE = 'SD001';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER settlement_is_approved_by_another BEFORE UPDATE OF status ON book.settlement FOR EACH ROW
  WHEN (OLD.status = 'APPROVAL_REQUIRED' AND NEW.status NOT IN ('APPROVAL_REQUIRED', 'REJECTED', 'CANCELLED'))
  EXECUTE FUNCTION book.check_approval();
CREATE TRIGGER withdrawal_is_approved_by_another BEFORE UPDATE OF status ON book.withdrawal FOR EACH ROW
  WHEN (OLD.status = 'PENDING_APPROVAL' AND NEW.status NOT IN ('PENDING_APPROVAL', 'CANCELLED') AND NEW.settlement_id IS NULL)
  EXECUTE FUNCTION book.check_approval();
CREATE TRIGGER settlement_address_is_activated_by_another BEFORE UPDATE OF active ON book.settlement_address FOR EACH ROW
  WHEN (NEW.active AND NOT OLD.active) EXECUTE FUNCTION book.check_approval();

-- Sum of what one person alone has confirmed by hand in the last 24 hours, whatever the currency: stablecoins of one money
-- are counted together. What another hand has endorsed has two words behind it and is not counted.
CREATE FUNCTION book.confirmed_alone(key text, administrator text, except_id text) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(d.amount), 0) FROM book.deposit d
  WHERE d.approved_by IS NOT NULL AND d.cleared_at > now() - interval '24 hours' AND d.id <> except_id
    AND (d.approved_by = key OR d.approved_admin = administrator)
    AND (d.endorsed_by IS NULL OR book.is_same_hand(d.endorsed_by, d.endorsed_admin, d.approved_by, d.approved_admin))
$$;

-- A deposit by hand is confirmed by another than its maker, and by two where it is large, or makes the day's sum of
-- one large. The one who has endorsed it is another than the one who confirms it; the same one confirms it alone, within the day's sum,
-- by a write that takes the endorsement away, so that it is counted. Confirmations follow each other, whichever node
-- commits them: each locks the rules until it is committed, and then sums up. A commit takes that lock once, before the
-- balances of all merchants and the head of the audit, so that no two wait for each other.
CREATE FUNCTION book.check_confirmed_by_hand() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
  v_duty book.duty;
BEGIN
  IF NEW.created_by IS NOT NULL AND NEW.approved_by IS NULL THEN
    RAISE EXCEPTION 'Cannot confirm % as no key is named', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  IF book.is_same_hand(NEW.created_by, NEW.created_admin, NEW.approved_by, NEW.approved_admin) THEN
    RAISE EXCEPTION 'Cannot confirm % as the one who made it would', NEW.id USING ERRCODE = 'SD001';
  END IF;
  IF NEW.endorsed_by IS NOT NULL
     AND book.is_same_hand(NEW.endorsed_by, NEW.endorsed_admin, NEW.approved_by, NEW.approved_admin) THEN
    RAISE EXCEPTION 'Cannot confirm % as two administrators are needed', NEW.id USING ERRCODE = 'SD001';
  END IF;
  IF NEW.endorsed_by IS NOT NULL
     AND book.is_same_hand(NEW.endorsed_by, NEW.endorsed_admin, NEW.created_by, NEW.created_admin) THEN
    RAISE EXCEPTION 'Cannot confirm % as the one who made it has endorsed it', NEW.id USING ERRCODE = 'SD001';
  END IF;
  IF NEW.created_by IS NULL OR NEW.endorsed_by IS NOT NULL THEN
    RETURN NEW;
  END IF;
  SELECT * INTO v_duty FROM book.duty FOR NO KEY UPDATE;
  IF v_duty.four_eyes <> 'off'
     AND NEW.amount + book.confirmed_alone(NEW.approved_by, NEW.approved_admin, NEW.id) > v_duty.alone_up_to THEN
    RAISE EXCEPTION 'Cannot confirm % as two administrators are needed', NEW.id USING ERRCODE = 'SD002';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER deposit_by_hand_needs_another BEFORE UPDATE OF status ON book.deposit FOR EACH ROW
  WHEN (OLD.status = 'PENDING' AND NEW.status = 'CONFIRMED' AND (NEW.log_index IS NULL OR NEW.log_index = -1))
  EXECUTE FUNCTION book.check_confirmed_by_hand();
