-- Roles that read intents to sign them read what decides it now as well: the number that is promised to a transfer, and
-- how it was used. Without this a signer of the new version would sign nothing until its role is granted again.
DO $$
DECLARE v_role name;
BEGIN
  FOR v_role IN SELECT r.rolname FROM pg_attribute c CROSS JOIN aclexplode(c.attacl) g JOIN pg_roles r ON r.oid = g.grantee
    WHERE c.attrelid = 'book.outgoing'::regclass AND c.attname = 'wallet' AND g.privilege_type = 'SELECT' LOOP
    EXECUTE format('GRANT SELECT (nonce) ON book.outgoing TO %I', v_role);
    EXECUTE format('GRANT SELECT (network, payer, nonce, used_by, foreign_bytes) ON book.lane_nonce TO %I', v_role);
  END LOOP;
END $$;
