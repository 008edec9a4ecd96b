/**
 * The events of the model, as fast-check commands. A step is what the chain does first, then what is asked
 * of one merchant without waiting in between, so that it is decided in one batch with what that
 * merchant has to hear.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { AskOutcome } from "../../../actors/merchant/merchants.ts";
import type { Journal } from "../../../actors/journal/journal.ts";
import type { Refusal } from "../../../actors/merchant/refusal.ts";
import { newId } from "../../../actors/runtime/ids.ts";
import { type Amount, formatAmount, fromUnits } from "../../../ledger/money/amount.ts";
import { expireAttempts } from "../../../ledger/treasury/expire_attempts.ts";
import { commitSigned } from "../../support/commit_signed.ts";
import { findOwnTransactions, recordOutcomes } from "../../../ledger/watcher/record_outcomes.ts";
import { recordVanished } from "../../../ledger/watcher/record_transfers.ts";
import {
  addTransfer,
  amount,
  NO_ESTIMATE,
  refundCommand,
  reserveCommand,
  SOMEWHERE,
} from "../../support/books.ts";
import { type Heard, type Merchant, SETTLEMENT_THRESHOLD, type Withdrawal } from "./bank_model.ts";
import type { Fault } from "./faulty_store.ts";
import { compare, settleDown, type World } from "./bank_world.ts";
import { historyOf, placeCursor } from "../../support/scan_cursor.ts";

const DEADLINE_MS = 60_000;

/** Steps of the chain; `pick` chooses among what there is. */
type Event =
  | { readonly kind: "seen" | "solid"; readonly amount: bigint }
  | { readonly kind: "solid-again" | "vanished"; readonly pick: number; readonly change: bigint }
  | { readonly kind: "sign" | "paid" | "failed"; readonly pick: number }
  | { readonly kind: "expire"; readonly pick: number; readonly limit: number };

/** Commands to a merchant. */
type Request =
  | { readonly kind: "reserve"; readonly amount: bigint; readonly reference: string | null }
  | { readonly kind: "reserve-pinned" | "settle"; readonly amount: bigint }
  | { readonly kind: "fail" | "approve" | "decline"; readonly pick: number };

function toAmount(millionths: bigint): Amount {
  return fromUnits(millionths * 10n ** 12n);
}

/** Ids of the moment; a refund needs charges and events. */
function refundIds() {
  return {
    chargeIds: [newId("chg"), newId("chg")],
    eventIds: [newId("evt"), newId("evt")],
  } as const;
}

function told(outcome: AskOutcome<unknown, Refusal>): string {
  return outcome.kind === "refused" ? outcome.refusal.code : outcome.kind;
}

let transactions = 0;

class Step implements fc.AsyncCommand<object, World> {
  constructor(
    readonly node: 0 | 1,
    readonly fault: Fault | null,
    readonly who: number,
    readonly events: readonly Event[],
    readonly requests: readonly Request[],
  ) {}

  check(): boolean {
    return true;
  }

  async run(_: object, world: World): Promise<void> {
    const { bank, nodes, unheard } = world;
    const journal = nodes[this.node];
    const merchant = bank.merchants[this.who % bank.merchants.length] as Merchant;
    for (const event of this.events) await happen(world, merchant, event);
    world.stores[this.node].next = this.fault;
    const asked = this.requests.flatMap((request) => ask(world, journal, merchant, request) ?? []);
    for (const { id } of unheard.keys()) journal.wake(id);
    for (const { what, outcome, expected } of asked) {
      assertEquals(told(await outcome), expected, what);
    }
    await settleDown(world);
    world.stores[this.node].next = null;
    await compare(world);
  }

  toString(): string {
    const text = JSON.stringify(
      [...this.events, ...this.requests],
      (_, value: unknown) => typeof value === "bigint" ? `${value}` : value,
    );
    return `merchant ${this.who} on node ${this.node} (${this.fault}): ${text}`;
  }
}

function hear(world: World, merchant: Merchant, heard: Heard): void {
  world.unheard.set(merchant, [...world.unheard.get(merchant) ?? [], heard]);
}

