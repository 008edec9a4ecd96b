import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { SignedMemory } from "../../chains/signer/signed_memory.ts";
import { LIFETIME_MS } from "../../chains/tron/terms.ts";
import { openDesk, OWN, refusalOf, signedOf, START } from "./support/desk.ts";

const SECOND = 1_000;

Deno.test("at one instant no choice of blocks gets a second live signature for a payment", async () => {
  const desk = openDesk();
  const first = signedOf(await desk.ask(START - 290 * SECOND));
  const later = [];
  for (const seconds of [11, 60, 61, 312, 599, -290]) {
    later.push(await desk.ask(START + seconds * SECOND));
  }
  for (const answer of later) {
    assert("refused" in answer || answer.signed.txid === first.txid, JSON.stringify(answer));
  }
});

Deno.test("as the clock goes on, a payment gets a new signature only when no other one lives", async () => {
  const desk = openDesk();
  const expiries = new Map<string, number>();
  const offsets = [-599, -290, -60, -1, 0, 11, 59, 60, 61, 312].map((seconds) => seconds * SECOND);
  for (let step = 0; step < 90; step++) {
    desk.now = START + step * 10 * SECOND;
    // another order at every step
    for (const place of offsets.keys()) {
      const answer = await desk.ask(desk.now + (offsets[(place + step) % offsets.length] ?? 0));
      if ("refused" in answer) continue;
      const signed = signedOf(answer);
      expiries.set(signed.txid, signed.expiresAt);
      // a block that takes it may be on its way for a while
      const live = [...expiries.values()].filter((expiresAt) => expiresAt + 30 * SECOND > desk.now);
      assert(live.length <= 1, `${live.length} live signatures ${step * 10} s after the first`);
    }
  }
  assert(expiries.size > 1, "an expired signature must not keep a payment for ever");
});

Deno.test("a block up to a minute ahead of the clock is signed on, a later one is refused", async () => {
  const desk = openDesk();
  signedOf(await desk.ask(START + 60 * SECOND));
  const refused = refusalOf(await desk.ask(START + 60 * SECOND + 1, "out_2"));
  assertStringIncludes(refused ?? "", "bad-envelope");
  assertStringIncludes(refused ?? "", "60001 ms ahead of the signer's clock");
});

Deno.test("a signature that is over by its block, but not by the clock, is not followed by another", async () => {
  const desk = openDesk();
  const first = signedOf(await desk.ask(START - 290 * SECOND));
  desk.now = first.expiresAt + 29 * SECOND;
  const early = await desk.ask(first.expiresAt);
  assertStringIncludes(refusalOf(early) ?? "", "not-queued: Cannot sign out_1 as by the signer's");
  desk.now += SECOND;
  assertNotEquals(signedOf(await desk.ask(first.expiresAt)).txid, first.txid);
});

Deno.test("a signature that is over by the clock, but not by the chain, is given again", async () => {
  const desk = openDesk();
  const first = signedOf(await desk.ask(START - 60 * SECOND));
  desk.now = first.expiresAt + 120 * SECOND;
  assertEquals(signedOf(await desk.ask(first.expiresAt - 1)), first);
});

Deno.test("where blocks are made on demand, the chain alone ends a signature", async () => {
  const desk = openDesk({}, null);
  const first = signedOf(await desk.ask(5_000_000));
  desk.now += 10 * LIFETIME_MS;
  assertEquals(signedOf(await desk.ask(first.expiresAt - 1)), first);
  const second = signedOf(await desk.ask(first.expiresAt));
  assertNotEquals(second.txid, first.txid);
  assertEquals(signedOf(await desk.ask(START * 2)).expiresAt, START * 2 + LIFETIME_MS);
});

Deno.test("a kind that changed after it was signed is not signed again while that lives", async () => {
  const desk = openDesk();
  desk.intent = {
    ...desk.intent,
    kind: "delegation",
    currency: "native",
    destination: OWN.address,
    destinationIndex: OWN.index,
    isDestinationClosed: false,
  };
  signedOf(await desk.ask(START));
  desk.intent = { ...desk.intent, kind: "reclaim" };
  assertStringIncludes(refusalOf(await desk.ask(START)) ?? "", "other details were signed");
});

Deno.test("no live signature is forgotten to make room for others", async () => {
  const desk = openDesk({ memory: new SignedMemory([], 2) });
  const first = signedOf(await desk.ask(START, "out_1"));
  signedOf(await desk.ask(START, "out_2"));
  const full = refusalOf(await desk.ask(START, "out_3"));
  assertStringIncludes(full ?? "", "over-limit: Cannot sign out_3 as too many signatures");
  assertEquals(signedOf(await desk.ask(START + 3 * SECOND, "out_1")), first);
  // a block that has passed them makes room
  desk.now = START + LIFETIME_MS + 60 * SECOND;
  assert(refusalOf(await desk.ask(desk.now - 57 * SECOND, "out_3")) !== null);
  signedOf(await desk.ask(desk.now - 57 * SECOND, "out_3"));
});

/** A signature that ends at the beginning, or a millisecond later. */
function expiring(n: number) {
  const at = START + n % 2;
  return {
    network: "TRX",
    intents: [{ outgoingId: `out_${n}`, details: "TRX|payout" }],
    end: { by: "time", at },
    signed: { txid: `tx_${n}`, bytes: "{}", expiresAt: at },
  } as const;
}

Deno.test("what expired is forgotten by and by, without being asked for", () => {
  const memory = new SignedMemory();
  for (let n = 0; n < 5_000; n++) {
    memory.remember(expiring(n));
  }
  memory.pass("TRX_SHASTA", START + 1);
  memory.sweep();
  assertEquals([memory.hasTxid("tx_0"), memory.hasTxid("tx_1")], [true, true]);
  memory.pass("TRX", START);
  memory.pass("TRX", START - 1);
  for (let n = 5_000; n < 10_000; n++) {
    memory.remember(expiring(n));
  }
  memory.sweep();
  assertEquals([memory.hasTxid("tx_0"), memory.hasTxid("tx_1")], [false, true]);
});
