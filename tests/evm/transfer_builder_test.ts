import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import type { Envelope } from "../../chains/chain.ts";
import { addressOfPublicKey, evmAddress } from "../../chains/evm/address.ts";
import { envelopeTerms } from "../../chains/evm/pay/envelope.ts";
import { readTerms } from "../../chains/evm/pay/signed_terms.ts";
import { createEvmTransferBuilder } from "../../chains/evm/pay/transfer_builder.ts";
import type { Intent } from "../../chains/signer.ts";
import { amountOf, fromTokenUnits, toTokenUnits } from "../../ledger/money/amount.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { testNeeding } from "../support/permissions.ts";

const USDT = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
/** The other library looks at the environment when it is loaded. */
const test = testNeeding({ env: true });
const CHAIN_IDS = { ETH: 1, SEP: 11_155_111, BNB: 56, tBNB: 97 } as const;
type EvmNetwork = keyof typeof CHAIN_IDS;
const KEY = new Uint8Array(32).fill(7);
const RECEIVER = "0x52908400098527886E0F7030069857D2E4169EE7";

function builderOf(network: EvmNetwork, feeCap = "1000") {
  return createEvmTransferBuilder({
    network,
    chainId: CHAIN_IDS[network],
    contracts: { USDT, USDC },
    feeCap: amountOf(feeCap),
  });
}

function intentOf(over: Partial<Intent> & { readonly network: Network }): Intent {
  return {
    outgoingId: "out_1",
    kind: "payout",
    currency: "USDT",
    amount: amountOf("12.5"),
    destination: RECEIVER,
    destinationIndex: null,
    isDestinationClosed: false,
    wallet: "hot",
    payer: "hot",
    status: "queued",
    nonce: null,
    usedNonces: [],
    ...over,
  };
}

function envelopeOf(over: Partial<Envelope> = {}): Envelope {
  const fields = envelopeTerms({
    gas: 90_000,
    maxFeePerGas: 30_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  });
  return { network: "ETH", fields, diesAfter: null, nonce: 7, expiresAt: null, ...over };
}

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const cases = fc.record({
  network: fc.constantFrom<EvmNetwork>("ETH", "SEP", "BNB", "tBNB"),
  currency: fc.constantFrom("USDT", "USDC", "native"),
  // units up to what a 6-decimal amount can hold in the engine's numbers
  units: fc.bigInt({ min: 1n, max: 10n ** 18n }),
  key: bytes32.filter((bytes) => bytes.some((byte) => byte > 0) && (bytes[0] as number) < 0xff),
  to: fc.uint8Array({ minLength: 20, maxLength: 20 }),
  nonce: fc.nat({ max: 2 ** 31 }),
  gas: fc.integer({ min: 21_000, max: 30_000_000 }),
  tip: fc.bigInt({ min: 0n, max: 10n ** 12n }),
  base: fc.bigInt({ min: 0n, max: 10n ** 13n }),
  isCancel: fc.boolean(),
});

test("every signed transfer is byte for byte the one that another library signs", async () => {
  const { Interface, Transaction, Wallet } = await import("ethers");
  const ERC20 = new Interface(["function transfer(address to, uint256 value)"]);
  fc.assert(
    fc.property(cases, ({ network, currency, units, key, to, nonce, gas, tip, base, isCancel }) => {
      const destination = evmAddress(`0x${bytesToHex(to)}`);
      fc.pre(destination !== null && destination !== USDT && destination !== USDC);
      const builder = builderOf(network, "1000000");
      const wallet = new Wallet(`0x${bytesToHex(key)}`);
      const envelope = envelopeOf({
        network,
        nonce,
        fields: envelopeTerms({ gas, maxFeePerGas: base + tip, maxPriorityFeePerGas: tip }),
      });
      assertEquals(builder.envelopeFault(envelope, 0), null);
      const signingKey = { address: wallet.address, privateKey: key };
      const decimals =
        currency === "native" || CHAIN_IDS[network] === 56 || CHAIN_IDS[network] === 97 ? 18 : 6;
      const amount = fromTokenUnits(units, decimals);
      const intent = intentOf({
        network,
        currency: currency as Intent["currency"],
        amount,
        destination: destination as string,
      });
      assertEquals(builder.intentFault(intent), null);
      assert(builder.ends.by === "nonce");
      const signed = isCancel
        ? builder.ends.cancel(envelope, signingKey)
        : builder.sign([intent], envelope, () => signingKey, "");
      const call = isCancel
        ? { to: wallet.address, value: 0n, data: "0x" }
        : currency === "native"
        ? { to: destination, value: units, data: "0x" }
        : {
          to: currency === "USDT" ? USDT : USDC,
          value: 0n,
          data: ERC20.encodeFunctionData("transfer", [destination, units]),
        };
      const other = Transaction.from({
        type: 2,
        chainId: CHAIN_IDS[network],
        nonce,
        gasLimit: gas,
        maxFeePerGas: base + tip,
        maxPriorityFeePerGas: tip,
        ...call,
      });
      other.signature = wallet.signingKey.sign(other.unsignedHash);
      assertEquals<unknown>(signed, {
        txid: other.hash,
        bytes: other.serialized,
        expiresAt: null,
      });
      assertEquals(Transaction.from(signed.bytes).from, wallet.address);
      assertEquals(readTerms(signed.bytes), {
        nonce,
        gas: BigInt(gas),
        maxFeePerGas: base + tip,
        maxPriorityFeePerGas: tip,
        value: call.value,
      });
      assertEquals(toTokenUnits(amount, decimals), units);
    }),
    { numRuns: 1_000, seed: 20_261_126 },
  );
});

