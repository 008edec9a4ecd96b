-- What the deposits to a hosted page's address come to, by currency: kept with every deposit, in its own transaction, so that a
-- page is read from a few rows whatever number of transfers its address has. An address that was handed out by itself has none.
CREATE TABLE book.page_total (
  address_id        text COLLATE "C" NOT NULL,
  merchant_id       text COLLATE "C" NOT NULL,
  currency          text COLLATE "C" NOT NULL,
  credited          numeric(38,18) NOT NULL CHECK (credited >= 0),
  pending           numeric(38,18) NOT NULL CHECK (pending >= 0),
  -- the deposit that was credited first
  first_credited_at timestamptz,
  first_credited    text COLLATE "C",
  PRIMARY KEY (address_id, merchant_id, currency),
  CHECK ((first_credited IS NULL) = (first_credited_at IS NULL))
) WITH (fillfactor = 50);
CREATE TRIGGER page_total_is_not_truncated BEFORE TRUNCATE ON book.page_total
  FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

-- A page without a credited deposit shows the first that is under way.
CREATE INDEX deposit_awaited ON book.deposit (address_id, id) WHERE status = 'PENDING' AND address_id IS NOT NULL;

CREATE FUNCTION book.add_page_totals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO book.page_total AS t (address_id, merchant_id, currency, credited, pending, first_credited_at, first_credited)
    SELECT d.address_id, d.merchant_id, d.currency,
      coalesce(sum(d.amount) FILTER (WHERE d.status = 'CONFIRMED'), 0),
      coalesce(sum(d.amount) FILTER (WHERE d.status = 'PENDING'), 0),
      min(d.cleared_at), (array_agg(d.id ORDER BY d.cleared_at, d.id) FILTER (WHERE d.cleared_at IS NOT NULL))[1]
    FROM after_rows d JOIN book.deposit_address a ON a.id = d.address_id AND a.merchant_id = d.merchant_id
    WHERE a.kind = 'session' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (address_id, merchant_id, currency) DO UPDATE SET
      credited = t.credited + excluded.credited, pending = t.pending + excluded.pending,
      first_credited = CASE WHEN (t.first_credited_at, t.first_credited) < (excluded.first_credited_at, excluded.first_credited)
        THEN t.first_credited ELSE coalesce(excluded.first_credited, t.first_credited) END,
      first_credited_at = least(t.first_credited_at, excluded.first_credited_at);
    RETURN NULL;
  END IF;
  -- a changed deposit may have another currency now; a row that takes something off must be there before
  INSERT INTO book.page_total (address_id, merchant_id, currency, credited, pending)
  SELECT DISTINCT d.address_id, d.merchant_id, d.currency, 0, 0
  FROM after_rows d JOIN book.deposit_address a ON a.id = d.address_id AND a.merchant_id = d.merchant_id
  WHERE a.kind = 'session' ORDER BY 1, 2, 3
  ON CONFLICT DO NOTHING;
  UPDATE book.page_total t SET credited = t.credited + c.credited, pending = t.pending + c.pending,
    first_credited = CASE WHEN (t.first_credited_at, t.first_credited) < (c.first_at, c.first_id)
      THEN t.first_credited ELSE coalesce(c.first_id, t.first_credited) END,
    first_credited_at = least(t.first_credited_at, c.first_at)
  FROM (
    SELECT d.address_id, d.merchant_id, d.currency,
      coalesce(sum(d.sign * d.amount) FILTER (WHERE d.status = 'CONFIRMED'), 0) AS credited,
      coalesce(sum(d.sign * d.amount) FILTER (WHERE d.status = 'PENDING'), 0) AS pending,
      min(d.cleared_at) AS first_at,
      (array_agg(d.id ORDER BY d.cleared_at, d.id) FILTER (WHERE d.cleared_at IS NOT NULL))[1] AS first_id
    FROM (
      SELECT address_id, merchant_id, currency, status, amount, cleared_at, id, 1 AS sign FROM after_rows
      UNION ALL
      SELECT address_id, merchant_id, currency, status, amount, NULL, id, -1 FROM before_rows) d
    GROUP BY 1, 2, 3) c
  WHERE t.address_id = c.address_id AND t.merchant_id = c.merchant_id AND t.currency = c.currency;
  RETURN NULL;
END $$;
CREATE TRIGGER page_paid AFTER INSERT ON book.deposit REFERENCING NEW TABLE AS after_rows
  FOR EACH STATEMENT EXECUTE FUNCTION book.add_page_totals();
CREATE TRIGGER page_payment_changed AFTER UPDATE ON book.deposit REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows
  FOR EACH STATEMENT EXECUTE FUNCTION book.add_page_totals();

-- no deposit is written from here to the end of this transaction
INSERT INTO book.page_total (address_id, merchant_id, currency, credited, pending, first_credited_at, first_credited)
SELECT d.address_id, d.merchant_id, d.currency,
  coalesce(sum(d.amount) FILTER (WHERE d.status = 'CONFIRMED'), 0),
  coalesce(sum(d.amount) FILTER (WHERE d.status = 'PENDING'), 0),
  min(d.cleared_at), (array_agg(d.id ORDER BY d.cleared_at, d.id) FILTER (WHERE d.cleared_at IS NOT NULL))[1]
FROM book.deposit d JOIN book.deposit_address a ON a.id = d.address_id AND a.merchant_id = d.merchant_id
WHERE a.kind = 'session' GROUP BY 1, 2, 3;
