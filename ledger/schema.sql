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
CREATE TYPE book.payout_opening AS (
  id text COLLATE "C",
  merchant_id text COLLATE "C",
  seq bigint,
  transaction_id text COLLATE "C",
  transaction_seq bigint,
  charge_seq bigint,
  commission_charge_id text COLLATE "C",
  network_fee_charge_id text COLLATE "C",
  outgoing_id text COLLATE "C",
  currency text COLLATE "C",
  network text COLLATE "C",
  amount numeric(38,18),
  base_fee numeric(38,18),
  markup_rate numeric(19,18),
  markup_amount numeric(38,18),
  network_fee numeric(38,18),
  margin numeric(38,18),
  margin_to text COLLATE "C",
  effect numeric(38,18),
  destination text COLLATE "C",
  from_address text COLLATE "C",
  reference_id text,
  description text,
  created_at timestamp with time zone,
  created_by text COLLATE "C",
  created_admin text COLLATE "C"
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
CREATE TRIGGER account_is_not_truncated BEFORE TRUNCATE ON book.account FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.address_number (
  merchant_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  address_id text COLLATE "C" NOT NULL,
  CONSTRAINT address_number_pkey PRIMARY KEY (merchant_id, seq),
  CONSTRAINT address_number_seq_check CHECK ((seq > 0))
);
CREATE TRIGGER address_number_is_not_truncated BEFORE TRUNCATE ON book.address_number FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.attempt (
  outgoing_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  txid text COLLATE "C" NOT NULL,
  bytes text NOT NULL,
  expires_at timestamp with time zone,
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
  dies_after bigint,
  seen_height bigint,
  nonce bigint,
  purpose text COLLATE "C" NOT NULL DEFAULT 'pay'::text,
  place integer NOT NULL DEFAULT 0,
  intents integer NOT NULL DEFAULT 1,
  CONSTRAINT attempt_pkey PRIMARY KEY (outgoing_id, number, merchant_id),
  CONSTRAINT attempt_outgoing_id_merchant_id_fkey FOREIGN KEY (outgoing_id, merchant_id) REFERENCES book.outgoing(id, merchant_id),
  CONSTRAINT attempt_cancels_a_nonce CHECK (((purpose = 'pay'::text) OR (nonce IS NOT NULL))),
  CONSTRAINT attempt_coin_rate_check CHECK ((coin_rate > (0)::numeric)),
  CONSTRAINT attempt_cost_of_fee CHECK (((costed_at IS NULL) OR (fee IS NOT NULL))),
  CONSTRAINT attempt_dead_by_proof CHECK (
CASE
    WHEN (outcome = 'expired'::text) THEN COALESCE(((evidence ?& ARRAY['height'::text, 'hash'::text]) AND (((evidence ->> 'previousTick'::text))::bigint > dies_after)), false)
    WHEN (outcome = 'superseded'::text) THEN COALESCE(((nonce IS NOT NULL) AND (evidence ?& ARRAY['height'::text, 'hash'::text, 'by'::text]) AND ((evidence ->> 'by'::text) <> txid)), false)
    ELSE true
END),
  CONSTRAINT attempt_dies_within CHECK (((dies_after >= 0) AND (dies_after <= '9007199254740991'::bigint))),
  CONSTRAINT attempt_ends_by_purpose CHECK (((outcome IS NULL) OR (outcome = ANY (ARRAY['expired'::text, 'superseded'::text])) OR (((outcome = 'cancelled'::text) = (purpose = 'cancel'::text)) AND ((outcome <> 'cancelled'::text) OR (height IS NOT NULL))))),
  CONSTRAINT attempt_ends_one_way CHECK ((((dies_after IS NULL) = (nonce IS NOT NULL)) AND ((expires_at IS NULL) = (nonce IS NOT NULL)))),
  CONSTRAINT attempt_fee_limit_check CHECK ((fee_limit >= (0)::numeric)),
  CONSTRAINT attempt_nonce_check CHECK ((nonce >= 0)),
  CONSTRAINT attempt_number_check CHECK ((number > 0)),
  CONSTRAINT attempt_outcome_check CHECK ((outcome = ANY (ARRAY['paid'::text, 'failed'::text, 'unexpected'::text, 'expired'::text, 'superseded'::text, 'cancelled'::text]))),
  CONSTRAINT attempt_place CHECK (((place >= 0) AND (place <= (intents - 1)))),
  CONSTRAINT attempt_purpose_check CHECK ((purpose = ANY (ARRAY['pay'::text, 'cancel'::text]))),
  CONSTRAINT attempt_rate_of_cost CHECK (((coin_rate IS NULL) OR (costed_at IS NOT NULL)))
) WITH (fillfactor=80);
CREATE INDEX attempt_costed ON book.attempt USING btree (network, outgoing_id) WHERE (costed_at IS NOT NULL);
CREATE INDEX attempt_ended ON book.attempt USING btree (network, height) WHERE (height IS NOT NULL);
CREATE INDEX attempt_fee_limits ON book.attempt USING btree (network) INCLUDE (fee_limit) WHERE ((outcome IS NULL) AND (nonce IS NULL));
CREATE INDEX attempt_height ON book.attempt USING brin (height) WHERE (height IS NOT NULL);
CREATE UNIQUE INDEX attempt_in_flight ON book.attempt USING btree (outgoing_id) WHERE ((outcome IS NULL) AND (nonce IS NULL));
CREATE INDEX attempt_of_nonce ON book.attempt USING btree (network, nonce) INCLUDE (outgoing_id, fee_limit) WHERE ((outcome IS NULL) AND (nonce IS NOT NULL));
CREATE UNIQUE INDEX attempt_of_transaction ON book.attempt USING btree (txid, network, place);
CREATE INDEX attempt_uncosted ON book.attempt USING btree (network, outgoing_id) WHERE ((fee IS NOT NULL) AND (costed_at IS NULL));
CREATE TRIGGER attempt_adoption_is_kept BEFORE UPDATE OF adopted ON book.attempt FOR EACH ROW WHEN ((old.adopted IS DISTINCT FROM new.adopted)) EXECUTE FUNCTION book.refuse_change();
CREATE CONSTRAINT TRIGGER attempt_expires_whole AFTER UPDATE OF outcome ON book.attempt DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.outcome = 'expired'::text) AND (new.intents > 1))) EXECUTE FUNCTION book.check_expires_whole();
CREATE TRIGGER attempt_is_kept BEFORE UPDATE ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.keep_attempt();
CREATE TRIGGER attempt_is_never_deleted BEFORE DELETE ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER attempt_is_not_truncated BEFORE TRUNCATE ON book.attempt FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE CONSTRAINT TRIGGER attempt_is_stored_whole AFTER INSERT ON book.attempt DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.intents > 1)) EXECUTE FUNCTION book.check_shared_attempt();
CREATE TRIGGER attempt_limit_is_kept BEFORE UPDATE OF fee_limit ON book.attempt FOR EACH ROW WHEN ((old.fee_limit IS DISTINCT FROM new.fee_limit)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER attempt_lives_one_way BEFORE INSERT ON book.attempt FOR EACH ROW EXECUTE FUNCTION book.check_lives_one_way();
CREATE TRIGGER lane_attempt_ends_by_nonce BEFORE UPDATE OF outcome ON book.attempt FOR EACH ROW WHEN (((new.nonce IS NOT NULL) AND (new.outcome IS DISTINCT FROM old.outcome))) EXECUTE FUNCTION book.check_lane_attempt();
CREATE TRIGGER lane_attempt_is_promised BEFORE INSERT ON book.attempt FOR EACH ROW WHEN ((new.nonce IS NOT NULL)) EXECUTE FUNCTION book.check_lane_attempt();

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
CREATE TRIGGER balance_is_not_truncated BEFORE TRUNCATE ON book.balance FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
  CONSTRAINT charge_check CHECK (((amount <> '0'::numeric) AND ((amount < '0'::numeric) = (type = 'REVERSAL'::text)))),
  CONSTRAINT charge_seq_check CHECK ((seq > 0)),
  CONSTRAINT charge_type_check CHECK ((type = ANY ('{ADDRESS_ACTIVATION,DIRECT_DEPOSIT,DEPOSIT_COMMISSION,WITHDRAWAL_COMMISSION,NETWORK_FEE,REVERSAL}'::text[])))
);
CREATE INDEX charge_rare ON book.charge USING btree (merchant_id, type, seq) WHERE (type = ANY (ARRAY['ADDRESS_ACTIVATION'::text, 'DIRECT_DEPOSIT'::text, 'REVERSAL'::text]));
CREATE TRIGGER charge_is_not_truncated BEFORE TRUNCATE ON book.charge FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
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
  dies_after bigint,
  CONSTRAINT deposit_pkey PRIMARY KEY (id, merchant_id),
  CONSTRAINT deposit_merchant_id_seq_key UNIQUE (merchant_id, seq),
  CONSTRAINT deposit_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT deposit_check CHECK (((commission + fixed_fee) <= amount)),
  CONSTRAINT deposit_check1 CHECK (((txid IS NULL) = (log_index IS NULL))),
  CONSTRAINT deposit_check2 CHECK (((status = 'CONFIRMED'::text) = (cleared_at IS NOT NULL))),
  CONSTRAINT deposit_commission_check CHECK ((commission >= (0)::numeric)),
  CONSTRAINT deposit_dies_by_tick CHECK (((status <> 'PENDING'::text) OR (txid IS NULL) OR (expires_at IS NULL) OR (dies_after IS NOT NULL))),
  CONSTRAINT deposit_fixed_fee_check CHECK ((fixed_fee >= (0)::numeric)),
  CONSTRAINT deposit_margin_check CHECK ((margin >= (0)::numeric)),
  CONSTRAINT deposit_seq_check CHECK ((seq > 0)),
  CONSTRAINT deposit_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'CONFIRMED'::text, 'FAILED'::text, 'CANCELLED'::text]))),
  CONSTRAINT deposit_transaction_seq_check CHECK ((transaction_seq > 0)),
  CONSTRAINT deposit_within_bounds CHECK ((amount <= ('1000000000000'::bigint)::numeric))
) WITH (fillfactor=80);
CREATE INDEX deposit_awaited ON book.deposit USING btree (address_id, id) WHERE ((status = 'PENDING'::text) AND (address_id IS NOT NULL));
CREATE UNIQUE INDEX deposit_by_hand ON book.deposit USING btree (network, txid) WHERE ((log_index = '-1'::integer) AND (status = 'CONFIRMED'::text));
CREATE INDEX deposit_confirmed_by_hand ON book.deposit USING btree (cleared_at) WHERE (approved_by IS NOT NULL);
CREATE INDEX deposit_of_address ON book.deposit USING btree (address_id, id) WHERE (address_id IS NOT NULL);
CREATE INDEX deposit_pending ON book.deposit USING btree (id) WHERE (status = 'PENDING'::text);
CREATE INDEX deposit_rare ON book.deposit USING btree (merchant_id, status, seq) WHERE (status = ANY (ARRAY['PENDING'::text, 'FAILED'::text, 'CANCELLED'::text]));
CREATE INDEX deposit_reference ON book.deposit USING btree (merchant_id, reference_id, seq) WHERE (reference_id IS NOT NULL);
CREATE UNIQUE INDEX deposit_transfer ON book.deposit USING btree (merchant_id, network, txid, log_index) WHERE (txid IS NOT NULL);
CREATE TRIGGER deposit_by_hand_is_unpaid BEFORE INSERT OR UPDATE OF status ON book.deposit FOR EACH ROW WHEN (((new.status = 'CONFIRMED'::text) AND (new.log_index = '-1'::integer))) EXECUTE FUNCTION book.check_deposit_by_hand();
CREATE TRIGGER deposit_by_hand_needs_another BEFORE UPDATE OF status ON book.deposit FOR EACH ROW WHEN (((old.status = 'PENDING'::text) AND (new.status = 'CONFIRMED'::text) AND ((new.log_index IS NULL) OR (new.log_index = '-1'::integer)))) EXECUTE FUNCTION book.check_confirmed_by_hand();
CREATE TRIGGER deposit_is_not_truncated BEFORE TRUNCATE ON book.deposit FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER deposit_maker_is_kept BEFORE UPDATE OF created_by, created_admin ON book.deposit FOR EACH ROW WHEN (((old.created_by IS DISTINCT FROM new.created_by) OR (old.created_admin IS DISTINCT FROM new.created_admin))) EXECUTE FUNCTION book.keep_maker();
CREATE TRIGGER deposit_tick_is_kept BEFORE UPDATE OF dies_after ON book.deposit FOR EACH ROW WHEN ((old.dies_after IS DISTINCT FROM new.dies_after)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER deposit_transition BEFORE UPDATE OF status ON book.deposit FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION book.check_transition('deposit');
CREATE TRIGGER page_paid AFTER INSERT ON book.deposit REFERENCING NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION book.add_page_totals();
CREATE TRIGGER page_payment_changed AFTER UPDATE ON book.deposit REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION book.add_page_totals();
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
CREATE TRIGGER deposit_address_is_not_truncated BEFORE TRUNCATE ON book.deposit_address FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
  block_log integer,
  CONSTRAINT deposit_proof_pkey PRIMARY KEY (merchant_id, network, txid, log_index),
  CONSTRAINT deposit_proof_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT deposit_proof_block_log_check CHECK ((block_log >= 0)),
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
  CONSTRAINT entry_amount_check CHECK ((amount > '0'::numeric)),
  CONSTRAINT entry_check CHECK ((from_account <> to_account)),
  CONSTRAINT entry_from_account_check CHECK ((from_account = ANY ('{available,pending,reserved,world,commission,network_fee,activation_fee,direct_deposit_fee,margin_held,margin_due}'::text[]))),
  CONSTRAINT entry_to_account_check CHECK ((to_account = ANY ('{available,pending,reserved,world,commission,network_fee,activation_fee,direct_deposit_fee,margin_held,margin_due}'::text[])))
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
  CONSTRAINT inbox_of_other_network_waits CHECK (((quarantine IS NOT NULL) OR (NOT (data ? 'issuedOn'::text)))),
  CONSTRAINT inbox_of_taken_place_waits CHECK (((quarantine IS NOT NULL) OR (NOT (data ? 'bookedAs'::text)))),
  CONSTRAINT inbox_phase_check CHECK ((phase = ANY (ARRAY['seen'::text, 'solid'::text, 'vanished'::text, 'submitted'::text, 'outcome'::text, 'margin'::text, 'swept'::text])))
) WITH (fillfactor=80);
CREATE INDEX inbox_age ON book.inbox USING brin (created_at);
CREATE INDEX inbox_booked_as ON book.inbox USING btree (network, ((data ->> 'bookedAs'::text))) WHERE (data ? 'bookedAs'::text);
CREATE INDEX inbox_claimed ON book.inbox USING btree (merchant_id, network, txid, log_index, phase) WHERE ((consumed_at IS NULL) AND (split_part(quarantine, ':'::text, 1) = 'claimed'::text));
CREATE INDEX inbox_kind ON book.inbox USING btree (split_part(quarantine, ':'::text, 1), network, ((data ->> 'currency'::text)), created_at) WHERE ((consumed_at IS NULL) AND (quarantine IS NOT NULL));
CREATE INDEX inbox_quarantine ON book.inbox USING btree (network) WHERE ((consumed_at IS NULL) AND (quarantine IS NOT NULL));
CREATE INDEX inbox_renamed ON book.inbox USING btree (network, txid) WHERE (data ? 'bookedAs'::text);
CREATE INDEX inbox_waiting ON book.inbox USING btree (merchant_id, created_at) WHERE ((consumed_at IS NULL) AND (quarantine IS NULL));
CREATE TRIGGER inbox_is_not_truncated BEFORE TRUNCATE ON book.inbox FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
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
CREATE TRIGGER ingested_is_not_truncated BEFORE TRUNCATE ON book.ingested FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER ingested_verdict_is_kept BEFORE UPDATE ON book.ingested FOR EACH ROW WHEN ((old.event_id ~~ 'verdict:%'::text)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER ingested_verdict_is_never_deleted BEFORE DELETE ON book.ingested FOR EACH ROW WHEN ((old.event_id ~~ 'verdict:%'::text)) EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.lane_nonce (
  network text COLLATE "C" NOT NULL,
  payer text COLLATE "C" NOT NULL,
  nonce bigint NOT NULL,
  intents text[] NOT NULL,
  promised_at timestamp with time zone NOT NULL DEFAULT now(),
  used_by text COLLATE "C",
  height bigint,
  foreign_hand boolean NOT NULL DEFAULT false,
  cancel_by text COLLATE "C",
  foreign_bytes text COLLATE "C",
  CONSTRAINT lane_nonce_pkey PRIMARY KEY (network, payer, nonce),
  CONSTRAINT lane_nonce_check CHECK (((used_by IS NULL) = (height IS NULL))),
  CONSTRAINT lane_nonce_check1 CHECK (((used_by IS NOT NULL) OR (NOT foreign_hand))),
  CONSTRAINT lane_nonce_check2 CHECK (((cardinality(intents) > 0) OR foreign_hand)),
  CONSTRAINT lane_nonce_foreign_is_proven CHECK ((foreign_hand = (foreign_bytes IS NOT NULL))),
  CONSTRAINT lane_nonce_nonce_check CHECK (((nonce >= 0) AND (nonce <= '9007199254740991'::bigint))),
  CONSTRAINT lane_nonce_payer_check CHECK (((payer = 'hot'::text) OR (payer ~ '^[0-9]{1,10}$'::text)))
) WITH (fillfactor=80);
CREATE INDEX lane_nonce_open ON book.lane_nonce USING btree (network, payer, nonce) WHERE (used_by IS NULL);
CREATE CONSTRAINT TRIGGER lane_nonce_ends_all AFTER UPDATE OF used_by ON book.lane_nonce DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION book.check_nonce_ends_all();
CREATE TRIGGER lane_nonce_is_kept BEFORE INSERT OR DELETE OR UPDATE ON book.lane_nonce FOR EACH ROW EXECUTE FUNCTION book.keep_lane_nonce();
CREATE TRIGGER lane_nonce_is_not_told_of_others BEFORE INSERT ON book.lane_nonce FOR EACH ROW WHEN ((NOT new.foreign_hand)) EXECUTE FUNCTION book.check_told_nonce();

CREATE TABLE book.late_outcome (
  outgoing_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  height bigint NOT NULL,
  noted_at timestamp with time zone NOT NULL DEFAULT now(),
  tried_at timestamp with time zone,
  is_missing boolean NOT NULL DEFAULT false,
  CONSTRAINT late_outcome_pkey PRIMARY KEY (outgoing_id, number, merchant_id, height)
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
CREATE TRIGGER margin_is_not_truncated BEFORE TRUNCATE ON book.margin FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
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
  CONSTRAINT merchant_direct_deposit_fee_check CHECK (((direct_deposit_fee >= (0)::numeric) AND (direct_deposit_fee <= ('1000000000000'::bigint)::numeric))),
  CONSTRAINT merchant_logo_color_check CHECK ((logo_color ~ '^#[0-9a-f]{6}$'::text)),
  CONSTRAINT merchant_margin_rate_check CHECK (((margin_rate >= (0)::numeric) AND (margin_rate <= (1)::numeric))),
  CONSTRAINT merchant_page_origins_check CHECK (((cardinality(page_origins) <= 16) AND (array_to_string(page_origins, ' '::text) ~ '^(https?://[a-z0-9.:\[\]-]+( |$))*$'::text))),
  CONSTRAINT merchant_slot_check CHECK (((slot >= 0) AND (slot <= 255))),
  CONSTRAINT merchant_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'SUSPENDED'::text, 'INACTIVE'::text]))),
  CONSTRAINT merchant_webhook_retry_count_check CHECK (((webhook_retry_count >= 0) AND (webhook_retry_count <= 20))),
  CONSTRAINT merchant_webhook_timeout_ms_check CHECK (((webhook_timeout_ms >= 1000) AND (webhook_timeout_ms <= 30000)))
);
CREATE INDEX merchant_of_reseller ON book.merchant USING btree (reseller_id, merchant_id) WHERE (reseller_id IS NOT NULL);
CREATE TRIGGER merchant_is_not_truncated BEFORE TRUNCATE ON book.merchant FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
CREATE TRIGGER network_cost_is_not_truncated BEFORE TRUNCATE ON book.network_cost FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
CREATE INDEX outbox_due ON book.outbox USING btree (merchant_id, book.due_at(next_attempt_at, created_at), id) WHERE (status = 'PENDING'::text);
CREATE INDEX outbox_list ON book.outbox USING btree (merchant_id, status, id);
CREATE INDEX outbox_of_payment ON book.outbox USING btree (payment_id, id) WHERE (status = 'PENDING'::text);
CREATE TRIGGER event_changed AFTER UPDATE ON book.outbox REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION book.count_events();
CREATE TRIGGER event_deleted AFTER DELETE ON book.outbox REFERENCING OLD TABLE AS before_rows FOR EACH STATEMENT EXECUTE FUNCTION book.count_events();
CREATE TRIGGER event_inserted AFTER INSERT ON book.outbox REFERENCING NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION book.count_events();
CREATE TRIGGER event_is_kept BEFORE UPDATE OF id, merchant_id, payment_id, type, payload ON book.outbox FOR EACH ROW EXECUTE FUNCTION book.keep_event();
CREATE TRIGGER outbox_is_not_truncated BEFORE TRUNCATE ON book.outbox FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
  fee_payer text COLLATE "C" NOT NULL DEFAULT 'wallet'::text,
  nonce bigint,
  CONSTRAINT outgoing_pkey PRIMARY KEY (id, merchant_id),
  CONSTRAINT outgoing_amount_check CHECK (
CASE kind
    WHEN 'setup'::text THEN (amount = '0'::numeric)
    ELSE (amount > '0'::numeric)
END),
  CONSTRAINT outgoing_asset_of_kind CHECK (((kind = 'cold'::text) OR ((currency = 'native'::text) = (kind = ANY ('{gas,delegation,reclaim,setup}'::text[]))))),
  CONSTRAINT outgoing_attempts_check CHECK ((attempts >= 0)),
  CONSTRAINT outgoing_booked_is_void CHECK (((status = 'void'::text) OR (NOT book.is_booked(payment_id)))),
  CONSTRAINT outgoing_check CHECK (((kind = ANY ('{payout,settlement}'::text[])) = (payment_id IS NOT NULL))),
  CONSTRAINT outgoing_dead_has_no_nonce CHECK (((status <> 'dead'::text) OR (nonce IS NULL))),
  CONSTRAINT outgoing_fee_payer CHECK (((fee_payer = 'wallet'::text) OR ((fee_payer = 'hot'::text) AND (kind = 'sweep'::text)))),
  CONSTRAINT outgoing_kind_check CHECK ((kind = ANY ('{payout,settlement,sweep,gas,delegation,reclaim,cold,setup}'::text[]))),
  CONSTRAINT outgoing_of_platform CHECK (((merchant_id = 'mer_platform'::text) = (kind <> ALL ('{payout,settlement}'::text[])))),
  CONSTRAINT outgoing_status_check CHECK ((status = ANY ('{queued,signed,final,dead,void}'::text[]))),
  CONSTRAINT outgoing_tries_check CHECK ((tries >= 0)),
  CONSTRAINT outgoing_wallet_check CHECK (((wallet = 'hot'::text) OR (wallet ~ '^[0-9]{1,10}$'::text))),
  CONSTRAINT outgoing_wallet_of_kind CHECK (((kind = 'sweep'::text) = (wallet <> 'hot'::text)))
) WITH (fillfactor=80);
CREATE UNIQUE INDEX outgoing_cold_once ON book.outgoing USING btree (network, currency) WHERE ((kind = 'cold'::text) AND (status = ANY (ARRAY['queued'::text, 'signed'::text, 'dead'::text])));
CREATE INDEX outgoing_for_address ON book.outgoing USING btree (network, destination, id) WHERE (kind = ANY (ARRAY['gas'::text, 'delegation'::text, 'reclaim'::text]));
CREATE UNIQUE INDEX outgoing_living_helper ON book.outgoing USING btree (network, destination) WHERE ((kind = ANY (ARRAY['gas'::text, 'delegation'::text, 'reclaim'::text])) AND (status = ANY (ARRAY['queued'::text, 'signed'::text, 'dead'::text])));
CREATE UNIQUE INDEX outgoing_living_sweep ON book.outgoing USING btree (network, wallet, currency) WHERE ((kind = 'sweep'::text) AND (status = ANY (ARRAY['queued'::text, 'signed'::text, 'dead'::text])));
CREATE INDEX outgoing_of_nonce ON book.outgoing USING btree (network, nonce) WHERE (nonce IS NOT NULL);
CREATE INDEX outgoing_of_wallet ON book.outgoing USING btree (network, wallet, currency, id) WHERE (wallet <> 'hot'::text);
CREATE INDEX outgoing_queued ON book.outgoing USING btree (network, merchant_id, created_at, id) WHERE (status = 'queued'::text);
CREATE UNIQUE INDEX outgoing_setup_once ON book.outgoing USING btree (network, destination) WHERE ((kind = 'setup'::text) AND (status <> 'void'::text));
CREATE INDEX outgoing_signed ON book.outgoing USING btree (network, id) WHERE (status = 'signed'::text);
CREATE INDEX outgoing_under_way ON book.outgoing USING btree (network, merchant_id) WHERE (status = 'signed'::text);
CREATE TRIGGER outgoing_begins_without_nonce BEFORE INSERT ON book.outgoing FOR EACH ROW WHEN ((new.nonce IS NOT NULL)) EXECUTE FUNCTION book.keep_outgoing_nonce();
CREATE CONSTRAINT TRIGGER outgoing_ends_by_proof AFTER UPDATE OF status ON book.outgoing DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.status = ANY (ARRAY['queued'::text, 'dead'::text, 'void'::text])) AND (new.attempts > 0))) EXECUTE FUNCTION book.check_nothing_lands();
CREATE TRIGGER outgoing_fee_payer_is_kept BEFORE UPDATE OF fee_payer ON book.outgoing FOR EACH ROW WHEN ((old.fee_payer IS DISTINCT FROM new.fee_payer)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER outgoing_is_kept BEFORE UPDATE ON book.outgoing FOR EACH ROW WHEN ((((((((((old.id IS DISTINCT FROM new.id) OR (old.merchant_id IS DISTINCT FROM new.merchant_id)) OR (old.kind IS DISTINCT FROM new.kind)) OR (old.payment_id IS DISTINCT FROM new.payment_id)) OR (old.network IS DISTINCT FROM new.network)) OR (old.currency IS DISTINCT FROM new.currency)) OR (old.amount IS DISTINCT FROM new.amount)) OR (old.wallet IS DISTINCT FROM new.wallet)) OR (old.destination IS DISTINCT FROM new.destination))) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER outgoing_is_not_truncated BEFORE TRUNCATE ON book.outgoing FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER outgoing_nonce_is_kept BEFORE UPDATE OF nonce ON book.outgoing FOR EACH ROW WHEN ((old.nonce IS DISTINCT FROM new.nonce)) EXECUTE FUNCTION book.keep_outgoing_nonce();
CREATE TRIGGER outgoing_told_is_not_given_up BEFORE UPDATE OF status ON book.outgoing FOR EACH ROW WHEN (((old.status = 'queued'::text) AND (new.status = 'void'::text) AND (old.nonce IS NOT NULL) AND (old.attempts = 0))) EXECUTE FUNCTION book.check_told_transfer();
CREATE TRIGGER outgoing_transition BEFORE UPDATE OF status ON book.outgoing FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION book.check_step('outgoing');

CREATE TABLE book.page_total (
  address_id text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  credited numeric(38,18) NOT NULL,
  pending numeric(38,18) NOT NULL,
  first_credited_at timestamp with time zone,
  first_credited text COLLATE "C",
  CONSTRAINT page_total_pkey PRIMARY KEY (address_id, merchant_id, currency),
  CONSTRAINT page_total_check CHECK (((first_credited IS NULL) = (first_credited_at IS NULL))),
  CONSTRAINT page_total_credited_check CHECK ((credited >= (0)::numeric)),
  CONSTRAINT page_total_pending_check CHECK ((pending >= (0)::numeric))
) WITH (fillfactor=50);
CREATE TRIGGER page_total_is_not_truncated BEFORE TRUNCATE ON book.page_total FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
  CONSTRAINT pair_min_withdrawal_check CHECK (((min_withdrawal > (0)::numeric) AND (min_withdrawal <= ('1000000000000'::bigint)::numeric))),
  CONSTRAINT pair_network_check CHECK ((network = ANY (ARRAY['TRX'::text, 'ETH'::text, 'BNB'::text, 'SOL'::text, 'TRX_SHASTA'::text, 'SEP'::text, 'tBNB'::text, 'SOL_DEVNET'::text]))),
  CONSTRAINT pair_network_fee_check CHECK (((network_fee >= (0)::numeric) AND (network_fee <= ('1000000000000'::bigint)::numeric))),
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
  CONSTRAINT setting_base_fee_check CHECK (((base_fee >= (0)::numeric) AND (base_fee <= ('1000000000000'::bigint)::numeric))),
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
CREATE TRIGGER settlement_is_not_truncated BEFORE TRUNCATE ON book.settlement FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
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
  CONSTRAINT settlement_address_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES book.merchant(merchant_id),
  CONSTRAINT settlement_address_is_canonical CHECK (hub.is_canonical_address(network, address))
);
CREATE UNIQUE INDEX settlement_address_once ON book.settlement_address USING btree (merchant_id, network, address) WHERE (removed_at IS NULL);
CREATE TRIGGER settlement_address_is_activated_by_another BEFORE UPDATE OF active ON book.settlement_address FOR EACH ROW WHEN ((new.active AND (NOT old.active))) EXECUTE FUNCTION book.check_approval();
CREATE TRIGGER settlement_address_maker_is_kept BEFORE UPDATE OF created_by, created_admin ON book.settlement_address FOR EACH ROW WHEN (((old.created_by IS DISTINCT FROM new.created_by) OR (old.created_admin IS DISTINCT FROM new.created_admin))) EXECUTE FUNCTION book.keep_maker();
CREATE TRIGGER settlement_addresses_are_bounded BEFORE INSERT ON book.settlement_address FOR EACH ROW WHEN ((new.removed_at IS NULL)) EXECUTE FUNCTION book.bound_whitelist();
CREATE TRIGGER settlement_addresses_stay_bounded BEFORE UPDATE OF removed_at ON book.settlement_address FOR EACH ROW WHEN (((old.removed_at IS NOT NULL) AND (new.removed_at IS NULL))) EXECUTE FUNCTION book.bound_whitelist();

