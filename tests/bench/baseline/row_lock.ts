/**
 * A: what a competent engineer writes. One transaction per request, seven round trips with prepared
 * statements: BEGIN, lock account and balance, look the reference up, insert the records, insert
 * the postings and charges, move balances and counts, COMMIT. It decides with the engine's own
 * rules and writes the engine's own rows.
 *
 * The house's accounts are split over several rows each, and moved last.
 *
 * @module
 */

import { reserve } from "../../../actors/merchant/decide/withdrawal.ts";
import type { DecisionResult } from "../../../actors/merchant/decision.ts";
import type {
  Answers,
  AskOutcome,
  MerchantCommand,
  Merchants,
} from "../../../actors/merchant/merchants.ts";
import type { Reserve, Reserved } from "../../../actors/merchant/messages.ts";
import type { Refusal } from "../../../actors/merchant/refusal.ts";
import {
  type MerchantState,
  type MerchantView,
  Records,
  RemainingLiquidity,
} from "../../../actors/merchant/state.ts";
import type { Sql, TransactionSql } from "../../../ledger/database/connect.ts";
import { readAccounts } from "../../../ledger/journal/read_accounts.ts";
import { readSettings, type Settings } from "../../../ledger/settings.ts";
import { amountOf, formatAmount, ZERO } from "../../../ledger/money/amount.ts";
import { pairKey } from "../../../ledger/money/pair.ts";
import {
  chargeTable,
  entryTable,
  transactionTable,
  withdrawalTable,
} from "../../../ledger/payment_rows.ts";
import { type MerchantStatus, outgoingTable } from "../../../ledger/rows.ts";
import { HOUSE_SHARDS } from "./house_shards.ts";
import { insertText, parametersOf } from "./insert.ts";

interface Locked {
  readonly status: MerchantStatus;
  readonly withdrawal_seq: string;
  readonly transaction_seq: string;
  readonly charge_seq: string;
  readonly last_at: Date;
  readonly available: string;
  readonly fees_enabled: boolean;
  readonly base_fee: string;
  readonly markup_rate: string;
  readonly withdrawals_enabled: boolean;
  readonly min_withdrawal: string;
  readonly network_fee: string;
}

const LOCK = `
  SELECT m.status, a.withdrawal_seq, a.transaction_seq, a.charge_seq, a.last_at,
    trim_scale(b.available)::text AS available, s.fees_enabled,
    trim_scale(s.base_fee)::text AS base_fee, trim_scale(s.markup_rate)::text AS markup_rate,
    p.withdrawals_enabled, trim_scale(p.min_withdrawal)::text AS min_withdrawal,
    trim_scale(p.network_fee)::text AS network_fee
  FROM book.account a JOIN book.merchant m USING (merchant_id) JOIN book.balance b USING (merchant_id)
  JOIN book.pair p USING (currency, network) CROSS JOIN book.setting s
  WHERE a.merchant_id = $1 AND b.currency = $2 AND b.network = $3 FOR UPDATE OF a, b`;

const HOLDER = `
  SELECT id FROM book.withdrawal
  WHERE merchant_id = $1 AND reference_id = $2 AND status NOT IN ('FAILED','CANCELLED')`;

const MOVE = `
  WITH account AS (
    UPDATE book.account SET version = version + 1, withdrawal_seq = $2, transaction_seq = $3,
      charge_seq = $4, last_at = $5::timestamptz WHERE merchant_id = $1
  ), balance AS (
    UPDATE book.balance SET available = available - $8, reserved = reserved + $9, updated_at = $5
    WHERE merchant_id = $1 AND currency = $6 AND network = $7
  ), lists AS (
    INSERT INTO book.list_bucket
    SELECT b.* FROM (VALUES ('withdrawal', $2::bigint, 1), ('transaction', $3::bigint, 1), ('charge', $4::bigint, 2)) l(list, last, n)
    CROSS JOIN LATERAL book.count_rows(l.list, $1, (l.last - l.n) / 250, l.last / 250) b
    WHERE l.last / 250 > (l.last - l.n) / 250
  )
  INSERT INTO book.system_balance AS b (account, currency, network, balance)
  VALUES ('commission/' || $10::text, $6, $7, $11::numeric), ('network_fee/' || $10::text, $6, $7, $12::numeric)
  ON CONFLICT (account, currency, network) DO UPDATE SET balance = b.balance + excluded.balance`;

/** Data that no withdrawal changes. */
interface Known {
  readonly profile: MerchantState;
  readonly settings: Settings;
}

async function readAtCheckpoint(sql: Sql, merchantId: string): Promise<Known> {
  const profile = (await readAccounts(sql, [merchantId])).get(merchantId);
  if (profile === undefined) throw new Error(`Cannot withdraw as nobody is there: ${merchantId}`);
  return { profile, settings: await readSettings(sql) };
}

