-- A database whose history is another one than before: a standby that lacked the last commits was
-- promoted, or an older copy was restored. What was signed, handed out or acknowledged since is unknown
-- to it, so nothing is signed and no address is numbered until that was found out.

-- ---------------------------------------------------------------- money that left unknown to the books

-- A final transfer out of a wallet of the service that no attempt knows. While one is `open`, nothing is signed
-- for its network. `listed`: it went to the hot wallet, so that nothing is lost. `cold`: it went from the
-- hot wallet to the cold one. `known`: an attempt knows it by now. The others are an operator's verdict.
CREATE TABLE hub.unknown_spend (
  network       text COLLATE "C" NOT NULL,
  txid          text COLLATE "C" NOT NULL,
  log_index     integer NOT NULL,
  height        bigint NOT NULL,
  block_time    timestamptz NOT NULL,
  -- `hot`, or the derivation index of a deposit address
  wallet        text COLLATE "C" NOT NULL,
  sender        text COLLATE "C" NOT NULL,
  recipient     text COLLATE "C" NOT NULL,
  currency      text COLLATE "C" NOT NULL,
  amount        numeric(38,18) NOT NULL CHECK (amount > 0),
  status        text COLLATE "C" NOT NULL CHECK (status IN ('open','listed','cold','known','matched','booked','written_off')),
  found_at      timestamptz NOT NULL DEFAULT now(),
  decided_at    timestamptz,
  actor         text COLLATE "C",
  reason        text,
  merchant_id   text COLLATE "C",
  withdrawal_id text COLLATE "C",
  -- Coin that the chain took for its transaction; 0: not known. Where the hot wallet sent it, the
  -- comparison of its coin has to explain it like the fee of a payout that is known.
  fee           numeric(38,18) NOT NULL DEFAULT 0 CHECK (fee >= 0),
  PRIMARY KEY (network, txid, log_index),
  CHECK ((status IN ('matched','booked','written_off')) = (actor IS NOT NULL)),
  CHECK ((status IN ('matched','booked')) = (withdrawal_id IS NOT NULL)),
  CHECK ((status IN ('open','listed','cold')) = (decided_at IS NULL)),
  CHECK (status <> 'cold' OR wallet = 'hot'),
  CHECK (status <> 'written_off' OR trim(reason) <> '')
);
CREATE INDEX unknown_spend_open ON hub.unknown_spend (network) WHERE status = 'open';

CREATE FUNCTION hub.keep_unknown_spend() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.network, NEW.txid, NEW.log_index, NEW.height, NEW.sender, NEW.recipient, NEW.currency, NEW.amount)
     IS DISTINCT FROM (OLD.network, OLD.txid, OLD.log_index, OLD.height, OLD.sender, OLD.recipient, OLD.currency, OLD.amount)
     OR (OLD.status NOT IN ('open', 'listed', 'cold') AND NEW.status <> OLD.status)
     -- what stops signing is explained by a verdict or by an attempt, and by no address that was configured later
     OR (NEW.status = 'cold' AND OLD.status <> 'cold') THEN
    RAISE EXCEPTION 'Cannot change what left a wallet as it is decided once: %', OLD.txid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER unknown_spend_is_kept BEFORE UPDATE ON hub.unknown_spend FOR EACH ROW EXECUTE FUNCTION hub.keep_unknown_spend();
CREATE TRIGGER unknown_spend_is_never_deleted BEFORE DELETE ON hub.unknown_spend FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
CREATE TRIGGER unknown_spend_fee_is_kept BEFORE UPDATE OF fee ON hub.unknown_spend FOR EACH ROW
  WHEN (OLD.fee IS DISTINCT FROM NEW.fee) EXECUTE FUNCTION book.refuse_change();

-- ---------------------------------------------------------------- which history this is

-- The history that was last found in order, one row. Null: the server did not say.
CREATE TABLE hub.database_history (
  one               boolean PRIMARY KEY DEFAULT true CHECK (one),
  system_identifier text COLLATE "C",
  timeline          integer,
  database_oid      bigint,
  since             timestamptz NOT NULL DEFAULT now()
);

