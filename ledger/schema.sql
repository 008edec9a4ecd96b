-- Generated from the migrations by "deno task schema"; a test compares the two. Do not edit.
-- Read it to see what the tables are today, and the migrations for why.

CREATE TYPE book.account_change AS (
  merchant_id text COLLATE "C",
  version bigint,
  last_commit uuid,
  deposit_seq bigint,
  withdrawal_seq bigint,
  transaction_seq bigint,
  charge_seq bigint,
  settlement_seq bigint,
  last_at timestamp with time zone
);

-- book.audit_row: the columns of book.audit

CREATE TYPE book.balance_key AS (
  merchant_id text,
  currency text,
  network text
);

-- book.charge_row: the columns of book.charge

-- book.deposit_address_row: the columns of book.deposit_address

-- book.deposit_row: the columns of book.deposit

-- book.entry_row: the columns of book.entry

CREATE TYPE book.inbox_key AS (
  merchant_id text,
  network text,
  txid text,
  log_index integer,
  phase text
);

-- book.inbox_row: the columns of book.inbox

-- book.ingested_row: the columns of book.ingested

-- book.margin_row: the columns of book.margin

-- book.merchant_row: the columns of book.merchant

-- book.outbox_row: the columns of book.outbox

CREATE TYPE book.outgoing_row AS (
  id text COLLATE "C",
  merchant_id text COLLATE "C",
  kind text COLLATE "C",
  payment_id text COLLATE "C",
  network text COLLATE "C",
  currency text COLLATE "C",
  amount numeric(38,18),
  wallet text COLLATE "C",
  destination text COLLATE "C",
  status text COLLATE "C",
  reason text,
  attempts integer,
  lease_until timestamp with time zone,
  created_at timestamp with time zone,
  updated_at timestamp with time zone
);

CREATE TYPE book.outgoing_void AS (
  id text,
  merchant_id text,
  from_status text,
  reason text
);

-- book.settlement_address_row: the columns of book.settlement_address

-- book.settlement_row: the columns of book.settlement

-- book.transaction_row: the columns of book.transaction

-- book.withdrawal_row: the columns of book.withdrawal

CREATE TABLE book.account (
  merchant_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  deposit_seq bigint NOT NULL DEFAULT 0,
  withdrawal_seq bigint NOT NULL DEFAULT 0,
  transaction_seq bigint NOT NULL DEFAULT 0,
  charge_seq bigint NOT NULL DEFAULT 0,
  settlement_seq bigint NOT NULL DEFAULT 0,
  last_at timestamp with time zone NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone,
  last_commit uuid NOT NULL DEFAULT gen_random_uuid(),
  CONSTRAINT account_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT account_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES book.merchant(merchant_id)
) WITH (fillfactor=50);

CREATE TABLE book.address_number (
  merchant_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  address_id text COLLATE "C" NOT NULL,
  CONSTRAINT address_number_pkey PRIMARY KEY (merchant_id, seq),
  CONSTRAINT address_number_seq_check CHECK ((seq > 0))
);

CREATE TABLE book.attempt (
  outgoing_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  txid text COLLATE "C" NOT NULL,
  bytes text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  outcome text COLLATE "C",
  reason text,
  height bigint,
  fee numeric(38,18),
  evidence jsonb,
  coin_rate numeric(38,18),
  costed_at timestamp with time zone,
  since_height bigint,
  fee_limit numeric(38,18) NOT NULL,
  known_height bigint,
  reread_height bigint,
  adopted boolean NOT NULL DEFAULT false,
  CONSTRAINT attempt_pkey PRIMARY KEY (outgoing_id, number, merchant_id),
  CONSTRAINT attempt_txid_network_key UNIQUE (txid, network),
  CONSTRAINT attempt_outgoing_id_merchant_id_fkey FOREIGN KEY (outgoing_id, merchant_id) REFERENCES book.outgoing(id, merchant_id),
  CONSTRAINT attempt_coin_rate_check CHECK ((coin_rate > (0)::numeric)),
  CONSTRAINT attempt_cost_of_fee CHECK (((costed_at IS NULL) OR (fee IS NOT NULL))),
  CONSTRAINT attempt_dead_by_proof CHECK (((outcome IS DISTINCT FROM 'expired'::text) OR COALESCE((evidence ?& ARRAY['height'::text, 'hash'::text, 'previousTime'::text]), false))),
  CONSTRAINT attempt_fee_limit_check CHECK ((fee_limit >= (0)::numeric)),
  CONSTRAINT attempt_number_check CHECK ((number > 0)),
  CONSTRAINT attempt_outcome_check CHECK ((outcome = ANY (ARRAY['paid'::text, 'failed'::text, 'unexpected'::text, 'expired'::text]))),
  CONSTRAINT attempt_rate_of_cost CHECK (((coin_rate IS NULL) OR (costed_at IS NOT NULL)))
) WITH (fillfactor=80);
CREATE INDEX attempt_costed ON book.attempt USING btree (network, outgoing_id) WHERE (costed_at IS NOT NULL);
CREATE INDEX attempt_ended ON book.attempt USING btree (network, height) WHERE (height IS NOT NULL);
CREATE INDEX attempt_fee_limits ON book.attempt USING btree (network) INCLUDE (fee_limit) WHERE (outcome IS NULL);
CREATE INDEX attempt_height ON book.attempt USING brin (height) WHERE (height IS NOT NULL);
CREATE UNIQUE INDEX attempt_in_flight ON book.attempt USING btree (outgoing_id) WHERE (outcome IS NULL);
CREATE INDEX attempt_uncosted ON book.attempt USING btree (network, outgoing_id) WHERE ((fee IS NOT NULL) AND (costed_at IS NULL));
CREATE TRIGGER attempt_adoption_is_kept BEFORE UPDATE OF adopted ON book.attempt FOR EACH ROW WHEN ((old.adopted IS DISTINCT FROM new.adopted)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER attempt_is_kept BEFORE UPDATE ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.keep_attempt();
CREATE TRIGGER attempt_is_never_deleted BEFORE DELETE ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER attempt_limit_is_kept BEFORE UPDATE OF fee_limit ON book.attempt FOR EACH ROW WHEN ((old.fee_limit IS DISTINCT FROM new.fee_limit)) EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.audit (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C",
  actor text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  before jsonb,
  after jsonb,
  request_id text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_of_merchant ON book.audit USING btree (merchant_id, id) WHERE (merchant_id IS NOT NULL);
CREATE CONSTRAINT TRIGGER audit_is_chained AFTER INSERT ON book.audit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hub.chain_audit();
CREATE TRIGGER audit_is_not_truncated BEFORE TRUNCATE ON book.audit FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER audit_is_written_once BEFORE DELETE OR UPDATE ON book.audit FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.balance (
  merchant_id text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  available numeric(38,18) NOT NULL DEFAULT 0,
  pending numeric(38,18) NOT NULL DEFAULT 0,
  reserved numeric(38,18) NOT NULL DEFAULT 0,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT balance_pkey PRIMARY KEY (merchant_id, currency, network),
  CONSTRAINT balance_currency_network_fkey FOREIGN KEY (currency, network) REFERENCES book.pair(currency, network),
  CONSTRAINT balance_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES book.merchant(merchant_id),
  CONSTRAINT available_not_negative CHECK ((available >= (0)::numeric)),
  CONSTRAINT pending_not_negative CHECK ((pending >= (0)::numeric)),
  CONSTRAINT reserved_not_negative CHECK ((reserved >= (0)::numeric))
) WITH (fillfactor=50);

CREATE TABLE book.charge (
  merchant_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT charge_pkey PRIMARY KEY (merchant_id, seq),
  CONSTRAINT charge_check CHECK (((amount <> (0)::numeric) AND ((amount < (0)::numeric) = (type = 'REVERSAL'::text)))),
  CONSTRAINT charge_seq_check CHECK ((seq > 0)),
  CONSTRAINT charge_type_check CHECK ((type = ANY (ARRAY['ADDRESS_ACTIVATION'::text, 'DIRECT_DEPOSIT'::text, 'DEPOSIT_COMMISSION'::text, 'WITHDRAWAL_COMMISSION'::text, 'NETWORK_FEE'::text, 'REVERSAL'::text])))
);
CREATE INDEX charge_rare ON book.charge USING btree (merchant_id, type, seq) WHERE (type = ANY (ARRAY['ADDRESS_ACTIVATION'::text, 'DIRECT_DEPOSIT'::text, 'REVERSAL'::text]));
CREATE TRIGGER charge_is_written_once BEFORE DELETE OR UPDATE ON book.charge FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.commit_log (
  id text COLLATE "C" NOT NULL,
  survivors text[] NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT commit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX commit_log_age ON book.commit_log USING brin (created_at);

CREATE TABLE book.delivery_attempt (
  event_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  http_status integer,
  duration_ms integer NOT NULL,
  answer text,
  ended_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT delivery_attempt_pkey PRIMARY KEY (event_id, number, merchant_id),
  CONSTRAINT delivery_attempt_answer_check CHECK ((octet_length(answer) <= 8192)),
  CONSTRAINT delivery_attempt_duration_ms_check CHECK ((duration_ms >= 0)),
  CONSTRAINT delivery_attempt_number_check CHECK ((number > 0))
);

CREATE TABLE book.deposit (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  transaction_seq bigint NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL,
  status text COLLATE "C" NOT NULL,
  reason text,
  source text NOT NULL,
  reference_id text,
  description text,
  commission numeric(38,18) NOT NULL DEFAULT 0,
  commission_rate numeric(19,18) NOT NULL DEFAULT 0,
  fixed_fee numeric(38,18) NOT NULL DEFAULT 0,
  usd_rate numeric(38,18),
  margin numeric(38,18) NOT NULL DEFAULT 0,
  margin_to text COLLATE "C",
  address_id text COLLATE "C",
  address text COLLATE "C",
  txid text COLLATE "C",
  log_index integer,
  sender text COLLATE "C",
  height bigint,
  expires_at timestamp with time zone,
  metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  cleared_at timestamp with time zone,
  created_by text COLLATE "C",
  created_admin text COLLATE "C",
  approved_by text COLLATE "C",
  approved_admin text COLLATE "C",
  endorsed_by text COLLATE "C",
  endorsed_admin text COLLATE "C",
  CONSTRAINT deposit_pkey PRIMARY KEY (id, merchant_id),
  CONSTRAINT deposit_merchant_id_seq_key UNIQUE (merchant_id, seq),
  CONSTRAINT deposit_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT deposit_check CHECK (((commission + fixed_fee) <= amount)),
  CONSTRAINT deposit_check1 CHECK (((txid IS NULL) = (log_index IS NULL))),
  CONSTRAINT deposit_check2 CHECK (((status = 'CONFIRMED'::text) = (cleared_at IS NOT NULL))),
  CONSTRAINT deposit_commission_check CHECK ((commission >= (0)::numeric)),
  CONSTRAINT deposit_fixed_fee_check CHECK ((fixed_fee >= (0)::numeric)),
  CONSTRAINT deposit_margin_check CHECK ((margin >= (0)::numeric)),
  CONSTRAINT deposit_seq_check CHECK ((seq > 0)),
  CONSTRAINT deposit_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'CONFIRMED'::text, 'FAILED'::text, 'CANCELLED'::text]))),
  CONSTRAINT deposit_transaction_seq_check CHECK ((transaction_seq > 0)),
  CONSTRAINT deposit_within_bounds CHECK ((amount <= ('1000000000000'::bigint)::numeric))
) WITH (fillfactor=80);
CREATE UNIQUE INDEX deposit_by_hand ON book.deposit USING btree (network, txid) WHERE ((log_index = '-1'::integer) AND (status = 'CONFIRMED'::text));
CREATE INDEX deposit_confirmed_by_hand ON book.deposit USING btree (cleared_at) WHERE (approved_by IS NOT NULL);
CREATE INDEX deposit_of_address ON book.deposit USING btree (address_id, id) WHERE (address_id IS NOT NULL);
CREATE INDEX deposit_pending ON book.deposit USING btree (id) WHERE (status = 'PENDING'::text);
CREATE INDEX deposit_rare ON book.deposit USING btree (merchant_id, status, seq) WHERE (status = ANY (ARRAY['PENDING'::text, 'FAILED'::text, 'CANCELLED'::text]));
CREATE INDEX deposit_reference ON book.deposit USING btree (merchant_id, reference_id, seq) WHERE (reference_id IS NOT NULL);
CREATE UNIQUE INDEX deposit_transfer ON book.deposit USING btree (merchant_id, network, txid, log_index) WHERE (txid IS NOT NULL);
CREATE TRIGGER deposit_by_hand_is_nobodys BEFORE INSERT OR UPDATE OF status ON book.deposit FOR EACH ROW WHEN (((new.status = 'CONFIRMED'::text) AND (new.log_index = '-1'::integer))) EXECUTE FUNCTION book.check_deposit_by_hand();
CREATE TRIGGER deposit_by_hand_needs_another BEFORE UPDATE OF status ON book.deposit FOR EACH ROW WHEN (((old.status = 'PENDING'::text) AND (new.status = 'CONFIRMED'::text) AND ((new.log_index IS NULL) OR (new.log_index = '-1'::integer)))) EXECUTE FUNCTION book.check_confirmed_by_hand();
CREATE TRIGGER deposit_maker_is_kept BEFORE UPDATE OF created_by, created_admin ON book.deposit FOR EACH ROW WHEN (((old.created_by IS DISTINCT FROM new.created_by) OR (old.created_admin IS DISTINCT FROM new.created_admin))) EXECUTE FUNCTION book.keep_maker();
CREATE TRIGGER deposit_transition BEFORE UPDATE OF status ON book.deposit FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION book.check_transition('deposit');
CREATE TRIGGER top_up_by_sweep BEFORE INSERT OR UPDATE OF status ON book.deposit FOR EACH ROW WHEN (((new.status = 'CONFIRMED'::text) AND (new.source = 'top_up'::text) AND (new.log_index >= 0))) EXECUTE FUNCTION book.check_top_up();

CREATE TABLE book.deposit_address (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  wallet_index integer NOT NULL,
  kind text COLLATE "C" NOT NULL,
  identifier text COLLATE "C",
  reference_id text,
  activated boolean NOT NULL DEFAULT false,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT deposit_address_pkey PRIMARY KEY (id, merchant_id),
  CONSTRAINT deposit_address_network_address_merchant_id_key UNIQUE (network, address, merchant_id),
  CONSTRAINT deposit_address_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES book.merchant(merchant_id),
  CONSTRAINT deposit_address_kind_check CHECK ((kind = ANY (ARRAY['issued'::text, 'session'::text, 'top_up'::text]))),
  CONSTRAINT deposit_address_wallet_index_check CHECK ((wallet_index >= 0))
);
CREATE INDEX deposit_address_list ON book.deposit_address USING btree (merchant_id, network, id) WHERE (kind = 'issued'::text);
CREATE UNIQUE INDEX deposit_address_of_customer ON book.deposit_address USING btree (merchant_id, network, identifier) WHERE (kind = 'issued'::text);
CREATE UNIQUE INDEX deposit_address_top_up ON book.deposit_address USING btree (merchant_id, network) WHERE (kind = 'top_up'::text);
CREATE TRIGGER address_numbered AFTER INSERT ON book.deposit_address REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION book.number_addresses();

CREATE TABLE book.deposit_proof (
  merchant_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  txid text COLLATE "C" NOT NULL,
  log_index integer NOT NULL,
  address_id text COLLATE "C" NOT NULL,
  height bigint NOT NULL,
  hash text COLLATE "C",
  currency text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL,
  sender text COLLATE "C" NOT NULL,
  receiver text COLLATE "C" NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  next_ask_at timestamp with time zone NOT NULL DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  reason text,
  is_disputed boolean NOT NULL DEFAULT false,
  contested boolean NOT NULL DEFAULT false,
  evidence jsonb,
  CONSTRAINT deposit_proof_pkey PRIMARY KEY (merchant_id, network, txid, log_index),
  CONSTRAINT deposit_proof_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT deposit_proof_contested CHECK (((NOT contested) OR (NOT COALESCE((evidence ? 'waived'::text), false)))),
  CONSTRAINT deposit_proof_tries_check CHECK ((tries >= 0))
) WITH (fillfactor=80);
CREATE INDEX deposit_proof_named ON book.deposit_proof USING btree (network, txid) WHERE ((evidence IS NULL) OR (evidence ? 'discarded'::text));
CREATE INDEX deposit_proof_open ON book.deposit_proof USING btree (network, next_ask_at) WHERE (evidence IS NULL);

CREATE TABLE book.duty (
  only_row boolean NOT NULL DEFAULT true,
  four_eyes text NOT NULL DEFAULT 'keys'::text,
  alone_up_to numeric(38,18) NOT NULL DEFAULT 100000,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT duty_pkey PRIMARY KEY (only_row),
  CONSTRAINT duty_alone_up_to_check CHECK ((alone_up_to >= (0)::numeric)),
  CONSTRAINT duty_four_eyes_check CHECK ((four_eyes = ANY (ARRAY['off'::text, 'keys'::text, 'persons'::text]))),
  CONSTRAINT duty_only_row_check CHECK (only_row)
);

