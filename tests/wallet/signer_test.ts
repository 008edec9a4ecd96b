import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync } from "@scure/bip39";
import { z } from "zod";
import type { BlockRef, Envelope } from "../../chains/chain.ts";
import type { FeeEstimate } from "../../chains/fees.ts";
import type { Intent, IntentSource, SignAnswer } from "../../chains/signer.ts";
import { createSigner, type SignerOptions } from "../../chains/signer/create_signer.ts";
import { SpendingLimits } from "../../chains/signer/signing_rules.ts";
import { addressToHex } from "../../chains/tron/address.ts";
import { makeEnvelope } from "../../chains/tron/pay/envelope.ts";
import {
  createTronTransferBuilder,
  type TronTransferBuilderOptions,
} from "../../chains/tron/pay/transfer_builder.ts";
import { networkKeys, signingKey } from "../../chains/wallet/network_keys.ts";
import type { KeySource } from "../../chains/wallet/unlock_wallet.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { loadTronweb, testWithTronweb } from "../tron/support/tronweb_offline.ts";
import { requestOf } from "../support/sign_request.ts";

const MNEMONIC =
  "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const DESTINATION = "TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8";
const NOW = 1_750_000_060_000;
const tronKeys = networkKeys(HDKey.fromMasterSeed(mnemonicToSeedSync(MNEMONIC)), "TRX");

const keys: KeySource = {
  walletId: "wal_test",
  key: (network, wallet) => (network === "TRX" ? signingKey(tronKeys, network, wallet) : null),
  address: (network, wallet) => (
    network === "TRX" ? signingKey(tronKeys, network, wallet).address : null
  ),
  lock: () => {},
};
const HOT = signingKey(tronKeys, "TRX", "hot").address;
const DEPOSIT = signingKey(tronKeys, "TRX", 7).address;
/** Coin for an own deposit address. */
const GAS: Partial<Intent> = {
  kind: "gas",
  currency: "native",
  destination: DEPOSIT,
  destinationIndex: 7,
  isDestinationClosed: false,
};

/** Intents as the database would hold them. */
class Intents implements IntentSource {
  readonly rows = new Map<string, Intent>();
  reads = 0;

  read(ids: readonly string[]): Promise<readonly Intent[]> {
    this.reads += 1;
    return Promise.resolve(ids.flatMap((id) => this.rows.get(id) ?? []));
  }

  readUsed() {
    return Promise.resolve([]);
  }

  put(outgoingId: string, changes: Partial<Intent> = {}): string {
    this.rows.set(outgoingId, {
      outgoingId,
      kind: "payout",
      network: "TRX",
      currency: "USDT",
      amount: amountOf("12.5"),
      destination: DESTINATION,
      destinationIndex: null,
      isDestinationClosed: false,
      wallet: "hot",
      payer: "hot",
      status: "queued",
      nonce: null,
      usedNonces: [],
      ...changes,
    });
    return outgoingId;
  }
}

const BUILDER: TronTransferBuilderOptions = {
  network: "TRX",
  contracts: { USDT },
  longestLifetimeMs: 600_000,
  highestFeeLimitSun: 150_000_000,
  clockToleranceMs: 300_000,
};

/** A signer over intents, with what the test changes. */
function setUp(
  changes: Partial<SignerOptions> = {},
  builder: Partial<TronTransferBuilderOptions> = {},
) {
  const intents = new Intents();
  const signer = createSigner({
    keys,
    intents,
    builders: [createTronTransferBuilder({ ...BUILDER, ...builder })],
    spending: new SpendingLimits({}),
    now: () => NOW,
    ...changes,
  });
  return { intents, signer };
}

const SOLID: BlockRef = {
  height: 66_666_666,
  parentHeight: 66_666_665,
  hash: `${(66_666_666).toString(16).padStart(16, "0")}${"5e".repeat(24)}`,
  parentHash: "00".repeat(32),
  time: 1_750_000_002_000,
  tick: 1_750_000_002_000,
};
const FEE: FeeEstimate = { fee: amountOf("7"), limit: amountOf("8") };

/** An envelope as the treasury makes it. */
function envelope(solid: Partial<BlockRef> = {}, lifetimeMs = 300_000): Envelope {
  return makeEnvelope("TRX", { ...SOLID, ...solid }, FEE, lifetimeMs);
}

