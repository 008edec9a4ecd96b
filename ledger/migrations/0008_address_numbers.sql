-- Numbers of a merchant's issued addresses, without gaps: the list is as fast at its end. In a table
-- of its own, filled by the statement that inserts them, under the lock of the merchant's account.
CREATE TABLE book.address_number (
  merchant_id text COLLATE "C" NOT NULL,
  seq         bigint NOT NULL CHECK (seq > 0),
  address_id  text COLLATE "C" NOT NULL,
  PRIMARY KEY (merchant_id, seq)
);

CREATE FUNCTION book.number_addresses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO book.address_number
  SELECT g.merchant_id, g.last + u.place, u.id
  FROM (
    -- the last number is looked up once per merchant, before any of these rows are there
    SELECT a.merchant_id, array_agg(a.id ORDER BY a.id) AS ids, coalesce((
      SELECT max(n.seq) FROM book.address_number n WHERE n.merchant_id = a.merchant_id), 0) AS last
    FROM added a WHERE a.kind = 'issued' GROUP BY a.merchant_id OFFSET 0) g,
    unnest(g.ids) WITH ORDINALITY u(id, place);
  RETURN NULL;
END $$;
CREATE TRIGGER address_numbered AFTER INSERT ON book.deposit_address REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION book.number_addresses();
