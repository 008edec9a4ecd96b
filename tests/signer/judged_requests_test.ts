/**
 * The signer's answers to requests without a nonce: what passes can be signed with a new one, all of it together.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { PinnedNonces } from "../../chains/signer/pinned_nonces.ts";
import { amount } from "../support/books.ts";
import { DAY_MS, NUMBERED, open, SWEEP, txidOf } from "./support/numbered_desk.ts";
import { refusalOf } from "./support/desk.ts";

const PASSES = "may be signed";

Deno.test("what is judged before in the same call counts, so that all that passes can be signed", async () => {
  const { intents, judge, ask } = open(NUMBERED);
  const ids = Array.from({ length: 8 }, (_, n) => `out_${n}`);
  for (const id of ids) intents.set(id, { amount: amount(id === "out_2" ? "70" : "20") });
  const judged = await judge(...ids.map((id) => [id]));
  const passed = ids.filter((_, place) => judged[place] === PASSES);
  assertEquals(passed, ["out_0", "out_1", "out_3", "out_4", "out_5"]);
  assertStringIncludes(judged[2] ?? "", "more than 100 per day");
  assertEquals(
    await judge(...passed.map((id) => [id])),
    passed.map(() => PASSES),
    "nothing was counted",
  );
  for (const [nonce, id] of passed.entries()) txidOf(await ask([id], nonce));
  assertStringIncludes(refusalOf(await ask(["out_6"], 6)) ?? "", "more than 100 per day");
});

Deno.test("what was given a nonce that nothing else has used may have no new one", async () => {
  const { intents, judge, ask } = open(NUMBERED);
  intents.set("out_1", {});
  assertEquals(await judge(["out_1"]), [PASSES]);
  const txid = txidOf(await ask(["out_1"], 5));
  assertStringIncludes((await judge(["out_1"]))[0] ?? "", "wrong-nonce");
  intents.set("out_1", { usedNonces: [{ nonce: 5, txid }] });
  assertEquals(await judge(["out_1"]), [PASSES]);
});

Deno.test("what another hand is said to have used is proven where a new nonce is asked for, too", async () => {
  const { intents, used, judge, ask } = open(NUMBERED);
  intents.set("out_1", {});
  txidOf(await ask(["out_1"], 5));
  const bytes = JSON.stringify({ txid: "foreign", sender: "own-hot", nonce: 5 });
  const use = { network: "ETH", payer: "hot", nonce: 5, txid: "foreign", isForeign: true } as const;
  used.push({ ...use, bytes: null });
  assertStringIncludes((await judge(["out_1"]))[0] ?? "", "is not proven to be used");
  used.splice(0, 1, { ...use, bytes });
  assertEquals(await judge(["out_1"]), [PASSES]);
});

Deno.test("what another node's signer has cancelled may have a new nonce", async () => {
  const { intents, used, judge, ask } = open(NUMBERED);
  intents.set("out_1", {});
  txidOf(await ask(["out_1"], 5));
  const proof = { txid: "its cancel", sender: "own-hot", nonce: 5, movesNothing: true };
  const bytes = JSON.stringify(proof);
  used.push({
    network: "ETH",
    payer: "hot",
    nonce: 5,
    txid: "its cancel",
    bytes,
    isForeign: false,
  });
  assertEquals(await judge(["out_1"]), [PASSES]);
});

Deno.test("as many may be signed as there is room for new nonces", async () => {
  const { intents, desk, judge, ask } = open(NUMBERED, {
    nonces: new PinnedNonces([], { most: 3 }),
  });
  for (const id of ["out_0", "out_1", "out_2", "out_3"]) intents.set(id, {});
  txidOf(await ask(["out_0"], 0));
  const rest = [["out_1"], ["out_2"], ["out_3"]];
  const judged = await judge(...rest);
  assertEquals(judged.slice(0, 2), [PASSES, PASSES]);
  assertStringIncludes(judged[2] ?? "", "too many nonces");
  intents.set("out_0", { status: "final" });
  desk.now += DAY_MS;
  assertEquals(await judge(...rest), [PASSES, PASSES, PASSES]);
});

/** So many sweeps that the hot wallet sends, in one transaction. */
function sweeps(name: string): readonly string[] {
  return Array.from({ length: 20 }, (_, wallet) => `${name}_${wallet}`);
}

Deno.test("what is remembered of nonces is bounded by its length: no new one is given before replacements have no room left", async () => {
  const nonces = new PinnedNonces([], { characters: 100_000 });
  const { intents, judge, ask } = open(NUMBERED, { nonces });
  const ids = sweeps("out");
  for (const [wallet, id] of ids.entries()) intents.set(id, { ...SWEEP, wallet });
  intents.set("out_new", {});
  let fee = 1;
  const replace = () => ask(ids, 0, { fee: fee++ });
  while ((await judge(["out_new"]))[0] === PASSES) txidOf(await replace());
  // it is left for what is under way, and taken out of use
  assertEquals(fee > 20, true);
  txidOf(await replace());
  let refused: string | null = null;
  for (let tries = 0; tries < 100 && refused === null; tries++) {
    refused = refusalOf(await replace());
  }
  assertStringIncludes(refused ?? "", "too many nonces");
  assertEquals(txidOf(await ask(ids, 0, { fee: 1 })), `${ids} 0 at 1 `, "it is remembered already");
});

Deno.test("shared sweeps that have ended make room for the next ones as fast as those are signed", async () => {
  const nonces = new PinnedNonces([], { characters: 200_000 });
  const { intents, ask } = open(NUMBERED, { nonces });
  for (let nonce = 0; nonce < 300; nonce++) {
    const ids = sweeps(`out_${nonce}`);
    for (const [wallet, id] of ids.entries()) intents.set(id, { ...SWEEP, wallet });
    txidOf(await ask(ids, nonce));
    for (const [wallet, id] of ids.entries()) {
      intents.set(id, { ...SWEEP, wallet, status: "final" });
    }
  }
  assertEquals([nonces.has("ETH/hot/0"), nonces.has("ETH/hot/299")], [false, true]);
});