CREATE TABLE book.entry (
  payment_id text COLLATE "C" NOT NULL,
  leg text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  from_account text COLLATE "C" NOT NULL,
  to_account text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT entry_pkey PRIMARY KEY (payment_id, leg, merchant_id),
  CONSTRAINT entry_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT entry_check CHECK ((from_account <> to_account)),
  CONSTRAINT entry_from_account_check CHECK ((from_account = ANY (ARRAY['available'::text, 'pending'::text, 'reserved'::text, 'world'::text, 'commission'::text, 'network_fee'::text, 'activation_fee'::text, 'direct_deposit_fee'::text, 'margin_held'::text, 'margin_due'::text]))),
  CONSTRAINT entry_to_account_check CHECK ((to_account = ANY (ARRAY['available'::text, 'pending'::text, 'reserved'::text, 'world'::text, 'commission'::text, 'network_fee'::text, 'activation_fee'::text, 'direct_deposit_fee'::text, 'margin_held'::text, 'margin_due'::text])))
);
CREATE TRIGGER entry_is_not_truncated BEFORE TRUNCATE ON book.entry FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER entry_is_written_once BEFORE DELETE OR UPDATE ON book.entry FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.event_count (
  merchant_id text COLLATE "C" NOT NULL,
  bucket text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  CONSTRAINT event_count_pkey PRIMARY KEY (merchant_id, bucket, status, type)
) WITH (fillfactor=50);

CREATE TABLE book.event_delta (
  merchant_id text COLLATE "C" NOT NULL,
  bucket text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  count bigint NOT NULL
);
CREATE INDEX event_delta_of_merchant ON book.event_delta USING btree (merchant_id);

CREATE TABLE book.event_revival (
  event_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  revived_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT event_revival_pkey PRIMARY KEY (event_id, merchant_id)
);

CREATE TABLE book.inbox (
  merchant_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  txid text COLLATE "C" NOT NULL,
  log_index integer NOT NULL,
  phase text COLLATE "C" NOT NULL,
  data jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  consumed_at timestamp with time zone,
  quarantine text,
  CONSTRAINT inbox_pkey PRIMARY KEY (merchant_id, network, txid, log_index, phase),
  CONSTRAINT inbox_of_lost_waits CHECK (((merchant_id <> 'mer_lost'::text) OR (consumed_at IS NOT NULL) OR COALESCE((quarantine ~~ 'lost:%'::text), false))),
  CONSTRAINT inbox_phase_check CHECK ((phase = ANY (ARRAY['seen'::text, 'solid'::text, 'vanished'::text, 'submitted'::text, 'outcome'::text, 'margin'::text, 'swept'::text])))
) WITH (fillfactor=80);
CREATE INDEX inbox_age ON book.inbox USING brin (created_at);
CREATE INDEX inbox_quarantine ON book.inbox USING btree (network) WHERE ((consumed_at IS NULL) AND (quarantine IS NOT NULL));
CREATE INDEX inbox_waiting ON book.inbox USING btree (merchant_id, created_at) WHERE ((consumed_at IS NULL) AND (quarantine IS NULL));
CREATE TRIGGER transfer_waits_for_proof BEFORE UPDATE ON book.inbox FOR EACH ROW WHEN ((((old.quarantine ~~ 'unproven:%'::text) OR (old.quarantine ~~ 'discarded:%'::text)) AND ((new.quarantine IS DISTINCT FROM old.quarantine) OR (new.consumed_at IS DISTINCT FROM old.consumed_at)))) EXECUTE FUNCTION book.require_deposit_proof();

CREATE TABLE book.ingested (
  event_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  body_hash text COLLATE "C" NOT NULL,
  network text COLLATE "C",
  txid text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT ingested_pkey PRIMARY KEY (event_id),
  CONSTRAINT ingested_check CHECK (((network IS NULL) = (txid IS NULL))),
  CONSTRAINT ingested_verdict_is_the_services CHECK (((event_id !~ '^(verdict:|failover/)'::text) OR (body_hash !~ '^[0-9a-f]{64}$'::text)))
);
CREATE UNIQUE INDEX ingested_payment ON book.ingested USING btree (network, txid) WHERE (txid IS NOT NULL);
CREATE TRIGGER ingested_failover_is_kept BEFORE UPDATE ON book.ingested FOR EACH ROW WHEN ((old.event_id ~~ 'failover/%'::text)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER ingested_failover_is_never_deleted BEFORE DELETE ON book.ingested FOR EACH ROW WHEN ((old.event_id ~~ 'failover/%'::text)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER ingested_verdict_is_kept BEFORE UPDATE ON book.ingested FOR EACH ROW WHEN ((old.event_id ~~ 'verdict:%'::text)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER ingested_verdict_is_never_deleted BEFORE DELETE ON book.ingested FOR EACH ROW WHEN ((old.event_id ~~ 'verdict:%'::text)) EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.late_outcome (
  outgoing_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  height bigint NOT NULL,
  noted_at timestamp with time zone NOT NULL DEFAULT now(),
  tried_at timestamp with time zone,
  CONSTRAINT late_outcome_pkey PRIMARY KEY (outgoing_id, number, merchant_id)
);
CREATE INDEX late_outcome_of_network ON book.late_outcome USING btree (network, height);

CREATE TABLE book.late_sweep_address (
  network text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  noted_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT late_sweep_address_pkey PRIMARY KEY (network, address, currency)
);

CREATE TABLE book.list_bucket (
  merchant_id text COLLATE "C" NOT NULL,
  list text COLLATE "C" NOT NULL,
  bucket bigint NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL DEFAULT ''::text,
  count integer NOT NULL,
  effect numeric(58,18) NOT NULL DEFAULT 0,
  CONSTRAINT list_bucket_pkey PRIMARY KEY (merchant_id, list, bucket, currency, network, status, type),
  CONSTRAINT list_bucket_bucket_check CHECK ((bucket >= 0)),
  CONSTRAINT list_bucket_list_check CHECK ((list = ANY (ARRAY['deposit'::text, 'withdrawal'::text, 'transaction'::text, 'settlement'::text, 'charge'::text])))
) WITH (fillfactor=50);

CREATE TABLE book.list_large_bucket (
  merchant_id text COLLATE "C" NOT NULL,
  list text COLLATE "C" NOT NULL,
  large_bucket bigint NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  effect numeric(58,18) NOT NULL,
  CONSTRAINT list_large_bucket_pkey PRIMARY KEY (merchant_id, list, large_bucket, currency, network, status, type),
  CONSTRAINT list_large_bucket_large_bucket_check CHECK ((large_bucket >= 0))
);

CREATE TABLE book.list_summed (
  merchant_id text COLLATE "C" NOT NULL,
  list text COLLATE "C" NOT NULL,
  large_buckets bigint NOT NULL,
  CONSTRAINT list_summed_pkey PRIMARY KEY (merchant_id, list),
  CONSTRAINT list_summed_large_buckets_check CHECK ((large_buckets > 0))
);

CREATE TABLE book.margin (
  payment_id text COLLATE "C" NOT NULL,
  leg text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  beneficiary text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  volume numeric(38,18) NOT NULL,
  fee numeric(38,18) NOT NULL,
  earned numeric(38,18) NOT NULL,
  reversed numeric(38,18) NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT margin_pkey PRIMARY KEY (payment_id, leg, merchant_id),
  CONSTRAINT margin_earned_check CHECK ((earned >= (0)::numeric)),
  CONSTRAINT margin_fee_check CHECK ((fee >= (0)::numeric)),
  CONSTRAINT margin_reversed_check CHECK ((reversed >= (0)::numeric)),
  CONSTRAINT margin_volume_check CHECK ((volume >= (0)::numeric))
);
CREATE INDEX margin_of_beneficiary ON book.margin USING btree (beneficiary, created_at) WHERE (beneficiary <> merchant_id);
CREATE INDEX margin_of_merchant ON book.margin USING btree (merchant_id, created_at);
CREATE TRIGGER margin_is_written_once BEFORE DELETE OR UPDATE ON book.margin FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.margin_day (
  merchant_id text COLLATE "C" NOT NULL,
  beneficiary text COLLATE "C" NOT NULL,
  day date NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  events bigint NOT NULL,
  volume numeric(38,18) NOT NULL,
  fee numeric(38,18) NOT NULL,
  earned numeric(38,18) NOT NULL,
  reversed numeric(38,18) NOT NULL,
  CONSTRAINT margin_day_pkey PRIMARY KEY (merchant_id, beneficiary, day, currency, network)
) WITH (fillfactor=50);
CREATE INDEX margin_day_of_beneficiary ON book.margin_day USING btree (beneficiary, day) WHERE (beneficiary <> merchant_id);

CREATE TABLE book.merchant (
  merchant_id text COLLATE "C" NOT NULL,
  slot smallint NOT NULL,
  status text COLLATE "C" NOT NULL DEFAULT 'ACTIVE'::text,
  name text NOT NULL,
  deposit_commission_rate numeric(19,18) NOT NULL DEFAULT 0,
  direct_deposit_fee numeric(38,18) NOT NULL DEFAULT 1,
  webhook_url text,
  webhook_secret text NOT NULL,
  webhook_secret_previous text,
  webhook_previous_until timestamp with time zone,
  webhook_enabled boolean NOT NULL DEFAULT false,
  webhook_events text[],
  webhook_timeout_ms integer NOT NULL DEFAULT 10000,
  webhook_retry_count integer NOT NULL DEFAULT 3,
  success_url text,
  failure_url text,
  page_origins text[],
  logo_color text COLLATE "C",
  rate_limits jsonb NOT NULL DEFAULT '{}'::jsonb,
  reseller_id text COLLATE "C",
  margin_rate numeric(19,18) NOT NULL DEFAULT 0,
  margin_beneficiary text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT merchant_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT merchant_check CHECK (((margin_rate = (0)::numeric) OR (margin_beneficiary IS NOT NULL))),
  CONSTRAINT merchant_deposit_commission_rate_check CHECK (((deposit_commission_rate >= (0)::numeric) AND (deposit_commission_rate <= (1)::numeric))),
  CONSTRAINT merchant_direct_deposit_fee_check CHECK ((direct_deposit_fee >= (0)::numeric)),
  CONSTRAINT merchant_direct_deposit_fee_check1 CHECK ((direct_deposit_fee <= ('1000000000000'::bigint)::numeric)),
  CONSTRAINT merchant_logo_color_check CHECK ((logo_color ~ '^#[0-9a-f]{6}$'::text)),
  CONSTRAINT merchant_margin_rate_check CHECK (((margin_rate >= (0)::numeric) AND (margin_rate <= (1)::numeric))),
  CONSTRAINT merchant_page_origins_check CHECK (((cardinality(page_origins) <= 16) AND (array_to_string(page_origins, ' '::text) ~ '^(https?://[a-z0-9.:\[\]-]+( |$))*$'::text))),
  CONSTRAINT merchant_slot_check CHECK (((slot >= 0) AND (slot <= 255))),
  CONSTRAINT merchant_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'SUSPENDED'::text, 'INACTIVE'::text]))),
  CONSTRAINT merchant_webhook_retry_count_check CHECK (((webhook_retry_count >= 0) AND (webhook_retry_count <= 20))),
  CONSTRAINT merchant_webhook_timeout_ms_check CHECK (((webhook_timeout_ms >= 1000) AND (webhook_timeout_ms <= 30000)))
);
CREATE INDEX merchant_of_reseller ON book.merchant USING btree (reseller_id, merchant_id) WHERE (reseller_id IS NOT NULL);

CREATE TABLE book.network_cost (
  network text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  day date NOT NULL,
  transfers bigint NOT NULL,
  failed bigint NOT NULL,
  charged numeric(38,18) NOT NULL,
  coin numeric(38,18) NOT NULL,
  cost numeric(38,18) NOT NULL,
  unpriced bigint NOT NULL,
  CONSTRAINT network_cost_pkey PRIMARY KEY (network, currency, kind, day),
  CONSTRAINT network_cost_charged_check CHECK ((charged >= (0)::numeric)),
  CONSTRAINT network_cost_coin_check CHECK ((coin >= (0)::numeric)),
  CONSTRAINT network_cost_cost_check CHECK ((cost >= (0)::numeric)),
  CONSTRAINT network_cost_failed_check CHECK ((failed >= 0)),
  CONSTRAINT network_cost_transfers_check CHECK ((transfers >= 0)),
  CONSTRAINT network_cost_unpriced_check CHECK ((unpriced >= 0))
) WITH (fillfactor=50);

CREATE TABLE book.outbox (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  status text COLLATE "C" NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamp with time zone NOT NULL DEFAULT now(),
  claimed_until timestamp with time zone,
  claimed_by text,
  last_outcome text,
  created_at timestamp with time zone NOT NULL,
  delivered_at timestamp with time zone,
  CONSTRAINT outbox_pkey PRIMARY KEY (id, merchant_id),
  CONSTRAINT outbox_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'DELIVERED'::text, 'FAILED'::text, 'SKIPPED'::text])))
) WITH (fillfactor=50);
CREATE INDEX outbox_acknowledged ON book.outbox USING btree (merchant_id, delivered_at) WHERE (delivered_at IS NOT NULL);
CREATE INDEX outbox_age ON book.outbox USING brin (created_at);
CREATE INDEX outbox_list ON book.outbox USING btree (merchant_id, status, id);
CREATE INDEX outbox_of_payment ON book.outbox USING btree (payment_id, id) WHERE (status = 'PENDING'::text);
CREATE INDEX outbox_waiting ON book.outbox USING btree (merchant_id, id) WHERE (status = 'PENDING'::text);
CREATE TRIGGER event_changed AFTER UPDATE ON book.outbox REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION book.count_events();
CREATE TRIGGER event_deleted AFTER DELETE ON book.outbox REFERENCING OLD TABLE AS before_rows FOR EACH STATEMENT EXECUTE FUNCTION book.count_events();
CREATE TRIGGER event_inserted AFTER INSERT ON book.outbox REFERENCING NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION book.count_events();
CREATE TRIGGER event_is_kept BEFORE UPDATE OF id, merchant_id, payment_id, type, payload ON book.outbox FOR EACH ROW EXECUTE FUNCTION book.keep_event();

CREATE TABLE book.outgoing (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  payment_id text COLLATE "C",
  network text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL,
  wallet text COLLATE "C" NOT NULL DEFAULT 'hot'::text,
  destination text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  reason text,
  attempts integer NOT NULL DEFAULT 0,
  lease_until timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  CONSTRAINT outgoing_pkey PRIMARY KEY (id, merchant_id),
  CONSTRAINT outgoing_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT outgoing_asset_of_kind CHECK (((kind = 'cold'::text) OR ((currency = 'native'::text) = (kind = ANY (ARRAY['gas'::text, 'delegation'::text, 'reclaim'::text]))))),
  CONSTRAINT outgoing_attempts_check CHECK ((attempts >= 0)),
  CONSTRAINT outgoing_booked_is_void CHECK (((status = 'void'::text) OR (NOT book.is_booked(payment_id)))),
  CONSTRAINT outgoing_check CHECK (((kind = ANY (ARRAY['payout'::text, 'settlement'::text])) = (payment_id IS NOT NULL))),
  CONSTRAINT outgoing_kind_check CHECK ((kind = ANY (ARRAY['payout'::text, 'settlement'::text, 'sweep'::text, 'gas'::text, 'delegation'::text, 'reclaim'::text, 'cold'::text]))),
  CONSTRAINT outgoing_of_platform CHECK (((merchant_id = 'mer_platform'::text) = (kind <> ALL (ARRAY['payout'::text, 'settlement'::text])))),
  CONSTRAINT outgoing_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'signed'::text, 'final'::text, 'dead'::text, 'void'::text]))),
  CONSTRAINT outgoing_tries_check CHECK ((tries >= 0)),
  CONSTRAINT outgoing_wallet_check CHECK ((wallet ~ '^(hot|[0-9]{1,10})$'::text)),
  CONSTRAINT outgoing_wallet_of_kind CHECK (((kind = 'sweep'::text) = (wallet <> 'hot'::text)))
) WITH (fillfactor=80);
CREATE UNIQUE INDEX outgoing_cold_once ON book.outgoing USING btree (network, currency) WHERE ((kind = 'cold'::text) AND (status = ANY (ARRAY['queued'::text, 'signed'::text, 'dead'::text])));
CREATE INDEX outgoing_for_address ON book.outgoing USING btree (network, destination, id) WHERE (kind = ANY (ARRAY['gas'::text, 'delegation'::text, 'reclaim'::text]));
CREATE UNIQUE INDEX outgoing_living_helper ON book.outgoing USING btree (network, destination) WHERE ((kind = ANY (ARRAY['gas'::text, 'delegation'::text, 'reclaim'::text])) AND (status = ANY (ARRAY['queued'::text, 'signed'::text, 'dead'::text])));
CREATE UNIQUE INDEX outgoing_living_sweep ON book.outgoing USING btree (network, wallet, currency) WHERE ((kind = 'sweep'::text) AND (status = ANY (ARRAY['queued'::text, 'signed'::text, 'dead'::text])));
CREATE INDEX outgoing_of_wallet ON book.outgoing USING btree (network, wallet, currency, id) WHERE (wallet <> 'hot'::text);
CREATE INDEX outgoing_queued ON book.outgoing USING btree (network, id) WHERE (status = 'queued'::text);
CREATE INDEX outgoing_signed ON book.outgoing USING btree (network, id) WHERE (status = 'signed'::text);
CREATE CONSTRAINT TRIGGER outgoing_ends_by_proof AFTER UPDATE OF status ON book.outgoing DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.status = ANY (ARRAY['queued'::text, 'dead'::text, 'void'::text])) AND (new.attempts > 0))) EXECUTE FUNCTION book.check_nothing_lands();
CREATE TRIGGER outgoing_is_kept BEFORE UPDATE ON book.outgoing FOR EACH ROW WHEN ((((((((((old.id IS DISTINCT FROM new.id) OR (old.merchant_id IS DISTINCT FROM new.merchant_id)) OR (old.kind IS DISTINCT FROM new.kind)) OR (old.payment_id IS DISTINCT FROM new.payment_id)) OR (old.network IS DISTINCT FROM new.network)) OR (old.currency IS DISTINCT FROM new.currency)) OR (old.amount IS DISTINCT FROM new.amount)) OR (old.wallet IS DISTINCT FROM new.wallet)) OR (old.destination IS DISTINCT FROM new.destination))) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER outgoing_transition BEFORE UPDATE OF status ON book.outgoing FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION book.check_step('outgoing');

