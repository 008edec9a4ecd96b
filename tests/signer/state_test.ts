import { assertEquals, assertRejects } from "@std/assert";
import type { Intent, SignRequest } from "../../chains/signer.ts";
import { createSigner } from "../../chains/signer/create_signer.ts";
import { isPaused, pause, resume } from "../../chains/signer/pause_file.ts";
import { SpendingLimits, type SpentHours } from "../../chains/signer/signing_rules.ts";
import { readSpent, writeSpent } from "../../chains/signer/spent_file.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true, write: true });

const NOW = 1_750_000_000_000;
const HOUR_MS = 3_600_000;
const LIMITS = { "USDT/TRX": { perDay: amountOf("100") } } as const;

const PAYOUT: Intent = {
  outgoingId: "out_1",
  kind: "payout",
  network: "TRX",
  currency: "USDT",
  amount: amountOf("60.5"),
  destination: "stranger",
  destinationIndex: null,
  isDestinationClosed: false,
  wallet: "hot",
  payer: "hot",
  status: "queued",
  nonce: null,
  usedNonces: [],
};

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

test("what was spent is found again, and counts for a day", () =>
  inFolder(async (folder) => {
    const file = `${folder}/spent.json`;
    assertEquals(await readSpent(file), {});
    const first = new SpendingLimits(LIMITS);
    first.count([PAYOUT], NOW);
    await writeSpent(file, first.spent(NOW));
    const second = new SpendingLimits(LIMITS, await readSpent(file));
    assertEquals(second.sums(NOW), { "USDT/TRX": "60.5" });
    assertEquals(second.fault([PAYOUT], NOW + 23 * HOUR_MS), "more than 100 per day");
    const later = new SpendingLimits(LIMITS, await readSpent(file));
    assertEquals(later.fault([PAYOUT], NOW + 25 * HOUR_MS), null);
    second.count([{ ...PAYOUT, amount: amountOf("0.000001") }], NOW);
    await writeSpent(file, second.spent(NOW));
    assertEquals(new SpendingLimits(LIMITS, await readSpent(file)).sums(NOW), {
      "USDT/TRX": "60.500001",
    });
  }));

for (const text of ["", "{", '{"USDT/TRX":{"1":"-5"}}', '{"USDT/TRX":{"1":5}}', "[]"]) {
  test(`a damaged file of what was spent stops the signer: ${text}`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/spent.json`, text);
      await assertRejects(() => readSpent(`${folder}/spent.json`), Error, "is damaged");
    }));
}

test("a pause is kept until it is lifted, and keeps its note", () =>
  inFolder(async (folder) => {
    const file = `${folder}/paused`;
    assertEquals(await isPaused(file), false);
    await pause(file, "odd payouts");
    await pause(file, "again");
    assertEquals([await isPaused(file), await Deno.readTextFile(file)], [true, "odd payouts\n"]);
    await resume(file);
    await resume(file);
    assertEquals(await isPaused(file), false);
  }));

test("where it cannot be told whether signing is paused, it is", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/file`, "");
    assertEquals(await isPaused(`${folder}/file/paused`), true);
  }));

test("no signature leaves before it is durably counted, not even at the second attempt", async () => {
  const kept: SpentHours[] = [];
  let isBroken = true;
  const signer = createSigner({
    keys: {
      walletId: "wal_1",
      key: () => ({ address: "hot", privateKey: new Uint8Array(32) }),
      address: (_, wallet) => `own-${wallet}`,
      lock: () => {},
    },
    intents: {
      read: (ids) => Promise.resolve(ids.map((outgoingId) => ({ ...PAYOUT, outgoingId }))),
      readUsed: () => Promise.resolve([]),
    },
    builders: [{
      network: "TRX",
      ends: { by: "time", followsClock: true, blockTime: () => NOW },
      envelopeFault: () => null,
      intentFault: () => null,
      sign: (intents) => ({
        txid: `tx-${intents.map(({ outgoingId }) => outgoingId)}`,
        bytes: "{}",
        expiresAt: NOW + 60_000,
      }),
    }],
    spending: new SpendingLimits(LIMITS),
    persistSpent: (spent) => {
      if (isBroken) return Promise.reject(new Error("no space left"));
      kept.push(spent);
      return Promise.resolve();
    },
    now: () => NOW,
  });
  const request: SignRequest = {
    outgoingIds: ["out_1"],
    envelope: {
      network: "TRX",
      fields: {},
      diesAfter: NOW + 60_000,
      nonce: null,
      expiresAt: NOW + 60_000,
    },
    purpose: "pay",
  };
  await assertRejects(() => signer.sign([request]), Error, "no space left");
  await assertRejects(() => signer.sign([request]), Error, "no space left");
  isBroken = false;
  const [answer] = await signer.sign([request]);
  assertEquals(answer !== undefined && "signed" in answer, true);
  const hour = Math.floor(NOW / HOUR_MS);
  assertEquals(kept, [{ "USDT/TRX": { [hour]: "60.5" } }]);
});
