import { writeBookAudit } from "./audit.ts";
import type { Sql } from "./database/connect.ts";
import { formatAmount } from "./money/amount.ts";
import type { Currency, Network, Pair } from "./money/pair.ts";
import { type Patch, patched } from "./patch.ts";
import type { AuditRow } from "./rows.ts";
import { shape } from "./shape.ts";
import { amount, boolean, type RowOf, text } from "./table.ts";

export const pairShape = shape({
  currency: text<Currency>(),
  network: text<Network>(),
  depositsEnabled: boolean(),
  withdrawalsEnabled: boolean(),
  minWithdrawal: amount(),
  networkFee: amount(),
  networkFeeMode: text<"fixed" | "dynamic">(),
});
/** Settings of one pair. */
export type PairSettings = RowOf<typeof pairShape>;

/** A pair with the transfers that were quarantined because it was disabled. */
export interface ListedPair extends PairSettings {
  readonly unclaimed: number;
}

/** Every pair, main networks first. */
export async function listPairs(sql: Sql): Promise<readonly ListedPair[]> {
  const rows = await sql`
    SELECT p.*, coalesce(i.unclaimed, 0)::int AS unclaimed FROM book.pair p
    LEFT JOIN (
      SELECT network, data ->> 'currency' AS currency, count(DISTINCT (txid, log_index)) AS unclaimed
      FROM book.inbox WHERE consumed_at IS NULL AND quarantine LIKE 'unclaimed:%' GROUP BY 1, 2) i
      ON i.network = p.network AND i.currency = p.currency
    ORDER BY p.currency DESC, array_position(
      ARRAY['TRX','ETH','BNB','SOL','TRX_SHASTA','SEP','tBNB','SOL_DEVNET'], p.network::text)`;
  return rows.map((row) => ({ ...pairShape.decode(row), unclaimed: row.unclaimed }));
}

/** Fields that are changed; absent ones stay. */
export type PairPatch = Patch<Omit<PairSettings, "currency" | "network">>;

/** A pair after its change. */
export interface UpdatedPair {
  readonly pair: PairSettings;
  /** Merchants whose quarantined transfers were released by it. */
  readonly released: ReadonlySet<string>;
}

/**
 * Changes a pair, with its entry in the audit. Transfers that were quarantined because deposits were
 * disabled are released in the same transaction that enables them. The pair's row is locked first:
 * the quarantining of a transfer at the same time (quarantineInboxRow) locks it too, so none is missed.
 */
export async function updatePair(
  sql: Sql,
  { currency, network }: Pair,
  patch: PairPatch,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<UpdatedPair> {
  return await sql.begin(async (tx) => {
    const before = pairShape.first(
      await tx`
      SELECT * FROM book.pair WHERE currency = ${currency} AND network = ${network} FOR UPDATE`,
    );
    if (before === null) {
      throw new Error(`Cannot change a pair as it does not exist: ${currency}/${network}`);
    }
    const next = patched(before, patch);
    await tx`
      UPDATE book.pair SET deposits_enabled = ${next.depositsEnabled},
        withdrawals_enabled = ${next.withdrawalsEnabled},
        min_withdrawal = ${formatAmount(next.minWithdrawal)}::text::numeric,
        network_fee = ${formatAmount(next.networkFee)}::text::numeric,
        network_fee_mode = ${next.networkFeeMode}
      WHERE currency = ${currency} AND network = ${network}`;
    const released = !next.depositsEnabled ? [] : await tx<{ merchant_id: string }[]>`
      UPDATE book.inbox SET quarantine = NULL
      WHERE network = ${network} AND data ->> 'currency' = ${currency}
        AND consumed_at IS NULL AND quarantine LIKE 'unclaimed:%' RETURNING merchant_id`;
    await writeBookAudit(tx, { ...audit, before: imageOf(before), after: imageOf(next) });
    return { pair: next, released: new Set(released.map((row) => row.merchant_id)) };
  });
}

function imageOf(pair: PairSettings) {
  return {
    ...pair,
    minWithdrawal: formatAmount(pair.minWithdrawal),
    networkFee: formatAmount(pair.networkFee),
  };
}
