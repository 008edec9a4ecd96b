-- Acts of administrators, as a chain of hashes that cannot be changed unnoticed.

-- Acts of administrators on a merchant's records or on the settings: who, what, before, after.
-- Written in the commit of the effect, so that neither is ever without the other.
CREATE TABLE book.audit (
  id          text COLLATE "C" PRIMARY KEY,
  merchant_id text COLLATE "C",
  actor       text COLLATE "C" NOT NULL,
  action      text COLLATE "C" NOT NULL,
  subject     text COLLATE "C" NOT NULL,
  before      jsonb,
  after       jsonb,
  request_id  text COLLATE "C",
  created_at  timestamptz NOT NULL
);
CREATE INDEX audit_of_merchant ON book.audit (merchant_id, id) WHERE merchant_id IS NOT NULL;
CREATE TRIGGER audit_is_written_once BEFORE UPDATE OR DELETE ON book.audit FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

-- Changes of keys and resellers, in the transaction that made them; and what administrators
-- asked for and were refused (`refused`), which changed nothing.
CREATE TABLE hub.audit (
  id          text COLLATE "C" PRIMARY KEY,
  merchant_id text COLLATE "C",
  actor       text COLLATE "C" NOT NULL,
  action      text COLLATE "C" NOT NULL,
  subject     text COLLATE "C" NOT NULL,
  before      jsonb,
  after       jsonb,
  refused     text,
  request_id  text COLLATE "C",
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_of_merchant ON hub.audit (merchant_id, id) WHERE merchant_id IS NOT NULL;
CREATE TRIGGER audit_is_written_once BEFORE UPDATE OR DELETE ON hub.audit FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

-- The audit as a chain: each line carries the hash of the one before it, so that a line which was changed,
-- taken out or put in between by a writer of the tables is found. Both audits are one chain.
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

-- Runs when the transaction commits, so that the head is held for that moment alone: audited commits follow each
-- other, whatever else their transactions wait for, and others do not notice. A writer that waits for the head of
-- a session that was left open is refused soon: a batch of the journal commits for many merchants.
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

-- The faults of the chain up to its head, at most 100 findings; nothing where it holds.
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