CREATE TABLE book.pair (
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  deposits_enabled boolean NOT NULL DEFAULT false,
  withdrawals_enabled boolean NOT NULL DEFAULT false,
  min_withdrawal numeric(38,18) NOT NULL DEFAULT 1,
  network_fee_mode text COLLATE "C" NOT NULL DEFAULT 'fixed'::text,
  network_fee numeric(38,18) NOT NULL DEFAULT 1,
  CONSTRAINT pair_pkey PRIMARY KEY (currency, network),
  CONSTRAINT pair_currency_check CHECK ((currency = ANY (ARRAY['USDT'::text, 'USDC'::text]))),
  CONSTRAINT pair_min_withdrawal_check CHECK ((min_withdrawal > (0)::numeric)),
  CONSTRAINT pair_min_withdrawal_check1 CHECK ((min_withdrawal <= ('1000000000000'::bigint)::numeric)),
  CONSTRAINT pair_network_check CHECK ((network = ANY (ARRAY['TRX'::text, 'ETH'::text, 'BNB'::text, 'SOL'::text, 'TRX_SHASTA'::text, 'SEP'::text, 'tBNB'::text, 'SOL_DEVNET'::text]))),
  CONSTRAINT pair_network_fee_check CHECK ((network_fee >= (0)::numeric)),
  CONSTRAINT pair_network_fee_check1 CHECK ((network_fee <= ('1000000000000'::bigint)::numeric)),
  CONSTRAINT pair_network_fee_mode_check CHECK ((network_fee_mode = ANY (ARRAY['fixed'::text, 'dynamic'::text])))
);
CREATE TRIGGER pair_epoch AFTER INSERT OR DELETE OR UPDATE ON book.pair FOR EACH STATEMENT EXECUTE FUNCTION book.begin_epoch();

CREATE TABLE book.second_chance (
  merchant_id text COLLATE "C" NOT NULL,
  recovered_at timestamp with time zone,
  owed_from text COLLATE "C",
  next_probe_at timestamp with time zone,
  probes integer NOT NULL DEFAULT 0,
  probed_id text COLLATE "C",
  CONSTRAINT second_chance_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT second_chance_check CHECK (((recovered_at IS NULL) OR (next_probe_at IS NULL))),
  CONSTRAINT second_chance_check1 CHECK (((next_probe_at IS NOT NULL) OR ((probes = 0) AND (probed_id IS NULL)))),
  CONSTRAINT second_chance_probes_check CHECK ((probes >= 0))
);

CREATE TABLE book.setting (
  slot_group smallint NOT NULL DEFAULT 0,
  epoch uuid NOT NULL DEFAULT gen_random_uuid(),
  fees_enabled boolean NOT NULL DEFAULT true,
  base_fee numeric(38,18) NOT NULL DEFAULT 1,
  markup_rate numeric(19,18) NOT NULL DEFAULT 0,
  CONSTRAINT setting_pkey PRIMARY KEY (slot_group),
  CONSTRAINT setting_base_fee_check CHECK ((base_fee >= (0)::numeric)),
  CONSTRAINT setting_base_fee_check1 CHECK ((base_fee <= ('1000000000000'::bigint)::numeric)),
  CONSTRAINT setting_markup_rate_check CHECK (((markup_rate >= (0)::numeric) AND (markup_rate <= (1)::numeric))),
  CONSTRAINT setting_slot_group_check CHECK ((slot_group = 0))
);
CREATE TRIGGER setting_epoch BEFORE UPDATE ON book.setting FOR EACH ROW EXECUTE FUNCTION book.begin_epoch();

CREATE TABLE book.settlement (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  withdrawal_id text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL,
  total_fees numeric(38,18) NOT NULL,
  address text COLLATE "C" NOT NULL,
  label text NOT NULL,
  status text COLLATE "C" NOT NULL,
  reason text,
  idempotency_key text,
  body_hash text COLLATE "C",
  needed_approval boolean NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  created_by text COLLATE "C",
  created_admin text COLLATE "C",
  approved_by text COLLATE "C",
  approved_admin text COLLATE "C",
  history jsonb NOT NULL,
  CONSTRAINT settlement_pkey PRIMARY KEY (id, merchant_id),
  CONSTRAINT settlement_merchant_id_seq_key UNIQUE (merchant_id, seq),
  CONSTRAINT settlement_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT settlement_seq_check CHECK ((seq > 0)),
  CONSTRAINT settlement_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'APPROVAL_REQUIRED'::text, 'APPROVED'::text, 'PROCESSING'::text, 'SUBMITTED_TO_LEDGER'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELLED'::text, 'REJECTED'::text]))),
  CONSTRAINT settlement_total_fees_check CHECK ((total_fees >= (0)::numeric))
) WITH (fillfactor=80);
CREATE INDEX settlement_key ON book.settlement USING btree (merchant_id, idempotency_key, seq) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX settlement_rare ON book.settlement USING btree (merchant_id, status, seq) WHERE (status <> 'COMPLETED'::text);
CREATE INDEX settlement_waiting ON book.settlement USING btree (id) WHERE (status = 'APPROVAL_REQUIRED'::text);
CREATE TRIGGER settlement_history BEFORE INSERT OR UPDATE OF status, history ON book.settlement FOR EACH ROW EXECUTE FUNCTION book.check_settlement_history();
CREATE TRIGGER settlement_is_approved_by_another BEFORE UPDATE OF status ON book.settlement FOR EACH ROW WHEN (((old.status = 'APPROVAL_REQUIRED'::text) AND (new.status <> ALL (ARRAY['APPROVAL_REQUIRED'::text, 'REJECTED'::text, 'CANCELLED'::text])))) EXECUTE FUNCTION book.check_approval();
CREATE TRIGGER settlement_maker_is_kept BEFORE UPDATE OF created_by, created_admin ON book.settlement FOR EACH ROW WHEN (((old.created_by IS DISTINCT FROM new.created_by) OR (old.created_admin IS DISTINCT FROM new.created_admin))) EXECUTE FUNCTION book.keep_maker();

CREATE TABLE book.settlement_address (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  label text NOT NULL,
  active boolean NOT NULL DEFAULT false,
  removed_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  created_by text COLLATE "C",
  created_admin text COLLATE "C",
  approved_by text COLLATE "C",
  approved_admin text COLLATE "C",
  CONSTRAINT settlement_address_pkey PRIMARY KEY (id, merchant_id),
  CONSTRAINT settlement_address_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES book.merchant(merchant_id)
);
CREATE UNIQUE INDEX settlement_address_once ON book.settlement_address USING btree (merchant_id, network, address) WHERE (removed_at IS NULL);
CREATE TRIGGER settlement_address_is_activated_by_another BEFORE UPDATE OF active ON book.settlement_address FOR EACH ROW WHEN ((new.active AND (NOT old.active))) EXECUTE FUNCTION book.check_approval();
CREATE TRIGGER settlement_address_maker_is_kept BEFORE UPDATE OF created_by, created_admin ON book.settlement_address FOR EACH ROW WHEN (((old.created_by IS DISTINCT FROM new.created_by) OR (old.created_admin IS DISTINCT FROM new.created_admin))) EXECUTE FUNCTION book.keep_maker();

CREATE TABLE book.settlement_threshold (
  currency text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL DEFAULT 10000,
  CONSTRAINT settlement_threshold_pkey PRIMARY KEY (currency),
  CONSTRAINT settlement_threshold_amount_check CHECK ((amount >= (0)::numeric)),
  CONSTRAINT settlement_threshold_amount_check1 CHECK ((amount <= ('1000000000000'::bigint)::numeric)),
  CONSTRAINT settlement_threshold_currency_check CHECK ((currency = ANY (ARRAY['USDT'::text, 'USDC'::text])))
);
CREATE TRIGGER threshold_epoch AFTER INSERT OR DELETE OR UPDATE ON book.settlement_threshold FOR EACH STATEMENT EXECUTE FUNCTION book.begin_epoch();

CREATE TABLE book.signing_turn (
  network text COLLATE "C" NOT NULL,
  batches bigint NOT NULL DEFAULT 0,
  node text COLLATE "C" NOT NULL,
  until timestamp with time zone NOT NULL,
  CONSTRAINT signing_turn_pkey PRIMARY KEY (network),
  CONSTRAINT signing_turn_batches_check CHECK ((batches >= 0))
) WITH (fillfactor=50);
CREATE TRIGGER signing_turn_is_never_deleted BEFORE DELETE ON book.signing_turn FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER signing_turn_moves_on BEFORE UPDATE ON book.signing_turn FOR EACH ROW WHEN (((new.network <> old.network) OR ((new.batches <> old.batches) AND (new.batches <> (old.batches + 1))))) EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.sweep_address (
  network text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  touched bigint NOT NULL DEFAULT 0,
  look_at timestamp with time zone NOT NULL DEFAULT now(),
  reason text COLLATE "C",
  detail text,
  amount numeric(38,18),
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  CONSTRAINT sweep_address_pkey PRIMARY KEY (network, address, currency),
  CONSTRAINT sweep_address_tries_check CHECK ((tries >= 0))
) WITH (fillfactor=70);
CREATE INDEX sweep_address_due ON book.sweep_address USING btree (network, look_at);
CREATE INDEX sweep_address_reason ON book.sweep_address USING btree (network, reason, address, currency) WHERE (reason IS NOT NULL);
CREATE INDEX sweep_target_failing ON book.sweep_address USING btree (network) WHERE (tries >= 3);

CREATE TABLE book.sweep_item (
  merchant_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  txid text COLLATE "C" NOT NULL,
  log_index integer NOT NULL,
  address text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL,
  height bigint NOT NULL,
  found_at timestamp with time zone NOT NULL DEFAULT now(),
  outgoing_id text COLLATE "C",
  done boolean NOT NULL DEFAULT false,
  write_off text COLLATE "C",
  CONSTRAINT sweep_item_pkey PRIMARY KEY (network, txid, log_index, merchant_id),
  CONSTRAINT sweep_item_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT sweep_item_done_by CHECK (((NOT done) OR ((outgoing_id IS NULL) <> (write_off IS NULL)))),
  CONSTRAINT sweep_item_written_off CHECK (((write_off IS NULL) OR done))
) WITH (fillfactor=80);
CREATE INDEX sweep_item_of_sweep ON book.sweep_item USING btree (outgoing_id) WHERE (outgoing_id IS NOT NULL);
CREATE INDEX sweep_item_of_write_off ON book.sweep_item USING btree (write_off) WHERE (write_off IS NOT NULL);
CREATE INDEX sweep_item_open ON book.sweep_item USING btree (network, address, currency) WHERE (NOT done);
CREATE TRIGGER sweep_carries_its_items AFTER UPDATE ON book.sweep_item REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book.check_sweep_items();
CREATE TRIGGER sweep_item_begins_open BEFORE INSERT ON book.sweep_item FOR EACH ROW WHEN (((new.outgoing_id IS NOT NULL) OR new.done)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_item_is_kept BEFORE UPDATE ON book.sweep_item FOR EACH ROW EXECUTE FUNCTION book.keep_sweep_item();
CREATE TRIGGER sweep_item_is_never_deleted BEFORE DELETE ON book.sweep_item FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_item_is_written_off BEFORE UPDATE ON book.sweep_item FOR EACH ROW WHEN (((old.write_off IS NULL) AND (new.write_off IS NOT NULL))) EXECUTE FUNCTION book.check_written_off();
CREATE TRIGGER sweep_item_is_written_off_once BEFORE UPDATE ON book.sweep_item FOR EACH ROW WHEN ((old.write_off IS NOT NULL)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_write_off_has_its_items AFTER UPDATE ON book.sweep_item REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book.check_written_off_items();

CREATE TABLE book.sweep_verdict (
  outgoing_id text COLLATE "C" NOT NULL,
  verdict text COLLATE "C" NOT NULL,
  taken numeric(38,18) NOT NULL,
  arrived numeric(38,18) NOT NULL,
  reason text NOT NULL,
  actor text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT sweep_verdict_pkey PRIMARY KEY (outgoing_id),
  CONSTRAINT sweep_verdict_check CHECK (((arrived >= (0)::numeric) AND (arrived <= taken))),
  CONSTRAINT sweep_verdict_check1 CHECK (((verdict = 'moved'::text) = (arrived > (0)::numeric))),
  CONSTRAINT sweep_verdict_check2 CHECK (((verdict <> 'nothing_moved'::text) OR (taken = (0)::numeric))),
  CONSTRAINT sweep_verdict_reason_check CHECK ((TRIM(BOTH FROM reason) <> ''::text)),
  CONSTRAINT sweep_verdict_verdict_check CHECK ((verdict = ANY (ARRAY['moved'::text, 'nothing_moved'::text, 'lost'::text])))
);
CREATE TRIGGER sweep_verdict_is_needed BEFORE INSERT ON book.sweep_verdict FOR EACH ROW EXECUTE FUNCTION book.check_sweep_verdict();
CREATE TRIGGER sweep_verdict_is_not_truncated BEFORE TRUNCATE ON book.sweep_verdict FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_verdict_is_written_once BEFORE DELETE OR UPDATE ON book.sweep_verdict FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE CONSTRAINT TRIGGER sweep_verdict_settles_items AFTER INSERT ON book.sweep_verdict DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION book.check_settled_items();

CREATE TABLE book.sweep_write_off (
  id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL,
  unexplained numeric(38,18) NOT NULL,
  height bigint NOT NULL,
  reason text NOT NULL,
  actor text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT sweep_write_off_pkey PRIMARY KEY (id),
  CONSTRAINT sweep_write_off_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT sweep_write_off_check CHECK (((unexplained >= (0)::numeric) AND (unexplained <= amount))),
  CONSTRAINT sweep_write_off_reason_check CHECK ((TRIM(BOTH FROM reason) <> ''::text))
);
CREATE INDEX sweep_write_off_of_address ON book.sweep_write_off USING btree (network, address);
CREATE TRIGGER sweep_write_off_is_not_truncated BEFORE TRUNCATE ON book.sweep_write_off FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE CONSTRAINT TRIGGER sweep_write_off_is_of_items AFTER INSERT ON book.sweep_write_off DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION book.check_sweep_write_off();
CREATE TRIGGER sweep_write_off_is_written_once BEFORE DELETE OR UPDATE ON book.sweep_write_off FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.system_balance (
  account text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  balance numeric(76,18) NOT NULL DEFAULT 0,
  CONSTRAINT system_balance_pkey PRIMARY KEY (account, currency, network)
) WITH (fillfactor=50);

CREATE TABLE book.system_delta (
  account text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  amount numeric(76,18) NOT NULL
);

CREATE TABLE book.transaction (
  merchant_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  payment_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  effect numeric(38,18) NOT NULL,
  fee numeric(38,18) NOT NULL,
  txid text COLLATE "C",
  height bigint,
  from_address text COLLATE "C",
  to_address text COLLATE "C",
  reference_id text,
  description text,
  category text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT transaction_pkey PRIMARY KEY (merchant_id, seq),
  CONSTRAINT transaction_check CHECK (((status <> ALL (ARRAY['FAILED'::text, 'CANCELLED'::text])) OR (effect = (0)::numeric))),
  CONSTRAINT transaction_fee_check CHECK ((fee >= (0)::numeric)),
  CONSTRAINT transaction_seq_check CHECK ((seq > 0)),
  CONSTRAINT transaction_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'CONFIRMED'::text, 'FAILED'::text, 'CANCELLED'::text]))),
  CONSTRAINT transaction_type_check CHECK ((type = ANY (ARRAY['DEPOSIT'::text, 'WITHDRAWAL'::text, 'SETTLEMENT'::text])))
) WITH (fillfactor=80);
CREATE INDEX transaction_rare ON book.transaction USING btree (merchant_id, status, seq) WHERE (status = ANY (ARRAY['FAILED'::text, 'CANCELLED'::text]));
CREATE INDEX transaction_settlement ON book.transaction USING btree (merchant_id, type, seq) WHERE (type = 'SETTLEMENT'::text);
CREATE TRIGGER transaction_transition BEFORE UPDATE OF status ON book.transaction FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION book.check_transition('transaction');

CREATE TABLE book.transition (
  record text COLLATE "C" NOT NULL,
  from_status text COLLATE "C" NOT NULL,
  to_status text COLLATE "C" NOT NULL,
  CONSTRAINT transition_pkey PRIMARY KEY (record, from_status, to_status)
);