CREATE TABLE book.settlement_threshold (
  currency text COLLATE "C" NOT NULL,
  amount numeric(38,18) NOT NULL DEFAULT 10000,
  CONSTRAINT settlement_threshold_pkey PRIMARY KEY (currency),
  CONSTRAINT settlement_threshold_amount_check CHECK (((amount >= (0)::numeric) AND (amount <= ('1000000000000'::bigint)::numeric))),
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
CREATE TRIGGER signing_turn_is_not_truncated BEFORE TRUNCATE ON book.signing_turn FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER signing_turn_moves_on BEFORE UPDATE ON book.signing_turn FOR EACH ROW WHEN (((new.network <> old.network) OR ((new.batches <> old.batches) AND (new.batches <> (old.batches + 1))))) EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.sweep_address (
  network text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  touched bigint NOT NULL DEFAULT 0,
  poll_at timestamp with time zone NOT NULL DEFAULT now(),
  reason text COLLATE "C",
  detail text,
  amount numeric(38,18),
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  CONSTRAINT sweep_address_pkey PRIMARY KEY (network, address, currency),
  CONSTRAINT sweep_address_tries_check CHECK ((tries >= 0))
) WITH (fillfactor=70);
CREATE INDEX sweep_address_due ON book.sweep_address USING btree (network, poll_at);
CREATE INDEX sweep_address_failing ON book.sweep_address USING btree (network) WHERE (tries >= 3);
CREATE INDEX sweep_address_reason ON book.sweep_address USING btree (network, reason, address, currency) WHERE (reason IS NOT NULL);

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
  block_log integer,
  CONSTRAINT sweep_item_pkey PRIMARY KEY (network, txid, log_index, merchant_id),
  CONSTRAINT sweep_item_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT sweep_item_block_log_check CHECK ((block_log >= 0)),
  CONSTRAINT sweep_item_done_by CHECK (((NOT done) OR ((outgoing_id IS NULL) <> (write_off IS NULL)))),
  CONSTRAINT sweep_item_written_off CHECK (((write_off IS NULL) OR done))
) WITH (fillfactor=80);
CREATE INDEX sweep_item_of_sweep ON book.sweep_item USING btree (outgoing_id) WHERE (outgoing_id IS NOT NULL);
CREATE INDEX sweep_item_of_write_off ON book.sweep_item USING btree (write_off) WHERE (write_off IS NOT NULL);
CREATE INDEX sweep_item_open ON book.sweep_item USING btree (network, address, currency) WHERE (NOT done);
CREATE UNIQUE INDEX sweep_item_place ON book.sweep_item USING btree (network, height, block_log, merchant_id) WHERE ((block_log IS NOT NULL) AND (write_off IS NULL));
CREATE TRIGGER sweep_carries_its_items AFTER UPDATE ON book.sweep_item REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION book.check_sweep_items();
CREATE TRIGGER sweep_item_begins_open BEFORE INSERT ON book.sweep_item FOR EACH ROW WHEN (((new.outgoing_id IS NOT NULL) OR new.done)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_item_block_log_is_kept BEFORE UPDATE OF block_log ON book.sweep_item FOR EACH ROW WHEN ((old.block_log IS DISTINCT FROM new.block_log)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_item_is_kept BEFORE UPDATE ON book.sweep_item FOR EACH ROW EXECUTE FUNCTION book.keep_sweep_item();
CREATE TRIGGER sweep_item_is_never_deleted BEFORE DELETE ON book.sweep_item FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER sweep_item_is_not_truncated BEFORE TRUNCATE ON book.sweep_item FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
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
CREATE TRIGGER system_balance_is_not_truncated BEFORE TRUNCATE ON book.system_balance FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.system_delta (
  account text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  network text COLLATE "C" NOT NULL,
  amount numeric(76,18) NOT NULL
);
CREATE TRIGGER system_delta_is_not_truncated BEFORE TRUNCATE ON book.system_delta FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

CREATE TABLE book.told_nonce (
  network text COLLATE "C" NOT NULL,
  payer text COLLATE "C" NOT NULL,
  nonce bigint NOT NULL,
  intents text[] NOT NULL,
  CONSTRAINT told_nonce_pkey PRIMARY KEY (network, payer, nonce),
  CONSTRAINT told_nonce_intents_check CHECK ((cardinality(intents) > 0)),
  CONSTRAINT told_nonce_nonce_check CHECK (((nonce >= 0) AND (nonce <= '9007199254740991'::bigint))),
  CONSTRAINT told_nonce_payer_check CHECK (((payer = 'hot'::text) OR (payer ~ '^[0-9]{1,10}$'::text)))
);
CREATE TRIGGER told_nonce_is_kept BEFORE DELETE OR UPDATE ON book.told_nonce FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER told_nonce_is_not_truncated BEFORE TRUNCATE ON book.told_nonce FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
  CONSTRAINT transaction_check CHECK (((status <> ALL ('{FAILED,CANCELLED}'::text[])) OR (effect = '0'::numeric))),
  CONSTRAINT transaction_fee_check CHECK ((fee >= '0'::numeric)),
  CONSTRAINT transaction_seq_check CHECK ((seq > 0)),
  CONSTRAINT transaction_status_check CHECK ((status = ANY ('{PENDING,CONFIRMED,FAILED,CANCELLED}'::text[]))),
  CONSTRAINT transaction_type_check CHECK ((type = ANY ('{DEPOSIT,WITHDRAWAL,SETTLEMENT}'::text[])))
) WITH (fillfactor=80);
CREATE INDEX transaction_rare ON book.transaction USING btree (merchant_id, status, seq) WHERE (status = ANY (ARRAY['FAILED'::text, 'CANCELLED'::text]));
CREATE INDEX transaction_settlement ON book.transaction USING btree (merchant_id, type, seq) WHERE (type = 'SETTLEMENT'::text);
CREATE TRIGGER transaction_is_not_truncated BEFORE TRUNCATE ON book.transaction FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER transaction_transition BEFORE UPDATE OF status ON book.transaction FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION book.check_transition('transaction');

CREATE TABLE book.transition (
  record text COLLATE "C" NOT NULL,
  from_status text COLLATE "C" NOT NULL,
  to_status text COLLATE "C" NOT NULL,
  CONSTRAINT transition_pkey PRIMARY KEY (record, from_status, to_status)
);
CREATE TRIGGER transition_is_not_truncated BEFORE TRUNCATE ON book.transition FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
  CONSTRAINT withdrawal_amount_check CHECK ((amount > '0'::numeric)),
  CONSTRAINT withdrawal_base_fee_check CHECK ((base_fee >= '0'::numeric)),
  CONSTRAINT withdrawal_booked_is_paid CHECK (((status = 'CONFIRMED'::text) OR (NOT book.is_booked(id)))),
  CONSTRAINT withdrawal_check CHECK (((status = ANY ('{CONFIRMED,FAILED,CANCELLED}'::text[])) = (processed_at IS NOT NULL))),
  CONSTRAINT withdrawal_check1 CHECK (((status <> 'CONFIRMED'::text) OR (txid IS NOT NULL))),
  CONSTRAINT withdrawal_check2 CHECK (((seq IS NULL) = (settlement_id IS NOT NULL))),
  CONSTRAINT withdrawal_destination_is_canonical CHECK (hub.is_canonical_address(network, destination)),
  CONSTRAINT withdrawal_margin_check CHECK ((margin >= '0'::numeric)),
  CONSTRAINT withdrawal_markup_amount_check CHECK ((markup_amount >= '0'::numeric)),
  CONSTRAINT withdrawal_markup_rate_check CHECK (((markup_rate >= '0'::numeric) AND (markup_rate <= '1'::numeric))),
  CONSTRAINT withdrawal_network_fee_check CHECK ((network_fee >= '0'::numeric)),
  CONSTRAINT withdrawal_seq_check CHECK ((seq > 0)),
  CONSTRAINT withdrawal_status_check CHECK ((status = ANY ('{PENDING_APPROVAL,PENDING,CONFIRMED,FAILED,CANCELLED}'::text[]))),
  CONSTRAINT withdrawal_transaction_seq_check CHECK ((transaction_seq > 0))
) WITH (fillfactor=80);
CREATE INDEX withdrawal_rare ON book.withdrawal USING btree (merchant_id, status, seq) WHERE (status = ANY (ARRAY['FAILED'::text, 'CANCELLED'::text, 'PENDING_APPROVAL'::text]));
CREATE UNIQUE INDEX withdrawal_reference ON book.withdrawal USING btree (reference_id, merchant_id) WHERE ((reference_id IS NOT NULL) AND (status <> ALL (ARRAY['FAILED'::text, 'CANCELLED'::text])));
CREATE INDEX withdrawal_reference_refused ON book.withdrawal USING btree (merchant_id, reference_id) WHERE ((reference_id IS NOT NULL) AND (status = ANY (ARRAY['FAILED'::text, 'CANCELLED'::text])));
CREATE INDEX withdrawal_waiting ON book.withdrawal USING btree (id) WHERE (status = 'PENDING_APPROVAL'::text);
CREATE CONSTRAINT TRIGGER withdrawal_ends_by_verdict AFTER UPDATE OF status ON book.withdrawal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.status = 'PENDING'::text) AND (new.status = ANY (ARRAY['CONFIRMED'::text, 'FAILED'::text])))) EXECUTE FUNCTION book.check_verdict();
CREATE CONSTRAINT TRIGGER withdrawal_fails_unpaid AFTER UPDATE OF status ON book.withdrawal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.status = 'PENDING'::text) AND (new.status = 'FAILED'::text))) EXECUTE FUNCTION book.check_refund();
CREATE TRIGGER withdrawal_is_approved_by_another BEFORE UPDATE OF status ON book.withdrawal FOR EACH ROW WHEN (((old.status = 'PENDING_APPROVAL'::text) AND (new.status <> ALL (ARRAY['PENDING_APPROVAL'::text, 'CANCELLED'::text])) AND (new.settlement_id IS NULL))) EXECUTE FUNCTION book.check_approval();
CREATE TRIGGER withdrawal_is_declined_unpaid BEFORE UPDATE OF status ON book.withdrawal FOR EACH ROW WHEN (((old.status = 'PENDING_APPROVAL'::text) AND (new.status = 'CANCELLED'::text))) EXECUTE FUNCTION book.check_decline();
CREATE TRIGGER withdrawal_is_not_truncated BEFORE TRUNCATE ON book.withdrawal FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();
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
CREATE TRIGGER address_is_not_truncated BEFORE TRUNCATE ON hub.address FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
CREATE INDEX api_key_listed ON hub.api_key USING btree (merchant_id, id) WHERE (revoked_at IS NULL);
CREATE INDEX api_key_living ON hub.api_key USING btree (merchant_id, COALESCE(expires_at, 'infinity'::timestamp with time zone)) WHERE (revoked_at IS NULL);
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
  tick bigint NOT NULL,
  previous_tick bigint NOT NULL,
  CONSTRAINT cursor_pkey PRIMARY KEY (network, view),
  CONSTRAINT cursor_view_check CHECK ((view = ANY (ARRAY['head'::text, 'solid'::text])))
);
CREATE TRIGGER cursor_beginning_is_kept BEFORE UPDATE OF began_height ON hub.cursor FOR EACH ROW WHEN ((old.began_height IS DISTINCT FROM new.began_height)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER cursor_is_not_truncated BEFORE TRUNCATE ON hub.cursor FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

CREATE TABLE hub.database_history (
  one boolean NOT NULL DEFAULT true,
  system_identifier text COLLATE "C",
  timeline integer,
  database_oid bigint,
  since timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT database_history_pkey PRIMARY KEY (one),
  CONSTRAINT database_history_one_check CHECK (one)
);
CREATE TRIGGER database_history_is_not_truncated BEFORE TRUNCATE ON hub.database_history FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
  until_tick bigint,
  CONSTRAINT failover_network_pkey PRIMARY KEY (failover_id, network),
  CONSTRAINT failover_network_failover_id_fkey FOREIGN KEY (failover_id) REFERENCES hub.failover(id),
  CONSTRAINT failover_network_check CHECK (((head_height IS NULL) = (until_time IS NULL))),
  CONSTRAINT failover_network_check1 CHECK (((compared_at IS NULL) OR (until_time IS NOT NULL))),
  CONSTRAINT failover_network_tick CHECK (((until_tick IS NULL) = (until_time IS NULL)))
);
CREATE INDEX failover_network_open ON hub.failover_network USING btree (network) WHERE (compared_at IS NULL);

