-- A hold ends by the chain's own count of lives, as each of its transactions does: what was signed before is in a block or
-- dead when the block before the cursor is past the last tick that any of it can have. `until_time` is about when
-- that is, for people, and is compared with nothing but a wrong clock. On TRON a tick is block time in milliseconds.
ALTER TABLE hub.failover_network ADD COLUMN until_tick bigint;
UPDATE hub.failover_network SET until_tick = ceil(extract(epoch FROM until_time) * 1000) WHERE until_time IS NOT NULL;
ALTER TABLE hub.failover_network ADD CONSTRAINT failover_network_tick CHECK ((until_tick IS NULL) = (until_time IS NULL));
