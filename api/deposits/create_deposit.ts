/**
 * Deposits that a merchant books by hand; an administrator decides on them.
 *
 * @module
 */

import { z } from "zod";
import { usdRate } from "../../rates/rates.ts";
import { type Answer, created } from "../http/answer.ts";
import { invalidField, invalidRequest, notDone } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { actorOf } from "../http/permission.ts";
import { route } from "../http/route.ts";
import { hasInexactNumber } from "../http/strict_json.ts";
import { shown } from "../http/shown.ts";
import { depositMetadata, depositStatus } from "./deposits.ts";
import { namedTransaction } from "./named_transaction.ts";

const MOST_BYTES = 4_096;
/** Keys at most, at every depth together. */
const MOST_KEYS = 50;
/** Levels of objects and arrays at most, the whole being the first. */
const MOST_LEVELS = 3;

const EXPECTED_NUMBERS = `Expected numbers of at most ${Number.MAX_SAFE_INTEGER}, at least 1e-6 ` +
  "away from zero or zero, with no more digits than are kept; write others as text";

const utf8 = new TextEncoder();

/** A free-form object within bounds. */
const metadata = z.record(z.string(), z.unknown())
  .refine((value) => levelsOf(value) <= MOST_LEVELS, {
    message: `Expected objects and arrays at most ${MOST_LEVELS} levels deep`,
  })
  .refine((value) => keysOf(value) <= MOST_KEYS, {
    message: `Expected at most ${MOST_KEYS} keys, those of inner objects among them`,
  })
  .refine((value) => utf8.encode(JSON.stringify(value)).byteLength <= MOST_BYTES, {
    message: `Expected at most ${MOST_BYTES} bytes of JSON`,
  })
  .refine((value) => !hasOddNumber(value), { message: EXPECTED_NUMBERS })
  .meta({
    description: `Free-form: at most ${MOST_BYTES} bytes of JSON, ${MOST_KEYS} keys in all, ` +
      `${MOST_LEVELS} levels. Numbers are of at most ${Number.MAX_SAFE_INTEGER}, at least 1e-6 ` +
      "away from zero or zero, and read back as they were written, with some 15 digits; larger " +
      "ones are written as text. `txHash` is the id of the transaction that paid, as the network " +
      "spells it: in either case, with `0x` or without, and nothing else; absent or null, none is named, " +
      "and another spelling of it (`tx_hash`, `txhash`) and an id anywhere else in the metadata, " +
      "alone or in a link, are refused",
    examples: [{ invoice: "2026-114" }],
  });

function innerOf(value: unknown): readonly unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}

// bodies of requests have at most 32 levels, which bounds both recursions

function levelsOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...innerOf(value).map(levelsOf));
}

function keysOf(value: unknown): number {
  const own = Array.isArray(value) ? 0 : innerOf(value).length;
  return innerOf(value).reduce((sum: number, inner) => sum + keysOf(inner), own);
}

/**
 * The database writes numbers out, all 309 digits of 1e308, which the bound in bytes does not see.
 * Whole numbers beyond 2^53 have neighbours that are read as the same.
 */
function hasOddNumber(value: unknown): boolean {
  if (typeof value !== "number") return innerOf(value).some(hasOddNumber);
  return Math.abs(value) > Number.MAX_SAFE_INTEGER || String(value).includes("e");
}

/**
 * The 400 for metadata with a number that would be shown with other digits than were sent; otherwise
 * null.
 *
 * @param body as it was read, before any schema has copied it
 */
function refuseInexact(body: unknown): Answer | null {
  if (typeof body !== "object" || body === null || !("metadata" in body)) return null;
  return isInexact(body.metadata)
    ? invalidField("metadata", EXPECTED_NUMBERS, "inexact_number")
    : null;
}

function isInexact(value: unknown): boolean {
  return typeof value === "object" && value !== null &&
    (hasInexactNumber(value) || innerOf(value).some(isInexact));
}

const depositCreated = z.object({
  id: f.id("dep"),
  amount: eg(f.decimal, "100"),
  currency: f.currency,
  network: f.network,
  status: eg(depositStatus, "PENDING"),
  source: eg(z.string(), "bank transfer"),
  description: eg(z.string().nullable(), null),
  createdAt: f.timestamp,
  metadata: eg(depositMetadata, { invoice: "2026-114" }),
}).meta({ id: "DepositCreated" });

const newDeposit = z.object({
  amount: f.positiveAmount,
  currency: f.currency,
  network: f.network,
  source: z.string().regex(/^[^\p{C}]{1,64}$/u, {
    message: "Expected 1 to 64 printable characters",
  }).meta({ description: "Where it came from", examples: ["bank transfer"] }),
  description: f.description.nullish(),
  metadata: metadata.nullish(),
  depositAddressId: z.string().min(1).max(128).nullish(),
});

export const createDeposit = route({
  at: "POST /api/deposits",
  summary: "Book a deposit by hand; pending until an operator confirms it",
  access: { scope: "own", anyOf: ["write"] },
  rateCategory: "deposits",
  body: newDeposit,
  verify: ({ body }) => refuseInexact(body),
  responses: { 201: { description: "Booked on the pending balance", schema: depositCreated } },
  errors: ["deposits_closed_for_pair", "record_not_found", "transfer_known", "balance_too_large"],
  handler: async ({ caller, merchantId, body, now }, context) => {
    const { newId } = context;
    const metadata = body.metadata ?? {};
    const named = namedTransaction(metadata, body.network, context);
    if (typeof named === "object" && named !== null) return invalidRequest([named]);
    const depositId = newId("dep");
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
      txid: named,
      usdRate: usdRate(context.rates, body.currency),
    }, context.askTimeoutMs);
    if (outcome.kind !== "done") return notDone(outcome, { depositId });
    return created(shown(depositCreated, outcome.value));
  },
});
