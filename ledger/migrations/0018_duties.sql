-- Who may do what, and who did it: the keys behind payments, approvals by another administrator than
-- the one who made the record, callback secrets that are encrypted, and an audit that cannot be
-- changed unnoticed.

-- The rules of this installation, written by the service when it starts with other ones.
CREATE TABLE book.duty (
  only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  four_eyes  text NOT NULL DEFAULT 'keys' CHECK (four_eyes IN ('off', 'keys', 'persons')),
  -- deposits by hand above this need two administrators
  alone_up_to numeric(38,18) NOT NULL DEFAULT 100000 CHECK (alone_up_to >= 0),
  updated_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO book.duty DEFAULT VALUES;

-- The administrator who stands behind a key: its own id for a first key, inherited by every key that
-- is made with it. Null: a merchant's key with no administrator behind it, or one made before this.
ALTER TABLE hub.api_key ADD COLUMN administrator text;
-- Whether a merchant's key has no payout right before another administrator than the one behind it has approved it:
-- somebody who knows the key of an administrator may know it too (`ledger/api_key_changes.ts`).
ALTER TABLE hub.api_key ADD COLUMN needs_approval boolean NOT NULL DEFAULT false;
-- Whether a key with an administrator behind it is the merchant's own: it took the place of the key that the merchant
-- was handed, or was made with such a one.
ALTER TABLE hub.api_key ADD COLUMN handed_over boolean NOT NULL DEFAULT false;

-- Key and administrator who made a record, and who let it go.
DO $$
DECLARE
  v_table  text;
  v_column text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['deposit', 'withdrawal', 'settlement', 'settlement_address'] LOOP
    FOREACH v_column IN ARRAY ARRAY['created_by', 'created_admin', 'approved_by', 'approved_admin'] LOOP
      EXECUTE format('ALTER TABLE book.%I ADD COLUMN %I text COLLATE "C"', v_table, v_column);
      EXECUTE format('ALTER TYPE book.%I ADD ATTRIBUTE %I text COLLATE "C"', v_table || '_row', v_column);
    END LOOP;
  END LOOP;
  -- the first of two administrators who confirm a large deposit by hand
  FOREACH v_column IN ARRAY ARRAY['endorsed_by', 'endorsed_admin'] LOOP
    EXECUTE format('ALTER TABLE book.deposit ADD COLUMN %I text COLLATE "C"', v_column);
    EXECUTE format('ALTER TYPE book.deposit_row ADD ATTRIBUTE %I text COLLATE "C"', v_column);
  END LOOP;
END $$;

-- What administrators have confirmed by hand, the newest first: it is summed up by day.
CREATE INDEX deposit_confirmed_by_hand ON book.deposit (cleared_at) WHERE approved_by IS NOT NULL;

-- What the rules below refuse has an SQLSTATE of its own, so that it is told as the refusal it is: SD001, another
-- administrator has to decide; SD002, one alone may not, and the second word is missing.

-- Whether two acts count as those of one person, as `ledger/money/duties.ts` says it.
CREATE FUNCTION book.is_same_hand(key text, administrator text, other_key text, other_administrator text)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT CASE d.four_eyes
    WHEN 'off' THEN false
    WHEN 'keys' THEN key = other_key
    ELSE key = other_key OR coalesce(administrator = other_administrator, false) END FROM book.duty d), false)
$$;

-- Whether a merchant's money in a pair may come from deposits that the same person has confirmed by hand.
CREATE FUNCTION book.has_funded(merchant text, of_currency text, of_network text, key text, administrator text)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM book.deposit d JOIN book.duty u ON u.four_eyes = 'persons'
    WHERE d.approved_by IS NOT NULL AND d.cleared_at > now() - interval '30 days' AND d.merchant_id = merchant
      AND d.currency = of_currency AND d.network = of_network
      AND (book.is_same_hand(d.approved_by, d.approved_admin, key, administrator)
        OR book.is_same_hand(d.endorsed_by, d.endorsed_admin, key, administrator)))
$$;

-- Who made it does not approve it, and what was made through a key is approved through one.
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