CREATE TABLE book.webhook_endpoint (
  merchant_id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  failing_since timestamp with time zone NOT NULL DEFAULT now(),
  failures bigint NOT NULL,
  last_outcome text NOT NULL,
  last_failed_at timestamp with time zone NOT NULL DEFAULT now(),
  paused_at timestamp with time zone,
  next_probe_at timestamp with time zone,
  probes integer NOT NULL DEFAULT 0,
  CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT webhook_endpoint_check CHECK (((paused_at IS NULL) = (next_probe_at IS NULL))),
  CONSTRAINT webhook_endpoint_failures_check CHECK ((failures > 0)),
  CONSTRAINT webhook_endpoint_probes_check CHECK ((probes >= 0))
);

CREATE TABLE book.withdrawal (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  seq bigint,
  transaction_seq bigint NOT NULL,
  settlement_id text COLLATE "C",
  outgoing_id text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL,
  base_fee numeric(38,18) NOT NULL,
  markup_rate numeric(19,18) NOT NULL,
  markup_amount numeric(38,18) NOT NULL,
  network_fee numeric(38,18) NOT NULL,
  margin numeric(38,18) NOT NULL DEFAULT 0,
  margin_to text COLLATE "C",
  destination text COLLATE "C" NOT NULL,
  reference_id text,
  description text,
  status text COLLATE "C" NOT NULL,
  reason text,
  txid text COLLATE "C",
  created_at timestamp with time zone NOT NULL,
  processed_at timestamp with time zone,
  created_by text COLLATE "C",
  created_admin text COLLATE "C",
  approved_by text COLLATE "C",
  approved_admin text COLLATE "C",
  CONSTRAINT withdrawal_pkey PRIMARY KEY (id, merchant_id),
  CONSTRAINT withdrawal_merchant_id_seq_key UNIQUE (merchant_id, seq),
  CONSTRAINT withdrawal_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT withdrawal_base_fee_check CHECK ((base_fee >= (0)::numeric)),
  CONSTRAINT withdrawal_booked_is_paid CHECK (((status = 'CONFIRMED'::text) OR (NOT book.is_booked(id)))),
  CONSTRAINT withdrawal_check CHECK (((status = ANY (ARRAY['CONFIRMED'::text, 'FAILED'::text, 'CANCELLED'::text])) = (processed_at IS NOT NULL))),
  CONSTRAINT withdrawal_check1 CHECK (((status <> 'CONFIRMED'::text) OR (txid IS NOT NULL))),
  CONSTRAINT withdrawal_check2 CHECK (((seq IS NULL) = (settlement_id IS NOT NULL))),
  CONSTRAINT withdrawal_margin_check CHECK ((margin >= (0)::numeric)),
  CONSTRAINT withdrawal_markup_amount_check CHECK ((markup_amount >= (0)::numeric)),
  CONSTRAINT withdrawal_markup_rate_check CHECK (((markup_rate >= (0)::numeric) AND (markup_rate <= (1)::numeric))),
  CONSTRAINT withdrawal_network_fee_check CHECK ((network_fee >= (0)::numeric)),
  CONSTRAINT withdrawal_seq_check CHECK ((seq > 0)),
  CONSTRAINT withdrawal_status_check CHECK ((status = ANY (ARRAY['PENDING_APPROVAL'::text, 'PENDING'::text, 'CONFIRMED'::text, 'FAILED'::text, 'CANCELLED'::text]))),
  CONSTRAINT withdrawal_transaction_seq_check CHECK ((transaction_seq > 0))
) WITH (fillfactor=80);
CREATE INDEX withdrawal_rare ON book.withdrawal USING btree (merchant_id, status, seq) WHERE (status = ANY (ARRAY['FAILED'::text, 'CANCELLED'::text, 'PENDING_APPROVAL'::text]));
CREATE UNIQUE INDEX withdrawal_reference ON book.withdrawal USING btree (reference_id, merchant_id) WHERE ((reference_id IS NOT NULL) AND (status <> ALL (ARRAY['FAILED'::text, 'CANCELLED'::text])));
CREATE INDEX withdrawal_waiting ON book.withdrawal USING btree (id) WHERE (status = 'PENDING_APPROVAL'::text);
CREATE CONSTRAINT TRIGGER withdrawal_ends_by_verdict AFTER UPDATE OF status ON book.withdrawal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.status = 'PENDING'::text) AND (new.status = ANY (ARRAY['CONFIRMED'::text, 'FAILED'::text])))) EXECUTE FUNCTION book.check_verdict();
CREATE CONSTRAINT TRIGGER withdrawal_fails_unpaid AFTER UPDATE OF status ON book.withdrawal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.status = 'PENDING'::text) AND (new.status = 'FAILED'::text))) EXECUTE FUNCTION book.check_refund();
CREATE TRIGGER withdrawal_is_approved_by_another BEFORE UPDATE OF status ON book.withdrawal FOR EACH ROW WHEN (((old.status = 'PENDING_APPROVAL'::text) AND (new.status <> ALL (ARRAY['PENDING_APPROVAL'::text, 'CANCELLED'::text])) AND (new.settlement_id IS NULL))) EXECUTE FUNCTION book.check_approval();
CREATE TRIGGER withdrawal_maker_is_kept BEFORE UPDATE OF created_by, created_admin ON book.withdrawal FOR EACH ROW WHEN (((old.created_by IS DISTINCT FROM new.created_by) OR (old.created_admin IS DISTINCT FROM new.created_admin))) EXECUTE FUNCTION book.keep_maker();
CREATE TRIGGER withdrawal_transition BEFORE UPDATE OF status ON book.withdrawal FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION book.check_transition('withdrawal');

CREATE TABLE hub.address (
  address text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  address_id text COLLATE "C" NOT NULL,
  wallet_index integer NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  event_address text COLLATE "C" NOT NULL GENERATED ALWAYS AS (hub.event_address(network, address)) STORED,
  CONSTRAINT address_pkey PRIMARY KEY (address, network),
  CONSTRAINT address_event_address_network_key UNIQUE (event_address, network),
  CONSTRAINT address_event_address_check CHECK ((event_address ~ '^[ -~]+$'::text)),
  CONSTRAINT address_wallet_index_check CHECK ((wallet_index >= 0))
);
CREATE INDEX address_by_event ON hub.address USING btree (hub.text_key(event_address), network);
CREATE INDEX address_of_index ON hub.address USING btree (network, wallet_index);

CREATE TABLE hub.api_key (
  id text COLLATE "C" NOT NULL,
  hash bytea NOT NULL,
  merchant_id text COLLATE "C",
  role text COLLATE "C" NOT NULL,
  permissions text[] NOT NULL,
  label text NOT NULL,
  ip_allowlist text[],
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  administrator text,
  needs_approval boolean NOT NULL DEFAULT false,
  handed_over boolean NOT NULL DEFAULT false,
  CONSTRAINT api_key_pkey PRIMARY KEY (id),
  CONSTRAINT api_key_hash_key UNIQUE (hash),
  CONSTRAINT api_key_check CHECK (((role = 'ADMIN'::text) = (merchant_id IS NULL))),
  CONSTRAINT api_key_hash_check CHECK ((octet_length(hash) = 32)),
  CONSTRAINT api_key_role_check CHECK ((role = ANY (ARRAY['MERCHANT'::text, 'RESELLER'::text, 'ADMIN'::text])))
);
CREATE INDEX api_key_of_merchant ON hub.api_key USING btree (merchant_id) WHERE (merchant_id IS NOT NULL);
CREATE TRIGGER bound_keys BEFORE INSERT ON hub.api_key FOR EACH ROW WHEN ((new.merchant_id IS NOT NULL)) EXECUTE FUNCTION hub.bound_keys();