CREATE TABLE hub.installation (
  one boolean NOT NULL DEFAULT true,
  environment text COLLATE "C" NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT installation_pkey PRIMARY KEY (one),
  CONSTRAINT installation_environment_check CHECK ((environment = ANY (ARRAY['development'::text, 'staging'::text, 'production'::text]))),
  CONSTRAINT installation_one_check CHECK (one)
);
CREATE TRIGGER installation_is_kept BEFORE DELETE OR UPDATE ON hub.installation FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER installation_is_not_truncated BEFORE TRUNCATE ON hub.installation FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
CREATE TRIGGER migration_is_not_truncated BEFORE TRUNCATE ON hub.migration FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
  CONSTRAINT reseller_merchant_id_key UNIQUE (merchant_id),
  CONSTRAINT reseller_address_is_canonical CHECK (hub.is_canonical_address(network, withdrawal_address))
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
CREATE TRIGGER scanned_range_is_not_truncated BEFORE TRUNCATE ON hub.scanned_range FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
  idempotency_key text COLLATE "C",
  body_hash text COLLATE "C",
  CONSTRAINT session_pkey PRIMARY KEY (id),
  CONSTRAINT session_token_hash_key UNIQUE (token_hash),
  CONSTRAINT session_check CHECK (((idempotency_key IS NULL) = (body_hash IS NULL))),
  CONSTRAINT session_seq_check CHECK ((seq > 0)),
  CONSTRAINT session_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
