-- Payouts that would credit no other account: to a deposit address of the merchant that pays, or to one
-- whose account is not known any more (ledger/own_accounts.ts). The signer asks it by ids, with
-- the owner's rights, so that its role need not read whose payouts and addresses are whose.
CREATE FUNCTION book.closed_destinations(p_outgoing_ids text[]) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT o.id FROM book.outgoing o JOIN hub.address a ON a.address = o.destination AND a.network = o.network
  WHERE o.id = ANY (p_outgoing_ids) AND a.merchant_id IN (o.merchant_id, 'mer_lost')
$$;
REVOKE ALL ON FUNCTION book.closed_destinations(text[]) FROM PUBLIC;

-- Every state that a settlement was in, oldest first, as [{"status", "at"}]. One commit may take several
-- steps, so a status alone does not tell that a settlement was PENDING or APPROVED.
ALTER TABLE book.settlement ADD COLUMN history jsonb NOT NULL;
ALTER TYPE book.settlement_row ADD ATTRIBUTE history jsonb;

-- A history begins with PENDING, only grows, takes no step that book.transition does not allow, and ends
-- with the status.
CREATE FUNCTION book.check_settlement_history() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_steps text[] := ARRAY(SELECT s.step ->> 'status' FROM jsonb_array_elements(NEW.history) WITH ORDINALITY s(step, n) ORDER BY n);
  v_known integer := CASE WHEN TG_OP = 'UPDATE' THEN jsonb_array_length(OLD.history) ELSE 0 END;
  v_from  text;
BEGIN
  IF v_steps[1] IS DISTINCT FROM 'PENDING' OR v_steps[cardinality(v_steps)] IS DISTINCT FROM NEW.status THEN
    RAISE EXCEPTION 'Cannot write a settlement as its history does not lead to its status: % in %', NEW.status, v_steps
      USING ERRCODE = 'check_violation';
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.history IS DISTINCT FROM (
    SELECT jsonb_agg(s.step ORDER BY n) FROM jsonb_array_elements(NEW.history) WITH ORDINALITY s(step, n) WHERE n <= v_known) THEN
    RAISE EXCEPTION 'Cannot change the history of a settlement as it is written once: %', NEW.id
      USING ERRCODE = 'check_violation';
  END IF;
  FOR v_step IN greatest(v_known, 1) + 1 .. cardinality(v_steps) LOOP
    v_from := v_steps[v_step - 1];
    IF NOT EXISTS (SELECT FROM book.transition t
                   WHERE t.record = 'settlement' AND t.from_status = v_from AND t.to_status = v_steps[v_step]) THEN
      RAISE EXCEPTION 'Cannot move a settlement as its states do not allow it: % -> %', v_from, v_steps[v_step]
        USING ERRCODE = 'check_violation';
    END IF;
  END LOOP;
  RETURN NEW;
END $$;
CREATE TRIGGER settlement_history BEFORE INSERT OR UPDATE OF status, history ON book.settlement FOR EACH ROW
  EXECUTE FUNCTION book.check_settlement_history();

-- The pages of one network are counted and passed over in the index alone.
CREATE INDEX session_of_network ON hub.session (merchant_id, network, seq);
