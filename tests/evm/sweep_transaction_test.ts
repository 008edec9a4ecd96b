import { assert, assertEquals, assertThrows } from "@std/assert";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import fc from "fast-check";
import type { Envelope } from "../../chains/chain.ts";
import { addressOfPublicKey } from "../../chains/evm/address.ts";
import { chainIdOf } from "../../chains/evm/chain_id.ts";
import { envelopeTerms } from "../../chains/evm/pay/envelope.ts";
import { delegateOf } from "../../chains/evm/pay/sweep_delegate.ts";
import { createEvmTransferBuilder } from "../../chains/evm/pay/transfer_builder.ts";
import { authorizeOf } from "../../chains/evm/pay/transfer_transaction.ts";
import type { Intent, SigningKey } from "../../chains/signer.ts";
import { amountOf, fromTokenUnits } from "../../ledger/money/amount.ts";
import { tokenDecimals } from "../../ledger/money/pair.ts";
import { testNeeding } from "../support/permissions.ts";

const USDT = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
/** The other library looks at the environment when it is loaded. */
const test = testNeeding({ env: true });

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
  .filter((bytes) => bytes.some((byte) => byte > 0) && (bytes[0] ?? 0) < 0xff);

function keyOf(privateKey: Uint8Array): SigningKey {
  return { address: addressOfPublicKey(secp256k1.getPublicKey(privateKey)), privateKey };
}

const casesOf = (most: number) =>
  fc.record({
    network: fc.constantFrom("ETH", "SEP", "BNB", "tBNB"),
    currency: fc.constantFrom("USDT", "USDC"),
    isDevelopment: fc.boolean(),
    hot: key,
    swept: fc.array(
      fc.record({
        key,
        units: fc.bigInt({ min: 1n, max: 10n ** 18n }),
        nonce: fc.option(fc.nat({ max: 200_000 })),
      }),
      { minLength: 1, maxLength: most },
    ),
    nonce: fc.nat({ max: 2 ** 31 }),
    gas: fc.integer({ min: 21_000, max: 5_000_000 }),
    tip: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    base: fc.bigInt({ min: 0n, max: 10n ** 13n }),
  });

function intentOf(
  { network, currency, hot, amount, wallet }: {
    readonly network: Intent["network"];
    readonly currency: Intent["currency"];
    readonly hot: string;
    readonly amount: Intent["amount"];
    readonly wallet: number;
  },
): Intent {
  return {
    outgoingId: `out_${wallet}`,
    kind: "sweep",
    network,
    currency,
    amount,
    destination: hot,
    destinationIndex: null,
    isDestinationClosed: false,
    wallet,
    payer: "hot",
    status: "queued",
    nonce: null,
    usedNonces: [],
  };
}

