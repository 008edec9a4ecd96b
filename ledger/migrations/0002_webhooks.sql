-- Delivery of events, and what the lists of the interface need.

-- Only the oldest event of a payment that is still to be delivered may be sent.
CREATE INDEX outbox_of_payment ON book.outbox (payment_id, id) WHERE status = 'PENDING';
-- Events by status: the merchant's delivery log, and those that ran out of retries, for the second
-- chance after their endpoint recovers.
CREATE INDEX outbox_list ON book.outbox (merchant_id, status, id);

-- One row per attempt of an event, for the merchant's delivery log.
CREATE TABLE book.delivery_attempt (
  event_id    text COLLATE "C" NOT NULL,
  number      integer NOT NULL CHECK (number > 0),
  merchant_id text COLLATE "C" NOT NULL,
  outcome     text COLLATE "C" NOT NULL,
  http_status integer,
  duration_ms integer NOT NULL CHECK (duration_ms >= 0),
  answer      text CHECK (octet_length(answer) <= 8192),
  ended_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (event_id, number, merchant_id)
);

-- Events that were given their second chance; each gets one.
CREATE TABLE book.event_revival (
  event_id    text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  revived_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (event_id, merchant_id)
);

CREATE INDEX deposit_reference ON book.deposit (merchant_id, reference_id, seq) WHERE reference_id IS NOT NULL;

-- The first row of a merchant's list that is not older than a time. Rows are numbered in the order
-- of their times, so this is a binary search of some 20 index look-ups, whatever the list's length.
-- One past the last row where all are older.
CREATE FUNCTION book.first_seq_since(p_list text, p_merchant_id text, p_time timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_low  bigint := 1;
  v_high bigint;
  v_middle bigint;
  v_at   timestamptz;
BEGIN
  SELECT CASE p_list WHEN 'deposit' THEN a.deposit_seq WHEN 'withdrawal' THEN a.withdrawal_seq
                     WHEN 'transaction' THEN a.transaction_seq WHEN 'charge' THEN a.charge_seq
                     WHEN 'settlement' THEN a.settlement_seq END + 1
  INTO v_high FROM book.account a WHERE a.merchant_id = p_merchant_id;
  IF v_high IS NULL THEN
    RETURN 1;
  END IF;
  WHILE v_low < v_high LOOP
    v_middle := (v_low + v_high) / 2;
    CASE p_list
      WHEN 'deposit' THEN
        SELECT x.created_at INTO v_at FROM book.deposit x WHERE x.merchant_id = p_merchant_id AND x.seq = v_middle;
      WHEN 'withdrawal' THEN
        SELECT x.created_at INTO v_at FROM book.withdrawal x WHERE x.merchant_id = p_merchant_id AND x.seq = v_middle;
      WHEN 'transaction' THEN
        SELECT x.created_at INTO v_at FROM book.transaction x WHERE x.merchant_id = p_merchant_id AND x.seq = v_middle;
      WHEN 'charge' THEN
        SELECT x.created_at INTO v_at FROM book.charge x WHERE x.merchant_id = p_merchant_id AND x.seq = v_middle;
      WHEN 'settlement' THEN
        SELECT x.created_at INTO v_at FROM book.settlement x WHERE x.merchant_id = p_merchant_id AND x.seq = v_middle;
    END CASE;
    IF v_at IS NULL THEN
      RAISE EXCEPTION 'Cannot search a list as a row is missing: % % %', p_list, p_merchant_id, v_middle;
    END IF;
    IF v_at < p_time THEN
      v_low := v_middle + 1;
    ELSE
      v_high := v_middle;
    END IF;
  END LOOP;
  RETURN v_low;
END $$;