-- What one person alone has confirmed by hand in the last 24 hours, whatever the currency: stablecoins of one money
-- are counted together. What another hand has endorsed has two words behind it and is not counted.
CREATE FUNCTION book.confirmed_alone(key text, administrator text, except_id text) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(d.amount), 0) FROM book.deposit d
  WHERE d.approved_by IS NOT NULL AND d.cleared_at > now() - interval '24 hours' AND d.id <> except_id
    AND (d.approved_by = key OR d.approved_admin = administrator)
    AND (d.endorsed_by IS NULL OR book.is_same_hand(d.endorsed_by, d.endorsed_admin, d.approved_by, d.approved_admin))
$$;

-- A deposit by hand is confirmed by another than its maker, and by two where it is large, or makes the day's sum of
-- one large. Who has endorsed it is another than who confirms it; the same one confirms it alone, within the day's sum,
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
-- Who made a record is never changed.
CREATE FUNCTION book.keep_maker() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'Cannot change who made % %', TG_TABLE_NAME, OLD.id USING ERRCODE = 'check_violation';
END $$;
DO $$
DECLARE
  v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['deposit', 'withdrawal', 'settlement', 'settlement_address'] LOOP
    EXECUTE format($t$CREATE TRIGGER %I BEFORE UPDATE OF created_by, created_admin ON book.%I FOR EACH ROW
      WHEN (OLD.created_by IS DISTINCT FROM NEW.created_by OR OLD.created_admin IS DISTINCT FROM NEW.created_admin)
      EXECUTE FUNCTION book.keep_maker()$t$, v_table || '_maker_is_kept', v_table);
  END LOOP;
END $$;

-- The audit as a chain: each line carries the hash of the one before it, so that a line which was changed,
-- taken out or put in between by whoever can write to the tables is found. Both audits are one chain.
CREATE TABLE hub.audit_chain (
  number   bigint PRIMARY KEY CHECK (number > 0),
  source   text NOT NULL CHECK (source IN ('book', 'hub')),
  audit_id text COLLATE "C" NOT NULL,
  hash     bytea NOT NULL,
  UNIQUE (source, audit_id)
);
CREATE TABLE hub.audit_head (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  number   bigint NOT NULL DEFAULT 0,
  hash     bytea NOT NULL DEFAULT ''
) WITH (fillfactor = 50);
INSERT INTO hub.audit_head DEFAULT VALUES;
CREATE FUNCTION hub.check_audit_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.number IS DISTINCT FROM OLD.number + 1 THEN
    RAISE EXCEPTION 'Cannot move the head of the audit but by one line' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_head_moves_on BEFORE UPDATE ON hub.audit_head FOR EACH ROW EXECUTE FUNCTION hub.check_audit_head();
CREATE TRIGGER audit_head_is_kept BEFORE DELETE ON hub.audit_head FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER audit_chain_is_written_once BEFORE UPDATE OR DELETE ON hub.audit_chain FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER audit_chain_is_not_truncated BEFORE TRUNCATE ON hub.audit_chain FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER audit_head_is_not_truncated BEFORE TRUNCATE ON hub.audit_head FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER audit_is_not_truncated BEFORE TRUNCATE ON book.audit FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER audit_is_not_truncated BEFORE TRUNCATE ON hub.audit FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

-- The hash of a line: of the hash before it, and of everything that the line says. Columns by name, so that
-- one that is added later changes no hash; times in UTC, whatever the session's zone is.
CREATE FUNCTION hub.audit_hash(before bytea, source text, line jsonb) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(before || convert_to(jsonb_build_array(source, line -> 'id', line -> 'merchant_id', line -> 'actor',
    line -> 'action', line -> 'subject', line -> 'before', line -> 'after', line -> 'refused', line -> 'request_id',
    line -> 'created_at')::text, 'UTF8'))
$$;

-- When the transaction commits, so that the head is held for that moment alone: audited commits follow each
-- other, whatever else their transactions wait for, and others do not notice. Who is held up by a session that was
-- left open with the head is refused soon: a batch of the journal commits for many merchants.
CREATE FUNCTION hub.chain_audit() RETURNS trigger LANGUAGE plpgsql SET TimeZone = 'UTC' SET lock_timeout = '1s' AS $$
DECLARE
  v_head hub.audit_head;
  v_hash bytea;