CREATE TABLE hub.audit (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C",
  actor text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  before jsonb,
  after jsonb,
  refused text,
  request_id text COLLATE "C",
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_of_merchant ON hub.audit USING btree (merchant_id, id) WHERE (merchant_id IS NOT NULL);
CREATE CONSTRAINT TRIGGER audit_is_chained AFTER INSERT ON hub.audit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hub.chain_audit();
CREATE TRIGGER audit_is_not_truncated BEFORE TRUNCATE ON hub.audit FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER audit_is_written_once BEFORE DELETE OR UPDATE ON hub.audit FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

CREATE TABLE hub.audit_chain (
  number bigint NOT NULL,
  source text NOT NULL,
  audit_id text COLLATE "C" NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT audit_chain_pkey PRIMARY KEY (number),
  CONSTRAINT audit_chain_source_audit_id_key UNIQUE (source, audit_id),
  CONSTRAINT audit_chain_number_check CHECK ((number > 0)),
  CONSTRAINT audit_chain_source_check CHECK ((source = ANY (ARRAY['book'::text, 'hub'::text])))
);
CREATE TRIGGER audit_chain_is_not_truncated BEFORE TRUNCATE ON hub.audit_chain FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER audit_chain_is_written_once BEFORE DELETE OR UPDATE ON hub.audit_chain FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

CREATE TABLE hub.audit_head (
  only_row boolean NOT NULL DEFAULT true,
  number bigint NOT NULL DEFAULT 0,
  hash bytea NOT NULL DEFAULT '\x'::bytea,
  CONSTRAINT audit_head_pkey PRIMARY KEY (only_row),
  CONSTRAINT audit_head_only_row_check CHECK (only_row)
) WITH (fillfactor=50);
CREATE TRIGGER audit_head_is_kept BEFORE DELETE ON hub.audit_head FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER audit_head_is_not_truncated BEFORE TRUNCATE ON hub.audit_head FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER audit_head_moves_on BEFORE UPDATE ON hub.audit_head FOR EACH ROW EXECUTE FUNCTION hub.check_audit_head();

CREATE TABLE hub.chain (
  network text COLLATE "C" NOT NULL,
  genesis text COLLATE "C" NOT NULL,
  CONSTRAINT chain_pkey PRIMARY KEY (network)
);

CREATE TABLE hub.cursor (
  network text COLLATE "C" NOT NULL,
  view text COLLATE "C" NOT NULL,
  height bigint NOT NULL,
  hash text COLLATE "C" NOT NULL,
  "time" timestamp with time zone NOT NULL,
  previous_time timestamp with time zone NOT NULL,
  began_height bigint,
  CONSTRAINT cursor_pkey PRIMARY KEY (network, view),
  CONSTRAINT cursor_view_check CHECK ((view = ANY (ARRAY['head'::text, 'solid'::text])))
);
CREATE TRIGGER cursor_beginning_is_kept BEFORE UPDATE OF began_height ON hub.cursor FOR EACH ROW WHEN ((old.began_height IS DISTINCT FROM new.began_height)) EXECUTE FUNCTION book.refuse_change();

CREATE TABLE hub.database_history (
  one boolean NOT NULL DEFAULT true,
  system_identifier text COLLATE "C",
  timeline integer,
  database_oid bigint,
  since timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT database_history_pkey PRIMARY KEY (one),
  CONSTRAINT database_history_one_check CHECK (one)
);

CREATE TABLE hub.deposit_proof_rule (
  network text COLLATE "C" NOT NULL,
  above numeric(38,18) NOT NULL,
  kept_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT deposit_proof_rule_pkey PRIMARY KEY (network),
  CONSTRAINT deposit_proof_rule_above_check CHECK ((above >= (0)::numeric))
);

CREATE TABLE hub.failover (
  id text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL,
  before text,
  after text,
  reason text NOT NULL,
  actor text COLLATE "C" NOT NULL,
  found_at timestamp with time zone NOT NULL DEFAULT now(),
  ended_at timestamp with time zone,
  ended_by text COLLATE "C",
  end_reason text,
  CONSTRAINT failover_pkey PRIMARY KEY (id),
  CONSTRAINT failover_cause_check CHECK ((cause = ANY (ARRAY['history'::text, 'declared'::text]))),
  CONSTRAINT failover_check CHECK (((ended_at IS NULL) = (ended_by IS NULL))),
  CONSTRAINT failover_reason_check CHECK ((TRIM(BOTH FROM reason) <> ''::text))
);
CREATE INDEX failover_open ON hub.failover USING btree (id) WHERE (ended_at IS NULL);

CREATE TABLE hub.failover_network (
  failover_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  from_height bigint,
  head_height bigint,
  until_time timestamp with time zone,
  gap_first integer NOT NULL,
  gap_last integer NOT NULL,
  gap_watched boolean NOT NULL DEFAULT false,
  compared_at timestamp with time zone,
  CONSTRAINT failover_network_pkey PRIMARY KEY (failover_id, network),
  CONSTRAINT failover_network_failover_id_fkey FOREIGN KEY (failover_id) REFERENCES hub.failover(id),
  CONSTRAINT failover_network_check CHECK (((head_height IS NULL) = (until_time IS NULL))),
  CONSTRAINT failover_network_check1 CHECK (((compared_at IS NULL) OR (until_time IS NOT NULL)))
);
CREATE INDEX failover_network_open ON hub.failover_network USING btree (network) WHERE (compared_at IS NULL);

CREATE TABLE hub.job (
  name text COLLATE "C" NOT NULL,
  due_at timestamp with time zone NOT NULL,
  CONSTRAINT job_pkey PRIMARY KEY (name)
);

CREATE TABLE hub.lost_commit (
  failover_id text COLLATE "C" NOT NULL,
  commit_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  record_id text COLLATE "C" NOT NULL,
  reference_id text,
  network text COLLATE "C",
  currency text COLLATE "C",
  amount numeric(38,18),
  destination text,
  acknowledged_at timestamp with time zone NOT NULL,
  CONSTRAINT lost_commit_pkey PRIMARY KEY (commit_id, merchant_id, kind, record_id),
  CONSTRAINT lost_commit_failover_id_fkey FOREIGN KEY (failover_id) REFERENCES hub.failover(id),
  CONSTRAINT lost_commit_kind_check CHECK ((kind = ANY (ARRAY['withdrawal'::text, 'address'::text, 'other'::text])))
);
CREATE INDEX lost_commit_of_failover ON hub.lost_commit USING btree (failover_id);

CREATE TABLE hub.migration (
  number text NOT NULL,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT migration_pkey PRIMARY KEY (number)
);

CREATE TABLE hub.node_calls (
  network text COLLATE "C" NOT NULL,
  node text COLLATE "C" NOT NULL,
  day date NOT NULL,
  calls bigint NOT NULL,
  CONSTRAINT node_calls_pkey PRIMARY KEY (network, node, day),
  CONSTRAINT node_calls_calls_check CHECK ((calls >= 0))
) WITH (fillfactor=50);

CREATE TABLE hub.reconciliation (
  id text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  started_at timestamp with time zone NOT NULL,
  finished_at timestamp with time zone NOT NULL,
  differences integer NOT NULL,
  unchecked integer NOT NULL,
  report jsonb NOT NULL,
  CONSTRAINT reconciliation_pkey PRIMARY KEY (id),
  CONSTRAINT reconciliation_differences_check CHECK ((differences >= 0)),
  CONSTRAINT reconciliation_scope_check CHECK ((scope = ANY (ARRAY['quick'::text, 'full'::text]))),
  CONSTRAINT reconciliation_unchecked_check CHECK ((unchecked >= 0))
);
CREATE INDEX reconciliation_of_scope ON hub.reconciliation USING btree (scope, id);

CREATE TABLE hub.reseller (
  id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  withdrawal_address text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT reseller_pkey PRIMARY KEY (id),
  CONSTRAINT reseller_merchant_id_key UNIQUE (merchant_id)
);

CREATE TABLE hub.scanned_contract (
  network text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  contract text COLLATE "C" NOT NULL,
  missed_from bigint,
  missed_to bigint,
  left_at bigint,
  CONSTRAINT scanned_contract_pkey PRIMARY KEY (network, currency, contract),
  CONSTRAINT scanned_contract_check CHECK (((missed_from IS NULL) = (missed_to IS NULL))),
  CONSTRAINT scanned_contract_check1 CHECK ((missed_to >= missed_from))
);

CREATE TABLE hub.scanned_range (
  network text COLLATE "C" NOT NULL,
  first_height bigint NOT NULL,
  last_height bigint NOT NULL,
  CONSTRAINT scanned_range_pkey PRIMARY KEY (network, first_height),
  CONSTRAINT scanned_range_network_last_height_key UNIQUE (network, last_height),
  CONSTRAINT scanned_range_check CHECK ((last_height >= first_height)),
  CONSTRAINT scanned_range_first_height_check CHECK ((first_height >= 0))
) WITH (fillfactor=50);

CREATE TABLE hub.session (
  id text COLLATE "C" NOT NULL,
  token_hash bytea NOT NULL,
  nonce text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  address_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  reference_id text,
  requested_amount numeric(38,18),
  requested_currency text COLLATE "C",
  exchange_rate numeric(38,18),
  currency text COLLATE "C" NOT NULL,
  amount numeric(38,18),
  token text,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT session_pkey PRIMARY KEY (id),
  CONSTRAINT session_token_hash_key UNIQUE (token_hash),
  CONSTRAINT session_seq_check CHECK ((seq > 0)),
  CONSTRAINT session_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
CREATE UNIQUE INDEX session_of_merchant ON hub.session USING btree (merchant_id, seq);
CREATE INDEX session_of_network ON hub.session USING btree (merchant_id, network, seq);

CREATE TABLE hub.session_counter (
  merchant_id text COLLATE "C" NOT NULL,
  last bigint NOT NULL,
  CONSTRAINT session_counter_pkey PRIMARY KEY (merchant_id)
) WITH (fillfactor=50);

CREATE TABLE hub.timer (
  actor text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  due_at timestamp with time zone NOT NULL,
  payload jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT timer_pkey PRIMARY KEY (actor, name)
);
CREATE INDEX timer_due ON hub.timer USING btree (due_at);

CREATE TABLE hub.unknown_spend (
  network text COLLATE "C" NOT NULL,
  txid text COLLATE "C" NOT NULL,
  log_index integer NOT NULL,
  height bigint NOT NULL,
  block_time timestamp with time zone NOT NULL,
  wallet text COLLATE "C" NOT NULL,
  sender text COLLATE "C" NOT NULL,
  recipient text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL,
  status text COLLATE "C" NOT NULL,
  found_at timestamp with time zone NOT NULL DEFAULT now(),
  decided_at timestamp with time zone,
  actor text COLLATE "C",
  reason text,
  merchant_id text COLLATE "C",
  withdrawal_id text COLLATE "C",
  fee numeric(38,18) NOT NULL DEFAULT 0,
  CONSTRAINT unknown_spend_pkey PRIMARY KEY (network, txid, log_index),
  CONSTRAINT unknown_spend_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT unknown_spend_check CHECK (((status = ANY (ARRAY['matched'::text, 'booked'::text, 'written_off'::text])) = (actor IS NOT NULL))),
  CONSTRAINT unknown_spend_check1 CHECK (((status = ANY (ARRAY['matched'::text, 'booked'::text])) = (withdrawal_id IS NOT NULL))),
  CONSTRAINT unknown_spend_check2 CHECK (((status = ANY (ARRAY['open'::text, 'listed'::text, 'cold'::text])) = (decided_at IS NULL))),
  CONSTRAINT unknown_spend_check3 CHECK (((status <> 'cold'::text) OR (wallet = 'hot'::text))),
  CONSTRAINT unknown_spend_check4 CHECK (((status <> 'written_off'::text) OR (TRIM(BOTH FROM reason) <> ''::text))),
  CONSTRAINT unknown_spend_fee_check CHECK ((fee >= (0)::numeric)),
  CONSTRAINT unknown_spend_status_check CHECK ((status = ANY (ARRAY['open'::text, 'listed'::text, 'cold'::text, 'known'::text, 'matched'::text, 'booked'::text, 'written_off'::text])))
);
CREATE INDEX unknown_spend_open ON hub.unknown_spend USING btree (network) WHERE (status = 'open'::text);
CREATE TRIGGER unknown_spend_fee_is_kept BEFORE UPDATE OF fee ON hub.unknown_spend FOR EACH ROW WHEN ((old.fee IS DISTINCT FROM new.fee)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER unknown_spend_is_kept BEFORE UPDATE ON hub.unknown_spend FOR EACH ROW EXECUTE FUNCTION hub.keep_unknown_spend();
CREATE TRIGGER unknown_spend_is_never_deleted BEFORE DELETE ON hub.unknown_spend FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

CREATE TABLE hub.unreadable_block (
  network text COLLATE "C" NOT NULL,
  view text COLLATE "C" NOT NULL,
  height bigint NOT NULL,
  reason text NOT NULL,
  tries integer NOT NULL DEFAULT 1,
  since timestamp with time zone NOT NULL DEFAULT now(),
  next_try_at timestamp with time zone NOT NULL,
  CONSTRAINT unreadable_block_pkey PRIMARY KEY (network, view, height),
  CONSTRAINT unreadable_block_tries_check CHECK ((tries > 0)),
  CONSTRAINT unreadable_block_view_check CHECK ((view = ANY (ARRAY['head'::text, 'solid'::text, 'again'::text])))
);

CREATE TABLE hub.wallet (
  network text COLLATE "C" NOT NULL,
  wallet_id text COLLATE "C" NOT NULL,
  hot_wallet text COLLATE "C" NOT NULL,
  next_index integer NOT NULL DEFAULT 0,
  cold_wallet text COLLATE "C",
  fingerprint text COLLATE "C",
  attested_at timestamp with time zone,
  CONSTRAINT wallet_pkey PRIMARY KEY (network),
  CONSTRAINT wallet_check CHECK ((cold_wallet <> hot_wallet)),
  CONSTRAINT wallet_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
  CONSTRAINT wallet_is_identified CHECK ((fingerprint IS NOT NULL)) NOT VALID,
  CONSTRAINT wallet_next_index_check CHECK ((next_index >= 0))
);
CREATE TRIGGER wallet_is_kept BEFORE UPDATE ON hub.wallet FOR EACH ROW WHEN ((((((old.network IS DISTINCT FROM new.network) OR (old.wallet_id IS DISTINCT FROM new.wallet_id)) OR (old.hot_wallet IS DISTINCT FROM new.hot_wallet)) OR (old.fingerprint IS DISTINCT FROM new.fingerprint)) OR ((old.attested_at IS NOT NULL) AND (new.attested_at IS DISTINCT FROM old.attested_at)))) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER wallet_is_never_deleted BEFORE DELETE ON hub.wallet FOR EACH ROW EXECUTE FUNCTION book.refuse_change();

CREATE TABLE hub.wallet_level (
  network text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  height bigint NOT NULL,
  balance numeric(38,18) NOT NULL,
  CONSTRAINT wallet_level_pkey PRIMARY KEY (network, currency),
  CONSTRAINT wallet_level_balance_check CHECK ((balance >= (0)::numeric))
);

CREATE VIEW book.system_total AS
 SELECT account, currency, network, sum(amount) AS balance
   FROM ( SELECT system_balance.account, system_balance.currency, system_balance.network,
            system_balance.balance AS amount
           FROM book.system_balance
        UNION ALL
         SELECT system_delta.account, system_delta.currency, system_delta.network, system_delta.amount
           FROM book.system_delta) part
  GROUP BY account, currency, network;

CREATE VIEW hub.scan_basis AS
 SELECT (COALESCE(hub.history_name(), 'not told'::text) || '/'::text) || (( SELECT count(*) AS count
           FROM hub.failover_network n
          WHERE n.gap_watched)) AS name;

CREATE VIEW hub.spend_candidate AS
 SELECT s.network, s.txid, s.log_index, w.id AS withdrawal_id, w.merchant_id, w.reference_id, o.state, o.expires_at
   FROM hub.unknown_spend s
     JOIN ( SELECT q.network, q.destination, q.currency, q.amount, q.payment_id, q.merchant_id, 'queued'::text AS state,
            NULL::timestamp with time zone AS expires_at
           FROM book.outgoing q
          WHERE q.status = 'queued'::text
        UNION ALL
         SELECT q.network, q.destination, q.currency, q.amount, q.payment_id, q.merchant_id, 'signed'::text,
            a.expires_at
           FROM book.outgoing q
             LEFT JOIN book.attempt a ON a.outgoing_id = q.id AND a.merchant_id = q.merchant_id AND a.outcome IS NULL
          WHERE q.status = 'signed'::text) o ON o.network = s.network AND o.destination = s.recipient AND o.currency = s.currency AND o.amount = s.amount
     JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
  WHERE s.status = 'open'::text
UNION ALL
 SELECT s.network, s.txid, s.log_index, w.id AS withdrawal_id, w.merchant_id, w.reference_id, 'approval'::text AS state,
    NULL::timestamp with time zone AS expires_at
   FROM hub.unknown_spend s
     JOIN book.withdrawal w ON w.status = 'PENDING_APPROVAL'::text AND w.network = s.network AND w.destination = s.recipient AND w.currency = s.currency AND w.amount = s.amount
  WHERE s.status = 'open'::text;

CREATE OR REPLACE FUNCTION book.begin_epoch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_TABLE_NAME = 'setting' THEN
    NEW.epoch := gen_random_uuid();
    RETURN NEW;
  END IF;
  UPDATE book.setting SET base_fee = base_fee;  -- its own trigger begins the epoch
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION book.check_approval()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.created_by IS NOT NULL AND NEW.approved_by IS NULL THEN
    RAISE EXCEPTION 'Cannot approve % as no key is named', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  IF book.is_same_hand(NEW.created_by, NEW.created_admin, NEW.approved_by, NEW.approved_admin) THEN
    RAISE EXCEPTION 'Cannot approve % as the one who made it would', NEW.id USING ERRCODE = 'SD001';
  END IF;
  IF TG_TABLE_NAME <> 'settlement_address' AND book.has_funded(
       NEW.merchant_id, to_jsonb(NEW) ->> 'currency', NEW.network, NEW.approved_by, NEW.approved_admin) THEN
    RAISE EXCEPTION 'Cannot approve % as the one who confirmed its money would', NEW.id USING ERRCODE = 'SD001';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.check_confirmed_by_hand()
 RETURNS trigger
 LANGUAGE plpgsql
 SET lock_timeout TO '1s'
AS $function$
DECLARE
  v_duty book.duty;
BEGIN
  IF NEW.created_by IS NOT NULL AND NEW.approved_by IS NULL THEN
    RAISE EXCEPTION 'Cannot confirm % as no key is named', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  IF book.is_same_hand(NEW.created_by, NEW.created_admin, NEW.approved_by, NEW.approved_admin) THEN
    RAISE EXCEPTION 'Cannot confirm % as the one who made it would', NEW.id USING ERRCODE = 'SD001';
  END IF;
  IF NEW.endorsed_by IS NOT NULL
     AND book.is_same_hand(NEW.endorsed_by, NEW.endorsed_admin, NEW.approved_by, NEW.approved_admin) THEN
    RAISE EXCEPTION 'Cannot confirm % as two administrators are needed', NEW.id USING ERRCODE = 'SD001';
  END IF;
  IF NEW.endorsed_by IS NOT NULL
     AND book.is_same_hand(NEW.endorsed_by, NEW.endorsed_admin, NEW.created_by, NEW.created_admin) THEN
    RAISE EXCEPTION 'Cannot confirm % as the one who made it has endorsed it', NEW.id USING ERRCODE = 'SD001';
  END IF;
  IF NEW.created_by IS NULL OR NEW.endorsed_by IS NOT NULL THEN
    RETURN NEW;
  END IF;
  SELECT * INTO v_duty FROM book.duty FOR NO KEY UPDATE;
  IF v_duty.four_eyes <> 'off'
     AND NEW.amount + book.confirmed_alone(NEW.approved_by, NEW.approved_admin, NEW.id) > v_duty.alone_up_to THEN
    RAISE EXCEPTION 'Cannot confirm % as two administrators are needed', NEW.id USING ERRCODE = 'SD002';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.check_deposit_by_hand()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.status = 'CONFIRMED' THEN
    RETURN NEW;
  END IF;
  IF EXISTS (
    SELECT FROM book.sweep_item i
    WHERE i.network = NEW.network AND i.txid = NEW.txid AND i.merchant_id NOT IN (NEW.merchant_id, 'mer_lost'))
  OR EXISTS (
    SELECT FROM book.deposit_proof p
    WHERE p.network = NEW.network AND p.txid = NEW.txid AND p.merchant_id <> NEW.merchant_id
      AND (p.evidence IS NULL OR p.evidence ? 'discarded')) THEN
    RAISE EXCEPTION 'Cannot confirm a deposit by hand as its transaction paid another merchant: %', NEW.id
      USING ERRCODE = 'unique_violation', CONSTRAINT = 'deposit_by_hand';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.check_nothing_lands()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.id AND a.merchant_id = NEW.merchant_id
             AND (a.outcome IS NULL OR a.outcome NOT IN ('failed', 'expired'))) THEN
    RAISE EXCEPTION 'Cannot take a transfer back as a transaction of it may land: % is %', NEW.id, NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION book.check_refund()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.outgoing_id AND a.merchant_id = NEW.merchant_id
             AND (a.outcome IS NULL OR a.outcome = 'paid')) THEN
    RAISE EXCEPTION 'Cannot give a withdrawal back as a transaction of it has paid or may land: %', NEW.id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION book.check_settled_items()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM book.outgoing o WHERE o.id = NEW.outgoing_id AND o.merchant_id = 'mer_platform' FOR NO KEY UPDATE;
  IF NEW.arrived < (SELECT coalesce(sum(i.amount), 0) FROM book.sweep_item i WHERE i.outgoing_id = NEW.outgoing_id) THEN
    RAISE EXCEPTION 'Cannot settle a sweep as it lists more than has arrived: %', NEW.outgoing_id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION book.check_settlement_history()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_steps text[] := ARRAY(SELECT s.step ->> 'status' FROM jsonb_array_elements(NEW.history) WITH ORDINALITY s(step, n) ORDER BY n);
  v_known integer := CASE WHEN TG_OP = 'UPDATE' THEN jsonb_array_length(OLD.history) ELSE 0 END;
  v_from  text;
BEGIN
  IF v_steps[1] IS DISTINCT FROM 'PENDING' OR v_steps[cardinality(v_steps)] IS DISTINCT FROM NEW.status THEN
    RAISE EXCEPTION 'Cannot write a settlement as its history does not lead to its status: % in %', NEW.status, v_steps
      USING ERRCODE = 'check_violation';
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.history IS DISTINCT FROM (
    SELECT jsonb_agg(s.step ORDER BY n) FROM jsonb_array_elements(NEW.history) WITH ORDINALITY s(step, n) WHERE n <= v_known) THEN
    RAISE EXCEPTION 'Cannot change the history of a settlement as it is written once: %', NEW.id
      USING ERRCODE = 'check_violation';
  END IF;
  FOR v_step IN greatest(v_known, 1) + 1 .. cardinality(v_steps) LOOP
    v_from := v_steps[v_step - 1];
    IF NOT EXISTS (SELECT FROM book.transition t
                   WHERE t.record = 'settlement' AND t.from_status = v_from AND t.to_status = v_steps[v_step]) THEN
      RAISE EXCEPTION 'Cannot move a settlement as its states do not allow it: % -> %', v_from, v_steps[v_step]
        USING ERRCODE = 'check_violation';
    END IF;
  END LOOP;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.check_step()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM book.transition t
                 WHERE t.record = TG_ARGV[0] AND t.from_status = OLD.status AND t.to_status = NEW.status) THEN
    RAISE EXCEPTION 'Cannot move a % as its states do not allow it: % -> %', TG_ARGV[0], OLD.status, NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.check_sweep_items()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
DECLARE
  v_sweep text;
BEGIN
  FOR v_sweep IN SELECT DISTINCT n.outgoing_id FROM changed n WHERE n.outgoing_id IS NOT NULL ORDER BY 1 LOOP
    PERFORM FROM book.outgoing o WHERE o.id = v_sweep AND o.merchant_id = 'mer_platform' FOR NO KEY UPDATE;
    IF EXISTS (
      SELECT FROM book.outgoing o
      WHERE o.id = v_sweep AND o.merchant_id = 'mer_platform' AND (o.kind <> 'sweep'
        OR coalesce((SELECT v.arrived FROM book.sweep_verdict v WHERE v.outgoing_id = v_sweep), o.amount)
           < (SELECT sum(i.amount) FROM book.sweep_item i WHERE i.outgoing_id = v_sweep)
        OR EXISTS (SELECT FROM book.sweep_item i WHERE i.outgoing_id = v_sweep
                   AND (i.network, i.currency) <> (o.network, o.currency))
        OR EXISTS (SELECT FROM book.sweep_item i JOIN book.attempt a
                     ON a.outgoing_id = v_sweep AND a.merchant_id = o.merchant_id
                       AND a.outcome IN ('paid', 'unexpected')
                   WHERE i.outgoing_id = v_sweep AND i.height >= a.height))) THEN
      RAISE EXCEPTION 'Cannot carry transfers as their sweep moves less: %', v_sweep USING ERRCODE = 'check_violation';
    END IF;
  END LOOP;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION book.check_sweep_verdict()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM book.outgoing o WHERE o.id = NEW.outgoing_id AND o.merchant_id = 'mer_platform' FOR NO KEY UPDATE;
  IF NOT EXISTS (
    SELECT FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome = 'unexpected'
    WHERE o.id = NEW.outgoing_id AND o.merchant_id = 'mer_platform' AND o.kind = 'sweep' AND o.status = 'final') THEN
    RAISE EXCEPTION 'Cannot settle a sweep as its end needs no verdict: %', NEW.outgoing_id USING ERRCODE = 'check_violation';
  END IF;
  NEW.created_at := now();
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.check_sweep_write_off()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.created_at <> now() OR NEW.amount <> (
    SELECT coalesce(sum(i.amount), 0) FROM book.sweep_item i WHERE i.write_off = NEW.id) THEN
    RAISE EXCEPTION 'Cannot write off another amount than that of its transfers: %', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION book.check_top_up()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (
    SELECT FROM book.sweep_item i
    JOIN book.outgoing o ON o.id = i.outgoing_id AND o.merchant_id = 'mer_platform' AND o.status = 'final'
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id
    WHERE i.network = NEW.network AND i.txid = NEW.txid AND i.log_index = NEW.log_index
      AND i.merchant_id = NEW.merchant_id AND (a.outcome = 'paid' OR a.outcome = 'unexpected' AND v.verdict = 'moved')) THEN
    RAISE EXCEPTION 'Cannot confirm a top-up as no final sweep lists it: %', NEW.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.check_transition()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT 1 FROM book.transition t
             WHERE t.record = TG_ARGV[0] AND t.from_status = OLD.status AND t.to_status = NEW.status) THEN
    RETURN NEW;
  END IF;
  IF NOT EXISTS (
    WITH RECURSIVE reach(status) AS (
      SELECT t.to_status FROM book.transition t WHERE t.record = TG_ARGV[0] AND t.from_status = OLD.status
      UNION
      SELECT t.to_status FROM book.transition t JOIN reach r ON t.from_status = r.status WHERE t.record = TG_ARGV[0])
    SELECT 1 FROM reach WHERE status = NEW.status) THEN
    RAISE EXCEPTION 'Cannot move a % as its states do not allow it: % -> %', TG_ARGV[0], OLD.status, NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.check_verdict()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM book.attempt a WHERE a.outgoing_id = NEW.outgoing_id AND a.merchant_id = NEW.merchant_id
             AND a.outcome = 'unexpected')
    AND NOT EXISTS (SELECT FROM book.ingested i WHERE i.event_id = 'verdict:' || NEW.id
             AND i.merchant_id = NEW.merchant_id
             AND i.body_hash = CASE NEW.status WHEN 'CONFIRMED' THEN 'paid' ELSE 'not_paid' END) THEN
    RAISE EXCEPTION 'Cannot end a withdrawal as nobody has found out what its transaction did: % is %', NEW.id, NEW.status
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION book.check_written_off()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF OLD.outgoing_id IS NOT NULL OR NOT EXISTS (
    SELECT FROM book.sweep_write_off w
    WHERE w.id = NEW.write_off AND w.network = NEW.network AND w.address = NEW.address
      AND w.currency = NEW.currency AND w.created_at = now()) THEN
    RAISE EXCEPTION 'Cannot write a transfer off as nobody says so: %/%', NEW.txid, NEW.log_index
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.check_written_off_items()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (
    SELECT FROM (SELECT DISTINCT n.write_off FROM changed n WHERE n.write_off IS NOT NULL) c
    JOIN book.sweep_write_off w ON w.id = c.write_off
    WHERE w.amount < (SELECT sum(i.amount) FROM book.sweep_item i WHERE i.write_off = c.write_off)) THEN
    RAISE EXCEPTION 'Cannot write off another amount than that of its transfers: %',
      (SELECT min(n.write_off) FROM changed n) USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION book.claim_events(p_merchants text[], p_rooms integer[], p_claimed_by text, p_lease_margin_ms integer, p_probe_ms integer)
 RETURNS TABLE(id text, merchant_id text, type text, payload text, attempts integer, url text, secret text, previous text, timeout_ms integer, retry_count integer)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
