import { type Amount, formatAmount } from "../amount.ts";
import type { Sql } from "../database/connect.ts";
import type { Pair } from "../pair.ts";
import type { AuditRow } from "../rows.ts";
import { type PairRecord, pairRecord } from "./pair_record.ts";
import { writeBookAudit } from "./write_book_audit.ts";

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
  /** Merchants whose set-aside transfers were released by it. */
  readonly released: ReadonlySet<string>;
}

/**
 * Changes a pair, with the line of the audit. Transfers that were set aside because deposits were
 * disabled are released in the same transaction that enables them. The pair's row is locked first:
 * who sets a transfer aside at the same time (quarantineInboxRow) holds it too, so none is missed.
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
