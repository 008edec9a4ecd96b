import { HDKey } from "@scure/bip32";
import { z } from "zod";
import { addressOfEvent, addressOfPublicKey } from "../../chains/evm/address.ts";
import { chainIdOf } from "../../chains/evm/chain_id.ts";
import { createEvmChain } from "../../chains/evm/evm_chain.ts";
import { createEvmTransferBuilder } from "../../chains/evm/pay/transfer_builder.ts";
import { TRANSFER_TOPIC } from "../../chains/evm/read/receipt_logs.ts";
import type { Intent, SigningKey } from "../../chains/signer.ts";
import { startEvmDevChain } from "../../devchain/evm/start.ts";
import { amountOf, formatAmount, toTokenUnits } from "../../ledger/money/amount.ts";
import { tokenDecimals } from "../../ledger/money/pair.ts";
import { createDelegate, sweepSigner } from "./evm_delegate.ts";
import type { ChainHarness, Payment, Trouble } from "./harness.ts";

const SPACING_MS = 3_000;
/** Index of the hot wallet; no rule asks for the deposit address there. */
const HOT = 2 ** 31 - 1;
/** Index of the wallet that creates the contract. */
const CREATOR = HOT - 1;
const REQUEST_TIMEOUT_MS = 1_500;

const BROADCAST = "eth_sendRawTransaction";
const FAULTS: Readonly<Record<Trouble, Record<string, unknown>>> = {
  "accepted-silently": { path: BROADCAST, kind: "silent-accept" },
  "forgotten": { path: BROADCAST, kind: "lost-broadcast" },
  "answer-lost": { path: BROADCAST, kind: "error-500", late: true },
  "answer-missing": { path: BROADCAST, kind: "timeout", late: true },
  "fails-on-chain": { path: BROADCAST, kind: "revert" },
  "receipts-late": { path: "eth_getBlockReceipts", kind: "lagging-receipts" },
  "rate-limited": { path: "*", kind: "busy-429" },
  "server-error": { path: "*", kind: "error-500" },
};

const sentSchema = z.object({ txid: z.string() });

function word(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, "0")}`;
}

/** The key of a wallet, by its place in a tree of the test's own. */
function keyAt(tree: HDKey, index: number): SigningKey {
  const { privateKey, publicKey } = tree.deriveChild(index);
  if (privateKey === null || publicKey === null) throw new Error("Cannot derive a key");
  return { address: addressOfPublicKey(publicKey), privateKey };
}

/**
 * The adapter against the development chain, over HTTP.
 *
 * @param sweepBy with `delegate` the contract that it takes is created first
 */
export async function evmHarness(
  network: "ETH" | "BNB",
  sweepBy: "coin" | "delegate" = "coin",
): Promise<ChainHarness> {
  const tree = HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32)));
  const hot = keyAt(tree, HOT);
  const dataDir = await Deno.makeTempDir();
  const dev = await startEvmDevChain({
    network,
    dataDir,
    port: 0,
    blockMs: 0,
    solidLag: 3,
    treasury: hot.address,
  });
  const contracts = { USDT: dev.usdt };
  const feeCap = amountOf("0.02");
  const chain = createEvmChain({
    network,
    nodeUrls: [dev.url],
    contracts,
    deposits: {
      address(index) {
        if (Number.isInteger(index) && index >= 0 && index < 2 ** 31) {
          return keyAt(tree, index).address;
        }
        throw new RangeError(`Cannot derive an address as its index is out of range: ${index}`);
      },
    },
    hotWallet: hot.address,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    isDevelopment: true,
    feeCap,
    sweepBy,
  });
  await chain.verify();
  const chainId = chainIdOf(network, true);
  const builder = createEvmTransferBuilder({ network, chainId, contracts, feeCap, sweepBy });

  const control = async (command: string, body: Record<string, unknown>): Promise<unknown> => {
    const response = await fetch(`${dev.url}/dev/${command}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    throw new Error(`Cannot ${command} as the chain refused: ${JSON.stringify(answer)}`);
  };
  const unitsOf = ({ asset, amount }: Payment): string =>
    toTokenUnits(amount, asset === "native" ? 18 : tokenDecimals(asset, network)).toString();

  const mine = async (blocks: number) => {
    await control("mine", { blocks, intervalMs: SPACING_MS });
  };
  if (sweepBy === "delegate") {
    const creator = keyAt(tree, CREATOR);
    await control("transfer", { to: creator.address, currency: "coin", amount: "1" });
    await mine(1);
    await createDelegate(dev.url, chainId, hot.address, creator);
    await mine(1);
  }

  return {
    chain,
    currency: "USDT",
    spacingMs: SPACING_MS,
    freshAddress: () => addressOfEvent(crypto.getRandomValues(new Uint8Array(20)).toHex()),
    notAddresses: [
      hot.address.slice(2),
      `${hot.address} `,
      hot.address.slice(0, -1),
      `0X${hot.address.slice(2)}`,
      `0x${"0".repeat(40)}`,
      dev.usdt,
      "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    ],
    async pay({ to, asset, amount }) {
      const currency = asset === "native" ? "coin" : asset;
      const sent = await control("transfer", { to, currency, amount: formatAmount(amount) });
      return sentSchema.parse(sent).txid;
    },
    async payTogether(payments) {
      const steps = payments.map((payment) => ({
        do: "transfer",
        to: payment.to,
        amount: unitsOf(payment),
      }));
      return sentSchema.parse(await control("emit", { steps })).txid;
    },
    async poison(to) {
      const from = hot.address;
      const steps = [
        { do: "log", topics: [TRANSFER_TOPIC, word(from), word(to)], data: word("0xf4240") },
        { do: "event", from, to, amount: "0" },
      ];
      return sentSchema.parse(await control("emit", { steps })).txid;
    },
    mine,
    async reorganise(depth) {
      await control("reorg", { depth, drop: true });
    },
    sign({ to, asset, amount }, envelope) {
      const intent: Intent = {
        kind: "payout",
        destinationIndex: null,
        isDestinationClosed: false,
        outgoingId: crypto.randomUUID(),
        network,
        currency: asset,
        amount,
        destination: to,
        wallet: "hot",
        payer: "hot",
        status: "queued",
        nonce: null,
        usedNonces: [],
      };
      const fault = builder.intentFault(intent) ?? builder.envelopeFault(envelope, Date.now());
      if (fault !== null) throw new Error(`Cannot sign as ${fault}`);
      return Promise.resolve(builder.sign([intent], envelope, () => hot, ""));
    },
    signSweeps: sweepSigner(builder, (wallet) => wallet === "hot" ? hot : keyAt(tree, wallet)),
    async trouble(trouble, times) {
      await control("config", { faults: [{ probability: 1, ...FAULTS[trouble], times }] });
    },
    async [Symbol.asyncDispose]() {
      await dev.stop();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}