/** Merchants behind row locks. */
export function rowLockMerchants(sql: Sql): Merchants {
  let turn = 0;
  const merchants = new Map<string, Known>();
  const withdrawOf = async (merchantId: string, command: Reserve) => {
    const known = merchants.get(merchantId) ?? await readAtCheckpoint(sql, merchantId);
    merchants.set(merchantId, known);
    const shard = turn = (turn + 1) % HOUSE_SHARDS;
    return await sql.begin((tx) => withdraw(tx, known, command, shard));
  };
  return {
    ask<C extends MerchantCommand>(merchantId: string, command: C) {
      if (command.type !== "reserve") {
        throw new TypeError(`Cannot do this as the baseline only withdraws: ${command.type}`);
      }
      const asked = withdrawOf(merchantId, command);
      // the command is a reserve, so the answer is a reserve's
      return asked as Promise<AskOutcome<Answers[C["type"]], Refusal>>;
    },
    wake: () => {},
  };
}

async function withdraw(
  tx: TransactionSql,
  known: Known,
  command: Reserve,
  shard: number,
): Promise<AskOutcome<Reserved, Refusal>> {
  const { currency, network } = command;
  const { merchantId } = known.profile.merchant;
  const run = (text: string, parameters: (string | number | Date | null)[]) =>
    tx.unsafe(text, parameters, { prepare: true });
  const [locked] = await tx.unsafe<Locked[]>(LOCK, [merchantId, currency, network], {
    prepare: true,
  });
  if (locked === undefined) {
    return { kind: "refused", refusal: { code: "no_balance_row", currency, network } };
  }
  const [holder] = command.referenceId === null
    ? []
    : await run(HOLDER, [merchantId, command.referenceId]);
  const result = decideOn(known, locked, command, holder?.["id"]);
  if (result.kind === "refused") return result;
  if (result.kind !== "decided") throw new Error(`Cannot leave a withdrawal ${result.kind}`);
  const { decision, answer } = result;
  const { withdrawals, transactions, outgoing, charges } = decision;
  const [withdrawal, transaction] = [withdrawals[0], transactions[0]];
  if (withdrawal === undefined || transaction === undefined) {
    throw new Error("Cannot write a withdrawal as its decision has none");
  }
  await run(
    insertText([withdrawalTable, 1], [transactionTable, 1], [outgoingTable, 1]),
    [
      ...parametersOf(withdrawalTable, withdrawals),
      ...parametersOf(transactionTable, transactions),
      ...parametersOf(outgoingTable, outgoing),
    ],
  );
  const entries = decision.postings.map(({ from, to, ...rest }) => ({
    ...rest,
    merchantId,
    fromAccount: from,
    toAccount: to,
    createdAt: decision.at,
  }));
  await run(
    insertText([entryTable, entries.length], [chargeTable, charges.length]),
    [...parametersOf(entryTable, entries), ...parametersOf(chargeTable, charges)],
  );
  await run(MOVE, [
    merchantId,
    withdrawal.seq,
    transaction.seq,
    charges.at(-1)?.seq ?? locked.charge_seq,
    new Date(decision.at),
    currency,
    network,
    formatAmount(answer.fees.grossAmount),
    formatAmount(answer.fees.amount),
    String(shard),
    formatAmount(answer.fees.commission),
    formatAmount(answer.fees.networkFee),
  ]);
  return { kind: "done", value: answer };
}

/**
 * Decides with the engine's own rules on what was locked.
 *
 * @param known what does not change while the bench runs, read once
 */
function decideOn(
  known: Known,
  locked: Locked,
  command: Reserve,
  holder: string | undefined,
): DecisionResult<Reserved> {
  const { currency, network } = command;
  const key = pairKey(currency, network);
  const settings: Settings = {
    ...known.settings,
    fees: {
      enabled: locked.fees_enabled,
      baseFee: amountOf(locked.base_fee),
      markupRate: locked.markup_rate,
    },
    pairs: new Map([[key, {
      currency,
      network,
      depositsEnabled: true,
      withdrawalsEnabled: locked.withdrawals_enabled,
      minWithdrawal: amountOf(locked.min_withdrawal),
      networkFee: amountOf(locked.network_fee),
      networkFeeMode: "fixed" as const,
    }]]),
  };
  const records = new Records();
  if (holder !== undefined && command.referenceId !== null) {
    records.holders.set(command.referenceId, holder);
  }
  const view: MerchantView = {
    records,
    liquidity: new RemainingLiquidity(() => null),
    state: {
      ...known.profile,
      merchant: { ...known.profile.merchant, status: locked.status },
      withdrawalSeq: Number(locked.withdrawal_seq),
      transactionSeq: Number(locked.transaction_seq),
      chargeSeq: Number(locked.charge_seq),
      lastAt: locked.last_at.getTime(),
      balances: new Map([[key, {
        available: amountOf(locked.available),
        pending: ZERO,
        reserved: ZERO,
      }]]),
    },
  };
  return reserve(view, command, settings);
}