async function happen(world: World, merchant: Merchant, event: Event): Promise<void> {
  const { sql, bank } = world;
  switch (event.kind) {
    case "seen":
    case "solid":
      return await transfer(world, merchant, event.kind, event.amount, nextTxid());
    case "solid-again":
    case "vanished": {
      const known = [...bank.deposits.values()];
      const deposit = known[event.pick % Math.max(known.length, 1)];
      if (deposit === undefined) return;
      const { txid } = deposit;
      const heard = world.unheard.get(deposit.merchant) ?? [];
      const phase = event.kind === "vanished" ? "vanished" : "solid";
      const [row] = await sql`SELECT 1 FROM book.inbox WHERE txid = ${txid} AND phase = ${phase}`;
      if (row !== undefined || heard.some((other) => "txid" in other && other.txid === txid)) {
        return;
      }
      if (phase === "solid") {
        return await transfer(world, deposit.merchant, phase, deposit.amount + event.change, txid);
      }
      const key = { merchantId: deposit.merchant.id, network: "TRX", txid, logIndex: 0 } as const;
      await recordVanished(
        sql,
        key,
        { reason: "test", to: deposit.merchant.address },
        await historyOf(sql),
      );
      return hear(world, deposit.merchant, { kind: "vanished", txid });
    }
    case "sign":
      return await sign(world, event.pick);
    case "paid":
    case "failed":
      return await end(world, event.pick, event.kind);
    case "expire":
      return await expire(world, event.pick, event.limit);
    default: {
      const never: never = event;
      return never;
    }
  }
}

function nextTxid(): string {
  return `b${(++transactions).toString(16).padStart(63, "0")}`;
}

async function transfer(
  { sql, ...world }: World,
  merchant: Merchant,
  phase: "seen" | "solid",
  millionths: bigint,
  txid: string,
): Promise<void> {
  const { address: to, addressId } = merchant;
  await addTransfer(sql, merchant.id, formatAmount(toAmount(millionths)), {
    phase,
    txid,
    to,
    addressId,
  });
  hear({ sql, ...world }, merchant, { kind: phase, txid, amount: millionths });
}

function chosen(
  { bank }: World,
  pick: number,
  among: (withdrawal: Withdrawal) => boolean,
): Withdrawal | undefined {
  const found = bank.withdrawals.filter(among);
  return found[pick % Math.max(found.length, 1)];
}

async function sign(world: World, pick: number): Promise<void> {
  const withdrawal = chosen(world, pick, ({ outgoing }) => outgoing === "queued");
  if (withdrawal === undefined) return;
  const { outgoingId, merchant } = withdrawal;
  withdrawal.txid = nextTxid();
  withdrawal.expiresAt = 1_800_000_000_000 + transactions;
  withdrawal.outgoing = "signed";
  withdrawal.attempts++;
  const { txid, expiresAt } = withdrawal;
  const row = { outgoingId, merchantId: merchant.id, network: "TRX", txid, bytes: "{}", expiresAt };
  assertEquals((await commitSigned(world.sql, [{ ...row, network: "TRX" }])).size, 1);
  if (withdrawal.settlement !== null) hear(world, merchant, { kind: "submitted", of: withdrawal });
}

async function end(world: World, pick: number, result: "paid" | "failed"): Promise<void> {
  const withdrawal = chosen(world, pick, ({ outgoing }) => outgoing === "signed");
  if (withdrawal === undefined) return;
  const [own] = await findOwnTransactions(world.sql, "TRX", [withdrawal.txid]);
  if (own === undefined) throw new Error(`Cannot end as it is not ours: ${withdrawal.txid}`);
  const reason = result === "paid" ? null : "REVERT";
  await recordOutcomes(world.sql, "TRX", [{ own, result, reason, height: 9, fee: amount("6") }]);
  withdrawal.outgoing = result === "paid" ? "final" : "dead";
  hear(world, withdrawal.merchant, { kind: "outcome", of: withdrawal, result });
}

/** The chain passes the expiry of a signed transaction, and so of all that expire before it. */
async function expire(world: World, pick: number, limit: number): Promise<void> {
  const last = chosen(world, pick, ({ outgoing }) => outgoing === "signed");
  if (last === undefined) return;
  const previousTime = last.expiresAt + 1;
  const solid = await placeCursor(world.sql, "TRX", {
    height: 9,
    hash: "9",
    time: previousTime,
    previousTime,
    tick: previousTime,
    previousTick: previousTime,
  });
  await expireAttempts(world.sql, "TRX", solid, limit);
  for (const withdrawal of world.bank.withdrawals) {
    if (withdrawal.outgoing !== "signed" || withdrawal.expiresAt >= previousTime) continue;
    withdrawal.outgoing = withdrawal.attempts < limit ? "queued" : "dead";
    if (withdrawal.outgoing === "queued") continue;
    hear(world, withdrawal.merchant, { kind: "outcome", of: withdrawal, result: "abandoned" });
  }
}

interface Asked {
  readonly what: string;
  readonly outcome: Promise<AskOutcome<unknown, Refusal>>;
  readonly expected: string;
}

