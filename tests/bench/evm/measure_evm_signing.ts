/**
 * Signing alone: the signer as the service runs it, with its nonces, its limits and its builder, on one core; only the intents
 * come from memory instead of the database.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import process from "node:process";
import type { Envelope } from "../../../chains/chain.ts";
import { encodeFunctionData, erc20Abi, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { getAddress } from "viem/utils";
import { Interface, Wallet } from "ethers";
import { chainIdOf } from "../../../chains/evm/chain_id.ts";
import { envelopeTerms } from "../../../chains/evm/pay/envelope.ts";
import { delegateOf } from "../../../chains/evm/pay/sweep_delegate.ts";
import { createEvmTransferBuilder } from "../../../chains/evm/pay/transfer_builder.ts";
import type { Intent, SigningKey, TransferBuilder } from "../../../chains/signer.ts";
import { createSigner } from "../../../chains/signer/create_signer.ts";
import { SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import { networkKeys, signingKey } from "../../../chains/wallet/network_keys.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import { addressOf, USDT } from "../../evm/support/block_fixture.ts";
import { median } from "../statistics.ts";
import { type EvmMeasurement, medians } from "./evm_report.ts";

const NETWORK = "ETH";
const CHAIN_ID = chainIdOf(NETWORK, true);
/** As the treasury asks for them. */
const BATCH = 12;
const WARM_UP = 504;
const SIGNATURES = 3_000;
/** Addresses that one transaction collects from, each with its authorisation. */
const SWEPT = 20;
const SWEEPS = 40;

/** Measures payouts by the signer, and collections by the builder; and what other libraries take to sign the same. */
export async function measureEvmSigning(rounds: number): Promise<readonly EvmMeasurement[]> {
  const master = HDKey.fromMasterSeed(crypto.getRandomValues(new Uint8Array(32)));
  const keys = networkKeys(master, NETWORK);
  const known = new Map<"hot" | number, SigningKey>();
  const keyOf = (wallet: "hot" | number) => {
    const key = known.get(wallet) ?? signingKey(keys, NETWORK, wallet);
    known.set(wallet, key);
    return key;
  };
  const builder = createEvmTransferBuilder({
    network: NETWORK,
    chainId: CHAIN_ID,
    contracts: { USDT: getAddress(USDT) },
    feeCap: amountOf("0.02"),
    sweepBy: "delegate",
  });
  const found: (readonly EvmMeasurement[])[] = [];
  for (let round = 0; round < rounds; round++) {
    found.push([
      {
        name: "payouts signed per s of processor time",
        value: await signaturesPerSecond(builder, keyOf),
        asked: { least: 1_200 },
      },
      {
        name: "viem, transactions alone",
        value: await perSecond(await viemPayout(keyOf)),
        asked: null,
      },
      {
        name: "ethers, transactions alone",
        value: await perSecond(ethersPayout(keyOf)),
        asked: null,
      },
      {
        name: "one collection from 20 addresses signed, with their authorisations, ms",
        value: collectionMs(builder, keyOf),
        asked: { most: 25 },
      },
      { name: "viem, the same", value: await middleMs(viemCollection(keyOf)), asked: null },
      { name: "ethers, the same", value: await middleMs(ethersCollection(keyOf)), asked: null },
    ]);
  }
  return medians(found);
}

type KeyOf = (wallet: "hot" | number) => SigningKey;

function intentOf(n: number, over: Partial<Intent> = {}): Intent {
  return {
    outgoingId: `out_${n}`,
    kind: "payout",
    network: NETWORK,
    currency: "USDT",
    amount: amountOf("10"),
    destination: getAddress(addressOf(n)),
    destinationIndex: null,
    isDestinationClosed: false,
    wallet: "hot",
    payer: "hot",
    status: "queued",
    nonce: n,
    usedNonces: [],
    ...over,
  };
}

function envelopeOf(nonce: number, gas: number, authorize?: string): Envelope {
  const fields = envelopeTerms({
    gas,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    ...(authorize === undefined ? {} : { authorize }),
  });
  return { network: NETWORK, fields, diesAfter: null, nonce, expiresAt: null };
}

async function signaturesPerSecond(builder: TransferBuilder, keyOf: KeyOf): Promise<number> {
  const hot = keyOf("hot");
  const signer = createSigner({
    keys: { walletId: "bench", key: () => hot, address: () => hot.address, lock: () => {} },
    intents: {
      read: (ids) => Promise.resolve(ids.map((id) => intentOf(Number(id.slice("out_".length))))),
      readUsed: () => Promise.resolve([]),
    },
    builders: [builder],
    spending: new SpendingLimits({}),
    now: Date.now,
  });
  const sign = async (first: number, count: number) => {
    for (let from = first; from < first + count; from += BATCH) {
      const requests = Array.from({ length: BATCH }, (_, n) => ({
        outgoingIds: [`out_${from + n}`],
        envelope: envelopeOf(from + n, 80_000),
        purpose: "pay" as const,
      }));
      const refused = (await signer.sign(requests)).find((answer) => "refused" in answer);
      if (refused !== undefined) throw new Error(`Cannot measure as ${JSON.stringify(refused)}`);
    }
  };
  await sign(0, WARM_UP);
  const began = process.cpuUsage();
  await sign(WARM_UP, SIGNATURES);
  const { user, system } = process.cpuUsage(began);
  return SIGNATURES / (user + system) * 1_000_000;
}