#variable_conflict use_column
DECLARE
  v_ids    text[];
  v_owners text[];
  v_probed text[];
BEGIN
  SELECT array_agg(p.id), array_agg(w.merchant_id), array_agg(w.merchant_id) FILTER (WHERE w.probes)
  INTO v_ids, v_owners, v_probed
  FROM (
    SELECT w.room, m.merchant_id, e.next_probe_at, k.probes,
      CASE WHEN e.next_probe_at IS NULL THEN '~' ELSE (
        SELECT max(x.id) FROM (
          SELECT b.id FROM book.outbox b WHERE b.merchant_id = m.merchant_id AND b.status = 'PENDING'
          ORDER BY b.id LIMIT 100) x) END AS up_to
    FROM unnest(p_merchants, p_rooms) AS w (id, room)
    JOIN book.merchant m ON m.merchant_id = w.id
    LEFT JOIN book.webhook_endpoint e ON e.merchant_id = m.merchant_id AND e.url = m.webhook_url
    JOIN (VALUES (false), (true)) AS k (probes) ON NOT k.probes OR e.next_probe_at <= now()
      OR e.next_probe_at > now() + make_interval(secs => 2.0 * p_probe_ms / 1000)
    WHERE m.webhook_enabled AND m.webhook_url IS NOT NULL) w
  CROSS JOIN LATERAL (
    SELECT o.id FROM book.outbox o
    WHERE o.merchant_id >= w.merchant_id AND o.merchant_id <= w.merchant_id
      AND o.status = 'PENDING' AND (o.attempts = 0 OR book.is_over(o.next_attempt_at))
      AND (o.claimed_until IS NULL OR book.is_over(o.claimed_until))
      AND o.id <= w.up_to
      AND (w.next_probe_at IS NULL OR (o.attempts = 0) = w.probes)
      AND o.id = (
        SELECT older.id FROM book.outbox older
        WHERE older.payment_id = o.payment_id AND older.merchant_id = o.merchant_id
          AND older.status = 'PENDING'
        ORDER BY older.id LIMIT 1)
    ORDER BY o.merchant_id, o.id LIMIT CASE WHEN w.probes THEN 1 ELSE w.room END FOR UPDATE SKIP LOCKED) p;
  IF v_ids IS NULL THEN
    RETURN;
  END IF;
  IF v_probed IS NOT NULL THEN
    UPDATE book.webhook_endpoint e SET probes = e.probes + 1, next_probe_at =
      now() + make_interval(secs => p_probe_ms / 1000.0)
    WHERE e.merchant_id IN (
      SELECT x.merchant_id FROM book.webhook_endpoint x WHERE x.merchant_id = ANY (v_probed)
      FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN QUERY
    UPDATE book.outbox o SET attempts = o.attempts + 1, claimed_by = p_claimed_by, claimed_until =
      now() + make_interval(secs => (m.webhook_timeout_ms + p_lease_margin_ms) / 1000.0)
    FROM unnest(v_ids, v_owners) AS p (id, owner)
    JOIN book.merchant m ON m.merchant_id = p.owner AND m.webhook_enabled AND m.webhook_url IS NOT NULL
    WHERE o.id = p.id AND o.merchant_id = p.owner
    RETURNING o.id, o.merchant_id, o.type, o.payload, o.attempts, m.webhook_url, m.webhook_secret,
      CASE WHEN m.webhook_previous_until > now() THEN m.webhook_secret_previous END,
      m.webhook_timeout_ms, m.webhook_retry_count;
END $function$;

CREATE OR REPLACE FUNCTION book.closed_destinations(p_outgoing_ids text[])
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog'
AS $function$
  SELECT o.id FROM book.outgoing o JOIN hub.address a ON a.address = o.destination AND a.network = o.network
  WHERE o.id = ANY (p_outgoing_ids) AND a.merchant_id IN (o.merchant_id, 'mer_lost')
$function$;
REVOKE ALL ON FUNCTION book.closed_destinations(text[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION book.commit_batch(p_commit_id text, p_epoch uuid, p_accounts book.account_change[], p_opened book.balance_key[], p_entries book.entry_row[], p_new_withdrawals book.withdrawal_row[], p_withdrawals book.withdrawal_row[], p_new_deposits book.deposit_row[], p_deposits book.deposit_row[], p_new_transactions book.transaction_row[], p_transactions book.transaction_row[], p_charges book.charge_row[], p_outgoing book.outgoing_row[], p_voided book.outgoing_void[], p_events book.outbox_row[], p_new_addresses book.deposit_address_row[], p_addresses book.deposit_address_row[], p_consumed book.inbox_key[], p_merchants book.merchant_row[], p_new_settlements book.settlement_row[], p_settlements book.settlement_row[], p_new_whitelist book.settlement_address_row[], p_whitelist book.settlement_address_row[], p_margins book.margin_row[], p_inbox book.inbox_row[], p_ingested book.ingested_row[], p_audits book.audit_row[])
 RETURNS TABLE(merchant_id text, reason text)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
DECLARE
  v_ids      text[];
  v_versions bigint[];
  v_commits  uuid[];
  v_free     text[];
  v_found    bigint[];
  v_last     uuid[];
  v_stopped  text[];
  v_count    bigint;
  v_bad      boolean;
BEGIN
  IF (SELECT s.epoch FROM book.setting s) <> p_epoch THEN
    RETURN QUERY SELECT s.merchant_id, 'epoch' FROM unnest(p_accounts) s;
    RETURN;
  END IF;

  -- 1. lock in order; a merchant that was decided on another version or another history than the row's is out,
  --    and so is one whose row is locked: no batch waits for the account of one of its merchants
  SELECT array_agg(s.merchant_id ORDER BY s.merchant_id), array_agg(s.version ORDER BY s.merchant_id),
    array_agg(s.last_commit ORDER BY s.merchant_id)
  INTO v_ids, v_versions, v_commits FROM unnest(p_accounts) s;
  SELECT array_agg(a.merchant_id), array_agg(a.version), array_agg(a.last_commit) INTO v_free, v_found, v_last
  FROM (SELECT x.merchant_id, x.version, x.last_commit FROM book.account x WHERE x.merchant_id = ANY (v_ids)
        ORDER BY x.merchant_id FOR NO KEY UPDATE SKIP LOCKED) a;
  IF v_free IS DISTINCT FROM v_ids OR v_found <> v_versions OR v_last <> v_commits THEN
    RETURN QUERY
      SELECT s.merchant_id, CASE WHEN f.merchant_id IS NULL AND a.merchant_id IS NOT NULL THEN 'locked' ELSE 'version' END
      FROM unnest(p_accounts) s
      LEFT JOIN unnest(v_free, v_found, v_last) AS f(merchant_id, version, last_commit) ON f.merchant_id = s.merchant_id
      LEFT JOIN book.account a ON a.merchant_id = s.merchant_id
      WHERE f.version IS DISTINCT FROM s.version OR f.last_commit IS DISTINCT FROM s.last_commit;
    RETURN;
  END IF;

  -- 2. money comes back only together with its payout's row: exactly one of refund and signing wins
  IF cardinality(p_voided) > 0 THEN
    v_free := ARRAY(SELECT o.id FROM book.outgoing o JOIN unnest(p_voided) v ON v.id = o.id AND v.merchant_id = o.merchant_id
                    ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED);
    RETURN QUERY
      SELECT DISTINCT ON (v.merchant_id) v.merchant_id, CASE WHEN o.id <> ALL (v_free) THEN 'locked' ELSE 'outgoing' END
      FROM unnest(p_voided) v LEFT JOIN book.outgoing o ON o.id = v.id AND o.merchant_id = v.merchant_id
      WHERE o.id IS NULL OR o.id <> ALL (v_free) OR o.status <> v.from_status
      ORDER BY v.merchant_id;
    IF FOUND THEN
      RETURN;
    END IF;
    -- what is queued here may be signed and paid in a history that the database has lost: no refund of it while
    -- signing is stopped. The session that commits asks: the answer of an earlier one may be of the lost history.
    IF EXISTS (SELECT FROM unnest(p_voided) v JOIN unnest(p_withdrawals) w ON w.outgoing_id = v.id
               WHERE v.from_status = 'queued' AND w.status <> 'CONFIRMED') THEN
      v_stopped := ARRAY(
        SELECT n.network FROM (SELECT DISTINCT w.network FROM unnest(p_voided) v
          JOIN unnest(p_withdrawals) w ON w.outgoing_id = v.id WHERE v.from_status = 'queued') n
        WHERE hub.signing_stop(n.network) IS NOT NULL);
      RETURN QUERY
        SELECT DISTINCT v.merchant_id, 'stopped' FROM unnest(p_voided) v JOIN unnest(p_withdrawals) w ON w.outgoing_id = v.id
        WHERE v.from_status = 'queued' AND w.status <> 'CONFIRMED' AND w.network = ANY (v_stopped);
      IF FOUND THEN
        RETURN;
      END IF;
    END IF;
  END IF;

  -- 3. counts and sums of the lists: new rows, and images before and after of changed ones
  IF cardinality(p_new_withdrawals) + cardinality(p_new_deposits) + cardinality(p_new_transactions)
     + cardinality(p_new_settlements) + cardinality(p_charges) > 0 THEN
    INSERT INTO book.list_bucket AS b (merchant_id, list, bucket, currency, network, status, type, count, effect)
    SELECT merchant_id, list, (seq - 1) / 250, currency, network, status, type, count(*), sum(effect) FROM (
      SELECT merchant_id, 'withdrawal' AS list, seq, currency, network, status, '' AS type, 0::numeric AS effect
        FROM unnest(p_new_withdrawals) WHERE seq IS NOT NULL
      UNION ALL SELECT merchant_id, 'deposit', seq, currency, network, status, '', 0 FROM unnest(p_new_deposits)
      UNION ALL SELECT merchant_id, 'transaction', seq, currency, network, status, type, effect FROM unnest(p_new_transactions)
      UNION ALL SELECT merchant_id, 'settlement', seq, currency, network, status, '', 0 FROM unnest(p_new_settlements)
      UNION ALL SELECT merchant_id, 'charge', seq, currency, network, '', type, amount FROM unnest(p_charges)) added
    GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT (merchant_id, list, bucket, currency, network, status, type)
    DO UPDATE SET count = b.count + excluded.count, effect = b.effect + excluded.effect;
  END IF;
  IF cardinality(p_withdrawals) + cardinality(p_deposits) + cardinality(p_transactions)
     + cardinality(p_settlements) > 0 THEN
    WITH change AS (
      SELECT c.merchant_id, 'withdrawal' AS list, c.seq, c.currency, c.network, c.status, '' AS type, 1 AS n, 0::numeric AS effect
        FROM unnest(p_withdrawals) c WHERE c.seq IS NOT NULL
      UNION ALL
      SELECT o.merchant_id, 'withdrawal', o.seq, o.currency, o.network, o.status, '', -1, 0
        FROM unnest(p_withdrawals) c JOIN book.withdrawal o ON o.id = c.id AND o.merchant_id IS NOT DISTINCT FROM c.merchant_id
        -- those that have a seq, said so that no plan goes through the index of all seqs
        WHERE o.settlement_id IS NULL
      UNION ALL
      SELECT c.merchant_id, 'deposit', c.seq, c.currency, c.network, c.status, '', 1, 0 FROM unnest(p_deposits) c
      UNION ALL
      SELECT o.merchant_id, 'deposit', o.seq, o.currency, o.network, o.status, '', -1, 0
        FROM unnest(p_deposits) c JOIN book.deposit o ON o.id = c.id AND o.merchant_id IS NOT DISTINCT FROM c.merchant_id
      UNION ALL
      SELECT c.merchant_id, 'transaction', c.seq, c.currency, c.network, c.status, c.type, 1, c.effect FROM unnest(p_transactions) c
      UNION ALL
      SELECT o.merchant_id, 'transaction', o.seq, o.currency, o.network, o.status, o.type, -1, -o.effect
        FROM unnest(p_transactions) c JOIN book.transaction o ON o.merchant_id = c.merchant_id AND o.seq = c.seq
      UNION ALL
      SELECT c.merchant_id, 'settlement', c.seq, c.currency, c.network, c.status, '', 1, 0 FROM unnest(p_settlements) c
      UNION ALL
      SELECT o.merchant_id, 'settlement', o.seq, o.currency, o.network, o.status, '', -1, 0
        FROM unnest(p_settlements) c JOIN book.settlement o ON o.id = c.id AND o.merchant_id IS NOT DISTINCT FROM c.merchant_id
    ), folded AS (
      SELECT merchant_id, list, (seq - 1) / 250 AS bucket, currency, network, status, type, sum(n) AS n, sum(effect) AS effect
      FROM change GROUP BY 1, 2, 3, 4, 5, 6, 7
      HAVING sum(n) <> 0 OR sum(effect) <> 0
    ), written AS (
      INSERT INTO book.list_bucket AS b (merchant_id, list, bucket, currency, network, status, type, count, effect)
      SELECT merchant_id, list, bucket, currency, network, status, type, n, effect FROM folded ORDER BY 1, 2, 3, 4, 5, 6, 7
      ON CONFLICT (merchant_id, list, bucket, currency, network, status, type)
      DO UPDATE SET count = b.count + excluded.count, effect = b.effect + excluded.effect
      RETURNING b.count
    ), summed AS (
      INSERT INTO book.list_large_bucket AS b (merchant_id, list, large_bucket, currency, network, status, type, count, effect)
      SELECT f.merchant_id, f.list, f.bucket / 256, f.currency, f.network, f.status, f.type, sum(f.n), sum(f.effect)
      FROM folded f JOIN book.list_summed s ON s.merchant_id = f.merchant_id AND s.list = f.list AND f.bucket / 256 < s.large_buckets
      GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7
      ON CONFLICT (merchant_id, list, large_bucket, currency, network, status, type)
      DO UPDATE SET count = b.count + excluded.count, effect = b.effect + excluded.effect
    )
    SELECT bool_or(count < 0) INTO v_bad FROM written;
    IF v_bad THEN
      RAISE EXCEPTION 'Cannot keep a list count as it would fall below zero' USING ERRCODE = 'check_violation';
    END IF;
  END IF;

  -- 4. records: changes first, so that a released reference is free for a new withdrawal
  IF cardinality(p_withdrawals) > 0 THEN
    UPDATE book.withdrawal w SET status = c.status, reason = c.reason, txid = c.txid, processed_at = c.processed_at,
      approved_by = c.approved_by, approved_admin = c.approved_admin
    FROM unnest(p_withdrawals) c WHERE w.id = c.id AND w.merchant_id IS NOT DISTINCT FROM c.merchant_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_withdrawals) THEN
      RAISE EXCEPTION 'Cannot change withdrawals as some do not exist: % of %', v_count, cardinality(p_withdrawals);
    END IF;
  END IF;
  IF cardinality(p_deposits) > 0 THEN
    UPDATE book.deposit d SET status = c.status, reason = c.reason, currency = c.currency, amount = c.amount,
      sender = c.sender, commission = c.commission,
      commission_rate = c.commission_rate, fixed_fee = c.fixed_fee, usd_rate = c.usd_rate, height = c.height,
      expires_at = c.expires_at, metadata = c.metadata, updated_at = c.updated_at, cleared_at = c.cleared_at,
      margin = c.margin, margin_to = c.margin_to, approved_by = c.approved_by, approved_admin = c.approved_admin,
      endorsed_by = c.endorsed_by, endorsed_admin = c.endorsed_admin
    FROM unnest(p_deposits) c WHERE d.id = c.id AND d.merchant_id IS NOT DISTINCT FROM c.merchant_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_deposits) THEN
      RAISE EXCEPTION 'Cannot change deposits as some do not exist: % of %', v_count, cardinality(p_deposits);
    END IF;
  END IF;
  IF cardinality(p_transactions) > 0 THEN
    UPDATE book.transaction t SET status = c.status, currency = c.currency, effect = c.effect, fee = c.fee,
      txid = c.txid, height = c.height, from_address = c.from_address
    FROM unnest(p_transactions) c WHERE t.merchant_id = c.merchant_id AND t.seq = c.seq;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_transactions) THEN
      RAISE EXCEPTION 'Cannot change transactions as some do not exist: % of %', v_count, cardinality(p_transactions);
    END IF;
  END IF;
  IF cardinality(p_settlements) > 0 THEN
    UPDATE book.settlement s SET status = c.status, reason = c.reason, updated_at = c.updated_at, history = c.history,
      approved_by = c.approved_by, approved_admin = c.approved_admin
    FROM unnest(p_settlements) c WHERE s.id = c.id AND s.merchant_id IS NOT DISTINCT FROM c.merchant_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_settlements) THEN
      RAISE EXCEPTION 'Cannot change settlements as some do not exist: % of %', v_count, cardinality(p_settlements);
    END IF;
  END IF;
  IF cardinality(p_whitelist) > 0 THEN
    UPDATE book.settlement_address a SET active = c.active, removed_at = c.removed_at,
      approved_by = c.approved_by, approved_admin = c.approved_admin
    FROM unnest(p_whitelist) c WHERE a.id = c.id AND a.merchant_id IS NOT DISTINCT FROM c.merchant_id;
  END IF;
  IF cardinality(p_addresses) > 0 THEN
    UPDATE book.deposit_address a SET reference_id = c.reference_id, activated = c.activated
    FROM unnest(p_addresses) c WHERE a.id = c.id AND a.merchant_id IS NOT DISTINCT FROM c.merchant_id;
  END IF;
  IF cardinality(p_merchants) > 0 THEN
    UPDATE book.merchant m SET status = c.status, name = c.name, deposit_commission_rate = c.deposit_commission_rate,
      direct_deposit_fee = c.direct_deposit_fee, webhook_url = c.webhook_url, webhook_secret = c.webhook_secret,
      webhook_secret_previous = c.webhook_secret_previous, webhook_previous_until = c.webhook_previous_until,
      webhook_enabled = c.webhook_enabled, webhook_events = c.webhook_events, webhook_timeout_ms = c.webhook_timeout_ms,
      webhook_retry_count = c.webhook_retry_count, success_url = c.success_url, failure_url = c.failure_url,
      page_origins = c.page_origins, logo_color = c.logo_color,
      rate_limits = c.rate_limits, reseller_id = c.reseller_id, margin_rate = c.margin_rate,
      margin_beneficiary = c.margin_beneficiary
    FROM unnest(p_merchants) c WHERE m.merchant_id = c.merchant_id;
  END IF;

  IF cardinality(p_new_withdrawals) > 0 THEN
    INSERT INTO book.withdrawal SELECT * FROM unnest(p_new_withdrawals);
  END IF;
  IF cardinality(p_new_deposits) > 0 THEN
    INSERT INTO book.deposit SELECT * FROM unnest(p_new_deposits);
  END IF;
  IF cardinality(p_new_transactions) > 0 THEN
    INSERT INTO book.transaction SELECT * FROM unnest(p_new_transactions);
  END IF;
  IF cardinality(p_events) > 0 THEN
    INSERT INTO book.outbox SELECT * FROM unnest(p_events);
  END IF;
  IF cardinality(p_new_addresses) > 0 THEN
    INSERT INTO book.deposit_address SELECT * FROM unnest(p_new_addresses);
    -- It was made known to the watcher in a commit before this one. Where the history changed between the
    -- two, the account of lost addresses watches it, or nothing does: it is watched for its merchant from here on.
    v_bad := EXISTS (
      SELECT FROM unnest(p_new_addresses) n LEFT JOIN hub.address w ON w.address = n.address AND w.network = n.network
      WHERE w.merchant_id IS DISTINCT FROM n.merchant_id);
    IF v_bad THEN
      INSERT INTO hub.address AS w (address, network, merchant_id, address_id, wallet_index)
      SELECT n.address, n.network, n.merchant_id, n.id, n.wallet_index FROM unnest(p_new_addresses) n
      ORDER BY n.network, n.wallet_index
      ON CONFLICT (address, network) DO UPDATE SET merchant_id = excluded.merchant_id, address_id = excluded.address_id
      WHERE w.merchant_id = 'mer_lost';
      IF EXISTS (
        SELECT FROM unnest(p_new_addresses) n JOIN hub.address w ON w.address = n.address AND w.network = n.network
        WHERE w.merchant_id <> n.merchant_id) THEN
        RAISE EXCEPTION 'Cannot hand out an address as another merchant has it' USING ERRCODE = 'check_violation';
      END IF;
    END IF;
  END IF;
  IF cardinality(p_outgoing) > 0 THEN
    INSERT INTO book.outgoing SELECT * FROM unnest(p_outgoing);
  END IF;
  IF cardinality(p_new_settlements) > 0 THEN
    INSERT INTO book.settlement SELECT * FROM unnest(p_new_settlements);
  END IF;
  IF cardinality(p_new_whitelist) > 0 THEN
    INSERT INTO book.settlement_address SELECT * FROM unnest(p_new_whitelist);
  END IF;
  IF cardinality(p_margins) > 0 THEN
    INSERT INTO book.margin SELECT * FROM unnest(p_margins);
    INSERT INTO book.margin_day AS d
      (merchant_id, beneficiary, day, currency, network, events, volume, fee, earned, reversed)
    SELECT merchant_id, beneficiary, (created_at AT TIME ZONE 'UTC')::date, currency, network,
      count(*) FILTER (WHERE fee > 0), sum(volume), sum(fee), sum(earned), sum(reversed)
    FROM unnest(p_margins) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (merchant_id, beneficiary, day, currency, network)
    DO UPDATE SET events = d.events + excluded.events, volume = d.volume + excluded.volume,
      fee = d.fee + excluded.fee, earned = d.earned + excluded.earned, reversed = d.reversed + excluded.reversed;
  END IF;
  IF cardinality(p_inbox) > 0 THEN
    INSERT INTO book.inbox SELECT * FROM unnest(p_inbox) ON CONFLICT DO NOTHING;
  END IF;
  IF cardinality(p_ingested) > 0 THEN
    INSERT INTO book.ingested SELECT * FROM unnest(p_ingested);
  END IF;
  IF cardinality(p_audits) > 0 THEN
    INSERT INTO book.audit SELECT * FROM unnest(p_audits);
  END IF;
  IF cardinality(p_charges) > 0 THEN
    INSERT INTO book.charge SELECT * FROM unnest(p_charges);
  END IF;
  IF cardinality(p_voided) > 0 THEN
    UPDATE book.outgoing o SET status = 'void', reason = v.reason, lease_until = NULL, updated_at = now()
    FROM unnest(p_voided) v WHERE o.id = v.id AND o.merchant_id = v.merchant_id AND o.status = v.from_status;
  END IF;

  -- 5. entries, and balances as their sums: the two cannot disagree
  IF cardinality(p_entries) > 0 THEN
    INSERT INTO book.entry SELECT * FROM unnest(p_entries);
    IF cardinality(p_opened) > 0 THEN
      INSERT INTO book.balance (merchant_id, currency, network, updated_at)
      SELECT o.merchant_id, o.currency, o.network, s.last_at
      FROM unnest(p_opened) o JOIN unnest(p_accounts) s ON s.merchant_id = o.merchant_id;
    END IF;
    WITH delta AS (
      SELECT merchant_id, currency, network, max(created_at) AS at,
        coalesce(sum(amount) FILTER (WHERE to_account = 'available'), 0) - coalesce(sum(amount) FILTER (WHERE from_account = 'available'), 0) AS available,
        coalesce(sum(amount) FILTER (WHERE to_account = 'pending'), 0) - coalesce(sum(amount) FILTER (WHERE from_account = 'pending'), 0) AS pending,
        coalesce(sum(amount) FILTER (WHERE to_account = 'reserved'), 0) - coalesce(sum(amount) FILTER (WHERE from_account = 'reserved'), 0) AS reserved
      FROM unnest(p_entries) GROUP BY 1, 2, 3
    ), moved AS (
      UPDATE book.balance b SET available = b.available + d.available, pending = b.pending + d.pending,
        reserved = b.reserved + d.reserved, updated_at = d.at
      FROM delta d WHERE b.merchant_id = d.merchant_id AND b.currency = d.currency AND b.network = d.network
      RETURNING 1
    )
    SELECT (SELECT count(*) FROM delta) <> (SELECT count(*) FROM moved) INTO v_bad;
    IF v_bad THEN
      RAISE EXCEPTION 'Cannot post as a balance row is missing';
    END IF;
    INSERT INTO book.system_delta (account, currency, network, amount)
    SELECT account, currency, network, sum(amount) FROM (
      SELECT to_account AS account, currency, network, amount FROM unnest(p_entries)
      UNION ALL
      SELECT from_account, currency, network, -amount FROM unnest(p_entries)) leg
    WHERE account NOT IN ('available','pending','reserved')
    GROUP BY 1, 2, 3 HAVING sum(amount) <> 0;
  END IF;

  -- 6. what was consumed, the fence, and the proof that this batch happened
  IF cardinality(p_consumed) > 0 THEN
    UPDATE book.inbox i SET consumed_at = now()
    FROM unnest(p_consumed) c
    WHERE i.merchant_id = c.merchant_id AND i.network = c.network AND i.txid = c.txid
      AND i.log_index = c.log_index AND i.phase = c.phase AND i.consumed_at IS NULL;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_consumed) THEN
      RAISE EXCEPTION 'Cannot consume inbox rows as some are gone: % of %', v_count, cardinality(p_consumed);
    END IF;
  END IF;
  UPDATE book.account a SET version = a.version + 1, last_commit = p_commit_id::uuid, deposit_seq = s.deposit_seq, withdrawal_seq = s.withdrawal_seq,
    transaction_seq = s.transaction_seq, charge_seq = s.charge_seq, settlement_seq = s.settlement_seq, last_at = s.last_at
  FROM unnest(p_accounts) s WHERE a.merchant_id = s.merchant_id;
  INSERT INTO book.commit_log (id, survivors)
  VALUES (p_commit_id, ARRAY(SELECT s.merchant_id FROM unnest(p_accounts) s));