/** The refusal of an answer. */
function refusalOf(answer: SignAnswer | undefined): string {
  assert(answer !== undefined && "refused" in answer, "the signer must refuse");
  assertStringIncludes(answer.message, `Cannot sign ${answer.outgoingIds} as`);
  return answer.refused;
}

const signedSchema = z.object({
  txID: z.string(),
  raw_data_hex: z.string(),
  raw_data: z.object({
    expiration: z.number(),
    timestamp: z.number(),
    fee_limit: z.number().optional(),
    contract: z.array(z.object({
      parameter: z.object({ value: z.record(z.string(), z.unknown()), type_url: z.string() }),
      type: z.string(),
    })),
    ref_block_bytes: z.string(),
    ref_block_hash: z.string(),
  }),
  signature: z.array(z.string()),
  visible: z.boolean(),
});

/** The transaction of an answer. */
function signedOf(answer: SignAnswer | undefined) {
  assert(answer !== undefined && "signed" in answer, "the signer must sign");
  return { ...answer.signed, json: signedSchema.parse(JSON.parse(answer.signed.bytes)) };
}

testWithTronweb(
  "what is signed is what the intent says, to the byte that tronweb would sign",
  async () => {
    const { tronweb } = await loadTronweb();
    const { intents, signer } = setUp();
    intents.put("out_1");
    const [answer] = await signer.sign([requestOf("out_1", envelope())]);
    const { txid, expiresAt, json } = signedOf(answer);
    const { raw_data: raw } = json;
    const { transaction: theirs } = await tronweb.transactionBuilder.triggerSmartContract(
      USDT,
      "transfer(address,uint256)",
      {
        feeLimit: raw.fee_limit ?? 0,
        callValue: 0,
        txLocal: true,
        blockHeader: {
          ref_block_bytes: raw.ref_block_bytes,
          ref_block_hash: raw.ref_block_hash,
          expiration: raw.expiration,
          timestamp: raw.timestamp,
        },
      },
      [{ type: "address", value: DESTINATION }, { type: "uint256", value: "12500000" }],
      HOT,
    );
    assertEquals(json.txID, theirs.txID);
    assertEquals(json.raw_data_hex, theirs.raw_data_hex);
    assertEquals(txid, theirs.txID);
    assertEquals(raw.expiration, SOLID.time + 300_000);
    assertEquals(expiresAt, raw.expiration);
    assertEquals(await tronweb.trx.ecRecover({ ...theirs, signature: json.signature }), HOT);
  },
);

Deno.test("a deposit address signs its own sweep, in TRX as well", async () => {
  const { intents, signer } = setUp();
  intents.put("out_1", { kind: "sweep", wallet: 3, destination: HOT });
  intents.put("out_2", { ...GAS, amount: amountOf("30.000001") });
  const [sweep, gas] = await signer.sign([
    requestOf("out_1", envelope()),
    requestOf("out_2", envelope()),
  ]);
  const address = signingKey(tronKeys, "TRX", 3).address;
  const owner = signedOf(sweep).json.raw_data.contract[0]?.parameter.value["owner_address"];
  assertEquals(owner, addressToHex(address));
  const call = signedOf(gas).json.raw_data.contract[0];
  assertEquals(call?.type, "TransferContract");
  assertEquals(call?.parameter.value, {
    to_address: addressToHex(DEPOSIT),
    owner_address: addressToHex(HOT),
    amount: 30_000_001,
  });
});

Deno.test("answers come in the order of the requests, from one read of the intents", async () => {
  const { intents, signer } = setUp();
  for (const id of ["out_c", "out_a", "out_b"]) intents.put(id);
  const ids = ["out_b", "out_missing", "out_a", "out_c"];
  const answers = await signer.sign(
    ids.map((outgoingId) => requestOf(outgoingId, envelope())),
  );
  assertEquals(answers.flatMap((answer) => answer.outgoingIds), ids);
  assertEquals(intents.reads, 1);
});