-- The cluster, the timeline that is being written now, and the database's number in the cluster: another
-- one follows each promotion, each recovery to a point in time and each restore of a dump, in another
-- cluster or in the same. What the control file says of the timeline lags until the next checkpoint.
-- All null: this role may not ask, or it is a standby.
CREATE FUNCTION hub.server_history(OUT system_identifier text, OUT timeline integer, OUT database_oid bigint)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  system_identifier := (SELECT c.system_identifier::text FROM pg_control_system() c);
  timeline := ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer;
  database_oid := (SELECT d.oid::bigint FROM pg_database d WHERE d.datname = current_database());
EXCEPTION WHEN insufficient_privilege OR undefined_function OR object_not_in_prerequisite_state OR feature_not_supported THEN
  system_identifier := NULL;
  timeline := NULL;
  database_oid := NULL;
END $$;

-- The same as one text, `cluster/timeline/database`.
CREATE FUNCTION hub.history_name() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT s.system_identifier || '/' || s.timeline || '/' || s.database_oid FROM hub.server_history() s
$$;

INSERT INTO hub.database_history (system_identifier, timeline, database_oid)
SELECT s.system_identifier, s.timeline, s.database_oid FROM hub.server_history() s;

-- True where the server writes another history than the one that was found in order.
CREATE FUNCTION hub.is_other_history() RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT EXISTS (
    SELECT FROM hub.database_history h, hub.server_history() s
    WHERE h.timeline IS NOT NULL AND s.timeline IS NOT NULL
      AND (h.system_identifier, h.timeline, h.database_oid)
        IS DISTINCT FROM (s.system_identifier, s.timeline, s.database_oid))
$$;

-- ---------------------------------------------------------------- holds

-- Another history, found or declared: payouts are held until each network was compared.
CREATE TABLE hub.failover (
  id         text COLLATE "C" PRIMARY KEY,
  cause      text COLLATE "C" NOT NULL CHECK (cause IN ('history','declared')),
  before     text,
  after      text,
  reason     text NOT NULL CHECK (trim(reason) <> ''),
  actor      text COLLATE "C" NOT NULL,
  found_at   timestamptz NOT NULL DEFAULT now(),
  ended_at   timestamptz,
  ended_by   text COLLATE "C",
  end_reason text,
  CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);
CREATE INDEX failover_open ON hub.failover (id) WHERE ended_at IS NULL;

-- The state of a hold on one network. Until our scan, gap-free from `from_height` on, has passed
-- `until_time`, something that was signed in the lost history may still come to a block.
CREATE TABLE hub.failover_network (
  failover_id text COLLATE "C" NOT NULL REFERENCES hub.failover,
  network     text COLLATE "C" NOT NULL,
  from_height bigint,
  -- the chain's newest block when it was first reached after the change was found
  head_height bigint,
  until_time  timestamptz,
  -- derivation indexes that may have been handed out in the lost history
  gap_first   integer NOT NULL,
  gap_last    integer NOT NULL,
  gap_watched boolean NOT NULL DEFAULT false,
  compared_at timestamptz,
  PRIMARY KEY (failover_id, network),
  CHECK ((head_height IS NULL) = (until_time IS NULL)),
  CHECK (compared_at IS NULL OR until_time IS NOT NULL)
);
CREATE INDEX failover_network_open ON hub.failover_network (network) WHERE compared_at IS NULL;

-- Commits that a process had acknowledged and that this history lacks: the operator tells the merchants.
CREATE TABLE hub.lost_commit (
  failover_id     text COLLATE "C" NOT NULL REFERENCES hub.failover,
  commit_id       text COLLATE "C" NOT NULL,
  merchant_id     text COLLATE "C" NOT NULL,
  kind            text COLLATE "C" NOT NULL CHECK (kind IN ('withdrawal','address','other')),
  record_id       text COLLATE "C" NOT NULL,
  reference_id    text,
  network         text COLLATE "C",
  currency        text COLLATE "C",
  amount          numeric(38,18),
  destination     text,
  acknowledged_at timestamptz NOT NULL,
  PRIMARY KEY (commit_id, merchant_id, kind, record_id)
);
CREATE INDEX lost_commit_of_failover ON hub.lost_commit (failover_id);

