-- Inbox and outbox: what chains said, on its way to merchants' actors, and what merchants are told.

-- Chain events, addressed to a merchant. Written by the watcher, consumed by the merchant in
-- the commit of its effect.
CREATE TABLE book.inbox (
  merchant_id text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  txid        text COLLATE "C" NOT NULL,
  log_index   integer NOT NULL,
  phase       text COLLATE "C" NOT NULL CHECK (phase IN ('seen','solid','vanished','submitted','outcome','margin','swept')),
  data        jsonb NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  consumed_at timestamptz,
  quarantine  text,
  PRIMARY KEY (merchant_id, network, txid, log_index, phase),
  -- A payment to an address that was handed out after the copy was made that a database was restored from
  -- belongs to an account of the service (ledger/own_accounts.ts) and waits for an operator: no release of
  -- quarantined rows lets a merchant consume it.
  CONSTRAINT inbox_of_lost_waits
    CHECK (merchant_id <> 'mer_lost' OR consumed_at IS NOT NULL OR coalesce(quarantine LIKE 'lost:%', false))
) WITH (fillfactor = 80);
CREATE INDEX inbox_waiting ON book.inbox (merchant_id, created_at) WHERE consumed_at IS NULL AND quarantine IS NULL;
CREATE INDEX inbox_quarantine ON book.inbox (network) WHERE consumed_at IS NULL AND quarantine IS NOT NULL;
-- Rows lie in the order of their times: a block range index finds the old ones and costs nothing.
CREATE INDEX inbox_age ON book.inbox USING brin (created_at);

-- Events for merchants, written in the commit of the change they report.
CREATE TABLE book.outbox (
  id              text COLLATE "C" NOT NULL,
  merchant_id     text COLLATE "C" NOT NULL,
  payment_id      text COLLATE "C" NOT NULL,
  type            text COLLATE "C" NOT NULL,
  payload         text NOT NULL,
  status          text COLLATE "C" NOT NULL CHECK (status IN ('PENDING','DELIVERED','FAILED','SKIPPED')),
  attempts        integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  claimed_until   timestamptz,
  claimed_by      text,
  last_outcome    text,
  created_at      timestamptz NOT NULL,
  delivered_at    timestamptz,
  PRIMARY KEY (id, merchant_id)
) WITH (fillfactor = 50);
CREATE INDEX outbox_waiting ON book.outbox (merchant_id, id) WHERE status = 'PENDING';
CREATE INDEX outbox_age ON book.outbox USING brin (created_at);
-- Only the oldest event of a payment that is still to be delivered may be sent.
CREATE INDEX outbox_of_payment ON book.outbox (payment_id, id) WHERE status = 'PENDING';
-- Events by status: the merchant's delivery log, and those that ran out of retries, for the second
-- chance after their endpoint recovers.
CREATE INDEX outbox_list ON book.outbox (merchant_id, status, id);
-- The last acknowledgement of an endpoint: events are not acknowledged in the order of their ids.
CREATE INDEX outbox_acknowledged ON book.outbox (merchant_id, delivered_at) WHERE delivered_at IS NOT NULL;

CREATE FUNCTION book.keep_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.merchant_id, NEW.payment_id, NEW.type, NEW.payload)
     IS DISTINCT FROM (OLD.id, OLD.merchant_id, OLD.payment_id, OLD.type, OLD.payload) THEN
    RAISE EXCEPTION 'Cannot change an event as its bytes are signed: %', OLD.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER event_is_kept BEFORE UPDATE OF id, merchant_id, payment_id, type, payload ON book.outbox
  FOR EACH ROW EXECUTE FUNCTION book.keep_event();

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

-- Counts that are not added to book.event_count yet. Events end in many transactions at once (the
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