CREATE UNIQUE INDEX session_idempotency_key ON hub.session USING btree (merchant_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
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
  CONSTRAINT unknown_spend_amount_check CHECK (
CASE log_index
    WHEN '-1'::integer THEN (amount = (0)::numeric)
    ELSE (amount > (0)::numeric)
END),
  CONSTRAINT unknown_spend_check CHECK (((status = 'not_ours'::text) OR ((status = ANY (ARRAY['matched'::text, 'booked'::text, 'written_off'::text])) = (actor IS NOT NULL)))),
  CONSTRAINT unknown_spend_check1 CHECK (((status = ANY (ARRAY['matched'::text, 'booked'::text])) = (withdrawal_id IS NOT NULL))),
  CONSTRAINT unknown_spend_check2 CHECK (((status = ANY (ARRAY['open'::text, 'listed'::text, 'cold'::text, 'unproven'::text])) = (decided_at IS NULL))),
  CONSTRAINT unknown_spend_check3 CHECK (((status <> 'cold'::text) OR (wallet = 'hot'::text))),
  CONSTRAINT unknown_spend_check4 CHECK (((status <> ALL (ARRAY['written_off'::text, 'not_ours'::text])) OR (TRIM(BOTH FROM reason) <> ''::text))),
  CONSTRAINT unknown_spend_fee_check CHECK ((fee >= (0)::numeric)),
  CONSTRAINT unknown_spend_status_check CHECK (((status = ANY (ARRAY['open'::text, 'listed'::text, 'cold'::text, 'known'::text, 'matched'::text, 'booked'::text, 'written_off'::text])) OR ((status = ANY (ARRAY['unproven'::text, 'not_ours'::text])) AND (log_index = '-1'::integer))))
);
CREATE INDEX unknown_spend_open ON hub.unknown_spend USING btree (network) WHERE (status = 'open'::text);
CREATE INDEX unknown_spend_unproven ON hub.unknown_spend USING btree (network) WHERE (status = 'unproven'::text);
CREATE TRIGGER unknown_spend_fee_is_kept BEFORE UPDATE OF fee ON hub.unknown_spend FOR EACH ROW WHEN ((old.fee IS DISTINCT FROM new.fee)) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER unknown_spend_is_kept BEFORE UPDATE ON hub.unknown_spend FOR EACH ROW EXECUTE FUNCTION hub.keep_unknown_spend();
CREATE TRIGGER unknown_spend_is_never_deleted BEFORE DELETE ON hub.unknown_spend FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER unknown_spend_is_not_truncated BEFORE TRUNCATE ON hub.unknown_spend FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
CREATE TRIGGER unreadable_block_is_not_truncated BEFORE TRUNCATE ON hub.unreadable_block FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