-- Opens a hold: the networks' cursors as this history has them, and address numbers jumped over what
-- may have been handed out in the lost one, in one transaction.
CREATE FUNCTION hub.open_failover(
  p_id text, p_cause text, p_before text, p_after text, p_reason text, p_actor text, p_gap integer
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO hub.failover (id, cause, before, after, reason, actor)
  VALUES (p_id, p_cause, p_before, p_after, p_reason, p_actor);
  INSERT INTO hub.failover_network (failover_id, network, from_height, gap_first, gap_last)
  SELECT p_id, w.network, (SELECT c.height FROM hub.cursor c WHERE c.network = w.network AND c.view = 'solid'),
    w.next_index, w.next_index + p_gap - 1
  FROM hub.wallet w;
  UPDATE hub.wallet SET next_index = next_index + p_gap;
END $$;

-- Compares the history and opens a hold where it is another one: exactly one, however many nodes find
-- it. Answers the history that is now the known one, whether the server tells it at all, and the newest hold.
CREATE FUNCTION hub.compare_history(
  p_id text, p_gap integer, OUT history text, OUT opened boolean, OUT is_told boolean, OUT newest text
) LANGUAGE plpgsql AS $$
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
END $$;

-- The basis of a reading of blocks, beside their content: the history that findings are written to, and
-- the addresses of lost histories that are looked for. What was read on one basis proves nothing on another.
-- It sees what the statement sees that asks, as the next one does, so that no commit falls in between.
CREATE VIEW hub.scan_basis AS
SELECT coalesce(hub.history_name(), 'not told') || '/'
  || (SELECT count(*) FROM hub.failover_network n WHERE n.gap_watched) AS name;

-- True where blocks may count as read: not before the addresses are watched that a lost history may have
-- handed out, as what is paid to them would be passed unseen.
CREATE FUNCTION hub.may_pass_blocks(of_network text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT EXISTS (
    SELECT FROM hub.database_history h, hub.server_history() s
    WHERE h.timeline IS NOT NULL AND s.timeline IS NOT NULL
      AND (h.system_identifier, h.timeline, h.database_oid)
        IS DISTINCT FROM (s.system_identifier, s.timeline, s.database_oid))
  AND NOT EXISTS (
    SELECT FROM hub.failover_network n WHERE n.network = of_network AND NOT n.gap_watched)
$$;

-- The reason why nothing may be signed for a network now; null: it may. Asked inside the statements that take
-- transfers from the queue and that commit their signatures, so that no caller can forget it. The history is
-- compared first, in a snapshot of its own: one that has become the known one since has left its hold by then.
CREATE FUNCTION hub.signing_stop(of_network text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
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
END $$;

-- Payouts that live and have the network, token, amount and destination of an unknown transfer: it may have
-- paid them, and they would be paid again. `queued`: it can be matched; `signed`: bytes of it may come to a
-- block until `expires_at`, after which it is queued again; `approval`: it waits to be let go.
CREATE VIEW hub.spend_candidate AS
SELECT s.network, s.txid, s.log_index, w.id AS withdrawal_id, w.merchant_id, w.reference_id, o.state, o.expires_at
FROM hub.unknown_spend s
JOIN (
  -- one part per state: each has an index of its own, and what has ended is never read
  SELECT q.network, q.destination, q.currency, q.amount, q.payment_id, q.merchant_id, 'queued' AS state,
    NULL::timestamptz AS expires_at
  FROM book.outgoing q WHERE q.status = 'queued'
  UNION ALL
  SELECT q.network, q.destination, q.currency, q.amount, q.payment_id, q.merchant_id, 'signed', a.expires_at
  FROM book.outgoing q
  LEFT JOIN book.attempt a ON a.outgoing_id = q.id AND a.merchant_id = q.merchant_id AND a.outcome IS NULL
  WHERE q.status = 'signed'
) o ON o.network = s.network AND o.destination = s.recipient AND o.currency = s.currency AND o.amount = s.amount
JOIN book.withdrawal w ON w.id = o.payment_id AND w.merchant_id = o.merchant_id
WHERE s.status = 'open'
UNION ALL
SELECT s.network, s.txid, s.log_index, w.id, w.merchant_id, w.reference_id, 'approval', NULL
FROM hub.unknown_spend s
JOIN book.withdrawal w ON w.status = 'PENDING_APPROVAL' AND w.network = s.network AND w.destination = s.recipient
  AND w.currency = s.currency AND w.amount = s.amount
WHERE s.status = 'open';