Deno.test("an envelope without a nonce, with an expiry, or dearer than the cap is not signed", () => {
  const { envelopeFault } = builderOf("ETH", "0.0027");
  const fields = envelopeOf().fields;
  const rows: readonly (readonly [Partial<Envelope>, string | null])[] = [
    [{}, null],
    [{ nonce: null }, "its envelope has no nonce: null"],
    [{ nonce: -1 }, "its envelope has no nonce: -1"],
    [{ nonce: 1.5 }, "its envelope has no nonce: 1.5"],
    [{ diesAfter: 5 }, "its envelope has an expiry"],
    [{ expiresAt: 5 }, "its envelope has an expiry"],
    // 90,000 gas at 30 gwei are 0.0027: the cap itself is allowed, a wei more for each is not
    [{ fields: { ...fields, maxFeePerGas: "30000000001" } }, "its envelope costs more"],
    [{ fields: { ...fields, gas: 90_001 } }, "its envelope costs more"],
    [
      { fields: { ...fields, maxPriorityFeePerGas: "30000000001" } },
      "its tip is more than what it may cost",
    ],
    [{ fields: { ...fields, gas: 20_999 } }, "its envelope is malformed"],
    [{ fields: { ...fields, maxFeePerGas: "1e3" } }, "its envelope is malformed"],
    [{ fields: { ...fields, maxFeePerGas: 30 } }, "its envelope is malformed"],
    [{ fields: { ...fields, to: RECEIVER } }, "its envelope is malformed"],
    [{ fields: {} }, "its envelope is malformed"],
  ];
  for (const [over, expected] of rows) {
    const fault = envelopeFault(envelopeOf(over), 0);
    const told = fault?.replace(/^it may cost too much.*/, "its envelope costs more")
      .replace(/^(its envelope is malformed).*/, "$1") ?? null;
    assertEquals(told, expected, JSON.stringify(over));
  }
});

Deno.test("an intent that the network cannot pay exactly, or to where nothing comes back, is not signed", () => {
  const { intentFault } = builderOf("ETH");
  const faulty = (over: Partial<Intent>) => intentFault(intentOf({ network: "ETH", ...over }));
  assertEquals(faulty({}), null);
  assertEquals(faulty({ destination: RECEIVER.toLowerCase() })?.includes("one spelling"), true);
  assertEquals(faulty({ destination: `0x${"0".repeat(40)}` })?.includes("no address"), true);
  assertEquals(faulty({ destination: `0x${"0".repeat(38)}ff` })?.includes("no address"), true);
  assertEquals(faulty({ destination: USDC }), "its destination is the token's own contract");
  assertEquals(faulty({ amount: amountOf("0.0000001") })?.includes("6 decimals"), true);
  assertEquals(faulty({ amount: amountOf("0") })?.includes("not above zero"), true);
  assertEquals(faulty({ kind: "delegation", currency: "native" })?.includes("no stake"), true);
  const bare = createEvmTransferBuilder({
    network: "ETH",
    chainId: 1,
    contracts: { USDT },
    feeCap: amountOf("1"),
  });
  assertEquals(
    bare.intentFault(intentOf({ network: "ETH", currency: "USDC" })),
    "USDC has no contract on ETH",
  );
});

Deno.test("a transfer of nothing has the gas of one and authorises nothing, and the most that it burns is told", () => {
  const { ends } = builderOf("ETH");
  if (ends.by !== "nonce") throw new Error("It counts no nonces");
  const prices = { maxFeePerGas: 30_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  const plain = envelopeOf({ fields: envelopeTerms({ gas: 21_000, ...prices }) });
  assertEquals(ends.cancelFault(plain), null);
  assertEquals(ends.mostOf(plain), amountOf("0.00063"));
  assertStringIncludes(ends.cancelFault(envelopeOf()) ?? "", "uses 21000 gas: 90000");
  const authorize = envelopeOf({
    fields: envelopeTerms({ gas: 21_000, ...prices, authorize: "0:1" }),
  });
  assertStringIncludes(ends.cancelFault(authorize) ?? "", "authorises nothing");
  const key = { address: addressOfPublicKey(secp256k1.getPublicKey(KEY)), privateKey: KEY };
  const { txid, bytes } = ends.cancel(plain, key);
  assertEquals(ends.cancel(plain, key).bytes, bytes, "the same terms are the same bytes");
  assertEquals(ends.signedBy(bytes), { txid, sender: key.address, nonce: 7, movesNothing: true });
  assertEquals(ends.signedBy(bytes.slice(0, -2)), null);
  const other = builderOf("BNB").ends;
  assertEquals(other.by === "nonce" ? other.signedBy(bytes) : "", null, "of another chain");
});