Deno.test("payments alike in everything but their id are different transactions", async () => {
  const { intents, signer } = setUp();
  const ids = Array.from({ length: 200 }, (_, i) => intents.put(`out_${i}`));
  for (let i = 0; i < 20; i++) {
    ids.push(intents.put(`out_gas_${i}`, { ...GAS, amount: amountOf("1") }));
  }
  const answers = await signer.sign(
    ids.map((outgoingId) => requestOf(outgoingId, envelope())),
  );
  const signed = answers.map((answer) => signedOf(answer));
  assertEquals(new Set(signed.map(({ txid }) => txid)).size, ids.length);
  for (const { json: { raw_data: raw } } of signed) {
    assertEquals(raw.expiration, SOLID.time + 300_000);
    assert(raw.timestamp <= SOLID.time && raw.timestamp > SOLID.time - 3_600_000);
    const limit = raw.fee_limit;
    assert(limit === undefined || (limit >= 8_000_000 && limit < 8_100_000));
  }
});

const refusals: Record<string, { readonly intent?: Partial<Intent>; readonly expected: string }> = {
  "is already signed": { intent: { status: "signed" }, expected: "not-queued" },
  "is final": { intent: { status: "final" }, expected: "not-queued" },
  "is dead": { intent: { status: "dead" }, expected: "not-queued" },
  "is void": { intent: { status: "void" }, expected: "not-queued" },
  "is of another network": { intent: { network: "TRX_SHASTA" }, expected: "wrong-network" },
  "has a token without contract": { intent: { currency: "USDC" }, expected: "wrong-network" },
  "goes to no address": { intent: { destination: `${DESTINATION}x` }, expected: "wrong-network" },
  "goes to the hex form of an address": {
    intent: { destination: addressToHex(DESTINATION) },
    expected: "wrong-network",
  },
  "pays nothing": { intent: { amount: amountOf("0") }, expected: "wrong-network" },
  "pays less than nothing": { intent: { amount: amountOf("-1") }, expected: "wrong-network" },
  "would lose digits": { intent: { amount: amountOf("1.1234567") }, expected: "wrong-network" },
  "would move more TRX than a number holds": {
    intent: { currency: "native", amount: amountOf("9007199255") },
    expected: "wrong-network",
  },
};
for (const [what, { intent, expected }] of Object.entries(refusals)) {
  Deno.test(`an intent that ${what} is refused as ${expected}`, async () => {
    const { intents, signer } = setUp();
    intents.put("out_1", intent);
    const [answer] = await signer.sign([requestOf("out_1", envelope())]);
    assertEquals(refusalOf(answer), expected);
  });
}

Deno.test("an intent that nobody committed is refused, whatever the caller says", async () => {
  const { signer } = setUp();
  const [answer] = await signer.sign([requestOf("out_1", envelope())]);
  assertEquals(refusalOf(answer), "unknown-intent");
});

const sound = envelope();
const envelopes: Record<string, Envelope> = {
  "another network's": { ...sound, network: "TRX_SHASTA" },
  "two expirations": { ...sound, expiresAt: SOLID.time + 300_001 },
  "two ticks of its end": { ...sound, diesAfter: SOLID.time + 300_001 },
  "a nonce": { ...sound, nonce: 1 },
  "no end": { ...sound, diesAfter: null, expiresAt: null },
  "a life that ended before it began": envelope({}, -1),
  "a life without end": envelope({}, 24 * 60 * 60 * 1000),
  "a fee limit above the cap": {
    ...sound,
    fields: { ...sound.fields, fee_limit: 150_000_001 },
  },
  "a negative fee limit": { ...sound, fields: { ...sound.fields, fee_limit: -1 } },
  "a fee limit that is no number": { ...sound, fields: { ...sound.fields, fee_limit: "8000000" } },
  "a malformed reference": { ...sound, fields: { ...sound.fields, ref_block_bytes: "zz" } },
  "a field that nobody knows": { ...sound, fields: { ...sound.fields, destination: "T" } },
  "no fields": { ...sound, fields: {} },
  "a block long past": envelope({ time: NOW - 301_000 }),
  "a block of the future": envelope({ time: NOW + 60_001 }),
};
for (const [what, bad] of Object.entries(envelopes)) {
  Deno.test(`an envelope with ${what} is refused`, async () => {
    const { intents, signer } = setUp();
    intents.put("out_1");
    const [answer] = await signer.sign([requestOf("out_1", bad)]);
    const expected = bad.network === "TRX" ? "bad-envelope" : "no-signer";
    assertEquals(refusalOf(answer), expected);
  });
}

Deno.test("where blocks are made on demand, block time may be anything", async () => {
  const { intents, signer } = setUp({}, { clockToleranceMs: null });
  intents.put("out_1");
  const [answer] = await signer.sign([
    requestOf("out_1", envelope({ time: 5_000_000 })),
  ]);
  signedOf(answer);
});

