-- Which wallet the addresses of a network are derived from: the digest of its public part, kept at the
-- first start. Whoever changes the service's wallet file later finds that nothing is handed out from it.
ALTER TABLE hub.wallet ADD COLUMN fingerprint text COLLATE "C" CHECK (fingerprint ~ '^[0-9a-f]{64}$');
-- A wallet from before fingerprints has a hot wallet whose key follows from its public keys and one deposit
-- key. Its row stays to be recognized, and cannot number an address any more.
ALTER TABLE hub.wallet ADD CONSTRAINT wallet_is_identified CHECK (fingerprint IS NOT NULL) NOT VALID;
-- When a signer first said that its keys are those of the public part. Nothing is handed out before: the
-- file might have been exchanged before the first start.
ALTER TABLE hub.wallet ADD COLUMN attested_at timestamptz;

CREATE TRIGGER wallet_is_kept BEFORE UPDATE ON hub.wallet FOR EACH ROW
  WHEN ((OLD.network, OLD.wallet_id, OLD.hot_wallet, OLD.fingerprint) IS DISTINCT FROM (NEW.network, NEW.wallet_id, NEW.hot_wallet, NEW.fingerprint)
    OR (OLD.attested_at IS NOT NULL AND NEW.attested_at IS DISTINCT FROM OLD.attested_at))
  EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER wallet_is_never_deleted BEFORE DELETE ON hub.wallet FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
