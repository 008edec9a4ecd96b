import type { Sql } from "postgres";
import { type HubAudit, writeAudit } from "../audit.ts";
import { type Amount, formatAmount, subtract } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { shape } from "../shape.ts";
import { amount, bigint, integer, type RowOf, text } from "../table.ts";
import { namedItems, notifySwept } from "./items.ts";
import { holdSweepAddress } from "./steps.ts";
import { isAddress, type SweepAddress } from "./sweep_addresses.ts";
import type { OpenItem } from "./sweep_facts.ts";

/**
 * Ends of a sweep that succeeded without the intended transfer. `moved`: something of it reached the
 * hot wallet. `nothing_moved`: it is all still there. `lost`: it is neither there nor in the hot wallet.
 */
export const SWEEP_VERDICTS = ["moved", "nothing_moved", "lost"] as const;
/** One of {@linkcode SWEEP_VERDICTS}. */
export type SweepVerdict = (typeof SWEEP_VERDICTS)[number];

const sweepShape = shape({
  outgoingId: text(),
  network: text<Network>(),
  currency: text<Currency>(),
  /** Derivation index of the address it left. */
  walletIndex: integer(),
  /** The hot wallet it was to reach. */
  destination: text(),
  txid: text(),
  /** The block in which our own scan has read it. */
  height: bigint(),
  /** Sum of the transfers that it lists. */
  listed: amount(),
});
/** A sweep that succeeded without the intended transfer. */
export type UnexpectedSweep = RowOf<typeof sweepShape>;

/** Reads one, also where it has a verdict already; null: there is no such sweep. */
export async function readUnexpectedSweep(
  sql: Sql,
  outgoingId: string,
): Promise<UnexpectedSweep | null> {
  return sweepShape.first(
    await sql`
    SELECT o.id AS outgoing_id, o.network, o.currency, o.wallet AS wallet_index, o.destination, a.txid, a.height,
      (SELECT coalesce(sum(i.amount), 0) FROM book.sweep_item i WHERE i.outgoing_id = o.id) AS listed
    FROM book.outgoing o JOIN book.attempt a
      ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id AND a.outcome = 'unexpected'
    WHERE o.id = ${outgoingId} AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.kind = 'sweep' AND o.status = 'final'`,
  );
}

/** A verdict, with the chain's evidence. */
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
  /** The merchants with a new inbox row. */
  readonly notified: readonly string[];
}

const itemShape = shape({
  merchantId: text(),
  txid: text(),
  logIndex: integer(),
  amount: amount(),
});

/**
 * Settles a sweep, once: what has arrived carries the transfers that it listed, the longest waiting
 * first, as far as they fit into it in whole; the planner has the others back.
 *
 * @param audit its images are added here
 * @returns null when it has a verdict already
 */
export async function writeSweepVerdict(
  sql: Sql,
  { sweep, address, verdict, taken, arrived, reason }: NewVerdict,
  audit: Omit<HubAudit, "before" | "after">,
): Promise<Settled | null> {
  const { outgoingId, network, currency } = sweep;
  const amounts = { taken: formatAmount(taken), arrived: formatAmount(arrived) };
  return await sql.begin(async (tx) => {
    const written = await tx`
      INSERT INTO book.sweep_verdict (outgoing_id, verdict, taken, arrived, reason, actor, created_at)
      VALUES (${outgoingId}, ${verdict}, ${amounts.taken}, ${amounts.arrived}, ${reason}, ${audit.actor}, now())
      ON CONFLICT DO NOTHING RETURNING 1`;
    if (written.length === 0) return null;
    const items = itemShape.all(
      await tx`
      SELECT merchant_id, txid, log_index, amount FROM book.sweep_item
      WHERE outgoing_id = ${outgoingId} ORDER BY height, txid, log_index, merchant_id FOR UPDATE`,
    );
    const beyond = beyondOf(items, arrived);
    if (beyond.length > 0) {
      await tx`
        UPDATE book.sweep_item i SET outgoing_id = NULL ${namedItems(tx, network, beyond)}
          AND i.outgoing_id = ${outgoingId}`;
    }
    const [first] = items;
    if (first !== undefined) {
      await tx`
        INSERT INTO book.sweep_address AS t (network, address, currency, merchant_id)
        VALUES (${network}, ${address}, ${currency}, ${first.merchantId})
        ON CONFLICT (network, address, currency) DO UPDATE SET touched = t.touched + 1, poll_at = now()`;
    }
    const notified = await notifySwept(tx, [outgoingId]);
    const counts = { carried: items.length - beyond.length, released: beyond.length };
    await writeAudit(tx, {
      ...audit,
      before: { txid: sweep.txid, listed: formatAmount(sweep.listed) },
      after: { verdict, ...amounts, ...counts, reason },
    });
    return { ...counts, notified };
  });
}

/** The transfers that do not fit into an amount in whole after those before them. */
function beyondOf<I extends { readonly amount: Amount }>(
  items: readonly I[],
  arrived: Amount,
): readonly I[] {
  let left = arrived;
  return items.filter(({ amount }) => {
    if (amount > left) return true;
    left = subtract(left, amount);
    return false;
  });
}

/** Transfers that are on their address no more, with the chain's evidence. */
export interface NewWriteOff {
  readonly items: readonly OpenItem[];
  /** Their sum. */
  readonly amount: Amount;
  /** Part of that which no own transaction accounts for. */
  readonly unexplained: Amount;
  /** Balance that the address still holds. */
  readonly balance: Amount;
  /** A block of the node that answered it. */
  readonly height: number;
  readonly reason: string;
}

/**
 * Writes transfers off, if nothing happened to their address since it was read and no own transfer is
 * under way there. The planner goes on with what is left.
 *
 * @param audit its images are added here; the record has its id
 * @returns true if they were written off
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
      UPDATE book.sweep_item i SET done = true, write_off = ${audit.id} ${
      namedItems(tx, network, items)
    }
        AND i.outgoing_id IS NULL AND NOT i.done`;
    if (count !== items.length) {
      throw new Error(`Cannot write transfers off as some are carried already: ${address}`);
    }
    await tx`
      UPDATE book.sweep_address SET touched = touched + 1, poll_at = now() WHERE ${
      isAddress(tx, target)
    }`;
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
