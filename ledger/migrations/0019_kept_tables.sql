-- Tables that are never emptied. TRUNCATE passes all triggers of rows: what refuses a row's end refuses nothing of it.

-- Tables of which rows are never deleted, with a trigger for each row already.
CREATE TRIGGER attempt_is_not_truncated BEFORE TRUNCATE ON book.attempt FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER charge_is_not_truncated BEFORE TRUNCATE ON book.charge FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER ingested_is_not_truncated BEFORE TRUNCATE ON book.ingested FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER margin_is_not_truncated BEFORE TRUNCATE ON book.margin FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER signing_turn_is_not_truncated BEFORE TRUNCATE ON book.signing_turn FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_item_is_not_truncated BEFORE TRUNCATE ON book.sweep_item FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER installation_is_not_truncated BEFORE TRUNCATE ON hub.installation FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER unknown_spend_is_not_truncated BEFORE TRUNCATE ON hub.unknown_spend FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER wallet_is_not_truncated BEFORE TRUNCATE ON hub.wallet FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

-- Money, payments and what guards them: without such a table the entries still sum to zero, while a deposit would
-- be credited a second time, a payout signed a second time, or an address handed out twice.
CREATE TRIGGER account_is_not_truncated BEFORE TRUNCATE ON book.account FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER address_number_is_not_truncated BEFORE TRUNCATE ON book.address_number FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER balance_is_not_truncated BEFORE TRUNCATE ON book.balance FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER deposit_is_not_truncated BEFORE TRUNCATE ON book.deposit FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER deposit_address_is_not_truncated BEFORE TRUNCATE ON book.deposit_address FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER inbox_is_not_truncated BEFORE TRUNCATE ON book.inbox FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER merchant_is_not_truncated BEFORE TRUNCATE ON book.merchant FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER network_cost_is_not_truncated BEFORE TRUNCATE ON book.network_cost FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER outbox_is_not_truncated BEFORE TRUNCATE ON book.outbox FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER outgoing_is_not_truncated BEFORE TRUNCATE ON book.outgoing FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER settlement_is_not_truncated BEFORE TRUNCATE ON book.settlement FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER system_balance_is_not_truncated BEFORE TRUNCATE ON book.system_balance FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER system_delta_is_not_truncated BEFORE TRUNCATE ON book.system_delta FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER transaction_is_not_truncated BEFORE TRUNCATE ON book.transaction FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER transition_is_not_truncated BEFORE TRUNCATE ON book.transition FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER withdrawal_is_not_truncated BEFORE TRUNCATE ON book.withdrawal FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER address_is_not_truncated BEFORE TRUNCATE ON hub.address FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER cursor_is_not_truncated BEFORE TRUNCATE ON hub.cursor FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER database_history_is_not_truncated BEFORE TRUNCATE ON hub.database_history FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER migration_is_not_truncated BEFORE TRUNCATE ON hub.migration FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER scanned_range_is_not_truncated BEFORE TRUNCATE ON hub.scanned_range FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER unreadable_block_is_not_truncated BEFORE TRUNCATE ON hub.unreadable_block FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
