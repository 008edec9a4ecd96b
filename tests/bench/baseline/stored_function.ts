/**
 * B: the best without batching. One stored function does the whole withdrawal in one round trip
 * and one transaction, with the engine's guards and the engine's rows.
 *
 * @module
 */

import type { Reserve, Reserved } from "../../../actors/merchant/messages.ts";
import type {
  Answers,
  AskOutcome,
  MerchantCommand,
  Merchants,
} from "../../../actors/merchant/merchants.ts";
import type { Refusal } from "../../../actors/merchant/refusal.ts";
import { add, amountOf, formatAmount } from "../../../ledger/money/amount.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { tokenDecimals } from "../../../ledger/money/pair.ts";
import { HOUSE_SHARDS } from "./house_shards.ts";

/** The function's definition, to be created in the baseline's database. */
export function storedFunctionText(): Promise<string> {
  return Deno.readTextFile(new URL("./stored_function.sql", import.meta.url));
}

/** Merchants behind a stored function. */
export function storedFunctionMerchants(sql: Sql): Merchants {
  let turn = 0;
  return {
    ask<C extends MerchantCommand>(merchantId: string, command: C) {
      if (command.type !== "reserve") {
        throw new TypeError(`Cannot do this as the baseline only withdraws: ${command.type}`);
      }
      turn = (turn + 1) % HOUSE_SHARDS;
      // the command is a reserve, so the answer is a reserve's
      return withdraw(sql, merchantId, command, turn) as Promise<
        AskOutcome<Answers[C["type"]], Refusal>
      >;
    },
    wake: () => {},
  };
}

async function withdraw(
  sql: Sql,
  merchantId: string,
  command: Reserve,
  shard: number,
): Promise<AskOutcome<Reserved, Refusal>> {
  const { currency, network, amount } = command;
  const [row] = await sql<{
    refusal: string | null;
    base_fee: string;
    markup_rate: string;
    markup: string;
    network_fee: string;
  }[]>`
    SELECT refusal, trim_scale(base_fee)::text AS base_fee, trim_scale(markup_rate)::text AS markup_rate,
      trim_scale(markup)::text AS markup, trim_scale(network_fee)::text AS network_fee
    FROM bench.withdraw(${merchantId}, ${currency}, ${network}, ${formatAmount(amount)}::numeric,
      ${tokenDecimals(currency, network)}::int, ${command.destination}, ${command.referenceId},
      ${command.description}, ${new Date(command.at)}, ${command.withdrawalId},
      ${command.transactionId}, ${command.outgoingId}, ${command.chargeIds[0]},
      ${command.chargeIds[1]}, ${String(shard)})`;
  if (row === undefined || row.refusal !== null || command.destinationCheck !== "ok") {
    // the bench offers nothing that may be refused, so a refusal ends the comparison
    throw new Error(`Cannot compare as a withdrawal was refused: ${row?.refusal}`);
  }
  const baseFee = amountOf(row.base_fee);
  const markupAmount = amountOf(row.markup);
  const networkFee = amountOf(row.network_fee);
  const commission = add(baseFee, markupAmount);
  const totalFees = add(commission, networkFee);
  return {
    kind: "done",
    value: {
      withdrawalId: command.withdrawalId,
      status: "PENDING",
      fees: {
        amount,
        baseFee,
        markupRate: row.markup_rate,
        markupAmount,
        commission,
        networkFee,
        totalFees,
        grossAmount: add(amount, totalFees),
      },
    },
  };
}
