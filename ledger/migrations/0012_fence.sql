-- A version alone can be reached again: a standby that takes over without the last commits counts on from
-- where it stood. So an account also names the last commit that changed it, by an id that is made once and
-- never again; what was decided on another history misses.
ALTER TABLE book.account ADD COLUMN last_commit uuid NOT NULL DEFAULT gen_random_uuid();

-- The sums that a payment goes into have 20 digits before the point: bounded to 10^12, a hundred million
-- payments fit. What a chain says beyond that is quarantined in the inbox.
ALTER TABLE book.deposit ADD CONSTRAINT deposit_within_bounds CHECK (amount <= 1000000000000);
ALTER TABLE book.setting ADD CHECK (base_fee <= 1000000000000);
ALTER TABLE book.pair ADD CHECK (network_fee <= 1000000000000), ADD CHECK (min_withdrawal <= 1000000000000);
ALTER TABLE book.settlement_threshold ADD CHECK (amount <= 1000000000000);
ALTER TABLE book.merchant ADD CHECK (direct_deposit_fee <= 1000000000000);
