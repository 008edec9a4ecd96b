/**
 * Builds and signs transfers for the signer: of tokens, of the coin, of nothing, which takes a nonce out
 * of use, and the collection of tokens from many addresses.
 *
 * @module
 */

import {
  type Amount,
  formatAmount,
  isExactIn,
  toTokenUnits,
} from "../../../ledger/money/amount.ts";
import { type Network, tokenDecimals } from "../../../ledger/money/pair.ts";
import type { Asset, Envelope, SignedTransaction } from "../../chain.ts";
import type { SweepBy, TokenContracts } from "../../profiles.ts";
import type { Intent, SigningKey, TransferBuilder } from "../../signer.ts";
import { evmAddress } from "../address.ts";
import { contractEntries, transferData } from "../token_contracts.ts";
import { signedBy } from "../signed_by.ts";
import {
  authorizedPlaces,
  COIN_DECIMALS,
  envelopeFieldsSchema,
  PLAIN_GAS,
  weiAmount,
} from "./envelope.ts";
import { creationData, delegateOf, DEPLOYER, sweepData } from "./sweep_delegate.ts";
import { type Authorization, signTransaction } from "./transfer_transaction.ts";

/** So many transfers of nothing may be signed in a day at the dearest, some hundreds at ordinary prices. */
const DEAREST_CANCELS = 50n;

/** Bounds of a builder. */
export interface EvmTransferBuilderOptions {
  readonly network: Network;
  /** Part of what is signed, so that nothing signed here counts on another chain. */
  readonly chainId: number;
  readonly contracts: TokenContracts;
  /** The most one transaction may cost, in coin. */
  readonly feeCap: Amount;
  /** Default `coin`: addresses authorise nothing, and nothing is set up. */
  readonly sweepBy?: SweepBy | undefined;
}

/** A call as it stands in a transaction. */
interface Call {
  readonly to: string;
  /** Coin, in wei. */
  readonly value: bigint;
  readonly data: string;
}

/** The keys of the wallets that intents leave, and of their payer. */
type KeyOf = Parameters<TransferBuilder["sign"]>[2];

function decimalsOf(asset: Asset, network: Network): number {
  return asset === "native" ? COIN_DECIMALS : tokenDecimals(asset, network);
}

/** See {@linkcode TransferBuilder.envelopeFault}. */
function envelopeFault(mostWei: bigint, { fields, ...envelope }: Envelope): string | null {
  const parsed = envelopeFieldsSchema.safeParse(fields);
  if (!parsed.success) return `its envelope is malformed: ${parsed.error.issues[0]?.message}`;
  const { nonce, diesAfter, expiresAt } = envelope;
  if (nonce === null || !Number.isSafeInteger(nonce) || nonce < 0) {
    return `its envelope has no nonce: ${nonce}`;
  }
  if (diesAfter !== null || expiresAt !== null) return "its envelope has an expiry";
  const { gas, maxFeePerGas, maxPriorityFeePerGas } = parsed.data;
  if (maxPriorityFeePerGas > maxFeePerGas) return "its tip is more than what it may cost";
  const most = BigInt(gas) * maxFeePerGas;
  return most > mostWei ? `it may cost too much: ${most} wei` : null;
}

/**
 * Makes the builder of a network.
 *
 * @throws {RangeError} when a contract's address is malformed
 */
