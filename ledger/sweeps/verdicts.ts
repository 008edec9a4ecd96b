import type { Sql, TransactionSql } from "postgres";
import { type HubAudit, writeAudit } from "../audit.ts";
import { type Amount, amountOf, formatAmount, subtract } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { notifySwept } from "./items.ts";
import { holdSweepAddress } from "./steps.ts";
import type { OpenItem } from "./sweep_facts.ts";
import type { SweepAddress } from "./targets.ts";

/**
 * What a sweep that succeeded without the intended transfer has done instead. `moved`: something of
 * it reached the hot wallet. `nothing_moved`: it is all still there. `lost`: it is neither there nor
 * in the hot wallet.
 */
export const SWEEP_VERDICTS = ["moved", "nothing_moved", "lost"] as const;
/** One of {@linkcode SWEEP_VERDICTS}. */
export type SweepVerdict = (typeof SWEEP_VERDICTS)[number];

/** A sweep that succeeded without the intended transfer. */
export interface UnexpectedSweep {
  readonly outgoingId: string;
  readonly network: Network;
  readonly currency: Currency;
  /** Derivation index of the address it left. */
  readonly walletIndex: number;
  /** The hot wallet it was to reach. */
  readonly destination: string;
  readonly txid: string;
  /** The block in which our own scan has read it. */
  readonly height: number;
  /** Sum of the transfers that it lists. */
  readonly listed: Amount;
}

/** Reads one, also where it has a verdict already; null: there is no such sweep. */
export async function readUnexpectedSweep(
  sql: Sql,
  outgoingId: string,
): Promise<UnexpectedSweep | null> {
  const [row] = await sql<
    (Omit<UnexpectedSweep, "walletIndex" | "height" | "listed"> & {
      wallet: string;
      height: string;
      listed: string;
    })[]
  >`
    SELECT o.id AS "outgoingId", o.network, o.currency, o.wallet, o.destination, a.txid, a.height,
      (SELECT trim_scale(coalesce(sum(i.amount), 0)) FROM book.sweep_item i WHERE i.outgoing_id = o.id)::text AS listed
    FROM book.outgoing o JOIN book.attempt a
      ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome = 'unexpected'
    WHERE o.id = ${outgoingId} AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.kind = 'sweep' AND o.status = 'final'`;
  if (row === undefined) return null;
  const { wallet, height, listed, ...rest } = row;
  return {
    ...rest,
    walletIndex: Number(wallet),
    height: Number(height),
    listed: amountOf(listed),
  };
}

/** A verdict, with what the chain says to it. */
export interface NewVerdict {
  readonly sweep: UnexpectedSweep;
  /** The address it left. */
  readonly address: string;
  readonly verdict: SweepVerdict;
  /** Amount that left the address by it. */
  readonly taken: Amount;
  /** Part of that which reached the hot wallet. */
  readonly arrived: Amount;
  readonly reason: string;
}

/** Transfers of a settled sweep, by outcome. */
export interface Settled {
  /** Transfers that it has carried. */
  readonly carried: number;
  /** Transfers that the planner has back. */
  readonly released: number;
  /** The merchants that have something to hear. */
  readonly told: readonly string[];
}

interface ListedItem {
  readonly merchant_id: string;
  readonly txid: string;
  readonly log_index: number;
  readonly amount: string;
}

/**
 * Settles a sweep, once: what has arrived carries the transfers that it listed, the longest waiting
 * first, as far as they fit into it in whole; the planner has the others back.
 *
 * @param audit its images are added here
 * @returns null when it has a verdict already
 */
export async function writeVerdict(
  sql: Sql,
  { sweep, address, verdict, taken, arrived, reason }: NewVerdict,
  audit: Omit<HubAudit, "before" | "after">,
): Promise<Settled | null> {
  const { outgoingId, network, currency } = sweep;
  return await sql.begin(async (tx) => {
    const written = await tx`
      INSERT INTO book.sweep_verdict (outgoing_id, verdict, taken, arrived, reason, actor, created_at)
      VALUES (${outgoingId}, ${verdict}, ${formatAmount(taken)}, ${
      formatAmount(arrived)
    }, ${reason}, ${audit.actor}, now())
      ON CONFLICT DO NOTHING RETURNING 1`;
    if (written.length === 0) return null;
    const items = await tx<ListedItem[]>`
      SELECT merchant_id, txid, log_index, amount::text AS amount FROM book.sweep_item
      WHERE outgoing_id = ${outgoingId} ORDER BY height, txid, log_index, merchant_id FOR UPDATE`;
    const left = beyond(items, arrived);
    await release(tx, sweep, left);
    await lookAgain(tx, { network, address, currency }, items);
    const told = await notifySwept(tx, [outgoingId]);
    const carried = items.length - left.length;
    await writeAudit(tx, {
      ...audit,
      before: { txid: sweep.txid, listed: formatAmount(sweep.listed) },
      after: {
        verdict,
        taken: formatAmount(taken),
        arrived: formatAmount(arrived),
        carried,
        released: left.length,
        reason,
      },
    });
    return { carried, released: left.length, told };
  });
}

