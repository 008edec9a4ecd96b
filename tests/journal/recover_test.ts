import { assertEquals } from "@std/assert";
import { DoubtfulMerchants } from "../../actors/journal/merchant_standing.ts";
import { QueuedCommand, type QueuedMessage, unanswered } from "../../actors/journal/queue.ts";
import { recover, type Recovering } from "../../actors/journal/recover.ts";
import { outcome } from "../decisions/support/messages.ts";
import { reserveCommand } from "../support/books.ts";

Deno.test("a sender whose message goes back to be decided again is told that nothing happened", () => {
  const told: string[] = [];
  const queued = new QueuedCommand(reserveCommand(), 0, ({ kind }) => told.push(kind));
  const answered = new QueuedCommand(reserveCommand(), 0, () => {});
  answered.answer({ kind: "failed" });
  queued.decided = true;
  const left = unanswered(new Map([["mer_1", [queued, answered]], ["mer_2", [answered]]]));
  assertEquals([...left], [["mer_1", [queued]]]);
  queued.expire();
  assertEquals(told, ["withdrawn"]);
});

/** Recovers a batch that always fails the same way, and returns what was done. */
async function recovered(
  kind: "poisoned" | "locked" | "transient",
  work: ReadonlyMap<string, readonly QueuedMessage[]>,
  isConnectionError: boolean,
) {
  const error = new Error("test");
  const did: string[] = [];
  const merchantIds = [...work.keys()];
  const why = kind === "poisoned" ? { kind, error } : { kind, error, costMs: 50, merchantIds };
  const recovering: Recovering = {
    process: (again, attempt) => recover(recovering, why, unanswered(again), attempt),
    context: {
      store: { isConnectionError: () => isConnectionError },
      doubts: new DoubtfulMerchants(() => 0),
      suspect: (id) => did.push(`suspect ${id}`),
      pause: (id, { length }, costMs) => did.push(`pause ${id} ${length} ${costMs}`),
      giveBack: (id, { length }) => length > 0 && did.push(`give back ${id} ${length}`),
      quarantine: (queued) => {
        did.push(`quarantine ${queued.kind}`);
        if (queued.kind === "command") queued.answer({ kind: "failed" });
        return Promise.resolve();
      },
    },
  };
  await recover(recovering, why, work, 1);
  return [...new Set(did)];
}

Deno.test("what becomes of a message that fails even alone", async () => {
  const told: string[] = [];
  const command = () => new QueuedCommand(reserveCommand(), 0, ({ kind }) => told.push(kind));
  const event: QueuedMessage = { kind: "event", message: outcome("paid") };
  const rows: readonly [
    Parameters<typeof recovered>[0],
    "command" | "event",
    boolean,
    readonly string[],
    readonly string[],
  ][] = [
    ["poisoned", "command", false, ["suspect mer_1", "quarantine command"], ["failed"]],
    ["poisoned", "command", true, ["suspect mer_1", "quarantine command"], ["failed"]],
    ["poisoned", "event", false, ["suspect mer_1", "quarantine event"], []],
    // a database that goes away is not the row's fault: it stays for a later wake-up
    ["poisoned", "event", true, ["suspect mer_1"], []],
    ["locked", "command", false, ["suspect mer_1", "pause mer_1 1 50"], []],
    ["locked", "event", false, ["suspect mer_1", "pause mer_1 1 50"], []],
    ["transient", "command", false, [], ["overloaded"]],
    ["transient", "event", false, [], []],
  ];
  for (const [kind, sort, isConnectionError, did, answers] of rows) {
    told.length = 0;
    const work = new Map([["mer_1", [sort === "event" ? event : command()]]]);
    assertEquals(await recovered(kind, work, isConnectionError), did, `${kind} ${sort}`);
    assertEquals(told, answers, `${kind} ${sort}`);
  }
});

Deno.test("a merchant with many messages that fail keeps others for a few of them at a time", async () => {
  const commands = Array.from(
    { length: 100 },
    () => new QueuedCommand(reserveCommand(), 0, () => {}),
  );
  const did = await recovered("poisoned", new Map([["mer_1", commands]]), false);
  assertEquals(did, ["suspect mer_1", "give back mer_1 68", "quarantine command"]);
  assertEquals(commands.filter(({ isAnswered }) => isAnswered).length, 32);
});
