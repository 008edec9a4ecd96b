import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { openSignedJournal, type SignedJournal } from "../../chains/signer/signed_journal.ts";
import type { StoredSignature } from "../../chains/signer/stored_signature.ts";
import { SpendingLimits, type SpentHours } from "../../chains/signer/signing_rules.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { LIFETIME_MS } from "../../chains/tron/terms.ts";
import { testNeeding } from "../support/permissions.ts";
import { requestOf } from "../support/sign_request.ts";
import { envelopeAt, openDesk, refusalOf, signedOf, START } from "./support/desk.ts";

const test = testNeeding({ read: true, write: true });

const LIMITS = { "USDT/TRX": { perDay: amountOf("1000") } } as const;

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The journal's files, oldest first. */
async function filesOf(folder: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  return names.sort();
}

/** A signer on a journal. */
function deskOn(journal: SignedJournal, spending = new SpendingLimits(LIMITS)) {
  return openDesk({
    spending,
    memory: journal.memory,
    persistSigned: (batch) => journal.append(batch),
  });
}

/** A signature as the journal takes it. */
function signature(
  n: number,
  changes: { readonly txid?: string; readonly bytes?: string; readonly expiresAt?: number } = {},
): StoredSignature {
  const signed = { txid: `tx_${n}`, bytes: `{"n":${n}}`, expiresAt: START + n, ...changes };
  const intents = [{ outgoingId: `out_${n}`, details: "TRX|payout" }];
  return { network: "TRX", intents, end: { by: "time", at: signed.expiresAt }, signed };
}

test("a signer that starts again gives the very bytes of before, and counts them once", () =>
  inFolder(async (folder) => {
    const journal = await openSignedJournal(folder);
    const spending = new SpendingLimits(LIMITS);
    const desk = deskOn(journal, spending);
    const requests = ["out_1", "out_2"].map((id) => requestOf(id, envelopeAt(START - 60_000)));
    const before = await desk.signer.sign(requests);
    // as after a kill: nothing is closed in order
    const next = await openSignedJournal(folder);
    const again = deskOn(next, spending);
    again.now = START + 60_000;
    assertEquals(signedOf(await again.ask(START)), signedOf(before[0]));
    assertEquals(await again.signer.sign(requests), before);
    assertEquals(spending.sums(again.now), { "USDT/TRX": "25" });
    again.intent = { ...again.intent, amount: amountOf("13") };
    assertStringIncludes(refusalOf(await again.ask(START)) ?? "", "other details were signed");
    for (const one of [journal, next]) one.close();
  }));

test("a batch is one write, and only its owner may read it", () =>
  inFolder(async (folder) => {
    const journal = await openSignedJournal(folder);
    const batches: number[] = [];
    const desk = openDesk({
      memory: journal.memory,
      persistSigned: (batch) => {
        batches.push(batch.length);
        return journal.append(batch);
      },
    });
    const requests = Array.from({ length: 20 }, (_, n) => requestOf(`out_${n}`, envelopeAt(START)));
    await desk.signer.sign(requests);
    await desk.signer.sign(requests);
    journal.close();
    assertEquals(batches, [20]);
    const [name] = await filesOf(folder);
    const { mode } = await Deno.stat(`${folder}/${name}`);
    assertEquals((mode ?? 0) & 0o777, 0o600);
    const text = await Deno.readTextFile(`${folder}/${name}`);
    assertEquals(text.split("\n").length, 2);
  }));

test("no signature leaves before it is durable, not even at the second attempt", async () => {
  const kept: string[][] = [];
  let isBroken = true;
  const desk = openDesk({
    persistSigned: (batch) => {
      if (isBroken) return Promise.reject(new Error("no space left"));
      kept.push(batch.flatMap(({ intents }) => intents.map(({ outgoingId }) => outgoingId)));
      return Promise.resolve();
    },
  });
  await assertRejects(() => desk.ask(START), Error, "no space left");
  await assertRejects(() => desk.ask(START), Error, "no space left");
  await assertRejects(() => desk.ask(START, "out_2"), Error, "no space left");
  isBroken = false;
  signedOf(await desk.ask(START));
  // the other one was not even made while the first could not be kept
  assertEquals(kept, [["out_1"]]);
  signedOf(await desk.ask(START, "out_2"));
  assertEquals(kept, [["out_1"], ["out_2"]]);
});

