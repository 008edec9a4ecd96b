import type { Sql } from "postgres";
import { type HubAudit, writeAudit } from "../audit.ts";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { SweepTarget } from "./targets.ts";
import type { OpenItem } from "./sweep_facts.ts";
import { holdTarget } from "./steps.ts";

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
  target: SweepTarget,
  { items, amount, unexplained, balance, height, reason }: NewWriteOff,
  audit: Omit<HubAudit, "before" | "after">,
): Promise<boolean> {
  const { network, address, currency } = target;
  return await sql.begin(async (tx) => {
    if (!await holdTarget(tx, target)) return false;
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
      UPDATE book.sweep_target SET touched = touched + 1, look_at = now()
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
