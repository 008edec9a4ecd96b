/**
 * Builds and signs TRON transfers for the signer.
 *
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { formatAmount, isExactIn, toTokenUnits } from "../../../ledger/money/amount.ts";
import { type Currency, type Network, tokenDecimals } from "../../../ledger/money/pair.ts";
import type { Asset, Envelope } from "../../chain.ts";
import type { TokenContracts } from "../../profiles.ts";
import type { Intent, TransferBuilder } from "../../signer.ts";
import { addressToHex, tronAddress } from "../address.ts";
import { contractEntries, TRX_DECIMALS } from "../token_contracts.ts";
import { type EnvelopeFields, envelopeFieldsSchema, SALT_SUN } from "./envelope.ts";
import {
  buildTransferTransaction,
  signTransactionId,
  type TransactionHeader,
  type TransferCall,
} from "./transfer_transaction.ts";

/** Salts move the timestamp back by less than an hour; nodes do not look at it. */
const SALT_TIME_MS = 3_600_000;

/**
 * Time by which block time may be ahead of the wall clock where it follows one. A solid block is about a
 * minute old, so this is all for the clocks' difference; a request with a later one wants a
 * signature beside one that still lives, or one that lives longer than it may.
 */
const FUTURE_MS = 60_000;

/** Bounds of a builder. */
export interface TronTransferBuilderOptions {
  readonly network: Network;
  readonly contracts: TokenContracts;
  /** The longest a transaction may live past its reference block, in milliseconds. */
  readonly longestLifetimeMs: number;
  /** The most one transaction may burn, in sun. */
  readonly highestFeeLimitSun: number;
  /**
   * Time by which block time may be behind the wall clock, in milliseconds: an envelope on an old block
   * comes from a stale view. `null` where blocks are made on demand, at any time.
   */
  readonly clockToleranceMs: number | null;
}

/** Decimals of an asset. */
function decimalsOf(asset: Asset, network: Network): number {
  return asset === "native" ? TRX_DECIMALS : tokenDecimals(asset, network);
}

/** See {@linkcode TransferBuilder.envelopeFault}. */
function envelopeFault(
  options: TronTransferBuilderOptions,
  envelope: Envelope,
  now: number,
): string | null {
  const parsed = envelopeFieldsSchema.safeParse(envelope.fields);
  if (!parsed.success) return `its envelope is malformed: ${parsed.error.issues[0]?.message}`;
  const { expiration, timestamp, fee_limit } = parsed.data;
  if (expiration !== envelope.expiresAt || expiration !== envelope.diesAfter) {
    return "its envelope names two expirations";
  }
  if (envelope.nonce !== null) return `its envelope has a nonce: ${envelope.nonce}`;
  const lifetime = expiration - timestamp;
  if (lifetime <= 0 || lifetime > options.longestLifetimeMs) {
    return `its lifetime is out of bounds: ${lifetime} ms`;
  }
  if (fee_limit > options.highestFeeLimitSun) {
    return `its fee limit is too high: ${fee_limit} sun`;
  }
  const { clockToleranceMs } = options;
  if (clockToleranceMs === null) return null;
  const age = now - timestamp;
  if (age > clockToleranceMs) return `its block is ${age} ms behind the signer's clock`;
  if (age < -FUTURE_MS) return `its block is ${-age} ms ahead of the signer's clock`;
  return null;
}

/** The header of a salted transaction: the same money, another id. */
function saltedHeader(fields: EnvelopeFields, salt: string, isCall: boolean): TransactionHeader {
  const digest = sha256(utf8ToBytes(salt));
  const view = new DataView(digest.buffer, digest.byteOffset);
  return {
    refBlockBytes: fields.ref_block_bytes,
    refBlockHash: fields.ref_block_hash,
    expiration: fields.expiration,
    timestamp: fields.timestamp - view.getUint32(0) % SALT_TIME_MS,
    feeLimit: isCall ? fields.fee_limit + view.getUint32(4) % SALT_SUN : 0,
  };
}

/**
 * Makes the builder of a TRON network.
 *
 * @throws {RangeError} when a contract's address is malformed
 */
export function createTronTransferBuilder(options: TronTransferBuilderOptions): TransferBuilder {
  const { network } = options;
  const contracts: ReadonlyMap<Currency, string> = new Map(contractEntries(options.contracts));

  const callOf = (intent: Intent, from: string): TransferCall => {
    const { currency } = intent;
    const units = toTokenUnits(intent.amount, decimalsOf(currency, network));
    const ends = { owner: addressToHex(from), to: addressToHex(intent.destination) };
    if (intent.kind === "delegation" || intent.kind === "reclaim") {
      const action = intent.kind === "delegation" ? "delegate" : "undelegate";
      return { kind: "energy", action, ...ends, sun: Number(units) };
    }
    if (currency === "native") return { kind: "native", ...ends, sun: Number(units) };
    const contract = contracts.get(currency);
    if (contract === undefined) throw new Error(`Cannot build as it has no contract: ${currency}`);
    return { kind: "token", ...ends, contract, units };
  };

  return {
    network,
    ends: {
      by: "time",
      followsClock: options.clockToleranceMs !== null,
      blockTime: (envelope) => envelopeFieldsSchema.parse(envelope.fields).timestamp,
    },
    envelopeFault: (envelope, now) => envelopeFault(options, envelope, now),
    intentFault({ currency, amount, destination }) {
      if (currency !== "native" && !contracts.has(currency)) {
        return `${currency} has no contract on ${network}`;
      }
      // the signer compares texts with those of its own keys: another spelling is another text
      if (tronAddress(destination) !== destination) {
        return `its destination is no address of ${network}, or not in its one spelling`;
      }
      if (amount <= 0n) return `its amount is not above zero: ${formatAmount(amount)}`;
      const decimals = decimalsOf(currency, network);
      if (!isExactIn(amount, decimals)) {
        return `its amount has more than ${decimals} decimals: ${formatAmount(amount)}`;
      }
      if (currency === "native" && toTokenUnits(amount, decimals) > Number.MAX_SAFE_INTEGER) {
        return `its amount is beyond any balance: ${formatAmount(amount)}`;
      }
      return null;
    },
    sign([intent, ...others], envelope, keyOf, salt) {
      if (intent === undefined || others.length > 0) {
        throw new Error(`Cannot build as a transaction pays one intent: ${others.length + 1}`);
      }
      const key = keyOf(intent.wallet);
      const fields = envelopeFieldsSchema.parse(envelope.fields);
      const header = saltedHeader(fields, salt, intent.currency !== "native");
      const { txid, json } = buildTransferTransaction(callOf(intent, key.address), header);
      const signature = [signTransactionId(txid, key.privateKey)];
      return {
        txid,
        bytes: JSON.stringify({ ...json, signature }),
        expiresAt: envelope.expiresAt,
      };
    },
  };
}
