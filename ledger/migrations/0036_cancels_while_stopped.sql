-- What an administrator has taken out of use is signed also while a transfer that the books do not know stops signing: what
-- must not be paid would be taken back by nothing else meanwhile. Another history stops it all the same.

-- The reason why nothing at all may be signed for a network now; null: there is none. The history is compared first, in a
-- snapshot of its own: one that has become the known one since has left its hold by then.
CREATE FUNCTION hub.history_stop(of_network text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_is_other boolean;
BEGIN
  v_is_other := hub.is_other_history();
  RETURN (SELECT CASE
    WHEN EXISTS (SELECT FROM hub.failover_network n WHERE n.network = of_network AND n.compared_at IS NULL)
      THEN 'the database has another history, and what was signed before is not compared yet'
    WHEN v_is_other THEN 'the database has another history'
  END);
END $$;

-- The reason why no transfer may be signed for a network now; null: it may. Asked inside the statements that take
-- transfers from the queue and that commit their signatures, so that no caller can forget it.
CREATE OR REPLACE FUNCTION hub.signing_stop(of_network text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_history text;
BEGIN
  v_history := hub.history_stop(of_network);
  RETURN (SELECT CASE
    WHEN EXISTS (SELECT FROM hub.unknown_spend s WHERE s.network = of_network AND s.status = 'open')
      THEN 'money left a wallet by a transaction that the books do not know'
    ELSE v_history
  END);
END $$;

-- Which transaction has used a number is proven to the signer by its bytes, also where another node's signer has signed it.
DO $$
DECLARE v_role name;
BEGIN
  FOR v_role IN SELECT r.rolname FROM pg_attribute c CROSS JOIN aclexplode(c.attacl) g JOIN pg_roles r ON r.oid = g.grantee
    WHERE c.attrelid = 'book.outgoing'::regclass AND c.attname = 'wallet' AND g.privilege_type = 'SELECT' LOOP
    EXECUTE format('GRANT SELECT (bytes) ON book.attempt TO %I', v_role);
  END LOOP;
END $$;