test("a signature is durable only after the sum that counts it", async () => {
  const events: string[] = [];
  const writing: PromiseWithResolvers<void>[] = [];
  const sums = (spent: SpentHours) => Object.values(spent["USDT/TRX"] ?? {}).join();
  const desk = openDesk({
    spending: new SpendingLimits(LIMITS),
    persistSpent: async (spent) => {
      const turn = Promise.withResolvers<void>();
      writing.push(turn);
      await turn.promise;
      events.push(`sum ${sums(spent)}`);
    },
    persistSigned: (batch) => {
      events.push(...batch.flatMap(({ intents }) => intents.map(({ outgoingId }) => outgoingId)));
      return Promise.resolve();
    },
  });
  const first = desk.ask(START, "out_1");
  while (writing.length === 0) await new Promise((resolve) => setTimeout(resolve));
  // signed while the sum of the first is on its way to the disk
  const second = desk.ask(START, "out_2");
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve));
  writing[0]?.resolve();
  signedOf(await first);
  while (writing.length === 1) await new Promise((resolve) => setTimeout(resolve));
  writing[1]?.resolve();
  signedOf(await second);
  assertEquals(events, ["sum 12.5", "out_1", "sum 25", "out_2"]);
  const broken = openDesk({
    persistSpent: () => Promise.reject(new Error("no space left")),
    persistSigned: () => Promise.reject(new Error("the sum is not durable yet")),
  });
  await assertRejects(() => broken.ask(START), Error, "no space left");
});

test("what a crash cut off is nobody's; what stands before it is kept, and more follows", () =>
  inFolder(async (folder) => {
    const journal = await openSignedJournal(folder);
    await journal.append([signature(1), signature(2)]);
    await journal.append([signature(3)]);
    journal.close();
    const [name] = await filesOf(folder);
    const path = `${folder}/${name}`;
    await Deno.writeTextFile(path, (await Deno.readTextFile(path)).slice(0, -10));
    const next = await openSignedJournal(folder);
    await next.append([signature(4)]);
    next.close();
    const { memory } = await openSignedJournal(folder);
    assertEquals([1, 2, 3, 4].map((n) => memory.hasTxid(`tx_${n}`)), [true, true, false, true]);
  }));

const GOOD = JSON.stringify([signature(1)]);
const damaged: Record<string, string> = {
  "an empty line": "\n",
  "a line cut off in the middle of the file": `${GOOD.slice(0, -1)}\n${GOOD}\n`,
  "zeros": "\0\0\0\n",
  "a batch of nothing": "[]\n",
  "a signature without its details": '[{"outgoingId":"out_1"}]\n',
  "an expiry that is no time": `${GOOD.replace(String(START + 1), "-1")}\n`,
  "a network that nobody knows": `${GOOD.replace('"TRX"', '"MOON"')}\n`,
};
for (const [what, text] of Object.entries(damaged)) {
  test(`a file of what was signed with ${what} stops the signer`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/signed-000001.jsonl`, text);
      const error = await assertRejects(() => openSignedJournal(folder), Error, "is damaged");
      assertStringIncludes(error.message, `${folder}/signed-000001.jsonl`);
      assertStringIncludes(error.message, "ten minutes after the last signature");
    }));
}

test("files are deleted once everything in them has expired, in whatever life", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/spent.json`, "{}");
    const journal = await openSignedJournal(folder, { fill: 2 });
    await journal.append([signature(1), signature(5)]);
    await journal.append([signature(2), signature(3)]);
    journal.close();
    const next = await openSignedJournal(folder, { fill: 2 });
    await next.append([signature(6), signature(7)]);
    next.memory.pass("TRX_SHASTA", START + 5);
    next.memory.pass("TRX", START + 4);
    await next.append([signature(8), signature(9)]);
    const kept = ["signed-000001.jsonl", "signed-000003.jsonl", "signed-000004.jsonl"];
    assertEquals(await filesOf(folder), [...kept, "spent.json"]);
    next.memory.pass("TRX", START + 8);
    await next.append([signature(10)]);
    next.close();
    assertEquals(
      await filesOf(folder),
      ["signed-000004.jsonl", "signed-000005.jsonl", "spent.json"],
    );
  }));

test("after a write that failed the same batch is written to a file of its own", () =>
  inFolder(async (folder) => {
    const state = `${folder}/state`;
    await Deno.mkdir(state);
    const journal = await openSignedJournal(state);
    await Deno.remove(state);
    await assertRejects(() => journal.append([signature(1)]), Deno.errors.NotFound);
    await Deno.mkdir(state);
    await journal.append([signature(1)]);
    journal.close();
    assertEquals((await openSignedJournal(state)).memory.hasTxid("tx_1"), true);
  }));

test("a payment that is signed anew after its expiry is remembered as that", () =>
  inFolder(async (folder) => {
    const journal = await openSignedJournal(folder);
    const desk = deskOn(journal);
    const first = signedOf(await desk.ask(START - 60_000));
    desk.now = START + LIFETIME_MS + 60_000;
    const second = signedOf(await desk.ask(first.expiresAt));
    journal.close();
    const again = deskOn(await openSignedJournal(folder));
    again.now = desk.now;
    assertEquals(signedOf(await again.ask(first.expiresAt)), second);
    assertEquals(second.txid === first.txid, false);
  }));
