/**
 * Deposits that are booked by hand.
 *
 * @module
 */

import { z } from "zod";
import { formatAmount } from "../../ledger/money/amount.ts";
import { usdRate } from "../../rates/rates.ts";
import { created } from "../http/answer.ts";
import type { ApiContext } from "../http/context.ts";
import { notDone } from "../http/errors.ts";
import { currency, description, network, positiveAmount } from "../http/fields.ts";
import { metadata, refuseInexact } from "./metadata.ts";
import { actorOf } from "../http/permission.ts";
import { keyedRoute } from "../http/route.ts";
import { DEPOSIT_CREATED_EXAMPLE, depositCreated } from "./deposit_schema.ts";

const newDeposit = z.object({
  amount: positiveAmount,
  currency,
  network,
  source: z.string().regex(/^[^\p{C}]{1,64}$/u, {
    message: "Expected 1 to 64 printable characters",
  }).meta({ description: "Where it came from", examples: ["bank transfer"] }),
  description: description.nullish(),
  metadata: metadata.nullish(),
  depositAddressId: z.string().min(1).max(128).nullish(),
});

/** `POST /api/deposits`. */
export const createDeposit = keyedRoute({
  method: "POST",
  path: "/api/deposits",
  summary: "Book a deposit by hand; pending until an operator confirms it",
  access: { scope: "own", anyOf: ["write"] },
  rateCategory: "deposits",
  body: newDeposit,
  verify: ({ body }) => refuseInexact(body),
  responses: {
    201: {
      description: "Booked on the pending balance",
      schema: depositCreated,
      example: DEPOSIT_CREATED_EXAMPLE,
    },
  },
  errors: [
    "deposits_closed_for_pair",
    "record_not_found",
    "transfer_known",
    "balance_too_large",
  ],
  handler: async ({ caller, merchantId, body, now }, context) => {
    const { newId } = context;
    const depositId = newId("dep");
    const metadata = body.metadata ?? {};
    const outcome = await context.merchants.ask(merchantId, {
      type: "create-deposit",
      by: actorOf(caller),
      at: now,
      depositId,
      transactionId: newId("txn"),
      currency: body.currency,
      network: body.network,
      amount: body.amount,
      source: body.source,
      description: body.description ?? null,
      metadata,
      depositAddressId: body.depositAddressId ?? null,
      txid: claimedTransaction(metadata, body.network, context),
      usdRate: usdRate(context.rates, body.currency),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { depositId });
    const deposit = outcome.value;
    return created({
      id: deposit.id,
      amount: formatAmount(deposit.amount),
      currency: deposit.currency,
      network: deposit.network,
      status: deposit.status,
      source: deposit.source,
      description: deposit.description,
      createdAt: new Date(deposit.createdAt).toISOString(),
      metadata: deposit.metadata,
    });
  },
});

/** The transaction that a deposit stands for, so that the scan does not credit it a second time. */
function claimedTransaction(
  metadata: Readonly<Record<string, unknown>>,
  on: z.output<typeof network>,
  context: ApiContext,
): string | null {
  const { txHash } = metadata;
  if (typeof txHash !== "string") return null;
  return context.chains.get(on)?.transactionId(txHash) ?? null;
}
