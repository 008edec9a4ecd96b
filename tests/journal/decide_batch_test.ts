import { assert, assertEquals } from "@std/assert";
import { ReferencesFirst } from "../../actors/journal/merchant_standing.ts";
import { decideBatch, decideMerchant, type Deciding } from "../../actors/journal/decide_batch.ts";
import { ActiveMerchants } from "../../actors/journal/context.ts";
import { QueuedCommand, type QueuedMessage } from "../../actors/journal/queue.ts";
import { UnitOfWork } from "../../actors/journal/unit_of_work.ts";
import { Records, RemainingLiquidity } from "../../actors/merchant/state.ts";
import type { BatchRecords } from "../../ledger/journal/read_records.ts";
import { settingsOf, stateOf } from "../decisions/support/account.ts";
import { outcome } from "../decisions/support/messages.ts";
import { amount, refundCommand, reserveCommand } from "../support/books.ts";

const SETTINGS = settingsOf({});

/** No record is read. */
const NO_RECORDS: BatchRecords = {
  withdrawals: [],
  deposits: [],
  addresses: [],
  transactions: [],
  settlements: [],
  whitelist: [],
  listed: [],
  ingested: [],
  holders: [],
  ofAnother: [],
  outgoing: [],
};

function unitOf(read: Partial<BatchRecords> = {}): UnitOfWork {
  const records = Records.perMerchant({ ...NO_RECORDS, ...read })("mer_1");
  return new UnitOfWork(stateOf({}), records, new RemainingLiquidity(() => null));
}

Deno.test("a reference is taken as the database says, and as earlier messages of the batch have left it", () => {
  const unit = unitOf({
    holders: [{ merchantId: "mer_1", referenceId: "order-1", withdrawalId: "wd_1" }],
    withdrawals: [],
  });
  const ask = (referenceId: string, withdrawalId: string) => {
    const command = { ...reserveCommand({ referenceId }), withdrawalId };
    const queued = new QueuedCommand(command, Infinity, () => {});
    const { outcome } = decideMerchant("mer_1", unit, SETTINGS, [queued]).messages[0] ?? {};
    return outcome?.kind === "refused" ? outcome.refusal : outcome?.kind;
  };
  const release = (withdrawalId: string) => {
    const queued = new QueuedCommand(refundCommand(withdrawalId), Infinity, () => {});
    decideMerchant("mer_1", unit, SETTINGS, [queued]);
  };
  assertEquals(ask("order-1", "wd_2"), { code: "reference_taken", withdrawalId: "wd_1" });
  assertEquals(ask("order-2", "wd_3"), "done");
  assertEquals(ask("order-2", "wd_4"), { code: "reference_taken", withdrawalId: "wd_3" });
  release("wd_3");
  assertEquals(ask("order-2", "wd_5"), "done");
  assertEquals(ask("order-2", "wd_6"), { code: "reference_taken", withdrawalId: "wd_5" });
});

Deno.test("payouts of one batch reserve no more than the hot wallet has, of one merchant or of several", async () => {
  for (const [left, done] of [["9.999999", 0], ["10", 1], ["35", 3], ["1000", 8]] as const) {
    const active = new ActiveMerchants(10);
    const work = new Map<string, readonly QueuedMessage[]>();
    for (const id of ["mer_1", "mer_2", "mer_3", "mer_4"]) {
      active.put(id, stateOf({ merchant: { merchantId: id } }));
      const ask = () => new QueuedCommand(reserveCommand(), Infinity, () => {});
      work.set(id, [ask(), ask()]);
    }
    const deciding = {
      store: {
        readRecords: () => Promise.resolve(NO_RECORDS),
        readAccounts: () => Promise.resolve(new Map()),
      },
      active,
      liquidity: () => amount(left),
      referencesFirst: new ReferencesFirst(),
      retry: (ask) => ask(),
    } satisfies Deciding;
    const parts = await decideBatch(deciding, work, SETTINGS);
    const kinds = parts.flatMap(({ messages }) => messages.map(({ outcome }) => outcome.kind));
    assertEquals(kinds.filter((kind) => kind === "done").length, done, left);
    assertEquals(kinds.length, 8);
  }
});

Deno.test("a chain event that breaks an assumption is quarantined, and the messages beside it are decided", () => {
  const broken = { kind: "event", message: outcome("paid") } as const;
  const asked = new QueuedCommand(reserveCommand(), Infinity, () => {});
  const part = decideMerchant("mer_1", unitOf(), SETTINGS, [broken, asked]);
  assertEquals(part.quarantined.map(({ key }) => key), [broken.message.key]);
  assert(part.quarantined[0]?.reason.startsWith("bug: Error: Cannot settle a payout"));
  assertEquals(part.messages.map(({ outcome }) => outcome.kind), ["failed", "done"]);
});
