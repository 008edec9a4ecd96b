/**
 * The statements of signing, in their order: a network's turn and what is queued, what the signer
 * reads of it, the commit of its signatures, and what is under way then.
 *
 * @module
 */

import type { Fragment, Sql } from "postgres";
import type { Currency, Network, OutgoingAsset } from "../money/pair.ts";
import { NONCE_TAKEN } from "../lanes/cancel.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { type OutgoingRow, outgoingTable } from "../rows.ts";
import { shape } from "../shape.ts";
import { amount, bigint, integer, json, orNull, type RowOf, text, time } from "../table.ts";

/**
 * A node's turn to sign for a network. The node and the time in the row are a hint that keeps two
 * nodes from working in vain. The number of batches is the safety: a batch is made from what the
 * wallet had reserved at the turn's beginning, and is committed only while nothing was signed since.
 */
export interface SigningTurn {
  readonly network: Network;
  /** Batches that were committed before it. */
  readonly batches: bigint;
}

/** Gives a turn up in which nothing was signed: another node may have what this one lacks. */
export async function passTurn(sql: Sql, network: Network, node: string): Promise<void> {
  await sql`
    UPDATE book.signing_turn SET until = now()
    WHERE network = ${network} AND node = ${node} AND until > now()`;
}

/** The transfers that are taken: those that carry merchants' payments, or internal ones. */
export type QueueOf = "merchants" | "internal";

/** Transfers to be pulled, and the node that pulls them. */
export interface Pull {
  readonly network: Network;
  /** Name of the node; one that starts again under its name goes on with its own turn. */
  readonly node: string;
  /** Time for which no other node signs for the network, by the database's clock. */
  readonly turnMs: number;
  readonly limit: number;
  readonly of: QueueOf;
  /** Assets of which nothing is taken now; default none. */
  readonly held?: readonly OutgoingAsset[];
  /** Payers (`hot`, or a derivation index) whose lanes have no room now; default none. */
  readonly full?: readonly string[];
}

/** Whose coin pays for a transaction: that of the wallet it leaves, or the hot wallet's. */
export type FeePayer = "wallet" | "hot";

/** A transfer to be signed. */
export interface QueuedRow extends OutgoingRow {
  readonly feePayer: FeePayer;
}

/** Transfers to be signed, in the order of their turns, at least one. */
export interface Pulled {
  readonly rows: readonly QueuedRow[];
  readonly turn: SigningTurn;
}

/** Rows that another transaction holds which a pull looks behind. */
const PASSED_BY = 50;
/** Transactions under way that are counted of a merchant at most; those with more go by their age. */
const MOST_COUNTED = 100;

/**
 * Takes the turn to sign for a network and the next queued transfers, but for those of merchants
 * that are suspended, which wait, and those whose rows another transaction holds, which are taken
 * as soon as they can be locked. Merchants take turns: the one of whom fewer transactions are under way
 * goes first, then the one that has waited for longer, so that the thousand payouts of one keep no other waiting; each
 * merchant's own leave oldest first. The node that holds the turn takes it again with every pull; of a
 * node that died with it the next takes it when it runs out.
 *
 * @returns null where nothing can be signed now, something stops signing (`hub.signing_stop`), or
 *   another node is at it
 */
