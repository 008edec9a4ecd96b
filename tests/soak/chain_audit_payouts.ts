import type { Shown } from "./chain_audit.ts";
import type { ChainTransfer } from "../faults/support/chain_transfers.ts";
import type { AskedPayout, SoakWorld } from "./chain_world.ts";
import { textOf, TOKEN, unitsOf } from "./units.ts";

/** Base fee and network fee, each 1 USDT by default. */
const COMMISSION = TOKEN;
const NETWORK_FEE = TOKEN;

/** Result of the audit of payouts. */
export interface PayoutAudit {
  readonly faults: readonly string[];
  /** Amounts that must have been taken, by merchant. */
  readonly debited: ReadonlyMap<string, bigint>;
  readonly figures: Readonly<Record<string, number>>;
}

/**
 * Each payout is on the chain at most once: exactly once when it is confirmed, never when it failed;
 * and nothing else leaves the house.
 *
 * @param houses addresses that only the service can pay from
 */
export function auditPayouts(
  { payouts }: SoakWorld,
  transfers: readonly ChainTransfer[],
  shown: readonly Shown[],
  houses: ReadonlySet<string>,
): PayoutAudit {
  const faults: string[] = [];
  const debited = new Map<string, bigint>();
  const byReference = Map.groupBy(
    shown.flatMap(({ merchant, withdrawals }) =>
      withdrawals.map((withdrawal) => ({ ...withdrawal, merchantId: merchant.id }))
    ),
    ({ referenceId }) => referenceId ?? "",
  );
  const left = transfers.filter(({ from, to }) => houses.has(from) && !houses.has(to));
  const byDestination = Map.groupBy(left, ({ to }) => to);
  let confirmed = 0;
  let failed = 0;
  for (const asked of payouts) {
    const rows = byReference.get(asked.referenceId) ?? [];
    byReference.delete(asked.referenceId);
    const [row] = rows;
    if (row === undefined || rows.length > 1) {
      faults.push(`${asked.referenceId} has ${rows.length} withdrawals`);
      continue;
    }
    if (!isAsAsked(row, asked)) faults.push(`${asked.referenceId} differs from what was asked`);
    const paid = byDestination.get(asked.destination) ?? [];
    byDestination.delete(asked.destination);
    const { status } = row;
    if (status === "CONFIRMED") {
      confirmed++;
      const debit = unitsOf(asked.amount) + COMMISSION + NETWORK_FEE;
      debited.set(asked.merchant.id, (debited.get(asked.merchant.id) ?? 0n) + debit);
      const [transfer] = paid;
      const isRight = paid.length === 1 && transfer?.units === unitsOf(asked.amount) &&
        transfer.txid === row.txHash;
      if (!isRight) {
        faults.push(`${asked.referenceId} is confirmed and was paid ${paid.length} times`);
      }
    } else if (status === "FAILED") {
      failed++;
      if (paid.length > 0) {
        faults.push(`${asked.referenceId} failed and was paid ${paid.length} times`);
      }
    } else faults.push(`${asked.referenceId} is ${status}`);
  }
  for (const [reference, rows] of byReference) {
    faults.push(`${rows.length} withdrawals were never asked for: ${reference}`);
  }
  for (const [to, found] of byDestination) {
    const sum = found.reduce((total, { units }) => total + units, 0n);
    faults.push(`${textOf(sum)} left the house without a payout to ${to}`);
  }
  return {
    faults,
    debited,
    figures: { "payouts confirmed": confirmed, "payouts failed and refunded": failed },
  };
}

function isAsAsked(
  row: Shown["withdrawals"][number] & { readonly merchantId: string },
  asked: AskedPayout,
): boolean {
  return row.id === asked.withdrawalId && row.merchantId === asked.merchant.id &&
    row.destination === asked.destination && row.amount === asked.amount &&
    row.commission === textOf(COMMISSION) && row.fee === textOf(NETWORK_FEE);
}