CREATE TABLE hub.wallet (
  network text COLLATE "C" NOT NULL,
  wallet_id text COLLATE "C" NOT NULL,
  hot_wallet text COLLATE "C" NOT NULL,
  next_index integer NOT NULL DEFAULT 0,
  cold_wallet text COLLATE "C",
  fingerprint text COLLATE "C",
  attested_at timestamp with time zone,
  first_nonce bigint,
  CONSTRAINT wallet_pkey PRIMARY KEY (network),
  CONSTRAINT wallet_check CHECK ((cold_wallet <> hot_wallet)),
  CONSTRAINT wallet_fingerprint_check CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
  CONSTRAINT wallet_first_nonce_check CHECK (((first_nonce >= 0) AND (first_nonce <= '9007199254740991'::bigint))),
  CONSTRAINT wallet_is_identified CHECK ((fingerprint IS NOT NULL)),
  CONSTRAINT wallet_next_index_check CHECK ((next_index >= 0))
);
CREATE TRIGGER wallet_first_nonce_is_kept BEFORE UPDATE OF first_nonce ON hub.wallet FOR EACH ROW WHEN (((old.first_nonce IS NOT NULL) AND (old.first_nonce IS DISTINCT FROM new.first_nonce))) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER wallet_is_kept BEFORE UPDATE ON hub.wallet FOR EACH ROW WHEN ((((((old.network IS DISTINCT FROM new.network) OR (old.wallet_id IS DISTINCT FROM new.wallet_id)) OR (old.hot_wallet IS DISTINCT FROM new.hot_wallet)) OR (old.fingerprint IS DISTINCT FROM new.fingerprint)) OR ((old.attested_at IS NOT NULL) AND (new.attested_at IS DISTINCT FROM old.attested_at)))) EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER wallet_is_never_deleted BEFORE DELETE ON hub.wallet FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER wallet_is_not_truncated BEFORE TRUNCATE ON hub.wallet FOR EACH STATEMENT EXECUTE FUNCTION book.refuse_change();

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
            ( SELECT max(a.expires_at) AS max
                   FROM book.attempt a
                  WHERE a.outgoing_id = q.id AND a.merchant_id = q.merchant_id AND a.outcome IS NULL) AS max
           FROM book.outgoing q
          WHERE q.status = 'signed'::text) o ON o.network = s.network AND o.destination = s.recipient AND o.currency = s.currency AND o.amount = s.amount
     JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
  WHERE s.status = 'open'::text