export async function pullQueued(sql: Sql, pull: Pull): Promise<Pulled | null> {
  const { network, node, turnMs, limit, of, held = [], full = [] } = pull;
  const most = limit + PASSED_BY;
  const waits = sql`q.network = ${network} AND q.status = 'queued'
    -- what has a nonce is its lane's affair
    AND q.nonce IS NULL`;
  const canLeave = sql`
    -- no pause is as long as a quarter of an hour: then a clock was wrong
    (q.lease_until IS NULL OR q.lease_until < now() OR q.lease_until > now() + interval '15 minutes')
    AND q.currency <> ALL (${[...held]}::text[])
    -- what would find no room would be taken again and again before what stands behind it
    AND (${full.length === 0} OR book.payer_of(q.wallet, q.fee_payer) <> ALL (${[
    ...full,
  ]}::text[]))`;
  // read in order, as far as is needed: the planner, which knows little of these rules, would gather all rows and sort them
  const ordered = (merchantId: Fragment) =>
    sql`(
      SELECT q.* FROM book.outgoing q WHERE ${waits} AND q.merchant_id = ${merchantId}
      ORDER BY q.created_at, q.id OFFSET 0) q`;
  // an idle queue, and a turn of another node, are found out without a write
  const rows = await sql`
    WITH RECURSIVE owner AS (
      (SELECT q.merchant_id FROM book.outgoing q
       WHERE ${waits} AND (SELECT hub.signing_stop(${network})) IS NULL
         -- what another node signs for is not locked either, as its commit would pass it over
         AND NOT EXISTS (
           SELECT FROM book.signing_turn t WHERE t.network = ${network} AND t.node <> ${node} AND t.until > now())
       ORDER BY q.merchant_id LIMIT 1)
      UNION ALL
      SELECT n.merchant_id FROM owner o CROSS JOIN LATERAL (
        SELECT q.merchant_id FROM book.outgoing q WHERE ${waits} AND q.merchant_id > o.merchant_id
        ORDER BY q.merchant_id LIMIT 1) n
    ), merchant AS MATERIALIZED (
      -- no more of them have a transfer among the first, and each of them none in the place of those before it
      SELECT o.merchant_id, u.under_way,
        row_number() OVER (ORDER BY u.under_way, oldest.created_at, oldest.id) - 1 AS before
      FROM owner o
      CROSS JOIN LATERAL (
        SELECT q.created_at, q.id FROM ${ordered(sql`o.merchant_id`)} WHERE ${canLeave}
        ORDER BY q.created_at, q.id LIMIT 1) oldest
      CROSS JOIN LATERAL (
        SELECT count(*) AS under_way FROM (
          SELECT FROM book.outgoing s
          WHERE s.network = ${network} AND s.status = 'signed' AND s.merchant_id = o.merchant_id LIMIT ${MOST_COUNTED}) s) u
      WHERE (o.merchant_id = ${PLATFORM_ACCOUNT}) = ${of === "internal"}
        AND NOT EXISTS (SELECT FROM book.merchant m WHERE m.merchant_id = o.merchant_id AND m.status <> 'ACTIVE')
      ORDER BY before LIMIT ${most}
    ), candidate AS MATERIALIZED (
      SELECT q.id, q.merchant_id, q.created_at,
        m.under_way + row_number() OVER (PARTITION BY m.merchant_id ORDER BY q.created_at, q.id) AS place
      FROM merchant m CROSS JOIN LATERAL (
        SELECT q.id, q.merchant_id, q.created_at FROM ${
    ordered(sql`m.merchant_id`)
  } WHERE ${canLeave}
        ORDER BY q.created_at, q.id LIMIT ${most} - m.before) q
      ORDER BY place, q.created_at, q.id LIMIT ${most}
    ), next AS (
      SELECT q.*, c.place FROM candidate c JOIN book.outgoing q ON q.id = c.id AND q.merchant_id = c.merchant_id
      WHERE ${waits} AND ${canLeave}
      ORDER BY c.place, c.created_at, c.id LIMIT ${limit} FOR NO KEY UPDATE OF q SKIP LOCKED
    ), first AS (
      INSERT INTO book.signing_turn (network, node, until)
      SELECT ${network}, ${node}, now() + make_interval(secs => ${turnMs / 1_000})
      WHERE EXISTS (SELECT FROM next)
        AND NOT EXISTS (SELECT FROM book.signing_turn WHERE network = ${network})
      ON CONFLICT DO NOTHING RETURNING batches
    ), taken AS (
      UPDATE book.signing_turn
      SET node = ${node}, until = now() + make_interval(secs => ${turnMs / 1_000})
      WHERE network = ${network} AND (node = ${node} OR until <= now()) AND EXISTS (SELECT FROM next)
      RETURNING batches
    )
    SELECT next.*, turn.batches AS turn_batches
    FROM next CROSS JOIN (SELECT batches FROM first UNION ALL SELECT batches FROM taken) turn
    ORDER BY next.place, next.created_at, next.id`;
  const [first] = rows;
  if (first === undefined) return null;
  const turn = { network, batches: BigInt(first.turn_batches) };
  return {
    rows: rows.map((row) => ({ ...outgoingTable.decode(row), feePayer: row.fee_payer })),
    turn,
  };
}

/** The reason kept with a transfer that nodes say would fail as things stand. */
export const WOULD_FAIL = "the transfer would fail";

/** A nonce that a transaction has used which did not pay the intent. */
interface UsedNonce {
  readonly nonce: number;
  readonly txid: string;
}

