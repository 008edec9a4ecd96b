import { type Amount, amountOf } from "../money/amount.ts";
import type { Sql } from "../database/connect.ts";
import { PLATFORM_ACCOUNT } from "../treasury/platform_account.ts";
import type { SweepTarget } from "./due_targets.ts";

/** What final sweeps of an address account for beyond the transfers that they list. */
export interface AccountedFor {
  /**
   * What they took from it, without what they list and what write-offs have been explained by. Below
   * zero where transfers were listed later that a write-off had been explained by.
   */
  readonly amount: Amount;
  /** The newest block of one of them; 0 without any. */
  readonly height: number;
}

/**
 * Reads what of an address' transfers that are open is known to be gone from it: a sweep that was
 * settled as lost took it, or one that moved more than it lists. Costs by the sweeps of that address.
 */
export async function readAccountedFor(sql: Sql, target: SweepTarget): Promise<AccountedFor> {
  const { network, address, currency } = target;
  const [row] = await sql<{ amount: string; height: string }[]>`
    SELECT coalesce(max(a.height), 0) AS height, trim_scale(
      coalesce(sum(CASE a.outcome WHEN 'paid' THEN o.amount ELSE v.taken END
        - coalesce((SELECT sum(i.amount) FROM book.sweep_item i WHERE i.outgoing_id = o.id), 0)), 0)
      - coalesce((SELECT sum(w.amount - w.unexplained) FROM book.sweep_write_off w
          WHERE w.network = ${network} AND w.address = ${address} AND w.currency = ${currency}), 0))::text AS amount
    FROM book.outgoing o
    JOIN book.attempt a ON a.outgoing_id = o.id AND a.merchant_id = o.merchant_id
    LEFT JOIN book.sweep_verdict v ON v.outgoing_id = o.id AND a.outcome = 'unexpected'
    WHERE o.network = ${network} AND o.wallet = ${String(target.walletIndex)} AND o.wallet <> 'hot'
      AND o.currency = ${currency} AND o.merchant_id = ${PLATFORM_ACCOUNT} AND o.status = 'final'
      AND (a.outcome = 'paid' OR v.outgoing_id IS NOT NULL)`;
  return { amount: amountOf(row?.amount ?? "0"), height: Number(row?.height ?? 0) };
}