Deno.test("a locked wallet or a paused signer signs nothing", async () => {
  const locked = setUp({ keys: { ...keys, key: () => null } });
  locked.intents.put("out_1");
  const [first] = await locked.signer.sign([requestOf("out_1", envelope())]);
  assertEquals(refusalOf(first), "locked");
  let paused = true;
  const { intents, signer } = setUp({ isPaused: () => paused });
  intents.put("out_1");
  const [second] = await signer.sign([requestOf("out_1", envelope())]);
  assertEquals(refusalOf(second), "paused");
  paused = false;
  signedOf((await signer.sign([requestOf("out_1", envelope())]))[0]);
});

Deno.test("an intent asked for twice has one live signature", async () => {
  const { intents, signer } = setUp();
  intents.put("out_1");
  const later = envelope({ height: SOLID.height + 1, time: SOLID.time + 3_000 });
  const [first] = await signer.sign([requestOf("out_1", envelope())]);
  const [second] = await signer.sign([requestOf("out_1", later)]);
  const [third, fourth] = await signer.sign([
    requestOf("out_1", later),
    requestOf("out_1", envelope()),
  ]);
  for (const answer of [second, third, fourth]) {
    assertEquals(signedOf(answer).bytes, signedOf(first).bytes);
  }
});

Deno.test("once its signature has expired, an intent gets a new one", async () => {
  const { intents, signer } = setUp({}, { clockToleranceMs: null });
  intents.put("out_1");
  const [first] = await signer.sign([requestOf("out_1", envelope())]);
  const after = envelope({ height: SOLID.height + 101, time: SOLID.time + 303_000 });
  const [second] = await signer.sign([requestOf("out_1", after)]);
  assertNotEquals(signedOf(second).txid, signedOf(first).txid);
});

Deno.test("an intent that changed after it was signed is not signed again while that lives", async () => {
  const { intents, signer } = setUp();
  intents.put("out_1");
  signedOf((await signer.sign([requestOf("out_1", envelope())]))[0]);
  intents.put("out_1", { amount: amountOf("1000") });
  const [answer] = await signer.sign([requestOf("out_1", envelope())]);
  assertEquals(refusalOf(answer), "not-queued");
});

Deno.test("limits bind one transaction and the sum of a day, and only their own asset", async () => {
  let now = NOW;
  const { intents, signer } = setUp({
    spending: new SpendingLimits({
      "USDT/TRX": { perTransaction: amountOf("100"), perDay: amountOf("150") },
    }),
    now: () => now,
  }, { clockToleranceMs: null });
  const ask = async (id: string, changes: Partial<Intent>) => {
    intents.put(id, changes);
    return (await signer.sign([requestOf(id, envelope())]))[0];
  };
  assertEquals(refusalOf(await ask("out_1", { amount: amountOf("100.000001") })), "over-limit");
  signedOf(await ask("out_2", { amount: amountOf("100") }));
  signedOf(await ask("out_2", { amount: amountOf("100") }));
  assertEquals(refusalOf(await ask("out_3", { amount: amountOf("50.000001") })), "over-limit");
  signedOf(await ask("out_4", { amount: amountOf("50") }));
  assertEquals(refusalOf(await ask("out_5", { amount: amountOf("0.000001") })), "over-limit");
  signedOf(await ask("out_6", { ...GAS, amount: amountOf("1000") }));
  now += 26 * 60 * 60 * 1000;
  signedOf(await ask("out_7", { amount: amountOf("100") }));
});

Deno.test("an intent source that fails fails the batch; nothing was signed", async () => {
  const { signer } = setUp({
    intents: {
      read: () => Promise.reject(new Error("no database")),
      readUsed: () => Promise.resolve([]),
    },
  });
  const requests = [requestOf("out_1", envelope())];
  await assertRejects(() => signer.sign(requests), Error, "no database");
});

Deno.test("an empty batch reads nothing, an enormous one is refused", async () => {
  const { intents, signer } = setUp();
  assertEquals(await signer.sign([]), []);
  assertEquals(intents.reads, 0);
  const many = Array.from({ length: 1_001 }, () => (requestOf("out", envelope())));
  await assertRejects(() => signer.sign(many), RangeError, "too large");
});
