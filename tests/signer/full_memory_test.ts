/**
 * The room that a signer has for new nonces once it has started again: what its files hold may be more than it remembered before,
 * and it knows of no intent any more that it has ended.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { type NonceSignature, PinnedNonces } from "../../chains/signer/pinned_nonces.ts";
import { NUMBERED, open } from "./support/numbered_desk.ts";

const PASSES = "may be signed";

/** Nonces of an earlier run, as its files have them, each of an intent of its own. */
function keptOf(count: number): readonly NonceSignature[] {
  return Array.from({ length: count }, (_, nonce): NonceSignature => ({
    network: "ETH",
    intents: [{ outgoingId: `out_${nonce}`, details: "payout" }],
    end: { by: "nonce", payer: "hot", nonce, purpose: "pay" },
    signed: { txid: `txid of ${nonce}`, bytes: "{}", expiresAt: null },
  }));
}

/** A signer that starts with these nonces, of whose intents some still live. */
function startWith(
  kept: readonly NonceSignature[],
  most: number,
  isLiving: (n: number) => boolean,
) {
  const nonces = new PinnedNonces(kept, { most });
  const run = open(NUMBERED, { nonces });
  for (const { end: { nonce }, intents: [intent] } of kept) {
    run.intents.set(intent?.outgoingId ?? "", { status: isLiving(nonce) ? "signed" : "final" });
  }
  return { nonces, ...run };
}

Deno.test("a signer that starts with more nonces than it may remember gives new ones at once, as far as intents have ended", async () => {
  const kept = keptOf(5_500);
  const { nonces, intents, ask, judge } = startWith(kept, 2_500, (nonce) => nonce < 2_000);
  intents.set("out_new", {});
  assertEquals(await judge(["out_new"]), [PASSES]);
  await ask(["out_new"], 5_500);
  const left = kept.filter(({ end: { nonce } }) => nonces.has(`ETH/hot/${nonce}`));
  assertEquals(
    left.filter(({ end: { nonce } }) => nonce < 2_000).length,
    2_000,
    "none is forgotten whose intents may be paid with it",
  );
});

Deno.test("while there is no room each call asks for further intents, in turn", async () => {
  const { intents, desk, judge } = startWith(keptOf(15_000), 1_000, (nonce) => nonce < 900);
  intents.set("out_new", {});
  assertStringIncludes((await judge(["out_new"]))[0] ?? "", "too many nonces");
  assertEquals(desk.reads, 11, "one call asks a bounded number of questions");
  assertEquals(await judge(["out_new"]), [PASSES]);
});

Deno.test("where no intent has ended, one call asks for each of them once", async () => {
  const { intents, desk, judge } = startWith(keptOf(2_500), 2_500, () => true);
  intents.set("out_new", {});
  assertStringIncludes((await judge(["out_new"]))[0] ?? "", "too many nonces");
  assertEquals(desk.reads, 4);
  for (const id of ["out_2400", "out_2499"]) intents.set(id, { status: "void" });
  assertEquals(await judge(["out_new"]), [PASSES]);
});
