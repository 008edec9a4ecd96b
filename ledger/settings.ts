/**
 * Settings for all merchants: fees, thresholds of settlements, and pairs. Decisions read them as one
 * snapshot with its epoch; each change is written with its entry in the audit.
 *
 * @module
 */

import { writeBookAudit } from "./audit.ts";
import type { Sql } from "./database/connect.ts";
import { type Amount, amountOf, formatAmount } from "./money/amount.ts";
import type { FeeSettings } from "./money/fees.ts";
import { type Currency, type Network, type Pair, type PairKey, pairKey } from "./money/pair.ts";
import type { AuditRow } from "./rows.ts";
import { shape } from "./shape.ts";
import { amount, boolean, rate, type RowOf, text } from "./table.ts";

/** The row of book.setting as fee settings; its column `fees_enabled` is read as `enabled`. */
const feeShape = shape({ enabled: boolean(), baseFee: amount(), markupRate: rate() });

const pairShape = shape({
  currency: text<Currency>(),
  network: text<Network>(),
  depositsEnabled: boolean(),
  withdrawalsEnabled: boolean(),
  minWithdrawal: amount(),
  networkFee: amount(),
  networkFeeMode: text<"fixed" | "dynamic">(),
});
export type PairSettings = RowOf<typeof pairShape>;

/** Everything that is set for all merchants, as of one epoch. */
export interface Settings {
  /** Names this state of the settings, and no other one ever. */
  readonly epoch: string;
  readonly fees: FeeSettings;
  /** Settlements of this amount and more wait for an administrator. */
  readonly settlementThresholds: ReadonlyMap<Currency, Amount>;
  readonly pairs: ReadonlyMap<PairKey, PairSettings>;
}

/** Reads the global settings with their epoch, as one snapshot. */
export async function readSettings(sql: Sql): Promise<Settings> {
  const rows = await sql`
    SELECT s.epoch, s.fees_enabled AS enabled, s.base_fee, s.markup_rate,
      trim_scale(t.amount)::text AS threshold, p.*
    FROM book.setting s CROSS JOIN book.pair p
    JOIN book.settlement_threshold t ON t.currency = p.currency`;
  const first = rows[0];
  if (first === undefined) throw new Error("Cannot read settings as there are none: book.setting");
  return {
    epoch: first.epoch,
    fees: feeShape.decode(first),
    settlementThresholds: new Map(rows.map((row) => [row.currency, amountOf(row.threshold)])),
    pairs: new Map(
      rows.map((row) => [pairKey(row.currency, row.network), pairShape.decode(row)]),
    ),
  };
}

/** Fields of a record that are changed; absent and undefined ones stay. */
type Patch<R> = { readonly [F in keyof R]?: R[F] | undefined };

/** The record after a change of some of its fields. */
function patched<R extends object>(record: R, patch: Patch<NoInfer<R>>): R {
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
  return { ...record, ...Object.fromEntries(changes) };
}

/**
 * Changes the fees of all withdrawals to come, with its entry in the audit. A new epoch begins with it,
 * so that nothing is decided on the old fees afterwards.
 */
