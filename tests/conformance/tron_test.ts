import { HDKey } from "@scure/bip32";
import { z } from "zod";
import { startDevChain } from "../../devchain/start.ts";
import type { Intent } from "../../chains/signer.ts";
import { addressFromLogHex } from "../../chains/tron/address.ts";
import { createTronChain } from "../../chains/tron/tron_chain.ts";
import { createTronTransferBuilder } from "../../chains/tron/pay/transfer_builder.ts";
import { networkKeys, publicAddresses, signingKey } from "../../chains/wallet/network_keys.ts";
import { formatAmount, toTokenUnits } from "../../ledger/money/amount.ts";
import { tokenDecimals } from "../../ledger/money/pair.ts";
import { needs } from "../support/permissions.ts";
import { chainConformance } from "./chain.ts";
import type { ChainHarness, Kind, Payment, Trouble } from "./harness.ts";

const NETWORK = "TRX";
const SPACING_MS = 3_000;
const LIFETIME_MS = 120_000;
const REQUEST_TIMEOUT_MS = 1_500;
/** A contract that is not configured. */
const FAKE_TOKEN = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

const BROADCAST = "/wallet/broadcasttransaction";
const FAULTS: Readonly<Record<Trouble, Record<string, unknown>>> = {
  "accepted-silently": { path: BROADCAST, kind: "silent-accept" },
  "forgotten": { path: BROADCAST, kind: "lost-broadcast" },
  "answer-lost": { path: BROADCAST, kind: "error-500", late: true },
  "answer-missing": { path: BROADCAST, kind: "timeout", late: true },
  "fails-on-chain": { path: BROADCAST, kind: "revert" },
  "receipts-late": { path: "*", kind: "lagging-receipts" },
  "rate-limited": { path: "*", kind: "busy-429" },
  "server-error": { path: "*", kind: "error-500" },
};

/** Expectations of the suite. */
const TRON: Kind = {
  life: "expires",
  skips: false,
  sweeps: "one by one",
  coin: ["10", "0.000001"],
};

const sentSchema = z.object({ txid: z.string() });

/** The adapter against the development chain, over HTTP. */
async function tronHarness(): Promise<ChainHarness> {
  const keys = networkKeys(
    HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32))),
    NETWORK,
  );
  const hot = signingKey(keys, NETWORK, "hot");
  const dataDir = await Deno.makeTempDir();
  const dev = await startDevChain({
    network: NETWORK,
    dataDir,
    port: 0,
    blockMs: 0,
    solidLag: 3,
    treasury: hot.address,
  });
  const contracts = { USDT: dev.usdt };
  const chain = createTronChain({
    network: NETWORK,
    nodeUrls: [dev.url],
    contracts,
    deposits: publicAddresses(NETWORK, { depositXpub: keys.deposits.publicExtendedKey }),
    hotWallet: hot.address,
    lifetimeMs: LIFETIME_MS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  await chain.verify();
  const builder = createTronTransferBuilder({
    network: NETWORK,
    contracts,
    longestLifetimeMs: LIFETIME_MS,
    highestFeeLimitSun: 150_000_000,
    clockToleranceMs: null,
  });

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
    toTokenUnits(amount, asset === "native" ? 6 : tokenDecimals(asset, NETWORK)).toString();

  return {
    chain,
    currency: "USDT",
    spacingMs: SPACING_MS,
    freshAddress: () => addressFromLogHex(crypto.getRandomValues(new Uint8Array(20)).toHex()),
    notAddresses: [
      "41a614f803b6fd780986a42c78ec9c7f77e6ded13c",
      "0xa614f803b6fd780986a42c78ec9c7f77e6ded13c",
      hot.address.toLowerCase(),
      `${hot.address} `,
      hot.address.slice(0, -1),
      "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    ],
    async pay({ to, asset, amount }) {
      const currency = asset === "native" ? "TRX" : asset;
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
        { do: "event", token: FAKE_TOKEN, from, to, amount: "1000000" },
        { do: "event", from, to, amount: "0" },
      ];
      return sentSchema.parse(await control("emit", { steps })).txid;
    },
    async mine(blocks) {
      await control("mine", { blocks, intervalMs: SPACING_MS });
    },
    async reorganise(depth) {
      await control("reorg", { depth, drop: true });
    },
    sign({ to, asset, amount }, envelope) {
      const intent: Intent = {
        kind: "payout",
        destinationIndex: null,
        isDestinationClosed: false,
        outgoingId: crypto.randomUUID(),
        network: NETWORK,
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
      return Promise.resolve(builder.sign([intent], envelope, () => hot, intent.outgoingId));
    },
    async trouble(trouble, times) {
      await control("config", { faults: [{ probability: 1, ...FAULTS[trouble], times }] });
    },
    async [Symbol.asyncDispose]() {
      await dev.stop();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

chainConformance("TRON adapter", tronHarness, TRON, {
  ignore: needs({ net: true, read: true, write: true }),
});