/**
 * Those of the given sweeps whose address has had one before, of the same currency, that failed or would have failed, and none
 * since that succeeded. One that made way for what stood behind it is none, nor is one that was withdrawn as its wait for fees,
 * the signer or its lane took too long: after such a time all sweeps would go alone, at two or three times the cost.
 */
export async function readUnlucky(
  sql: Sql,
  rows: readonly Pick<OutgoingRow, "id">[],
): Promise<ReadonlySet<string>> {
  const found = await sql<{ id: string }[]>`
    SELECT o.id FROM book.outgoing o
    CROSS JOIN LATERAL (
      SELECT p.status, p.reason FROM book.outgoing p
      WHERE p.network = o.network AND p.wallet = o.wallet AND p.wallet <> 'hot' AND p.currency = o.currency
        AND p.kind = 'sweep' AND p.id < o.id
      ORDER BY p.id DESC LIMIT 1) last
    WHERE o.id = ANY (${
    rows.map(({ id }) => id)
  }::text[]) AND o.kind = 'sweep' AND last.status <> 'final'
      AND (last.reason LIKE 'failed:%' AND last.reason <> ${`failed: ${NONCE_TAKEN}`}
        OR last.reason = ${`withdrawn: ${WOULD_FAIL}`})`;
  return new Set(found.map(({ id }) => id));
}

const intentShape = shape({
  outgoingId: text(),
  kind: text<OutgoingRow["kind"]>(),
  network: text<Network>(),
  currency: text<Currency>(),
  amount: amount(),
  destination: text(),
  wallet: text(),
  feePayer: text<FeePayer>(),
  status: text(),
  /** The nonce that is promised to it; null: none is. */
  nonce: orNull(bigint()),
  /** Nonces of its transactions that blocks show as used, none of which has paid it. */
  usedNonces: json<readonly UsedNonce[]>(),
});
/** The part of an outgoing row that the signer reads: the columns that decide who is paid how much. */
export interface IntentRow extends Omit<RowOf<typeof intentShape>, "wallet" | "feePayer"> {
  /** Derivation index under which the destination is known as an own address; `null`: it is not. */
  readonly destinationIndex: number | null;
  /**
   * True where that address was handed out for the account that pays, or for one that is not known any
   * more: paying there would leave a payment in the books that no other account receives.
   */
  readonly isDestinationClosed: boolean;
  readonly wallet: "hot" | number;
  /** Whose transaction it is: the wallet's own, or the hot wallet's where that sends it. */
  readonly payer: "hot" | number;
}

/**
 * Reads committed intents over the signer's own connection, and no more than the signer's role is
 * granted: see `ledger/database/grant_signer_role.ts`.
 */
export async function readIntents(
  sql: Sql,
  outgoingIds: readonly string[],
): Promise<readonly IntentRow[]> {
  const rows = intentShape.all(
    await sql`
    SELECT o.id AS outgoing_id, o.kind, o.network, o.currency, o.amount, o.destination, o.wallet, o.fee_payer, o.status, o.nonce,
      coalesce((SELECT jsonb_agg(jsonb_build_object('nonce', a.nonce, 'txid', a.txid)) FROM book.attempt a
        WHERE a.outgoing_id = o.id AND a.nonce IS NOT NULL AND a.outcome IN ('failed', 'cancelled')), '[]') AS used_nonces
    FROM book.outgoing o WHERE o.id = ANY (${[...outgoingIds]}::text[])`,
  );
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.outgoingId);
  const closing = await sql<{ id: string }[]>`
    SELECT id FROM book.closed_destinations(${ids}::text[]) AS id`;
  const closed = new Set(closing.map(({ id }) => id));
  const destinations = [...new Set(rows.map((row) => row.destination))];
  const known = await sql<{ network: Network; address: string; index: number }[]>`
    SELECT network, address, wallet_index AS index FROM hub.address
    WHERE address = ANY (${destinations}::text[])`;
  const indexes = new Map(known.map((one) => [`${one.network}/${one.address}`, one.index]));
  return rows.map(({ feePayer, ...row }) => ({
    ...row,
    destinationIndex: indexes.get(`${row.network}/${row.destination}`) ?? null,
    isDestinationClosed: closed.has(row.outgoingId),
    wallet: walletOf(row.wallet),
    payer: feePayer === "hot" ? "hot" : walletOf(row.wallet),
  }));
}

function walletOf(wallet: string): "hot" | number {
  return wallet === "hot" ? "hot" : Number(wallet);
}

