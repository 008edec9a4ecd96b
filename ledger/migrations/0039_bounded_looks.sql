-- Rows of the inbox that wait, by the kind of their reason, which stands before its first colon: what waits for a disabled
-- pair may be hundreds of thousands of rows, and whatever looks for another kind passes by all of them. The time comes last
-- so that the first few are read in order: an order by it keeps a bounded look from gathering all rows of the kind first.
CREATE INDEX inbox_kind ON book.inbox (split_part(quarantine, ':', 1), network, (data ->> 'currency'), created_at)
  WHERE consumed_at IS NULL AND quarantine IS NOT NULL;
-- Transfers that wait for the decision on a deposit by hand are looked through in this order, a portion at a time.
CREATE INDEX inbox_claimed ON book.inbox (merchant_id, network, txid, log_index, phase)
  WHERE consumed_at IS NULL AND split_part(quarantine, ':', 1) = 'claimed';
-- Of a partial index's expressions the planner knows nothing: it would take 500,000 rows for a hundred, and gather them all
-- for the first few.
CREATE STATISTICS book.inbox_kind_values ON (split_part(quarantine, ':', 1)) FROM book.inbox;
CREATE STATISTICS book.inbox_currency_values ON (data ->> 'currency') FROM book.inbox;

-- Merchants take turns in a network's queue: those that wait are found one after the other, and of each the oldest few. The
-- index by network and id gives way to it, so that a payout has no more entries than before.
DROP INDEX book.outgoing_queued;
CREATE INDEX outgoing_queued ON book.outgoing (network, merchant_id, created_at, id) WHERE status = 'queued';
CREATE INDEX outgoing_under_way ON book.outgoing (network, merchant_id) WHERE status = 'signed';