/** Median of some. */
function collectionMs(builder: TransferBuilder, keyOf: KeyOf): number {
  const intents = Array.from(
    { length: SWEPT },
    (_, wallet) => intentOf(wallet, { kind: "sweep", wallet, destination: keyOf("hot").address }),
  );
  for (const { wallet } of intents) keyOf(wallet);
  const authorize = intents.map((_, place) => `${place}:0`).join(",");
  const times = Array.from({ length: SWEEPS }, (_, nonce) => {
    const began = performance.now();
    builder.sign(intents, envelopeOf(nonce, 900_000, authorize), keyOf, "");
    return performance.now() - began;
  });
  return median(times.slice(SWEEPS / 4));
}

/** Signs one transaction, of a nonce. */
type Sign = (nonce: number) => unknown;

/** Transactions in a second of processor time. */
async function perSecond(sign: Sign): Promise<number> {
  for (let nonce = 0; nonce < WARM_UP; nonce++) await sign(nonce);
  const began = process.cpuUsage();
  for (let nonce = 0; nonce < SIGNATURES; nonce++) await sign(nonce);
  const { user, system } = process.cpuUsage(began);
  return SIGNATURES / (user + system) * 1_000_000;
}

async function middleMs(sign: Sign): Promise<number> {
  const times: number[] = [];
  for (let nonce = 0; nonce < SWEEPS; nonce++) {
    const began = performance.now();
    await sign(nonce);
    times.push(performance.now() - began);
  }
  return median(times.slice(SWEEPS / 4));
}

const PRICES = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n } as const;
const hexOf = ({ privateKey }: SigningKey) => `0x${privateKey.toHex()}` as const;

function viemPayout(keyOf: KeyOf): Sign {
  const account = privateKeyToAccount(hexOf(keyOf("hot")));
  return (nonce) =>
    account.signTransaction({
      type: "eip1559",
      chainId: CHAIN_ID,
      nonce,
      gas: 80_000n,
      ...PRICES,
      to: getAddress(USDT),
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: "transfer",
        args: [getAddress(addressOf(nonce)), 10_000_000n],
      }),
    });
}

const METHODS = new Interface([
  "function transfer(address,uint256)",
  "function sweep(address,address[],uint256[])",
]);
const AMOUNTS = Array.from({ length: SWEPT }, () => 10_000_000n);

function ethersPayout(keyOf: KeyOf): Sign {
  const wallet = new Wallet(hexOf(keyOf("hot")));
  return (nonce) =>
    wallet.signTransaction({
      type: 2,
      chainId: CHAIN_ID,
      nonce,
      gasLimit: 80_000n,
      ...PRICES,
      to: getAddress(USDT),
      data: METHODS.encodeFunctionData("transfer", [getAddress(addressOf(nonce)), 10_000_000n]),
    });
}

function viemCollection(keyOf: KeyOf): Sign {
  const hot = privateKeyToAccount(hexOf(keyOf("hot")));
  const swept = Array.from({ length: SWEPT }, (_, n) => privateKeyToAccount(hexOf(keyOf(n))));
  const to = getAddress(delegateOf(hot.address));
  const addresses = swept.map(({ address }) => address);
  const abi = parseAbi(["function sweep(address,address[],uint256[])"]);
  return async (nonce) => {
    const authorizationList = await Promise.all(
      swept.map((one) => one.signAuthorization({ address: to, chainId: CHAIN_ID, nonce: 0 })),
    );
    return await hot.signTransaction({
      type: "eip7702",
      chainId: CHAIN_ID,
      nonce,
      gas: 900_000n,
      ...PRICES,
      to,
      data: encodeFunctionData({ abi, args: [getAddress(USDT), addresses, AMOUNTS] }),
      authorizationList,
    });
  };
}

function ethersCollection(keyOf: KeyOf): Sign {
  const hot = new Wallet(hexOf(keyOf("hot")));
  const swept = Array.from({ length: SWEPT }, (_, n) => new Wallet(hexOf(keyOf(n))));
  const to = delegateOf(hot.address);
  const addresses = swept.map(({ address }) => address);
  return (nonce) =>
    hot.signTransaction({
      type: 4,
      chainId: CHAIN_ID,
      nonce,
      gasLimit: 900_000n,
      ...PRICES,
      to,
      data: METHODS.encodeFunctionData("sweep", [USDT, addresses, AMOUNTS]),
      authorizationList: swept.map((one) =>
        one.authorizeSync({ address: to, nonce: 0, chainId: CHAIN_ID })
      ),
    });
}