// each key takes both libraries milliseconds
for (const [most, numRuns] of [[1, 1_000], [20, 10]] as const) {
  test(`every sweep of up to ${most} addresses is byte for byte the one that another library signs`, async () => {
    const { Interface, Transaction, Wallet } = await import("ethers");
    const SWEEP = new Interface(["function sweep(address,address[],uint256[])"]);
    fc.assert(
      fc.property(
        casesOf(most),
        ({ network, currency, isDevelopment, hot, swept, nonce, gas, tip, base }) => {
          const chainId = chainIdOf(network, isDevelopment);
          const contracts = { USDT, USDC };
          const feeCap = amountOf("1000000");
          const builder = createEvmTransferBuilder({
            network,
            chainId,
            contracts,
            feeCap,
            sweepBy: "delegate",
          });
          const hotKey = keyOf(hot);
          const keys = swept.map((one) => keyOf(one.key));
          const authorize = swept.flatMap((one, place) =>
            one.nonce === null ? [] : [`${place}:${one.nonce}`]
          ).join(",");
          const prices = { gas, maxFeePerGas: base + tip, maxPriorityFeePerGas: tip };
          const envelope: Envelope = {
            network,
            nonce,
            diesAfter: null,
            expiresAt: null,
            fields: envelopeTerms({ ...prices, ...(authorize === "" ? {} : { authorize }) }),
          };
          assertEquals(builder.envelopeFault(envelope, 0), null);
          const decimals = tokenDecimals(currency, network);
          const intents = swept.map(({ units }, wallet) =>
            intentOf({
              network,
              currency,
              hot: hotKey.address,
              amount: fromTokenUnits(units, decimals),
              wallet,
            })
          );
          for (const intent of intents) assertEquals(builder.intentFault(intent), null);
          const signed = builder.sign(
            intents,
            envelope,
            (wallet) => wallet === "hot" ? hotKey : keys[wallet] as SigningKey,
            "",
          );
          const delegate = delegateOf(hotKey.address);
          const authorizationList = swept.flatMap((one) =>
            one.nonce === null ? [] : [
              new Wallet(`0x${one.key.toHex()}`).authorizeSync({
                address: delegate,
                nonce: one.nonce,
                chainId,
              }),
            ]
          );
          const contract = currency === "USDT" ? USDT : USDC;
          const other = Transaction.from({
            type: authorizationList.length > 0 ? 4 : 2,
            chainId,
            nonce,
            gasLimit: gas,
            maxFeePerGas: base + tip,
            maxPriorityFeePerGas: tip,
            to: delegate,
            value: 0n,
            data: SWEEP.encodeFunctionData("sweep", [
              contract,
              keys.map(({ address }) => address),
              swept.map(({ units }) => units),
            ]),
            ...(authorizationList.length > 0 ? { authorizationList } : {}),
          });
          other.signature = new Wallet(`0x${hot.toHex()}`).signingKey.sign(other.unsignedHash);
          assertEquals<unknown>(signed, {
            txid: other.hash,
            bytes: other.serialized,
            expiresAt: null,
          });
          const isDistinct = new Set(keys.map(({ address }) => address)).size === keys.length;
          if (isDistinct) {
            assertEquals(
              authorizeOf(signed.bytes),
              authorize === "" ? null : authorize,
            );
          }
        },
      ),
      { numRuns, seed: 20_261_126 },
    );
  });
}

test("an address authorises the delegate of its own hot wallet, on its own chain, and nothing else", async () => {
  const { Transaction } = await import("ethers");
  const network = "ETH";
  const [hot, deposit] = [1, 2].map((n) => keyOf(new Uint8Array(32).fill(n))) as [
    SigningKey,
    SigningKey,
  ];
  const feeCap = amountOf("1");
  const builder = createEvmTransferBuilder({
    sweepBy: "delegate",
    network,
    chainId: 1,
    contracts: { USDT },
    feeCap,
  });
  const fields = {
    ...envelopeTerms({ gas: 100_000, maxFeePerGas: 5n, maxPriorityFeePerGas: 1n }),
    authorize: "0:0",
  };
  const envelope: Envelope = { network, nonce: 0, diesAfter: null, expiresAt: null, fields };
  const intent = intentOf({
    network,
    currency: "USDT",
    hot: hot.address,
    amount: amountOf("5"),
    wallet: 0,
  });
  const sign = (changed: Envelope, intents: readonly Intent[] = [intent]) =>
    Transaction.from(
      builder.sign(intents, changed, (wallet) => wallet === "hot" ? hot : deposit, "").bytes,
    );
  const [authorization] = sign(envelope).authorizationList ?? [];
  assert(authorization !== undefined);
  assertEquals(
    [authorization.address, authorization.chainId, authorization.nonce],
    [delegateOf(hot.address), 1n, 0n],
  );
  // whatever an envelope says of it
  const faults = [
    { ...fields, delegate: deposit.address },
    { ...fields, authorize: "0:0:0x1" },
    { ...fields, authorize: deposit.address },
    { ...fields, chainId: 0 },
  ].map((changed) => builder.envelopeFault({ ...envelope, fields: changed }, 0));
  assertEquals(faults.map((fault) => fault?.startsWith("its envelope is malformed")), [
    true,
    true,
    true,
    true,
  ]);
  const beyond = { ...envelope, fields: { ...fields, authorize: "1:0" } };
  assertThrows(() => sign(beyond), Error, "no intent has place 1");
  assertThrows(
    () => sign(envelope, [intent, { ...intent, currency: "USDC" }]),
    Error,
    "one currency",
  );
  assertEquals(
    builder.intentFault({ ...intent, currency: "native" }),
    "its coin is sent by no other wallet",
  );
  // a payout authorises nothing, whatever its envelope says
  const payout: Intent = { ...intent, kind: "payout", wallet: "hot", destination: USDC };
  assertEquals([sign(envelope, [payout]).type, sign(envelope, [payout]).to], [2, USDT]);
});
