-- Keys, resellers, hosted pages, and work that is due.

CREATE TABLE hub.api_key (
  id           text COLLATE "C" PRIMARY KEY,
  hash         bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  merchant_id  text COLLATE "C",
  role         text COLLATE "C" NOT NULL CHECK (role IN ('MERCHANT','RESELLER','ADMIN')),
  permissions  text[] NOT NULL,
  label        text NOT NULL,
  ip_allowlist text[],
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  created_at   timestamptz NOT NULL,
  -- The administrator who stands behind a key: its own id for a first key, inherited by every key that is made
  -- with it. Null: a merchant's key with no administrator behind it.
  administrator text,
  -- True for a merchant's key that has no payout right before another administrator than the one behind it has
  -- approved it: one who knows the key of an administrator may know it too (`ledger/api_key_changes.ts`).
  needs_approval boolean NOT NULL DEFAULT false,
  -- True for a key with an administrator behind it that is the merchant's own: it took the place of the key
  -- that the merchant was handed, or was made with such a one.
  handed_over  boolean NOT NULL DEFAULT false,
  CHECK ((role = 'ADMIN') = (merchant_id IS NULL))
);
CREATE INDEX api_key_of_merchant ON hub.api_key (merchant_id) WHERE merchant_id IS NOT NULL;

-- Every key brings its own share of the limits, so a merchant has so many that live and no more.

-- Living keys of a merchant. Until the transaction ends no other adds one.
CREATE FUNCTION hub.living_keys(merchant text) RETURNS integer
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('hub.api_key ' || merchant, 0));
  RETURN (SELECT count(*) FROM hub.api_key k WHERE k.merchant_id = merchant
    AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()));
END $$;

CREATE FUNCTION hub.bound_keys() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF hub.living_keys(NEW.merchant_id) >= 50 THEN
    RAISE EXCEPTION 'a merchant has 50 living keys at most: %', NEW.merchant_id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER bound_keys BEFORE INSERT ON hub.api_key
  FOR EACH ROW WHEN (NEW.merchant_id IS NOT NULL) EXECUTE FUNCTION hub.bound_keys();

-- A reseller: a merchant account of its own, and the one address its withdrawals may go to.
CREATE TABLE hub.reseller (
  id                 text COLLATE "C" PRIMARY KEY,
  merchant_id        text COLLATE "C" NOT NULL UNIQUE,
  name               text NOT NULL,
  withdrawal_address text COLLATE "C" NOT NULL,
  network            text COLLATE "C" NOT NULL,
  created_at         timestamptz NOT NULL DEFAULT now(),
  updated_at         timestamptz NOT NULL DEFAULT now()
);

-- A hosted payment page. Only the hash of its token is kept; the token is made again from id and nonce.
CREATE TABLE hub.session (
  id                 text COLLATE "C" PRIMARY KEY,
  token_hash         bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  nonce              text COLLATE "C" NOT NULL,
  merchant_id        text COLLATE "C" NOT NULL,
  seq                bigint NOT NULL CHECK (seq > 0),
  address_id         text COLLATE "C" NOT NULL,
  address            text COLLATE "C" NOT NULL,
  network            text COLLATE "C" NOT NULL,
  identifier         text COLLATE "C" NOT NULL,
  reference_id       text,
  requested_amount   numeric(38,18),
  requested_currency text COLLATE "C",
  exchange_rate      numeric(38,18),
  -- what the page asks for: this token, and with a quote this much of it
  currency           text COLLATE "C" NOT NULL,
  amount             numeric(38,18),
  token              text,
  expires_at         timestamptz NOT NULL,
  created_at         timestamptz NOT NULL,
  -- the merchant's Idempotency-Key, for as long as it counts, and what was asked for with it
  idempotency_key    text COLLATE "C",
  body_hash          text COLLATE "C",
  CHECK ((idempotency_key IS NULL) = (body_hash IS NULL))
);
CREATE UNIQUE INDEX session_idempotency_key ON hub.session (merchant_id, idempotency_key)
  WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX session_of_merchant ON hub.session (merchant_id, seq);
-- The pages of one network are counted and passed over in the index alone.
CREATE INDEX session_of_network ON hub.session (merchant_id, network, seq);

-- Numbers the pages of a merchant without gaps, so that its list is as fast at its end.
CREATE TABLE hub.session_counter (
  merchant_id text COLLATE "C" PRIMARY KEY,
  last        bigint NOT NULL
) WITH (fillfactor = 50);

-- Wake-ups that outlive the process.
CREATE TABLE hub.timer (
  actor   text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  due_at  timestamptz NOT NULL,
  payload jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (actor, name)
);
CREATE INDEX timer_due ON hub.timer (due_at);

-- The time of the next run of work that one service does for all of them.
CREATE TABLE hub.job (
  name   text COLLATE "C" PRIMARY KEY,
  due_at timestamptz NOT NULL
);
