-- What the chain took for the transaction of an unknown transfer, of its coin; 0: not known. Where the hot
-- wallet sent it, the comparison of its coin has to explain it like the fee of a payout that is known.
ALTER TABLE hub.unknown_spend ADD COLUMN fee numeric(38,18) NOT NULL DEFAULT 0 CHECK (fee >= 0);

CREATE TRIGGER unknown_spend_fee_is_kept BEFORE UPDATE OF fee ON hub.unknown_spend FOR EACH ROW
  WHEN (OLD.fee IS DISTINCT FROM NEW.fee) EXECUTE FUNCTION book.refuse_change();

-- Payouts that live and have the network, token, amount and destination of an unknown transfer: it may have
-- paid them, and they would be paid again. `queued`: it can be matched; `signed`: bytes of it may come to a
-- block until `expires_at`, after which it is queued again; `approval`: it waits to be let go.
CREATE VIEW hub.spend_candidate AS
SELECT s.network, s.txid, s.log_index, w.id AS withdrawal_id, w.merchant_id, w.reference_id, o.state, o.expires_at
FROM hub.unknown_spend s
JOIN (
  -- one part per state: each has an index of its own, and what has ended is never read
  SELECT q.network, q.destination, q.currency, q.amount, q.payment_id, q.merchant_id, 'queued' AS state,
    NULL::timestamptz AS expires_at
  FROM book.outgoing q WHERE q.status = 'queued'
  UNION ALL
  SELECT q.network, q.destination, q.currency, q.amount, q.payment_id, q.merchant_id, 'signed', a.expires_at
  FROM book.outgoing q
  LEFT JOIN book.attempt a ON a.outgoing_id = q.id AND a.merchant_id = q.merchant_id AND a.outcome IS NULL
  WHERE q.status = 'signed'
) o ON o.network = s.network AND o.destination = s.recipient AND o.currency = s.currency AND o.amount = s.amount
JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
WHERE s.status = 'open'
UNION ALL
SELECT s.network, s.txid, s.log_index, w.id, w.merchant_id, w.reference_id, 'approval', NULL
FROM hub.unknown_spend s
JOIN book.withdrawal w ON w.status = 'PENDING_APPROVAL' AND w.network = s.network AND w.destination = s.recipient
  AND w.currency = s.currency AND w.amount = s.amount
WHERE s.status = 'open';

-- One verdict per unknown transfer: its line is written with the booking that it stands for, or with the
-- write-off, and stays.
CREATE TRIGGER ingested_failover_is_kept BEFORE UPDATE ON book.ingested FOR EACH ROW
  WHEN (OLD.event_id LIKE 'failover/%') EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER ingested_failover_is_never_deleted BEFORE DELETE ON book.ingested FOR EACH ROW
  WHEN (OLD.event_id LIKE 'failover/%') EXECUTE FUNCTION book.refuse_change();

-- What an upstream system sends is never such a verdict: its lines hold the SHA-256 of its message.
ALTER TABLE book.ingested ADD CONSTRAINT ingested_verdict_is_the_services
  CHECK (event_id !~ '^(verdict:|failover/)' OR body_hash !~ '^[0-9a-f]{64}$');
