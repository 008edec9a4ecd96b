/**
 * The signer's rules for transactions of several intents, and for those that a nonce ends.
 *
 * @module
 */

import { assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import type { SignerOptions } from "../../chains/signer/create_signer.ts";
import { PinnedNonces } from "../../chains/signer/pinned_nonces.ts";
import { openSignedJournal } from "../../chains/signer/signed_journal.ts";
import { SpendingLimits } from "../../chains/signer/signing_rules.ts";
import { amount } from "../support/books.ts";
import { testNeeding } from "../support/permissions.ts";
import { refusalOf } from "./support/desk.ts";
import {
  BY_HEIGHT,
  DAY_MS,
  NUMBERED,
  open,
  PAYOUT,
  START,
  SWEEP,
  txidOf,
} from "./support/numbered_desk.ts";

const test = testNeeding({ read: true, write: true });

for (
  const [what, changes, refused] of [
    ["payouts", [{}, {}], "not-together"],
    ["sweeps that their addresses pay for", [
      { ...SWEEP, payer: 1 },
      { ...SWEEP, wallet: 2, payer: 2 },
    ], "not-together"],
    ["a sweep and a payout", [SWEEP, {}], "not-together"],
    ["sweeps of two networks", [SWEEP, { ...SWEEP, network: "BNB" }], "wrong-network"],
    ["one that is not queued", [SWEEP, { ...SWEEP, status: "void" }], "not-queued"],
    ["one that goes elsewhere", [SWEEP, { ...SWEEP, destination: "thief" }], "wrong-destination"],
    ["one that was never committed", [SWEEP], "unknown-intent"],
  ] as const
) {
  Deno.test(`each intent of a transaction is checked, and it carries no ${what}`, async () => {
    const { intents, ask } = open(NUMBERED);
    for (const [n, change] of changes.entries()) intents.set(`out_${n}`, change);
    assertStringIncludes(refusalOf(await ask(["out_0", "out_1"], 0)) ?? "", refused);
  });
}

Deno.test("sweeps that the hot wallet sends share a transaction; none is in it twice", async () => {
  const { intents, ask } = open(NUMBERED);
  intents.set("out_0", SWEEP).set("out_1", { ...SWEEP, wallet: 2 });
  assertEquals(txidOf(await ask(["out_0", "out_1"], 0)), "out_0,out_1 0 at 1 ");
  assertStringIncludes(refusalOf(await ask(["out_0", "out_0"], 1)) ?? "", "named twice");
});

Deno.test("an envelope ends in the way of its network, and in no other", async () => {
  const numbered = open(NUMBERED);
  numbered.intents.set("out_1", {});
  assertStringIncludes(refusalOf(await numbered.ask(["out_1"], null)) ?? "", "has no nonce");
  const expiring = open(BY_HEIGHT);
  expiring.intents.set("out_1", {});
  assertStringIncludes(refusalOf(await expiring.ask(["out_1"], 3)) ?? "", "has a nonce");
  const cancelled = await expiring.ask(["out_1"], null, { purpose: "cancel" });
  assertStringIncludes(refusalOf(cancelled) ?? "", "counts no nonces");
});

Deno.test("a nonce that one intent got is never given to another, nor with other details", async () => {
  const { intents, ask } = open(NUMBERED);
  intents.set("out_1", {}).set("out_2", {});
  txidOf(await ask(["out_1"], 5));
  assertStringIncludes(refusalOf(await ask(["out_2"], 5)) ?? "", "wrong-nonce");
  intents.set("out_1", { amount: amount("11") });
  assertStringIncludes(refusalOf(await ask(["out_1"], 5)) ?? "", "with other details");
});

Deno.test("an intent is replaced with its nonce, queued or signed, and counts once", async () => {
  const { intents, ask, spending } = open(NUMBERED);
  intents.set("out_1", {});
  const first = txidOf(await ask(["out_1"], 5));
  assertNotEquals(txidOf(await ask(["out_1"], 5, { fee: 2 })), first);
  intents.set("out_1", { status: "signed" });
  txidOf(await ask(["out_1"], 5, { fee: 3 }));
  assertEquals(spending.sums(START), { "USDT/ETH": "10" });
  assertStringIncludes(refusalOf(await ask(["out_1"], 6)) ?? "", "not-queued");
  intents.set("out_1", { status: "final" });
  assertStringIncludes(refusalOf(await ask(["out_1"], 5)) ?? "", "not-queued");
});

Deno.test("an intent gets another nonce only when a transaction that was signed here has used the first", async () => {
  const { intents, ask, spending } = open(NUMBERED);
  intents.set("out_1", {});
  const first = txidOf(await ask(["out_1"], 5));
  for (
    const usedNonces of [
      [],
      [{ nonce: 5, txid: "of another signer" }],
      [{ nonce: 4, txid: first }],
    ]
  ) {
    intents.set("out_1", { usedNonces });
    assertStringIncludes(refusalOf(await ask(["out_1"], 6)) ?? "", "not known to be used");
  }
  intents.set("out_1", { usedNonces: [{ nonce: 5, txid: first }] });
  txidOf(await ask(["out_1"], 6));
  assertEquals(spending.sums(START), { "USDT/ETH": "20" }, "it is counted again");
  const back = refusalOf(await ask(["out_1"], 7));
  assertStringIncludes(back ?? "", "nonce 6");
});

Deno.test("a nonce is cancelled whatever became of its intents, and its cancel lets them have another", async () => {
  const { intents, ask, spending } = open(NUMBERED);
  intents.set("out_1", {});
  txidOf(await ask(["out_1"], 5));
  intents.set("out_1", { status: "void", nonce: 5 });
  const cancel = txidOf(await ask(["out_1"], 5, { purpose: "cancel" }));
  assertEquals(cancel, "cancel of own-hot 5 at 1");
  assertEquals(spending.sums(START), { "USDT/ETH": "10", "cancels/ETH": "1" });
  intents.set("out_1", { usedNonces: [{ nonce: 5, txid: cancel }] });
  txidOf(await ask(["out_1"], 6));
  // one that was promised and never signed
  intents.set("out_2", { status: "void", nonce: 7 });
  assertEquals(txidOf(await ask(["out_2"], 7, { purpose: "cancel" })), "cancel of own-hot 7 at 1");
});

/** Bytes on paper, of a transaction that the signer has not signed. */
function foreign(txid: string, sender: string, nonce: number): string {
  return JSON.stringify({ txid, sender, nonce });
}

Deno.test("a nonce that another hand is said to have used is free only by that transaction's own bytes", async () => {
  const { intents, used, ask, spending } = open(NUMBERED);
  intents.set("out_1", {});
  txidOf(await ask(["out_1"], 5));
  const place = {
    network: "ETH",
    payer: "hot",
    nonce: 5,
    txid: "foreign",
    isForeign: true,
  } as const;
  for (
    const bytes of [
      null,
      "",
      foreign("another", "own-hot", 5),
      foreign("foreign", "thief", 5),
      foreign("foreign", "own-hot", 6),
    ]
  ) {
    used.splice(0, 1, { ...place, bytes });
    assertStringIncludes(refusalOf(await ask(["out_1"], 6)) ?? "", "is not proven to be used");
  }
  used.splice(0, 1, { ...place, nonce: 4, bytes: foreign("foreign", "own-hot", 4) });
  assertStringIncludes(refusalOf(await ask(["out_1"], 6)) ?? "", "not known to be used");
  used.splice(0, 1, { ...place, bytes: foreign("foreign", "own-hot", 5) });
  txidOf(await ask(["out_1"], 6));
  assertEquals(spending.sums(START), { "USDT/ETH": "20" }, "it is counted again");
});

Deno.test("a nonce that another node's signer has used is free only by the bytes of its cancel", async () => {
  const { intents, used, ask, spending } = open(NUMBERED);
  intents.set("out_1", {});
  txidOf(await ask(["out_1"], 5));
  const use = { network: "ETH", payer: "hot", nonce: 5, txid: "other", isForeign: false } as const;
  const proof = { txid: "other", sender: "own-hot", nonce: 5, movesNothing: true };
  for (
    const [bytes, fault] of [
      [null, "is not proven to be used"],
      ["", "is not proven to be used"],
      [{ ...proof, txid: "another" }, "is not proven to be used"],
      [{ ...proof, sender: "thief" }, "is not proven to be used"],
      [{ ...proof, nonce: 6 }, "is not proven to be used"],
      [{ ...proof, movesNothing: false }, "may have paid it, by other"],
    ] as const
  ) {
    used.splice(0, 1, {
      ...use,
      bytes: typeof bytes === "object" && bytes !== null ? JSON.stringify(bytes) : bytes,
    });
    assertStringIncludes(refusalOf(await ask(["out_1"], 6)) ?? "", fault);
  }
  used.splice(0, 1, { ...use, bytes: JSON.stringify(proof) });
  txidOf(await ask(["out_1"], 6));
  assertEquals(spending.sums(START), { "USDT/ETH": "20" }, "it is counted again");
});

Deno.test("a nonce that was cancelled for other intents lets those that were given it have another", async () => {
  const { intents, used, ask } = open(NUMBERED);
  // the database has lost that it was promised to the first one
  intents.set("out_1", {}).set("out_2", { nonce: 5 });
  txidOf(await ask(["out_1"], 5));
  assertStringIncludes(refusalOf(await ask(["out_2"], 5)) ?? "", "given to other intents");
  assertStringIncludes(refusalOf(await ask(["out_1"], 6)) ?? "", "not known to be used");
  const txid = txidOf(await ask(["out_2"], 5, { purpose: "cancel" }));
  used.push({ network: "ETH", payer: "hot", nonce: 5, txid, bytes: null, isForeign: false });
  txidOf(await ask(["out_1"], 6));
});

Deno.test("a nonce that an intent's own payment has used gives it no other one, whatever the database lost", async () => {
  const { intents, used, ask } = open(NUMBERED);
  intents.set("out_1", {});
  const txid = txidOf(await ask(["out_1"], 5));
  used.push({
    network: "ETH",
    payer: "hot",
    nonce: 5,
    txid,
    bytes: foreign(txid, "own-hot", 5),
    isForeign: true,
  });
  assertStringIncludes(refusalOf(await ask(["out_1"], 6)) ?? "", `may have paid it, by ${txid}`);
});

Deno.test("a cancel is signed for the nonce that is promised to its intents, as a transfer of nothing, until they are over", async () => {
  const { intents, ask } = open(NUMBERED);
  intents.set("out_1", {}).set("out_2", { nonce: 6 });
  const cancel = { purpose: "cancel" } as const;
  assertStringIncludes(
    refusalOf(await ask(["out_1"], 5, cancel)) ?? "",
    "is not promised to out_1",
  );
  assertStringIncludes(
    refusalOf(await ask(["out_2"], 5, cancel)) ?? "",
    "is not promised to out_2",
  );
  const costly = refusalOf(await ask(["out_2"], 6, { ...cancel, gas: 90_000 }));
  assertStringIncludes(costly ?? "", "bad-envelope");
  intents.set("out_2", { nonce: 6, status: "final" });
  assertStringIncludes(refusalOf(await ask(["out_2"], 6, cancel)) ?? "", "its status is final");
  intents.set("out_2", { nonce: 6, status: "signed" });
  txidOf(await ask(["out_2"], 6, cancel));
});

Deno.test("the coin that cancels may burn is bounded in a day, for each nonce that of the dearest one", async () => {
  const { intents, ask, spending, desk } = open(NUMBERED);
  const cancel = (id: string, nonce: number, fee: number) => {
    intents.set(id, { status: "void", nonce });
    return ask([id], nonce, { purpose: "cancel", fee });
  };
  txidOf(await cancel("out_1", 5, 4));
  txidOf(await cancel("out_1", 5, 4));
  txidOf(await cancel("out_1", 5, 6));
  assertEquals(spending.sums(START), { "cancels/ETH": "6" });
  txidOf(await cancel("out_2", 6, 4));
  assertEquals(spending.sums(START), { "cancels/ETH": "10" });
  assertStringIncludes(refusalOf(await cancel("out_3", 7, 1)) ?? "", "over-limit");
  assertStringIncludes(refusalOf(await cancel("out_1", 5, 7)) ?? "", "more than 10");
  desk.now += DAY_MS + 3_600_000;
  txidOf(await cancel("out_3", 7, 1));
});

Deno.test("what payouts and coin for addresses have used up of their caps leaves cancels what they need, and cancels leave it to them", async () => {
  const spending = new SpendingLimits({
    "USDT/ETH": { perDay: amount("10") },
    "native/ETH": { perDay: amount("10") },
  });
  const { intents, ask } = open(NUMBERED, { spending });
  intents.set("out_1", {}).set("out_2", { nonce: 7 });
  intents.set("out_gas", {
    kind: "gas",
    currency: "native",
    destination: "own-1",
    destinationIndex: 1,
  });
  txidOf(await ask(["out_1"], 5));
  txidOf(await ask(["out_gas"], 6));
  assertStringIncludes(refusalOf(await ask(["out_2"], 7)) ?? "", "over-limit");
  txidOf(await ask(["out_2"], 7, { purpose: "cancel", fee: 10 }));
  assertEquals(spending.sums(START), {
    "USDT/ETH": "10",
    "native/ETH": "10",
    "cancels/ETH": "10",
  });
});

Deno.test("the same terms are answered with the same transaction, so that a lost answer costs nothing", async () => {
  const nonces = new PinnedNonces([], { most: 1 });
  const { intents, ask, spending } = open(NUMBERED, { nonces });
  intents.set("out_1", { nonce: 5 });
  const first = txidOf(await ask(["out_1"], 5));
  assertEquals(txidOf(await ask(["out_1"], 5)), first, "also where no further nonce has room");
  assertEquals(spending.sums(START), { "USDT/ETH": "10" });
});

Deno.test("a signer tells the nonces that it gave, with all that it has signed with them", async () => {
  const { intents, ask, signer } = open(NUMBERED);
  intents.set("out_1", { nonce: 5 }).set("out_2", {});
  const first = txidOf(await ask(["out_1"], 5));
  const second = txidOf(await ask(["out_1"], 5, { fee: 2 }));
  const cancel = txidOf(await ask(["out_1"], 5, { purpose: "cancel" }));
  const told = await signer.live(["out_1", "out_2", "out_x"]);
  assertEquals(
    told.map(({ outgoingIds, signed: { txid }, numbered }) => [outgoingIds, txid, numbered]),
    [first, second, cancel].map((txid) => [["out_1"], txid, {
      payer: "hot" as const,
      nonce: 5,
      purpose: txid === cancel ? "cancel" as const : "pay" as const,
    }]),
  );
});

Deno.test("a signer that has lost what it signed replaces with the nonce that is promised, and with no other", async () => {
  const { intents, ask } = open(NUMBERED);
  intents.set("out_1", { status: "signed", nonce: 5 });
  assertStringIncludes(refusalOf(await ask(["out_1"], 6)) ?? "", "not-queued");
  txidOf(await ask(["out_1"], 5));
});

Deno.test("each intent of a transaction counts against the caps", () => {
  const limits = new SpendingLimits({
    "USDT/ETH": { perTransaction: amount("15"), perDay: amount("25") },
  });
  const two = ["out_1", "out_2"].map((outgoingId) => ({ ...PAYOUT, outgoingId }));
  assertEquals(limits.fault(two, START), "more than 15 per transaction");
  limits.count(two, START);
  assertEquals(limits.sums(START), { "USDT/ETH": "20" });
  assertEquals(limits.fault(two.slice(1), START), "more than 25 per day");
});

Deno.test("where heights end it, the same bytes are given until their time has passed by the signer's clock", async () => {
  const { intents, ask, desk } = open(BY_HEIGHT);
  intents.set("out_1", SWEEP).set("out_2", { ...SWEEP, wallet: 2 });
  const first = txidOf(await ask(["out_1", "out_2"], null));
  desk.now += 149_999;
  assertEquals(txidOf(await ask(["out_1", "out_2"], null, { fee: 2 })), first);
  for (const part of [["out_1"], ["out_2", "out_1"]]) {
    assertStringIncludes(refusalOf(await ask(part, null)) ?? "", "other details were signed");
  }
  desk.now += 1;
  assertNotEquals(txidOf(await ask(["out_2"], null, { fee: 2 })), first);
});

Deno.test("a nonce is remembered until a week after its intents were found to have ended", async () => {
  const nonces = new PinnedNonces();
  const { intents, ask, desk } = open(NUMBERED, { nonces });
  intents.set("out_1", {}).set("out_2", {});
  txidOf(await ask(["out_1"], 5));
  intents.set("out_1", { status: "final" });
  for (const days of [1, 6]) {
    assertEquals(nonces.has("ETH/hot/5"), true);
    desk.now += days * DAY_MS;
    await ask(["out_2"], 6);
  }
  desk.now += DAY_MS;
  await ask(["out_2"], 6);
  assertEquals([nonces.has("ETH/hot/5"), nonces.has("ETH/hot/6")], [false, true]);
});

Deno.test("a nonce whose intents live is never forgotten to make room, one whose intents have ended is", async () => {
  const nonces = new PinnedNonces([], { most: 1 });
  const { intents, ask, desk } = open(NUMBERED, { nonces });
  intents.set("out_1", {}).set("out_2", {});
  txidOf(await ask(["out_1"], 5));
  assertStringIncludes(refusalOf(await ask(["out_2"], 6)) ?? "", "over-limit");
  intents.set("out_1", { status: "final" });
  desk.now += DAY_MS;
  txidOf(await ask(["out_2"], 6));
});

test("a signer that starts again remembers nonces, clocks and the lines of the first version", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const old = {
      outgoingId: "out_old",
      network: "ETH",
      details: "ETH|payout|USDT|10000000000000000000|stranger|hot",
      signed: { txid: "old", bytes: "{}", expiresAt: START + 60_000 },
    };
    await Deno.writeTextFile(`${folder}/signed-000001.jsonl`, `${JSON.stringify([old])}\n`);
    const parts = async (): Promise<Partial<SignerOptions>> => {
      const journal = await openSignedJournal(folder);
      const { memory, nonces } = journal;
      return {
        memory,
        nonces,
        persistSigned: (batch) => journal.append(batch).then(() => journal.close()),
      };
    };
    const first = open(NUMBERED, await parts());
    first.intents.set("out_1", {});
    txidOf(await first.ask(["out_1"], 5));
    first.intents.set("out_1", { nonce: 5 });
    const cancel = txidOf(await first.ask(["out_1"], 5, { purpose: "cancel" }));
    const next = open(NUMBERED, await parts());
    next.intents.set("out_1", {}).set("out_2", {});
    assertStringIncludes(refusalOf(await next.ask(["out_2"], 5)) ?? "", "other intents");
    assertStringIncludes(refusalOf(await next.ask(["out_1"], 6)) ?? "", "not known to be used");
    next.intents.set("out_1", { usedNonces: [{ nonce: 5, txid: cancel }] });
    txidOf(await next.ask(["out_1"], 6));
    const byHeight = open(BY_HEIGHT, await parts());
    byHeight.intents.set("out_3", {});
    const signed = txidOf(await byHeight.ask(["out_3"], null));
    const byHeightNext = open(BY_HEIGHT, await parts());
    byHeightNext.intents.set("out_3", {});
    assertEquals(txidOf(await byHeightNext.ask(["out_3"], null, { fee: 2 })), signed);
    const inTime = open(
      { by: "time", followsClock: true, blockTime: () => START },
      await parts(),
    );
    inTime.intents.set("out_old", {});
    assertEquals(txidOf(await inTime.ask(["out_old"], null)), "old");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