UNION ALL
 SELECT s.network, s.txid, s.log_index, w.id AS withdrawal_id, w.merchant_id, w.reference_id, 'approval'::text AS state,
    NULL::timestamp with time zone AS expires_at
   FROM hub.unknown_spend s
     JOIN book.withdrawal w ON w.status = 'PENDING_APPROVAL'::text AND w.network = s.network AND w.destination = s.recipient AND w.currency = s.currency AND w.amount = s.amount
  WHERE s.status = 'open'::text;

-- book.add_page_totals() RETURNS trigger
-- book.begin_epoch() RETURNS trigger
-- book.bound_whitelist() RETURNS trigger
-- book.check_approval() RETURNS trigger
-- book.check_confirmed_by_hand() RETURNS trigger
-- book.check_decline() RETURNS trigger
-- book.check_deposit_by_hand() RETURNS trigger
-- book.check_expires_whole() RETURNS trigger
-- book.check_lane_attempt() RETURNS trigger
-- book.check_lives_one_way() RETURNS trigger
-- book.check_nonce_ends_all() RETURNS trigger
-- book.check_nothing_lands() RETURNS trigger
-- book.check_refund() RETURNS trigger
-- book.check_settled_items() RETURNS trigger
-- book.check_settlement_history() RETURNS trigger
-- book.check_shared_attempt() RETURNS trigger
-- book.check_step() RETURNS trigger
-- book.check_sweep_items() RETURNS trigger
-- book.check_sweep_verdict() RETURNS trigger
-- book.check_sweep_write_off() RETURNS trigger
-- book.check_told_nonce() RETURNS trigger
-- book.check_told_transfer() RETURNS trigger
-- book.check_top_up() RETURNS trigger
-- book.check_transition() RETURNS trigger
-- book.check_verdict() RETURNS trigger
-- book.check_written_off() RETURNS trigger
-- book.check_written_off_items() RETURNS trigger
-- book.claim_events(p_merchants text[], p_rooms integer[], p_claimed_by text, p_lease_margin_ms integer, p_probe_ms integer) RETURNS TABLE(id text, merchant_id text, type text, payload text, attempts integer, url text, secret text, previous text, timeout_ms integer, retry_count integer)
-- book.closed_destinations(p_outgoing_ids text[]) RETURNS SETOF text SECURITY DEFINER
-- book.commit_batch(p_commit_id text, p_epoch uuid, p_accounts book.account_change[], p_opened book.balance_key[], p_openings book.payout_opening[], p_entries book.entry_row[], p_new_withdrawals book.withdrawal_row[], p_withdrawals book.withdrawal_row[], p_new_deposits book.deposit_row[], p_deposits book.deposit_row[], p_new_transactions book.transaction_row[], p_transactions book.transaction_row[], p_charges book.charge_row[], p_outgoing book.outgoing_row[], p_voided book.outgoing_void[], p_events book.outbox_row[], p_new_addresses book.deposit_address_row[], p_addresses book.deposit_address_row[], p_consumed book.inbox_key[], p_merchants book.merchant_row[], p_new_settlements book.settlement_row[], p_settlements book.settlement_row[], p_new_whitelist book.settlement_address_row[], p_whitelist book.settlement_address_row[], p_margins book.margin_row[], p_inbox book.inbox_row[], p_ingested book.ingested_row[], p_audits book.audit_row[]) RETURNS TABLE(merchant_id text, reason text)
-- book.confirmed_alone(key text, administrator text, except_id text) RETURNS numeric
-- book.count_events() RETURNS trigger
-- book.count_rows(p_list text, p_merchant_id text, p_from bigint, p_until bigint) RETURNS SETOF book.list_bucket
-- book.due_at(next_attempt_at timestamp with time zone, created_at timestamp with time zone) RETURNS timestamp with time zone
-- book.event_bucket(event_id text) RETURNS text
-- book.first_seq_since(p_list text, p_merchant_id text, p_time timestamp with time zone) RETURNS bigint
-- book.full_buckets(deposit_seq bigint, withdrawal_seq bigint, transaction_seq bigint, charge_seq bigint, settlement_seq bigint) RETURNS bigint
-- book.has_funded(merchant text, of_currency text, of_network text, key text, administrator text) RETURNS boolean
-- book.is_booked(payment_id text) RETURNS boolean
-- book.is_credited_by_another_id(of_network text, of_txid text) RETURNS boolean
-- book.is_over(p_until timestamp with time zone) RETURNS boolean
-- book.is_same_hand(key text, administrator text, other_key text, other_administrator text) RETURNS boolean
-- book.keep_attempt() RETURNS trigger
-- book.keep_event() RETURNS trigger
-- book.keep_lane_nonce() RETURNS trigger
-- book.keep_maker() RETURNS trigger
-- book.keep_outgoing_nonce() RETURNS trigger
-- book.keep_sweep_item() RETURNS trigger
-- book.last_bucket(p_list text, p_merchant_id text) RETURNS SETOF book.list_bucket
-- book.mark_acknowledged(p_ids text[], p_merchants text[], p_attempts integer[], p_outcomes text[], p_statuses integer[], p_durations integer[], p_answers text[]) RETURNS boolean
-- book.number_addresses() RETURNS trigger
-- book.payer_of(wallet text, fee_payer text) RETURNS text
-- book.refuse_change() RETURNS trigger
-- book.require_deposit_proof() RETURNS trigger
-- book.resolve_commit(p_commit_id text, p_merchant_ids text[], OUT survivors text[], OUT waiting text[]) RETURNS record
-- book.slot_of(merchant_id text) RETURNS smallint
-- book.sum_large_buckets(p_merchant_id text) RETURNS void
-- book.sum_of_transaction(p_txid text, p_network text) RETURNS numeric
-- hub.audit_hash(before bytea, source text, line jsonb) RETURNS bytea
-- hub.bound_keys() RETURNS trigger
-- hub.chain_audit() RETURNS trigger
-- hub.check_audit_head() RETURNS trigger
-- hub.compare_history(p_id text, p_gap integer, OUT history text, OUT opened boolean, OUT is_told boolean, OUT newest text) RETURNS record
-- hub.event_address(network text, address text) RETURNS text
-- hub.history_name() RETURNS text
-- hub.history_stop(of_network text) RETURNS text
-- hub.is_canonical_address(network text, address text) RETURNS boolean
-- hub.is_other_history() RETURNS boolean
-- hub.keep_unknown_spend() RETURNS trigger
-- hub.living_keys(merchant text) RETURNS integer
-- hub.mark_scanned(of_network text, low bigint, high bigint, blocks bigint) RETURNS void
-- hub.may_pass_blocks(of_network text) RETURNS boolean
-- hub.open_failover(p_id text, p_cause text, p_before text, p_after text, p_reason text, p_actor text, p_gap integer) RETURNS void
-- hub.server_history(OUT system_identifier text, OUT timeline integer, OUT database_oid bigint) RETURNS record
-- hub.signing_stop(of_network text) RETURNS text
-- hub.store_contracts(of_network text, currencies text[], contracts text[]) RETURNS void
-- hub.text_key(text text) RETURNS integer
-- hub.verify_audit() RETURNS TABLE(number bigint, audit_id text, fault text)