/** Asks, and says what the model expects; `null` where there is nothing to ask about. */
function ask(
  world: World,
  journal: Journal,
  merchant: Merchant,
  request: Request,
): Asked | null {
  const { bank } = world;
  const what = request.kind;
  switch (request.kind) {
    case "reserve":
    case "reserve-pinned": {
      const isPinned = request.kind === "reserve-pinned";
      const command = reserveCommand({
        amount: toAmount(request.amount),
        referenceId: request.kind === "reserve" ? request.reference : null,
        pinnedTo: isPinned ? { address: SOMEWHERE, network: "TRX" } : null,
      });
      const { withdrawalId: id, outgoingId, referenceId } = command;
      const names = { id, outgoingId, referenceId, settlementId: null };
      const expected = bank.open(merchant, names, request.amount, isPinned);
      return { what, expected, outcome: journal.ask(merchant.id, command, DEADLINE_MS) };
    }
    case "settle":
      return settle(world, journal, merchant, request.amount);
    case "fail": {
      const withdrawal = chosen(world, request.pick, (one) => one.merchant === merchant);
      if (withdrawal === undefined) return null;
      const settlementId = withdrawal.settlement?.id ?? null;
      const command = refundCommand(withdrawal.id, { settlementId });
      const outcome = journal.ask(merchant.id, command, DEADLINE_MS);
      return { what, expected: bank.fail(withdrawal), outcome };
    }
    case "approve":
    case "decline": {
      const withdrawal = chosen(world, request.pick, (one) => one.merchant === merchant);
      if (withdrawal === undefined) return null;
      return decide(world, journal, withdrawal, request.kind);
    }
    default: {
      const never: never = request;
      return never;
    }
  }
}

function settle(
  { bank }: World,
  journal: Journal,
  merchant: Merchant,
  millionths: bigint,
): Asked {
  const { withdrawalId: id, outgoingId, transactionId, chargeIds } = reserveCommand();
  const settlementId = newId("stl");
  const outcome = journal.ask(merchant.id, {
    type: "create-settlement",
    at: Date.now(),
    settlementId,
    withdrawalId: id,
    transactionId,
    outgoingId,
    chargeIds,
    currency: "USDT",
    network: "TRX",
    amount: toAmount(millionths),
    destination: SOMEWHERE,
    fromAddress: null,
    dynamicFee: NO_ESTIMATE,
    idempotencyKey: null,
    bodyHash: null,
    giveUp: null,
  }, DEADLINE_MS);
  const needsApproval = millionths >= SETTLEMENT_THRESHOLD;
  const names = { id, outgoingId, referenceId: null, settlementId };
  return {
    what: "settle",
    outcome,
    expected: bank.open(merchant, names, millionths, needsApproval),
  };
}

function decide(
  { bank }: World,
  journal: Journal,
  withdrawal: Withdrawal,
  what: "approve" | "decline",
): Asked {
  const { merchant, settlement, id: withdrawalId } = withdrawal;
  const at = Date.now();
  const expected = what === "approve"
    ? bank.approve(withdrawal)
    : bank.decline(withdrawal, "REJECTED");
  const command = settlement === null
    ? what === "approve"
      ? { type: "approve-withdrawal" as const, at, withdrawalId }
      : { type: "decline-withdrawal" as const, at, withdrawalId, reason: "test", ...refundIds() }
    : what === "approve"
    ? { type: "approve-settlement" as const, at, withdrawalId, settlementId: settlement.id }
    : {
      type: "decline-settlement" as const,
      at,
      withdrawalId,
      settlementId: settlement.id,
      to: "REJECTED" as const,
      reason: "test",
      ...refundIds(),
    };
  return { what, expected, outcome: journal.ask(merchant.id, command, DEADLINE_MS) };
}

const pick = fc.nat(30);
/** Around the limits that matter (1 token, the threshold), and anything else. */
const millionths = fc.oneof(
  fc.constantFrom(1n, 999_999n, 1_000_000n, 1_000_001n, 49_999_999n, 50_000_000n),
  fc.bigInt({ min: 1n, max: 120_000_000n }),
);
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("seen", "solid", "solid"),
      amount: fc.oneof(millionths, fc.bigInt({ min: 100_000_000n, max: 500_000_000n })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("solid-again", "vanished"),
      pick,
      change: fc.constantFrom(0n, 0n, 0n, 250_000n),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("sign"), pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("paid", "failed"), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("expire"), pick, limit: fc.nat(3) }) },
);
const request: fc.Arbitrary<Request> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("reserve"),
      amount: millionths,
      reference: fc.constantFrom(null, "a", "b"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("reserve-pinned", "settle"), amount: millionths }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("fail"), pick }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("approve", "decline"), pick }) },
);

/** Any step. */
export const step: fc.Arbitrary<fc.AsyncCommand<object, World>> = fc.tuple(
  fc.constantFrom(0, 1),
  fc.constantFrom(null, null, null, "lost-before", "lost-after", "deadlock"),
  fc.nat(2),
  fc.array(event, { maxLength: 4 }),
  fc.array(request, { maxLength: 5 }),
).map(([node, fault, who, events, requests]) => new Step(node, fault, who, events, requests));
