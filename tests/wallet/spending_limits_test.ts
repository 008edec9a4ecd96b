import { assertEquals } from "@std/assert";
import type { Intent } from "../../chains/signer.ts";
import { SignedMemory } from "../../chains/signer/signed_memory.ts";
import { committed } from "../../chains/signer/stored_signature.ts";
import { SpendingLimits } from "../../chains/signer/signing_rules.ts";
import { amount } from "../support/books.ts";

const HOUR_MS = 3_600_000;
/** The last minute of an hour. */
const NOW = 480_000 * HOUR_MS + 59 * 60_000;

const intent: Intent = {
  outgoingId: "out_1",
  kind: "payout",
  network: "TRX",
  currency: "USDT",
  amount: amount("10"),
  destination: "T",
  destinationIndex: null,
  isDestinationClosed: false,
  wallet: "hot",
  payer: "hot",
  status: "queued",
  nonce: null,
  usedNonces: [],
};

Deno.test("what was signed away counts for 24 whole hours: the cap of the day may be too narrow, never too wide", () => {
  const limits = new SpendingLimits({ "USDT/TRX": { perDay: amount("15") } });
  limits.count([intent], NOW);
  const after = (ms: number) => limits.fault([intent], NOW + ms);
  assertEquals(after(0), "more than 15 per day");
  assertEquals(after(24 * HOUR_MS - 1), "more than 15 per day");
  assertEquals(after(24 * HOUR_MS), "more than 15 per day");
  assertEquals(after(25 * HOUR_MS), null);
});

Deno.test("a signature commits to all that it pays by: with any of it changed it is another one", () => {
  const memory = new SignedMemory();
  const signed = { txid: "aa", bytes: "{}", expiresAt: NOW + 60_000 };
  const end = { by: "time", at: NOW + 60_000 } as const;
  memory.remember({ network: "TRX", intents: [committed(intent)], end, signed });
  memory.pass("TRX", NOW);
  assertEquals(memory.find([committed(intent)]), signed);
  const changes: readonly Partial<Intent>[] = [
    { network: "TRX_SHASTA" },
    { kind: "settlement" },
    { currency: "USDC" },
    { amount: amount("10.000001") },
    { destination: "U" },
    { wallet: 7 },
  ];
  for (const change of changes) {
    const found = memory.find([committed({ ...intent, ...change })]);
    assertEquals(found, "changed", Object.keys(change)[0]);
  }
});
