import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { chainIdOf } from "../../chains/evm/chain_id.ts";
import { envelopeTerms } from "../../chains/evm/pay/envelope.ts";
import { createEvmTransferBuilder } from "../../chains/evm/pay/transfer_builder.ts";
import type { Intent } from "../../chains/signer.ts";
import { amountOf, fromTokenUnits, ZERO } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";

/** The other library and the compiler look at the environment when they are loaded. */
const test = testNeeding({ env: true, read: true });
/** github.com/Arachnid/deterministic-deployment-proxy, written down a second time. */
const DEPLOYER = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
const SALT = `0x${new TextEncoder().encode("engine-sweep-1").toHex().padEnd(64, "0")}`;

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
  .filter((bytes) => bytes.some((byte) => byte > 0) && (bytes[0] ?? 0) < 0xff);
const terms = {
  network: fc.constantFrom("ETH", "SEP", "BNB", "tBNB"),
  isDevelopment: fc.boolean(),
  nonce: fc.nat({ max: 2 ** 31 }),
  gas: fc.integer({ min: 21_000, max: 5_000_000 }),
  tip: fc.bigInt({ min: 0n, max: 10n ** 12n }),
  base: fc.bigInt({ min: 0n, max: 10n ** 13n }),
} as const;

function intentOf(over: Pick<Intent, "kind" | "network" | "amount" | "destination" | "wallet">) {
  return {
    outgoingId: "out_1",
    currency: "native",
    destinationIndex: null,
    isDestinationClosed: false,
    payer: over.wallet,
    status: "queued",
    nonce: null,
    usedNonces: [],
    ...over,
  } as const satisfies Intent;
}

function builderOf(network: Intent["network"], isDevelopment: boolean) {
  return createEvmTransferBuilder({
    network,
    chainId: chainIdOf(network, isDevelopment),
    contracts: {},
    feeCap: amountOf("1000000"),
    sweepBy: "delegate",
  });
}

test("every set-up is byte for byte the one that another library and the compiler make", async () => {
  const { AbiCoder, concat, getCreate2Address, keccak256, Transaction, Wallet } = await import(
    "ethers"
  );
  const { compile } = await import("./support/tokens.ts");
  const source = await Deno.readTextFile(
    new URL("../../chains/evm/pay/sweep_delegate.sol", import.meta.url),
  );
  const settings = { metadata: { appendCBOR: false, bytecodeHash: "none" } };
  const code = compile(source, settings)["SweepDelegate"] ?? "";
  fc.assert(
    fc.property(
      fc.record({ ...terms, hot: key }),
      ({ network, isDevelopment, hot, nonce, gas, tip, base }) => {
        const wallet = new Wallet(`0x${hot.toHex()}`);
        const { address } = wallet;
        const creation = concat([code, AbiCoder.defaultAbiCoder().encode(["address"], [address])]);
        const builder = builderOf(network, isDevelopment);
        const delegate = getCreate2Address(DEPLOYER, SALT, keccak256(creation));
        assertEquals(builder.setupOf?.(address), delegate);
        const intent = intentOf({
          kind: "setup",
          network,
          amount: ZERO,
          destination: delegate,
          wallet: "hot",
        });
        assertEquals(builder.intentFault(intent), null);
        const fields = envelopeTerms({
          gas,
          maxFeePerGas: base + tip,
          maxPriorityFeePerGas: tip,
        });
        const envelope = { network, nonce, diesAfter: null, expiresAt: null, fields };
        const signed = builder.sign([intent], envelope, () => ({ address, privateKey: hot }), "");
        const other = Transaction.from({
          type: 2,
          chainId: chainIdOf(network, isDevelopment),
          nonce,
          gasLimit: gas,
          maxFeePerGas: base + tip,
          maxPriorityFeePerGas: tip,
          to: DEPLOYER,
          value: 0n,
          data: concat([SALT, creation]),
        });
        other.signature = wallet.signingKey.sign(other.unsignedHash);
        assertEquals<unknown>(signed, {
          txid: other.hash,
          bytes: other.serialized,
          expiresAt: null,
        });
      },
    ),
    { numRuns: 1_000, seed: 20_261_126 },
  );
});

test("every gift of coin and every sweep that an address pays for is the one that another library signs", async () => {
  const { Interface, Transaction, Wallet } = await import("ethers");
  const ERC20 = new Interface(["function transfer(address to, uint256 value)"]);
  const token = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
  fc.assert(
    fc.property(
      fc.record({
        ...terms,
        payer: key,
        to: key,
        index: fc.nat({ max: 2 ** 31 - 1 }),
        kind: fc.constantFrom("gas", "sweep"),
        units: fc.bigInt({ min: 1n, max: 10n ** 18n }),
      }),
      ({ network, isDevelopment, payer, to, index, kind, units, nonce, gas, tip, base }) => {
        const wallet = new Wallet(`0x${payer.toHex()}`);
        const destination = new Wallet(`0x${to.toHex()}`).address;
        const decimals = network === "ETH" || network === "SEP" ? 6 : 18;
        const builder = createEvmTransferBuilder({
          network,
          chainId: chainIdOf(network, isDevelopment),
          contracts: { USDT: token },
          feeCap: amountOf("1000000"),
        });
        const isGift = kind === "gas";
        const intent: Intent = {
          ...intentOf({
            kind,
            network,
            amount: fromTokenUnits(units, isGift ? 18 : decimals),
            destination,
            wallet: isGift ? "hot" : index,
          }),
          currency: isGift ? "native" : "USDT",
        };
        assertEquals(builder.intentFault(intent), null);
        const fields = envelopeTerms({
          gas,
          maxFeePerGas: base + tip,
          maxPriorityFeePerGas: tip,
        });
        const envelope = { network, nonce, diesAfter: null, expiresAt: null, fields };
        const signed = builder.sign(
          [intent],
          envelope,
          () => ({ address: wallet.address, privateKey: payer }),
          "",
        );
        const other = Transaction.from({
          type: 2,
          chainId: chainIdOf(network, isDevelopment),
          nonce,
          gasLimit: gas,
          maxFeePerGas: base + tip,
          maxPriorityFeePerGas: tip,
          ...(isGift ? { to: destination, value: units } : {
            to: token,
            value: 0n,
            data: ERC20.encodeFunctionData("transfer", [destination, units]),
          }),
        });
        other.signature = wallet.signingKey.sign(other.unsignedHash);
        assertEquals<unknown>(signed, {
          txid: other.hash,
          bytes: other.serialized,
          expiresAt: null,
        });
      },
    ),
    { numRuns: 1_000, seed: 20_261_126 },
  );
});
