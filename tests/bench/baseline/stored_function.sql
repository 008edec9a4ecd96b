-- B: a withdrawal in one call and one transaction. The same guards and the same rows as the engine;
-- the house's accounts are split over several rows as in A.
CREATE SCHEMA bench;
CREATE FUNCTION bench.withdraw(
  p_merchant_id text, p_currency text, p_network text, p_amount numeric, p_decimals int,
  p_destination text, p_reference_id text, p_description text, p_at timestamptz,
  p_withdrawal_id text, p_transaction_id text, p_outgoing_id text, p_charge_1 text, p_charge_2 text,
  p_shard text,
  OUT refusal text, OUT base_fee numeric, OUT markup_rate numeric, OUT markup numeric, OUT network_fee numeric
) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  a            book.account;
  v_status     text;
  v_available  numeric;
  v_enabled    boolean;
  v_fees       boolean;
  v_min        numeric;
  v_commission numeric;
  v_gross      numeric;
  v_at         timestamptz;
BEGIN
  SELECT * INTO a FROM book.account x WHERE x.merchant_id = p_merchant_id FOR UPDATE;
  SELECT m.status INTO v_status FROM book.merchant m WHERE m.merchant_id = p_merchant_id;
  SELECT s.fees_enabled, s.base_fee, s.markup_rate, p.withdrawals_enabled, p.min_withdrawal, p.network_fee
  INTO v_fees, base_fee, markup_rate, v_enabled, v_min, network_fee
  FROM book.setting s, book.pair p WHERE p.currency = p_currency AND p.network = p_network;
  IF v_status IS DISTINCT FROM 'ACTIVE' THEN refusal := 'merchant_not_active'; RETURN; END IF;
  IF v_enabled IS NOT TRUE THEN refusal := 'withdrawals_closed_for_pair'; RETURN; END IF;
  IF p_amount <= 0 THEN refusal := 'amount_not_positive'; RETURN; END IF;
  IF trunc(p_amount, p_decimals) <> p_amount THEN refusal := 'amount_not_exact'; RETURN; END IF;
  IF p_amount < v_min THEN refusal := 'below_minimum'; RETURN; END IF;
  IF p_reference_id IS NOT NULL AND EXISTS (
    SELECT FROM book.withdrawal w WHERE w.merchant_id = p_merchant_id AND w.reference_id = p_reference_id
      AND w.status NOT IN ('FAILED','CANCELLED')) THEN
    refusal := 'reference_taken'; RETURN;
  END IF;
  IF NOT v_fees THEN base_fee := 0; markup_rate := 0; END IF;
  markup := round(p_amount * markup_rate, p_decimals);
  v_commission := base_fee + markup;
  v_gross := p_amount + v_commission + network_fee;
  v_at := greatest(p_at, a.last_at);

  UPDATE book.balance b SET available = b.available - v_gross, reserved = b.reserved + p_amount, updated_at = v_at
  WHERE b.merchant_id = p_merchant_id AND b.currency = p_currency AND b.network = p_network AND b.available >= v_gross
  RETURNING b.available INTO v_available;
  IF v_available IS NULL THEN refusal := 'insufficient_balance'; RETURN; END IF;

  INSERT INTO book.withdrawal (id, merchant_id, seq, transaction_seq, outgoing_id, currency, network, amount,
    base_fee, markup_rate, markup_amount, network_fee, destination, reference_id, description, status, created_at)
  VALUES (p_withdrawal_id, p_merchant_id, a.withdrawal_seq + 1, a.transaction_seq + 1, p_outgoing_id, p_currency,
    p_network, p_amount, base_fee, markup_rate, markup, network_fee, p_destination, p_reference_id, p_description,
    'PENDING', v_at);
  INSERT INTO book.transaction (merchant_id, seq, id, payment_id, type, status, currency, network, effect, fee,
    to_address, reference_id, description, created_at)
  VALUES (p_merchant_id, a.transaction_seq + 1, p_transaction_id, p_withdrawal_id, 'WITHDRAWAL', 'PENDING', p_currency,
    p_network, -v_gross, v_commission + network_fee, p_destination, p_reference_id, p_description, v_at);
  INSERT INTO book.outgoing (id, merchant_id, kind, payment_id, network, currency, amount, wallet, destination, status,
    attempts, created_at, updated_at)
  VALUES (p_outgoing_id, p_merchant_id, 'payout', p_withdrawal_id, p_network, p_currency, p_amount, 'hot',
    p_destination, 'queued', 0, v_at, v_at);
  INSERT INTO book.entry (payment_id, leg, merchant_id, from_account, to_account, currency, network, amount, created_at)
  SELECT p_withdrawal_id, l.leg, p_merchant_id, 'available', l.account, p_currency, p_network, l.amount, v_at
  FROM (VALUES ('reserve', 'reserved', p_amount), ('commission', 'commission', v_commission),
               ('network_fee', 'network_fee', network_fee)) l(leg, account, amount)
  WHERE l.amount > 0;
  INSERT INTO book.charge (merchant_id, seq, id, payment_id, type, currency, network, amount, created_at)
  SELECT p_merchant_id, a.charge_seq + row_number() OVER (), c.id, p_withdrawal_id, c.type, p_currency, p_network, c.amount, v_at
  FROM (VALUES ('WITHDRAWAL_COMMISSION', v_commission, p_charge_1), ('NETWORK_FEE', network_fee, p_charge_2)) c(type, amount, id)
  WHERE c.amount > 0;
  UPDATE book.account x SET version = x.version + 1, withdrawal_seq = x.withdrawal_seq + 1,
    transaction_seq = x.transaction_seq + 1,
    charge_seq = x.charge_seq + (v_commission > 0)::int + (network_fee > 0)::int, last_at = v_at
  WHERE x.merchant_id = p_merchant_id;
  INSERT INTO book.list_bucket
  SELECT b.* FROM (VALUES ('withdrawal', a.withdrawal_seq, 1), ('transaction', a.transaction_seq, 1),
    ('charge', a.charge_seq, (v_commission > 0)::int + (network_fee > 0)::int)) l(list, last, n)
  CROSS JOIN LATERAL book.count_rows(l.list, p_merchant_id, l.last / 250, (l.last + l.n) / 250) b
  WHERE (l.last + l.n) / 250 > l.last / 250;
  INSERT INTO book.system_balance AS b (account, currency, network, balance)
  VALUES ('commission/' || p_shard, p_currency, p_network, v_commission),
         ('network_fee/' || p_shard, p_currency, p_network, network_fee)
  ON CONFLICT (account, currency, network) DO UPDATE SET balance = b.balance + excluded.balance;
END $$;