const signedShape = shape({
  outgoingId: text(),
  merchantId: text(),
  network: text<Network>(),
  txid: text(),
  bytes: text(),
  /** The last tick at which a block may hold it; null: its nonce ends it. */
  diesAfter: orNull(bigint()),
  /** For people and timers, Unix milliseconds; null: its nonce ends it. */
  expiresAt: orNull(time()),
  /** Null on chains whose senders do not number their transactions. */
  nonce: orNull(bigint()),
  /** Place of its intent among those of its transaction, from 0 on. */
  place: integer(),
  /** Number of intents that its transaction carries. */
  intents: integer(),
  /**
   * The most coin that it may take from the hot wallet, besides what it moves: its share of it where its transaction
   * carries several. What pays from its own address takes none.
   */
  feeLimit: amount(),
  sinceHeight: orNull(bigint()),
});
/** The signature of an intent, about to be made durable; those of one transaction have its id and its bytes. */
export interface SignedRow extends Omit<RowOf<typeof signedShape>, "sinceHeight"> {
  /** The solid block that its bytes refer to, so that it can only come after it; absent: not known. */
  readonly sinceHeight?: number | null;
}

/**
 * Commits signatures before anything is broadcast: `queued -> signed` and the attempt's bytes, in
 * one statement. A transfer that was given up meanwhile, whose merchant was suspended, whose row
 * another transaction holds, or whose transaction was tried before, is not among the answer, nor is any other
 * that its transaction carries, and its signature must be forgotten. None is where something stops signing meanwhile (`hub.signing_stop`).
 *
 * @param turn the turn they were pulled in
 * @param adopts they were signed in a history that was lost, see {@linkcode adoptSigned}
 * @returns ids of the transfers that are signed now; null, and none is, where something else was
 *   signed for the network since the turn began (what the wallet has reserved was read too early),
 *   or where signing was stopped
 * @throws a connection error: unknown; what was committed is found among the signed ones later
 */
export async function commitSigned(
  sql: Sql,
  rows: readonly SignedRow[],
  turn: SigningTurn,
  adopts = false,
): Promise<ReadonlySet<string> | null> {
  if (rows.length === 0) return new Set();
  const [answer] = await sql<{ held: boolean; ids: string[] }[]>`
    WITH turn AS (
      -- another commit at the same time waits here, and then finds another number
      UPDATE book.signing_turn SET batches = batches + 1
      WHERE network = ${turn.network} AND (${adopts}::boolean OR batches = ${
    String(turn.batches)
  }::bigint AND (SELECT hub.signing_stop(${turn.network})) IS NULL) RETURNING 1
    ), input AS (
      SELECT * FROM ${signedShape.rows(sql, "i", rows)}
    ), locked AS (
      SELECT o.id, o.merchant_id FROM book.outgoing o JOIN input i ON i.outgoing_id = o.id AND i.merchant_id = o.merchant_id
      WHERE EXISTS (SELECT FROM turn) AND o.network = ${turn.network} AND o.status = 'queued' AND o.nonce IS NULL
        AND NOT EXISTS (
          SELECT FROM book.merchant m WHERE m.merchant_id = o.merchant_id AND m.status <> 'ACTIVE')
        -- what is adopted was signed before the change, and is dead once the hold for it is over
        AND (NOT ${adopts}::boolean OR EXISTS (
          SELECT FROM hub.failover_network n JOIN hub.failover f ON f.id = n.failover_id
          WHERE n.network = o.network AND n.compared_at IS NULL AND o.created_at < f.found_at
            AND i.dies_after <= n.until_tick AND i.since_height <= n.head_height))
        -- the signer's old answer (a node that lags shows it a block before its expiry) would break
        -- the unique key, and with it every other signature of the batch
        AND NOT EXISTS (SELECT FROM book.attempt a WHERE a.txid = i.txid AND a.network = i.network)
      -- a row that another session holds must not keep all others from being signed
      ORDER BY o.id FOR NO KEY UPDATE OF o SKIP LOCKED
    ), whole AS (
      -- a transaction pays all of its intents or none
      SELECT l.id, l.merchant_id FROM locked l JOIN input i ON i.outgoing_id = l.id AND i.merchant_id = l.merchant_id
      WHERE i.intents = 1 OR i.intents = (
        SELECT count(*) FROM input j JOIN locked k ON k.id = j.outgoing_id AND k.merchant_id = j.merchant_id
        WHERE j.txid = i.txid)
    ), moved AS (
      UPDATE book.outgoing o
      SET status = 'signed', attempts = o.attempts + 1, lease_until = NULL, tries = 0, reason = NULL, updated_at = now()
      FROM whole l WHERE o.id = l.id AND o.merchant_id = l.merchant_id AND o.status = 'queued'
      RETURNING o.id, o.merchant_id, o.attempts, o.kind, o.payment_id
    ), notified AS (
      -- settlements show that their transaction is on its way
      INSERT INTO book.inbox (merchant_id, network, txid, log_index, phase, data)
      SELECT m.merchant_id, i.network, i.txid, -1, 'submitted', jsonb_build_object(
        'withdrawalId', w.id, 'settlementId', w.settlement_id)
      FROM moved m JOIN input i ON i.outgoing_id = m.id AND i.merchant_id = m.merchant_id
      JOIN book.withdrawal w ON w.id = m.payment_id AND w.merchant_id = m.merchant_id
      WHERE m.kind = 'settlement' ON CONFLICT DO NOTHING
    ), stored AS (
      INSERT INTO book.attempt
        (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, nonce, place, intents, created_at,
         fee_limit, since_height, known_height, adopted)
      SELECT m.id, m.attempts, m.merchant_id, i.network, i.txid, i.bytes, i.expires_at, i.dies_after, i.nonce, i.place,
        i.intents, now(), i.fee_limit, i.since_height,
        (SELECT c.height FROM hub.cursor c WHERE c.network = i.network AND c.view = 'solid'),
        ${adopts}::boolean
      FROM moved m JOIN input i ON i.outgoing_id = m.id AND i.merchant_id = m.merchant_id
      RETURNING outgoing_id
    )
    SELECT EXISTS (SELECT FROM turn) AS held, ARRAY(SELECT outgoing_id FROM stored) AS ids`;
  if (answer === undefined) throw new Error("Cannot commit signatures as the answer has no row");
  return answer.held ? new Set(answer.ids) : null;
}