export function createEvmTransferBuilder(options: EvmTransferBuilderOptions): TransferBuilder {
  const { network, chainId, sweepBy = "coin" } = options;
  const contracts = new Map(contractEntries(options.contracts));
  const closed = new Set(contracts.values());
  const mostWei = toTokenUnits(options.feeCap, COIN_DECIMALS);

  const contractOf = (currency: Asset): string => {
    const contract = currency === "native" ? undefined : contracts.get(currency);
    if (contract !== undefined) return contract;
    throw new Error(`Cannot build as it has no contract: ${currency}`);
  };

  const unitsOf = ({ currency, amount }: Intent) =>
    toTokenUnits(amount, decimalsOf(currency, network));

  /** @param hot the address that a set-up serves */
  const callOf = (intent: Intent, hot: string): Call => {
    const { kind, currency, destination } = intent;
    if (kind === "setup") return { to: DEPLOYER, value: 0n, data: creationData(hot) };
    if (currency === "native") return { to: destination, value: unitsOf(intent), data: "0x" };
    const data = transferData(destination, unitsOf(intent));
    return { to: contractOf(currency), value: 0n, data };
  };

  const signCall = (
    call: Call,
    { fields, nonce }: Envelope,
    key: SigningKey,
    authorizations: readonly Authorization[] = [],
  ): SignedTransaction => {
    if (nonce === null) throw new Error("Cannot build as the envelope has no nonce");
    const { gas, maxFeePerGas, maxPriorityFeePerGas } = envelopeFieldsSchema.parse(fields);
    const prices = { gas, maxFeePerGas, maxPriorityFeePerGas };
    return signTransaction({ chainId, nonce, ...prices, ...call }, key, authorizations);
  };

  /** Sweeps that the hot wallet pays for: addresses authorise the one delegate, whatever is asked for. */
  const signSweeps = (
    intents: readonly Intent[],
    envelope: Envelope,
    keyOf: KeyOf,
  ): SignedTransaction => {
    const hot = keyOf("hot");
    const delegate = delegateOf(hot.address);
    const currencies = new Set(intents.map(({ currency }) => currency));
    const [currency] = currencies;
    if (currency === undefined || currencies.size > 1) {
      throw new Error(`Cannot build as a sweep has one currency: ${[...currencies]}`);
    }
    const swept = intents.map((intent) => ({
      from: keyOf(intent.wallet).address,
      units: unitsOf(intent),
    }));
    const places = authorizedPlaces(envelopeFieldsSchema.parse(envelope.fields));
    const authorizations = [...places].map(([place, nonce]): Authorization => {
      const intent = intents[place];
      if (intent === undefined) throw new Error(`Cannot authorise as no intent has place ${place}`);
      return { delegate, nonce, key: keyOf(intent.wallet) };
    });
    const data = sweepData(contractOf(currency), swept);
    return signCall({ to: delegate, value: 0n, data }, envelope, hot, authorizations);
  };

  return {
    network,
    ends: {
      by: "nonce",
      cancelFault: ({ fields }) => {
        const { gas, authorize } = envelopeFieldsSchema.parse(fields);
        if (authorize !== undefined) return "a transfer of nothing authorises nothing";
        return BigInt(gas) === PLAIN_GAS
          ? null
          : `a transfer of nothing uses ${PLAIN_GAS} gas: ${gas}`;
      },
      cancel: (envelope, key) =>
        signCall({ to: key.address, value: 0n, data: "0x" }, envelope, key),
      mostOf: ({ fields }) => {
        const { gas, maxFeePerGas } = envelopeFieldsSchema.parse(fields);
        return weiAmount(BigInt(gas) * maxFeePerGas);
      },
      cancelsPerDay: weiAmount(DEAREST_CANCELS * mostWei),
      signedBy: (bytes) => {
        try {
          return signedBy(bytes, chainId);
        } catch (error) {
          if (error instanceof RangeError) return null;
          throw error;
        }
      },
    },
    envelopeFault: (envelope) => envelopeFault(mostWei, envelope),
    intentFault({ kind, currency, amount, destination, wallet, payer }) {
      if (kind === "delegation" || kind === "reclaim") return `${network} has no stake to delegate`;
      const isByHot = kind === "setup" || kind === "sweep" && payer === "hot";
      if (isByHot && sweepBy !== "delegate") return `${network} is not swept by its hot wallet`;
      if (currency !== "native" && !contracts.has(currency)) {
        return `${currency} has no contract on ${network}`;
      }
      if (currency === "native" && wallet !== payer) return "its coin is sent by no other wallet";
      // the signer compares texts with those of its own keys: another spelling is another text
      if (evmAddress(destination) !== destination) {
        return `its destination is no address of ${network}, or not in its one spelling`;
      }
      if (closed.has(destination)) return "its destination is the token's own contract";
      if (kind === "setup") return amount === 0n ? null : "a setup moves nothing";
      if (amount <= 0n) return `its amount is not above zero: ${formatAmount(amount)}`;
      const decimals = decimalsOf(currency, network);
      return isExactIn(amount, decimals)
        ? null
        : `its amount has more than ${decimals} decimals: ${formatAmount(amount)}`;
    },
    setupOf: (hotWallet) => sweepBy === "delegate" ? delegateOf(hotWallet) : null,
    sign(intents, envelope, keyOf) {
      const [intent, ...others] = intents;
      if (intent !== undefined && intent.payer === "hot" && intent.wallet !== "hot") {
        return signSweeps(intents, envelope, keyOf);
      }
      if (intent === undefined || others.length > 0) {
        throw new Error(`Cannot build as a transaction pays one intent: ${others.length + 1}`);
      }
      if (intent.payer !== intent.wallet) {
        throw new Error(`Cannot build as another wallet would pay for it: ${intent.payer}`);
      }
      const key = keyOf(intent.wallet);
      return signCall(callOf(intent, key.address), envelope, key);
    },
  };
}