export async function updateFeeSettings(
  sql: Sql,
  patch: Patch<FeeSettings>,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<FeeSettings> {
  return await sql.begin(async (tx) => {
    const before = feeShape.first(
      await tx`SELECT fees_enabled AS enabled, base_fee, markup_rate FROM book.setting FOR UPDATE`,
    );
    if (before === null) throw new Error("Cannot change fees as there are none: book.setting");
    const after = patched(before, patch);
    await tx`
      UPDATE book.setting SET fees_enabled = ${after.enabled},
        base_fee = ${formatAmount(after.baseFee)}::text::numeric,
        markup_rate = ${after.markupRate}::text::numeric`;
    await writeBookAudit(tx, { ...audit, before: feesImage(before), after: feesImage(after) });
    return after;
  });
}

function feesImage(fees: FeeSettings) {
  return { ...fees, baseFee: formatAmount(fees.baseFee) };
}

/** Changes from which amount on settlements wait for an administrator, with the entry in the audit. */
export async function updateThresholds(
  sql: Sql,
  thresholds: ReadonlyMap<Currency, Amount>,
  audit: Omit<AuditRow, "before" | "after">,
): Promise<ReadonlyMap<Currency, Amount>> {
  return await sql.begin(async (tx) => {
    const rows = await tx<{ currency: Currency; amount: string }[]>`
      SELECT currency, trim_scale(amount)::text AS amount FROM book.settlement_threshold
      ORDER BY currency FOR UPDATE`;
    const before = new Map(rows.map((row) => [row.currency, amountOf(row.amount)]));
    for (const [currency, amount] of thresholds) {
      await tx`
        UPDATE book.settlement_threshold SET amount = ${formatAmount(amount)}::text::numeric
        WHERE currency = ${currency}`;
    }
    const after = new Map([...before, ...thresholds]);
    await writeBookAudit(tx, {
      ...audit,
      before: thresholdsImage(before),
      after: thresholdsImage(after),
    });
    return after;
  });
}

function thresholdsImage(thresholds: ReadonlyMap<Currency, Amount>) {
  return Object.fromEntries(
    [...thresholds].map(([currency, amount]) => [currency, formatAmount(amount)]),
  );
}

/** Rows of transfers that are counted of a pair at most: more of them cost the same. */
const MOST_COUNTED = 1_000;
/** Rows that enabling a pair gives back itself; the journal gives back the rest, a portion at a time. */
const RELEASED_AT_ONCE = 1_000;

/** A pair with the transfers that were quarantined because it was disabled. */
export interface ListedPair extends PairSettings {
  /** Counted from the first 1,000 rows, of which a transfer may have two. */
  readonly unclaimed: number;
}

/** Every pair, main networks first. */
export async function listPairs(sql: Sql): Promise<readonly ListedPair[]> {
  const rows = await sql`
    SELECT p.*, i.unclaimed FROM book.pair p
    CROSS JOIN LATERAL (
      SELECT count(DISTINCT (x.txid, x.log_index))::int AS unclaimed FROM (
        SELECT x.txid, x.log_index FROM book.inbox x
        WHERE x.consumed_at IS NULL AND x.quarantine IS NOT NULL AND split_part(x.quarantine, ':', 1) = 'unclaimed'
          -- in the collation of the index
          AND x.network = p.network AND x.data ->> 'currency' = p.currency COLLATE "default"
        ORDER BY x.created_at LIMIT ${MOST_COUNTED}) x) i
    ORDER BY p.currency DESC, array_position(
      ARRAY['TRX','ETH','BNB','SOL','TRX_SHASTA','SEP','tBNB','SOL_DEVNET'], p.network::text)`;
  return rows.map((row) => ({ ...pairShape.decode(row), unclaimed: row.unclaimed }));
}

/** Fields that are changed; absent ones stay. */
export type PairPatch = Patch<Omit<PairSettings, "currency" | "network">>;

/** A pair after its change. */
export interface UpdatedPair {
  readonly pair: PairSettings;
  /** Merchants whose quarantined transfers were released by it, of the first thousand. */
  readonly released: ReadonlySet<string>;
}

/**
 * Changes a pair, with its entry in the audit. The first thousand transfers that were quarantined because
 * deposits were disabled are released in the same transaction that enables them, the others by the
 * journal within seconds (releaseUnclaimed). The pair's row is locked first: the quarantining of transfers
 * at the same time (quarantineInboxRows) locks it too, so none is missed.
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
      UPDATE book.inbox SET quarantine = NULL WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM book.inbox
        WHERE consumed_at IS NULL AND quarantine IS NOT NULL AND split_part(quarantine, ':', 1) = 'unclaimed'
          AND network = ${network} AND data ->> 'currency' = ${currency}
        ORDER BY created_at LIMIT ${RELEASED_AT_ONCE} FOR UPDATE SKIP LOCKED))
      RETURNING merchant_id`;
    await writeBookAudit(tx, { ...audit, before: pairImage(before), after: pairImage(next) });
    return { pair: next, released: new Set(released.map((row) => row.merchant_id)) };
  });
}

function pairImage(pair: PairSettings) {
  return {
    ...pair,
    minWithdrawal: formatAmount(pair.minWithdrawal),
    networkFee: formatAmount(pair.networkFee),
  };
}