BEGIN
  SELECT * INTO STRICT v_head FROM hub.audit_head FOR UPDATE;
  v_hash := hub.audit_hash(v_head.hash, TG_TABLE_SCHEMA, to_jsonb(NEW));
  INSERT INTO hub.audit_chain (number, source, audit_id, hash)
  VALUES (v_head.number + 1, TG_TABLE_SCHEMA, NEW.id, v_hash);
  UPDATE hub.audit_head SET number = v_head.number + 1, hash = v_hash;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER audit_is_chained AFTER INSERT ON book.audit
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hub.chain_audit();
CREATE CONSTRAINT TRIGGER audit_is_chained AFTER INSERT ON hub.audit
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hub.chain_audit();

-- What is wrong with the chain up to its head, at most 100 findings; nothing where it holds.
CREATE FUNCTION hub.verify_audit() RETURNS TABLE (number bigint, audit_id text, fault text)
LANGUAGE plpgsql STABLE SET TimeZone = 'UTC' AS $$
#variable_conflict use_column
DECLARE
  v_link   record;
  v_before bytea := '';
  v_next   bigint := 1;
  v_found  integer := 0;
BEGIN
  FOR v_link IN
    SELECT c.number, c.source, c.audit_id, c.hash,
      CASE c.source WHEN 'book' THEN to_jsonb(b) ELSE to_jsonb(h) END AS line
    FROM hub.audit_chain c
    LEFT JOIN book.audit b ON c.source = 'book' AND b.id = c.audit_id
    LEFT JOIN hub.audit h ON c.source = 'hub' AND h.id = c.audit_id
    ORDER BY c.number
  LOOP
    EXIT WHEN v_found >= 100;
    IF v_link.number <> v_next THEN
      v_found := v_found + 1;
      RETURN QUERY SELECT v_next, NULL::text, 'links are missing';
    END IF;
    IF v_link.line IS NULL THEN
      v_found := v_found + 1;
      RETURN QUERY SELECT v_link.number, v_link.audit_id, 'the line is missing';
    ELSIF hub.audit_hash(v_before, v_link.source, v_link.line) <> v_link.hash THEN
      v_found := v_found + 1;
      RETURN QUERY SELECT v_link.number, v_link.audit_id, 'the line, or the link before it, was changed';
    END IF;
    v_before := v_link.hash;
    v_next := v_link.number + 1;
  END LOOP;
  IF v_found < 100 AND NOT EXISTS (SELECT FROM hub.audit_head a WHERE a.number = v_next - 1 AND a.hash = v_before) THEN
    v_found := v_found + 1;
    RETURN QUERY SELECT v_next, NULL::text, 'the newest links are missing';
  END IF;
  RETURN QUERY
    SELECT NULL::bigint, a.id, 'the line is in no link' FROM (
      SELECT 'book' AS source, id FROM book.audit UNION ALL SELECT 'hub', id FROM hub.audit) a
    WHERE NOT EXISTS (SELECT FROM hub.audit_chain c WHERE c.source = a.source AND c.audit_id = a.id)
    ORDER BY a.id LIMIT 100 - v_found;
END $$;

-- What was audited before there was a chain.
DO $$
DECLARE
  v_line record;
  v_hash bytea := '';
BEGIN
  SET LOCAL TimeZone = 'UTC';
  FOR v_line IN
    SELECT 'book' AS source, a.id, to_jsonb(a) AS line FROM book.audit a
    UNION ALL SELECT 'hub', a.id, to_jsonb(a) FROM hub.audit a ORDER BY id
  LOOP
    v_hash := hub.audit_hash(v_hash, v_line.source, v_line.line);
    INSERT INTO hub.audit_chain (number, source, audit_id, hash)
    SELECT h.number + 1, v_line.source, v_line.id, v_hash FROM hub.audit_head h;
    UPDATE hub.audit_head SET number = number + 1, hash = v_hash;
  END LOOP;
END $$;