END $function$;

CREATE OR REPLACE FUNCTION book.confirmed_alone(key text, administrator text, except_id text)
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(sum(d.amount), 0) FROM book.deposit d
  WHERE d.approved_by IS NOT NULL AND d.cleared_at > now() - interval '24 hours' AND d.id <> except_id
    AND (d.approved_by = key OR d.approved_admin = administrator)
    AND (d.endorsed_by IS NULL OR book.is_same_hand(d.endorsed_by, d.endorsed_admin, d.approved_by, d.approved_admin))
$function$;

CREATE OR REPLACE FUNCTION book.count_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION book.event_bucket(event_id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
RETURN "left"(event_id, 10);

CREATE OR REPLACE FUNCTION book.first_seq_since(p_list text, p_merchant_id text, p_time timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION book.has_funded(merchant text, of_currency text, of_network text, key text, administrator text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  SELECT EXISTS (
    SELECT FROM book.deposit d JOIN book.duty u ON u.four_eyes = 'persons'
    WHERE d.approved_by IS NOT NULL AND d.cleared_at > now() - interval '30 days' AND d.merchant_id = merchant
      AND d.currency = of_currency AND d.network = of_network
      AND (book.is_same_hand(d.approved_by, d.approved_admin, key, administrator)
        OR book.is_same_hand(d.endorsed_by, d.endorsed_admin, key, administrator)))
$function$;

CREATE OR REPLACE FUNCTION book.is_booked(payment_id text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- transfers of the house name no payment
  SELECT coalesce(payment_id ~ '^wd_[0-9a-f]{8}-[0-9a-f]{4}-8', false)
$function$;

CREATE OR REPLACE FUNCTION book.is_over(p_until timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN ((p_until <= now()) OR (p_until > (now() + '00:02:00'::interval)));

CREATE OR REPLACE FUNCTION book.is_same_hand(key text, administrator text, other_key text, other_administrator text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce((SELECT CASE d.four_eyes
    WHEN 'off' THEN false
    WHEN 'keys' THEN key = other_key
    ELSE key = other_key OR coalesce(administrator = other_administrator, false) END FROM book.duty d), false)
$function$;

CREATE OR REPLACE FUNCTION book.keep_attempt()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF (NEW.outgoing_id, NEW.number, NEW.merchant_id, NEW.network, NEW.txid, NEW.bytes, NEW.expires_at)
     IS DISTINCT FROM (OLD.outgoing_id, OLD.number, OLD.merchant_id, OLD.network, OLD.txid, OLD.bytes, OLD.expires_at)
     OR (OLD.outcome IS NOT NULL AND (NEW.outcome, NEW.height) IS DISTINCT FROM (OLD.outcome, OLD.height)) THEN
    RAISE EXCEPTION 'Cannot change an attempt as it is written once: %', OLD.txid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.keep_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF (NEW.id, NEW.merchant_id, NEW.payment_id, NEW.type, NEW.payload)
     IS DISTINCT FROM (OLD.id, OLD.merchant_id, OLD.payment_id, OLD.type, OLD.payload) THEN
    RAISE EXCEPTION 'Cannot change an event as its bytes are signed: %', OLD.id USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.keep_maker()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'Cannot change who made % %', TG_TABLE_NAME, OLD.id USING ERRCODE = 'check_violation';
END $function$;

CREATE OR REPLACE FUNCTION book.keep_sweep_item()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF (NEW.merchant_id, NEW.network, NEW.txid, NEW.log_index, NEW.address, NEW.currency, NEW.amount, NEW.height)
     IS DISTINCT FROM
     (OLD.merchant_id, OLD.network, OLD.txid, OLD.log_index, OLD.address, OLD.currency, OLD.amount, OLD.height)
     OR (OLD.done AND NOT NEW.done) THEN
    RAISE EXCEPTION 'Cannot change what is to be swept as it is written once: %/%', OLD.txid, OLD.log_index
      USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.outgoing_id IS NOT NULL AND NEW.outgoing_id IS DISTINCT FROM OLD.outgoing_id AND (OLD.done
    OR NOT EXISTS (
      SELECT FROM book.outgoing o
      WHERE o.id = OLD.outgoing_id AND o.merchant_id = 'mer_platform' AND o.status = 'void')
    AND NOT EXISTS (
      SELECT FROM book.sweep_verdict v
      WHERE v.outgoing_id = OLD.outgoing_id AND (v.arrived = 0 OR v.created_at = now()))) THEN
    RAISE EXCEPTION 'Cannot take a transfer from its sweep as that may land: %', OLD.outgoing_id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.mark_acknowledged(p_ids text[], p_merchants text[], p_attempts integer[], p_outcomes text[], p_statuses integer[], p_durations integer[], p_answers text[])
 RETURNS boolean
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET lock_timeout TO '200ms'
AS $function$
BEGIN
  IF EXISTS (SELECT FROM book.webhook_endpoint e WHERE e.merchant_id = ANY (p_merchants))
     OR EXISTS (SELECT FROM book.second_chance s WHERE s.merchant_id = ANY (p_merchants)) THEN
    RETURN false;
  END IF;
  INSERT INTO book.delivery_attempt
    (event_id, number, merchant_id, outcome, http_status, duration_ms, answer)
  SELECT * FROM unnest(
    p_ids, p_attempts, p_merchants, p_outcomes, p_statuses, p_durations, p_answers)
  ON CONFLICT DO NOTHING;
  UPDATE book.outbox o SET status = 'DELIVERED', delivered_at = now(), next_attempt_at = now(),
    claimed_until = NULL, last_outcome = t.outcome
  FROM unnest(p_ids, p_merchants, p_outcomes) AS t (id, merchant_id, outcome)
  WHERE o.id = t.id AND o.merchant_id = t.merchant_id AND o.status = 'PENDING';
  RETURN true;
END $function$;

CREATE OR REPLACE FUNCTION book.number_addresses()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION book.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'Cannot change %.% as it is written once: %', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'check_violation';
END $function$;

CREATE OR REPLACE FUNCTION book.require_deposit_proof()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.quarantine LIKE 'unproven:%' AND NEW.consumed_at IS NULL THEN
    RETURN NEW;
  END IF;
  IF NOT EXISTS (
    SELECT FROM book.deposit_proof p
    WHERE p.merchant_id = OLD.merchant_id AND p.network = OLD.network AND p.txid = OLD.txid
      AND p.log_index = OLD.log_index AND p.evidence IS NOT NULL
      AND CASE WHEN p.evidence ? 'discarded' THEN NEW.quarantine LIKE 'discarded:%' AND NEW.consumed_at IS NOT NULL
        ELSE p.amount = (NEW.data ->> 'amount')::numeric AND p.currency = NEW.data ->> 'currency' END) THEN
    RAISE EXCEPTION 'Cannot credit a transfer as no second node has proven it: %/%', OLD.txid, OLD.log_index
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION book.resolve_commit(p_commit_id text, p_merchant_ids text[], OUT survivors text[], OUT waiting text[])
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_fenced text[];
BEGIN
  v_fenced := ARRAY(SELECT a.merchant_id FROM book.account a WHERE a.merchant_id = ANY (p_merchant_ids)
                    ORDER BY a.merchant_id FOR NO KEY UPDATE SKIP LOCKED);
  UPDATE book.account a SET version = a.version + 1, last_commit = gen_random_uuid() WHERE a.merchant_id = ANY (v_fenced);
  survivors := (SELECT c.survivors FROM book.commit_log c WHERE c.id = p_commit_id);
  waiting := ARRAY(SELECT a.merchant_id FROM book.account a
                   WHERE a.merchant_id = ANY (p_merchant_ids) AND a.merchant_id <> ALL (v_fenced));
END $function$;

CREATE OR REPLACE FUNCTION book.slot_of(merchant_id text)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT get_byte(sha256(convert_to(merchant_id, 'UTF8')), 0)::smallint
$function$;

CREATE OR REPLACE FUNCTION book.sum_large_buckets(p_merchant_id text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_account book.account;
  v_list    text;
  v_rows    bigint;
  v_done    bigint;
BEGIN
  SELECT * INTO v_account FROM book.account a WHERE a.merchant_id = p_merchant_id FOR UPDATE;
  FOR v_list, v_rows IN VALUES ('deposit', v_account.deposit_seq), ('withdrawal', v_account.withdrawal_seq),
      ('transaction', v_account.transaction_seq), ('settlement', v_account.settlement_seq), ('charge', v_account.charge_seq)
  LOOP
    v_done := coalesce((SELECT s.large_buckets FROM book.list_summed s WHERE s.merchant_id = p_merchant_id AND s.list = v_list), 0);
    CONTINUE WHEN v_rows / 64000 <= v_done;
    INSERT INTO book.list_large_bucket
    SELECT b.merchant_id, b.list, b.bucket / 256, b.currency, b.network, b.status, b.type, sum(b.count), sum(b.effect)
    FROM book.list_bucket b
    WHERE b.merchant_id = p_merchant_id AND b.list = v_list AND b.bucket >= v_done * 256 AND b.bucket < v_rows / 64000 * 256
    GROUP BY 1, 2, 3, 4, 5, 6, 7;
    INSERT INTO book.list_summed VALUES (p_merchant_id, v_list, v_rows / 64000)
    ON CONFLICT (merchant_id, list) DO UPDATE SET large_buckets = excluded.large_buckets;
  END LOOP;
END $function$;

CREATE OR REPLACE FUNCTION hub.audit_hash(before bytea, source text, line jsonb)
 RETURNS bytea
 LANGUAGE sql
 STABLE
AS $function$
  SELECT sha256(before || convert_to(jsonb_build_array(source, line -> 'id', line -> 'merchant_id', line -> 'actor',
    line -> 'action', line -> 'subject', line -> 'before', line -> 'after', line -> 'refused', line -> 'request_id',
    line -> 'created_at')::text, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION hub.bound_keys()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  IF hub.living_keys(NEW.merchant_id) >= 50 THEN
    RAISE EXCEPTION 'a merchant has 50 living keys at most: %', NEW.merchant_id
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION hub.chain_audit()
 RETURNS trigger
 LANGUAGE plpgsql
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '1s'
AS $function$
DECLARE
  v_head hub.audit_head;
  v_hash bytea;
BEGIN
  SELECT * INTO STRICT v_head FROM hub.audit_head FOR UPDATE;
  v_hash := hub.audit_hash(v_head.hash, TG_TABLE_SCHEMA, to_jsonb(NEW));
  INSERT INTO hub.audit_chain (number, source, audit_id, hash)
  VALUES (v_head.number + 1, TG_TABLE_SCHEMA, NEW.id, v_hash);
  UPDATE hub.audit_head SET number = v_head.number + 1, hash = v_hash;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION hub.check_audit_head()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.number IS DISTINCT FROM OLD.number + 1 THEN
    RAISE EXCEPTION 'Cannot move the head of the audit but by one line' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION hub.compare_history(p_id text, p_gap integer, OUT history text, OUT opened boolean, OUT is_told boolean, OUT newest text)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_server record;
  v_known  hub.database_history;
BEGIN
  SELECT * INTO v_server FROM hub.server_history();
  SELECT * INTO v_known FROM hub.database_history;
  is_told := v_server.timeline IS NOT NULL;
  opened := false;
  IF is_told AND (v_known.system_identifier, v_known.timeline, v_known.database_oid)
      IS DISTINCT FROM (v_server.system_identifier, v_server.timeline, v_server.database_oid) THEN
    SELECT * INTO v_known FROM hub.database_history FOR UPDATE;
    IF (v_known.system_identifier, v_known.timeline, v_known.database_oid)
        IS DISTINCT FROM (v_server.system_identifier, v_server.timeline, v_server.database_oid) THEN
      IF v_known.timeline IS NOT NULL THEN
        PERFORM hub.open_failover(p_id, 'history',
          v_known.system_identifier || '/' || v_known.timeline || '/' || v_known.database_oid,
          hub.history_name(), 'the database continues another history', 'engine', p_gap);
        opened := true;
      END IF;
      UPDATE hub.database_history SET system_identifier = v_server.system_identifier,
        timeline = v_server.timeline, database_oid = v_server.database_oid, since = now();
    END IF;
  END IF;
  newest := (SELECT max(f.id) FROM hub.failover f);
  history := coalesce(hub.history_name(), 'not told');
END $function$;

CREATE OR REPLACE FUNCTION hub.event_address(network text, address text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
DECLARE
  -- value of a base58 digit by its character code; with strpos() the whole takes twice as long
  digits CONSTANT bytea := '\x000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001020304050607080000000'
                           '0000000090a0b0c0d0e0f1000111213141500161718191a1b1c1d1e1f200000000000002122232425262728292a2b002c2d2e2f30313233343536373839';
  code  bytea;
  chunk bigint;
  value numeric := 0;
BEGIN
  IF network NOT IN ('TRX','TRX_SHASTA') OR length(address) <> 34
     OR address ~ '[^1-9A-HJ-NP-Za-km-z]' THEN
    RETURN address;
  END IF;
  code := convert_to(address, 'UTF8');
  -- 7 digits, then three times 9, which is as many as a bigint holds: numerics are slow
  FOR part IN 0..3 LOOP
    chunk := 0;
    FOR place IN greatest(0, 9 * part - 2)..9 * part + 6 LOOP
      chunk := chunk * 58 + get_byte(digits, get_byte(code, place));
    END LOOP;
    value := value * 7427658739644928 + chunk;  -- 58^9
  END LOOP;
  value := div(value, 4294967296);  -- without the checksum
  IF div(value, 1461501637330902918203684832716283019655932542976) <> 65 THEN  -- 2^160
    RETURN address;
  END IF;
  value := value - 94997606426508689683239514126558396277635615293440;  -- 65 * 2^160
  -- 10 hex digits, then two times 15 (2^60), which is as many as a bigint holds
  RETURN lpad(to_hex(div(value, 1329227995784915872903807060280344576)::bigint), 10, '0')
    || lpad(to_hex(mod(div(value, 1152921504606846976), 1152921504606846976)::bigint), 15, '0')
    || lpad(to_hex(mod(value, 1152921504606846976)::bigint), 15, '0');
END $function$;

CREATE OR REPLACE FUNCTION hub.history_name()
 RETURNS text
 LANGUAGE sql
AS $function$
  SELECT s.system_identifier || '/' || s.timeline || '/' || s.database_oid FROM hub.server_history() s
$function$;

CREATE OR REPLACE FUNCTION hub.is_other_history()
 RETURNS boolean
 LANGUAGE sql
AS $function$
  SELECT EXISTS (
    SELECT FROM hub.database_history h, hub.server_history() s
    WHERE h.timeline IS NOT NULL AND s.timeline IS NOT NULL
      AND (h.system_identifier, h.timeline, h.database_oid)
        IS DISTINCT FROM (s.system_identifier, s.timeline, s.database_oid))
$function$;

CREATE OR REPLACE FUNCTION hub.keep_unknown_spend()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF (NEW.network, NEW.txid, NEW.log_index, NEW.height, NEW.sender, NEW.recipient, NEW.currency, NEW.amount)
     IS DISTINCT FROM (OLD.network, OLD.txid, OLD.log_index, OLD.height, OLD.sender, OLD.recipient, OLD.currency, OLD.amount)
     OR (OLD.status NOT IN ('open', 'listed', 'cold') AND NEW.status <> OLD.status)
     -- what stops signing is explained by a verdict or by an attempt, and by no address that was configured later
     OR (NEW.status = 'cold' AND OLD.status <> 'cold') THEN
    RAISE EXCEPTION 'Cannot change what left a wallet as it is decided once: %', OLD.txid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION hub.living_keys(merchant text)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('hub.api_key ' || merchant, 0));
  RETURN (SELECT count(*) FROM hub.api_key k WHERE k.merchant_id = merchant
    AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()));
END $function$;

CREATE OR REPLACE FUNCTION hub.mark_scanned(of_network text, low bigint, high bigint, blocks bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  joined_low bigint;
  joined_high bigint;
BEGIN
  IF blocks IS DISTINCT FROM high - low + 1 OR blocks < 1 THEN
    RAISE EXCEPTION 'Cannot mark blocks as read as some were not: % of % to % on %', blocks, low, high, of_network
      USING ERRCODE = 'check_violation';
  END IF;
  -- one writer per network: the scan and a rescan may end at the same time
  PERFORM FROM hub.cursor WHERE network = of_network AND view = 'solid' FOR UPDATE;
  UPDATE hub.scanned_range r SET last_height = high
  WHERE r.network = of_network AND r.last_height = low - 1 AND NOT EXISTS (
    SELECT FROM hub.scanned_range o WHERE o.network = of_network AND o.first_height BETWEEN low AND high + 1);
  IF FOUND THEN RETURN; END IF;
  WITH gone AS (
    DELETE FROM hub.scanned_range r
    WHERE r.network = of_network AND r.first_height <= high + 1 AND r.last_height >= low - 1
    RETURNING r.first_height, r.last_height)
  SELECT min(g.first_height), max(g.last_height) INTO joined_low, joined_high FROM gone g;
  INSERT INTO hub.scanned_range (network, first_height, last_height)
  VALUES (of_network, least(low, joined_low), greatest(high, joined_high));
END $function$;

CREATE OR REPLACE FUNCTION hub.may_pass_blocks(of_network text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  SELECT NOT EXISTS (
    SELECT FROM hub.database_history h, hub.server_history() s
    WHERE h.timeline IS NOT NULL AND s.timeline IS NOT NULL
      AND (h.system_identifier, h.timeline, h.database_oid)
        IS DISTINCT FROM (s.system_identifier, s.timeline, s.database_oid))
  AND NOT EXISTS (
    SELECT FROM hub.failover_network n WHERE n.network = of_network AND NOT n.gap_watched)
$function$;

CREATE OR REPLACE FUNCTION hub.open_failover(p_id text, p_cause text, p_before text, p_after text, p_reason text, p_actor text, p_gap integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO hub.failover (id, cause, before, after, reason, actor)
  VALUES (p_id, p_cause, p_before, p_after, p_reason, p_actor);
  INSERT INTO hub.failover_network (failover_id, network, from_height, gap_first, gap_last)
  SELECT p_id, w.network, (SELECT c.height FROM hub.cursor c WHERE c.network = w.network AND c.view = 'solid'),
    w.next_index, w.next_index + p_gap - 1
  FROM hub.wallet w;
  UPDATE hub.wallet SET next_index = next_index + p_gap;
END $function$;

CREATE OR REPLACE FUNCTION hub.server_history(OUT system_identifier text, OUT timeline integer, OUT database_oid bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
BEGIN
  system_identifier := (SELECT c.system_identifier::text FROM pg_control_system() c);
  timeline := ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer;
  database_oid := (SELECT d.oid::bigint FROM pg_database d WHERE d.datname = current_database());
EXCEPTION WHEN insufficient_privilege OR undefined_function OR object_not_in_prerequisite_state OR feature_not_supported THEN
  system_identifier := NULL;
  timeline := NULL;
  database_oid := NULL;
END $function$;

CREATE OR REPLACE FUNCTION hub.signing_stop(of_network text)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
DECLARE
  v_is_other boolean;
BEGIN
  v_is_other := hub.is_other_history();
  RETURN (SELECT CASE
    WHEN EXISTS (SELECT FROM hub.unknown_spend s WHERE s.network = of_network AND s.status = 'open')
      THEN 'money left a wallet by a transaction that the books do not know'
    WHEN EXISTS (SELECT FROM hub.failover_network n WHERE n.network = of_network AND n.compared_at IS NULL)
      THEN 'the database has another history, and what was signed before is not compared yet'
    WHEN v_is_other THEN 'the database has another history'
  END);
END $function$;

CREATE OR REPLACE FUNCTION hub.store_contracts(of_network text, currencies text[], contracts text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  newest bigint;
  oldest bigint;
  is_first boolean;
BEGIN
  SELECT height INTO newest FROM hub.cursor WHERE network = of_network AND view = 'solid' FOR UPDATE;
  SELECT min(first_height) INTO oldest FROM hub.scanned_range WHERE network = of_network;
  SELECT NOT EXISTS (SELECT FROM hub.scanned_contract WHERE network = of_network) INTO is_first;
  UPDATE hub.scanned_contract SET left_at = coalesce(newest, 0)
  WHERE network = of_network AND left_at IS NULL AND NOT EXISTS (
    SELECT FROM unnest(currencies, contracts) AS c(currency, contract)
    WHERE c.currency = scanned_contract.currency AND c.contract = scanned_contract.contract);
  INSERT INTO hub.scanned_contract AS s (network, currency, contract, missed_from, missed_to)
  SELECT of_network, c.currency, c.contract,
    CASE WHEN NOT is_first AND oldest <= newest THEN oldest END,
    CASE WHEN NOT is_first AND oldest <= newest THEN newest END
  FROM unnest(currencies, contracts) AS c(currency, contract)
  ON CONFLICT (network, currency, contract) DO UPDATE SET left_at = NULL,
    missed_from = CASE WHEN s.left_at < newest THEN least(s.missed_from, s.left_at + 1) ELSE s.missed_from END,
    missed_to = CASE WHEN s.left_at < newest THEN newest ELSE s.missed_to END;
END $function$;

CREATE OR REPLACE FUNCTION hub.text_key(text text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  SELECT (
    ascii(text)               * 26439622160671 + ascii(substr(text, length(text)))        * 852891037441 +
    ascii(substr(text, 2, 1)) * 27512614111    + ascii(substr(text, length(text) - 1, 1)) * 887503681::bigint +
    ascii(substr(text, 3, 1)) * 28629151::bigint + ascii(substr(text, length(text) - 2, 1)) * 923521 +
    ascii(substr(text, 4, 1)) * 29791          + ascii(substr(text, length(text) - 3, 1)) * 961 +
    ascii(substr(text, 5, 1)) * 31             + ascii(substr(text, length(text) - 4, 1))
  )::bit(32)::integer
$function$;

CREATE OR REPLACE FUNCTION hub.verify_audit()
 RETURNS TABLE(number bigint, audit_id text, fault text)
 LANGUAGE plpgsql
 STABLE
 SET "TimeZone" TO 'UTC'
AS $function$
#variable_conflict use_column
DECLARE
  v_link   record;
  v_before bytea := '';
  v_next   bigint := 1;
  v_found  integer := 0;
BEGIN
  FOR v_link IN
    SELECT c.number, c.source, c.audit_id, c.hash,
      CASE c.source WHEN 'book' THEN to_jsonb(b) ELSE to_jsonb(h) END AS line
    FROM hub.audit_chain c
    LEFT JOIN book.audit b ON c.source = 'book' AND b.id = c.audit_id
    LEFT JOIN hub.audit h ON c.source = 'hub' AND h.id = c.audit_id
    ORDER BY c.number
  LOOP
    EXIT WHEN v_found >= 100;
    IF v_link.number <> v_next THEN
      v_found := v_found + 1;
      RETURN QUERY SELECT v_next, NULL::text, 'links are missing';
    END IF;
    IF v_link.line IS NULL THEN
      v_found := v_found + 1;
      RETURN QUERY SELECT v_link.number, v_link.audit_id, 'the line is missing';
    ELSIF hub.audit_hash(v_before, v_link.source, v_link.line) <> v_link.hash THEN
      v_found := v_found + 1;
      RETURN QUERY SELECT v_link.number, v_link.audit_id, 'the line, or the link before it, was changed';
    END IF;
    v_before := v_link.hash;
    v_next := v_link.number + 1;
  END LOOP;
  IF v_found < 100 AND NOT EXISTS (SELECT FROM hub.audit_head a WHERE a.number = v_next - 1 AND a.hash = v_before) THEN
    v_found := v_found + 1;
    RETURN QUERY SELECT v_next, NULL::text, 'the newest links are missing';
  END IF;
  RETURN QUERY
    SELECT NULL::bigint, a.id, 'the line is in no link' FROM (
      SELECT 'book' AS source, id FROM book.audit UNION ALL SELECT 'hub', id FROM hub.audit) a
    WHERE NOT EXISTS (SELECT FROM hub.audit_chain c WHERE c.source = a.source AND c.audit_id = a.id)
    ORDER BY a.id LIMIT 100 - v_found;
END $function$;