/**
 * Commits signatures of a lost history as attempts of transfers that are queued in this one, so that
 * the scan knows them. They may be in a block already, so nothing that stops new signatures stops
 * these. A signer cannot tell what was committed in the lost history from what was refused there, and
 * another signer may have signed the same transfer: adopted bytes are never sent, and either a block
 * shows them or they expire. Only an open hold adopts, only transfers that were made before it was
 * found, of active merchants, and only bytes that are dead before it is over.
 *
 * @returns ids of the transfers that are signed now
 * @throws a connection error: unknown; doing it again changes nothing
 */
export async function adoptSigned(
  sql: Sql,
  network: Network,
  rows: readonly SignedRow[],
): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  await sql`
    INSERT INTO book.signing_turn (network, node, until) VALUES (${network}, 'adoption', now())
    ON CONFLICT DO NOTHING`;
  return await commitSigned(sql, rows, { network, batches: 0n }, true) ?? new Set();
}

const inFlightShape = shape({
  outgoingId: text(),
  /** The withdrawal it pays, null for internal transfers. */
  paymentId: orNull(text()),
  txid: text(),
  bytes: text(),
  /** For people and timers, Unix milliseconds; null: its nonce ends it. */
  expiresAt: orNull(time()),
});
/** A signed transaction whose outcome is not known yet, with one of the intents that it carries. */
export type InFlight = RowOf<typeof inFlightShape>;

/**
 * Signed transactions of a network without an outcome that are to be sent, oldest first: those that no
 * block shows. Where a block showed one which the solid cursor has passed since, the chain took it back. One
 * that carries several intents is there once, by the first of them.
 */
export async function readInFlight(
  sql: Sql,
  network: Network,
  limit: number,
): Promise<readonly InFlight[]> {
  return inFlightShape.all(
    await sql`
    SELECT a.outgoing_id, o.payment_id, a.txid, a.bytes, a.expires_at
    FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome IS NULL
      AND NOT a.adopted AND a.place = 0
      AND (a.seen_height IS NULL OR a.seen_height <= (
        SELECT c.height FROM hub.cursor c WHERE c.network = o.network AND c.view = 'solid'))
    WHERE o.network = ${network} AND o.status = 'signed' ORDER BY o.id LIMIT ${limit}`,
  );
}

/** Counts the signed transactions of a network that have no outcome yet. */
export async function countInFlight(sql: Sql, network: Network): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM book.outgoing WHERE network = ${network} AND status = 'signed'`;
  return row?.count ?? 0;
}