/** The transfers that do not fit into an amount in whole after those before them. */
function beyond(items: readonly ListedItem[], arrived: Amount): readonly ListedItem[] {
  let left = arrived;
  return items.filter((item) => {
    const amount = amountOf(item.amount);
    if (amount > left) return true;
    left = subtract(left, amount);
    return false;
  });
}

async function release(
  tx: TransactionSql,
  { outgoingId, network }: UnexpectedSweep,
  items: readonly ListedItem[],
): Promise<void> {
  if (items.length === 0) return;
  await tx`
    UPDATE book.sweep_item i SET outgoing_id = NULL
    FROM unnest(${items.map((item) => item.merchant_id)}::text[], ${
    items.map((item) => item.txid)
  }::text[], ${items.map((item) => item.log_index)}::int[]) AS k(merchant_id, txid, log_index)
    WHERE i.merchant_id = k.merchant_id AND i.network = ${network} AND i.txid = k.txid
      AND i.log_index = k.log_index AND i.outgoing_id = ${outgoingId}`;
}

/** Has the planner look at the address, whether or not it was waiting there. */
async function lookAgain(
  tx: TransactionSql,
  { network, address, currency }: {
    readonly network: Network;
    readonly address: string;
    readonly currency: Currency;
  },
  items: readonly ListedItem[],
): Promise<void> {
  const [first] = items;
  if (first === undefined) return;
  await tx`
    INSERT INTO book.sweep_address AS t (network, address, currency, merchant_id)
    VALUES (${network}, ${address}, ${currency}, ${first.merchant_id})
    ON CONFLICT (network, address, currency) DO UPDATE SET touched = t.touched + 1, look_at = now()`;
}

/** Transfers that are on their address no more, with what the chain says to it. */
export interface NewWriteOff {
  readonly items: readonly OpenItem[];
  /** Their sum. */
  readonly amount: Amount;
  /** What of that no own transaction accounts for. */
  readonly unexplained: Amount;
  /** Balance that the address still holds. */
  readonly balance: Amount;
  /** A block that the node had that told it. */
  readonly height: number;
  readonly reason: string;
}

/**
 * Writes transfers off, if nothing happened to their address since it was looked at and nothing of
 * ours is under way there. The planner looks at what is left.
 *
 * @param audit its images are added here; the record has its id
 * @returns whether they were written off
 */
export async function writeOffItems(
  sql: Sql,
  target: SweepAddress,
  { items, amount, unexplained, balance, height, reason }: NewWriteOff,
  audit: Omit<HubAudit, "before" | "after">,
): Promise<boolean> {
  const { network, address, currency } = target;
  return await sql.begin(async (tx) => {
    if (!await holdSweepAddress(tx, target)) return false;
    await tx`
      INSERT INTO book.sweep_write_off
        (id, network, address, currency, amount, unexplained, height, reason, actor, created_at)
      VALUES (${audit.id}, ${network}, ${address}, ${currency}, ${formatAmount(amount)}, ${
      formatAmount(unexplained)
    }, ${height}, ${reason}, ${audit.actor}, now())`;
    const { count } = await tx`
      UPDATE book.sweep_item i SET done = true, write_off = ${audit.id}
      FROM unnest(${items.map((item) => item.merchantId)}::text[], ${
      items.map((item) => item.txid)
    }::text[], ${items.map((item) => item.logIndex)}::int[]) AS k(merchant_id, txid, log_index)
      WHERE i.merchant_id = k.merchant_id AND i.network = ${network} AND i.txid = k.txid
        AND i.log_index = k.log_index AND i.outgoing_id IS NULL AND NOT i.done`;
    if (count !== items.length) {
      throw new Error(`Cannot write transfers off as some are carried already: ${address}`);
    }
    await tx`
      UPDATE book.sweep_address SET touched = touched + 1, look_at = now()
      WHERE network = ${network} AND address = ${address} AND currency = ${currency}`;
    await writeAudit(tx, {
      ...audit,
      before: { network, currency, balance: formatAmount(balance), height },
      after: {
        amount: formatAmount(amount),
        unexplained: formatAmount(unexplained),
        transfers: items.map(({ txid, logIndex }) => `${txid}/${logIndex}`),
        reason,
      },
    });
    return true;
  });
}
