-- What is committed with a nonce is looked at in the statement's snapshot: an administrator may have taken the nonce out of
-- use while that statement waited for the network's turn. The rule reads it afresh, with the transfer's row held.
CREATE OR REPLACE FUNCTION book.check_lane_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_nonce book.lane_nonce;
BEGIN
  SELECT n.* INTO v_nonce FROM book.outgoing o JOIN book.lane_nonce n ON n.network = o.network
    AND n.payer = book.payer_of(o.wallet, o.fee_payer) AND n.nonce = NEW.nonce
  WHERE o.id = NEW.outgoing_id AND o.merchant_id = NEW.merchant_id AND (TG_OP = 'UPDATE' OR o.nonce = NEW.nonce)
    AND o.id = ANY (n.intents);
  IF TG_OP = 'INSERT' THEN
    IF v_nonce.nonce IS NULL OR v_nonce.used_by IS NOT NULL OR NEW.outcome IS NOT NULL THEN
      RAISE EXCEPTION 'Cannot keep a signature of a nonce that is not promised to it: % %', NEW.outgoing_id, NEW.nonce
        USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.purpose = 'pay' AND v_nonce.cancel_by IS NOT NULL THEN
      RAISE EXCEPTION 'Cannot pay with a nonce that was taken out of use: % %', NEW.outgoing_id, NEW.nonce
        USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF NEW.outcome = 'superseded' AND v_nonce.used_by <> NEW.txid AND NEW.evidence->>'by' = v_nonce.used_by
    OR NEW.outcome IN ('paid', 'failed', 'unexpected', 'cancelled') AND v_nonce.used_by = NEW.txid THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'Cannot end an attempt otherwise than its nonce was used: % %', NEW.txid, NEW.outcome
    USING ERRCODE = 'check_violation';
END $$;
