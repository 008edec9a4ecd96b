-- Kept counts of the delivery log, and what finding old rows needs.

-- Events per merchant, status and type and per bucket of time: the first six hexadecimal digits of
-- an event's id are its time in units of 4.66 hours. What still waits is not counted: it is little,
-- and has an index.
CREATE TABLE book.event_count (
  merchant_id text COLLATE "C" NOT NULL,
  bucket      text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  count       bigint NOT NULL,
  PRIMARY KEY (merchant_id, bucket, status, type)
) WITH (fillfactor = 50);

-- What has not been added to book.event_count yet. Events end in many transactions at once (the
-- journal, deliveries of several nodes): each only inserts here, so that none waits for another.
CREATE TABLE book.event_delta (
  merchant_id text COLLATE "C" NOT NULL,
  bucket      text COLLATE "C" NOT NULL,
  status      text COLLATE "C" NOT NULL,
  type        text COLLATE "C" NOT NULL,
  count       bigint NOT NULL
);
CREATE INDEX event_delta_of_merchant ON book.event_delta (merchant_id);

CREATE FUNCTION book.event_bucket(event_id text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN left(event_id, 10);

CREATE FUNCTION book.count_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO book.event_delta
    SELECT merchant_id, book.event_bucket(id), status, type, count(*) FROM after_rows
    WHERE status <> 'PENDING' GROUP BY 1, 2, 3, 4;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO book.event_delta
    SELECT merchant_id, book.event_bucket(id), status, type, -count(*) FROM before_rows
    WHERE status <> 'PENDING' GROUP BY 1, 2, 3, 4;
  ELSE
    INSERT INTO book.event_delta
    SELECT merchant_id, bucket, status, type, sum(n) FROM (
      SELECT merchant_id, book.event_bucket(id) AS bucket, status, type, 1 AS n FROM after_rows WHERE status <> 'PENDING'
      UNION ALL
      SELECT merchant_id, book.event_bucket(id), status, type, -1 FROM before_rows WHERE status <> 'PENDING') r
    GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER event_inserted AFTER INSERT ON book.outbox REFERENCING NEW TABLE AS after_rows
  FOR EACH STATEMENT EXECUTE FUNCTION book.count_events();
CREATE TRIGGER event_changed AFTER UPDATE ON book.outbox REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows
  FOR EACH STATEMENT EXECUTE FUNCTION book.count_events();
CREATE TRIGGER event_deleted AFTER DELETE ON book.outbox REFERENCING OLD TABLE AS before_rows
  FOR EACH STATEMENT EXECUTE FUNCTION book.count_events();

-- Rows lie in the order of their times: a block range index finds the old ones and costs nothing.
CREATE INDEX outbox_age ON book.outbox USING brin (created_at);
CREATE INDEX inbox_age ON book.inbox USING brin (created_at);
