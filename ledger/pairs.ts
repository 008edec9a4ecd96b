import type { Row } from "postgres";
import { writeBookAudit } from "./audit.ts";
import type { Sql } from "./database/connect.ts";
import { type Amount, amountOf, formatAmount } from "./money/amount.ts";
import type { Currency, Network, Pair } from "./money/pair.ts";
import type { AuditRow } from "./rows.ts";

/** Settings of a pair as administrators see them. */
export interface PairRecord {
  readonly currency: Currency;
  readonly network: Network;
  readonly depositsEnabled: boolean;
  readonly withdrawalsEnabled: boolean;
  readonly minWithdrawal: Amount;
  readonly networkFee: Amount;
  readonly networkFeeMode: "fixed" | "dynamic";
}

/** Reads a row of book.pair. */
function pairRecord(row: Row): PairRecord {
  return {
    currency: row.currency,
    network: row.network,
    depositsEnabled: row.deposits_enabled,
    withdrawalsEnabled: row.withdrawals_enabled,
    minWithdrawal: amountOf(row.min_withdrawal),
    networkFee: amountOf(row.network_fee),
    networkFeeMode: row.network_fee_mode,
  };
}

/** A pair with the transfers that were quarantined because it was disabled. */
export interface ListedPair extends PairRecord {
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
  return rows.map((row) => ({ ...pairRecord(row), unclaimed: row.unclaimed }));
}

/** Fields that are changed; absent ones stay. */
export interface PairPatch {
  readonly depositsEnabled?: boolean | undefined;
  readonly withdrawalsEnabled?: boolean | undefined;
  readonly minWithdrawal?: Amount | undefined;
  readonly networkFee?: Amount | undefined;
  readonly networkFeeMode?: PairRecord["networkFeeMode"] | undefined;
}

/** A pair after its change. */
export interface UpdatedPair {
  readonly pair: PairRecord;
  /** Merchants whose quarantined transfers were released by it. */
  readonly released: ReadonlySet<string>;
}

/**
 * Changes a pair, with the line of the audit. Transfers that were quarantined because deposits were
 * disabled are released in the same transaction that enables them. The pair's row is locked first:
 * what quarantines a transfer at the same time (quarantineInboxRow) holds it too, so none is missed.
 */
export async function updatePair(
  sql: Sql,
  { currency, network }: Pair,
  patch: PairPatch,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<UpdatedPair> {
  return await sql.begin(async (tx) => {
    const [row] = await tx`
      SELECT * FROM book.pair WHERE currency = ${currency} AND network = ${network} FOR UPDATE`;
    if (row === undefined) {
      throw new Error(`Cannot change a pair as it does not exist: ${currency}/${network}`);
    }
    const before = pairRecord(row);
    const next: PairRecord = {
      ...before,
      depositsEnabled: patch.depositsEnabled ?? before.depositsEnabled,
      withdrawalsEnabled: patch.withdrawalsEnabled ?? before.withdrawalsEnabled,
      minWithdrawal: patch.minWithdrawal ?? before.minWithdrawal,
      networkFee: patch.networkFee ?? before.networkFee,
      networkFeeMode: patch.networkFeeMode ?? before.networkFeeMode,
    };
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

function imageOf(pair: PairRecord) {
  return {
    ...pair,
    minWithdrawal: formatAmount(pair.minWithdrawal),
    networkFee: formatAmount(pair.networkFee),
  };
}
