/**
 * A watcher over the production adapter, a development chain and a database of its own, one look at
 * a time.
 *
 * @module
 */

import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync } from "@scure/bip39";
import type { Actor } from "../../../actors/runtime/actor.ts";
import { watcherActors, type WatcherMessage } from "../../../actors/watcher/watcher_actor.ts";
import type { WatcherStatus } from "../../../actors/watcher/scan_memory.ts";
import type { Chain } from "../../../chains/chain.ts";
import { addressFromLogHex } from "../../../chains/tron/address.ts";
import { createTronChain } from "../../../chains/tron/tron_chain.ts";
import { publicAddresses } from "../../../chains/wallet/network_keys.ts";
import type { OpenChain } from "../../../chains/family.ts";
import type { Journal } from "../../../actors/journal/journal.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { addMerchant, openJournal } from "../../support/books.ts";

const BRANCH = HDKey.fromMasterSeed(
  mnemonicToSeedSync(
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
  ),
).derive("m/44'/195'/0'/0");

/** Public key from which deposit addresses are derived. */
export const DEPOSITS = publicAddresses("TRX", { depositXpub: BRANCH.publicExtendedKey });
/** Address that payouts would leave from; it has no key. */
export const HOT_WALLET = addressFromLogHex(`a1${"ffff".padStart(38, "0")}`);

/** The production adapter over nodes on this machine. */
export function adapterOver(
  urls: readonly string[],
  usdt: string,
  options: {
    readonly checksIdentity?: boolean;
    readonly dailyCalls?: number;
    readonly callsPerSecond?: number;
  } = {},
): OpenChain {
  return createTronChain({
    network: "TRX",
    nodeUrls: urls,
    contracts: { USDT: usdt },
    deposits: DEPOSITS,
    hotWallet: HOT_WALLET,
    requestTimeoutMs: 10_000,
    ...options,
  });
}

/** A watcher that looks at the chain when the test makes it. */
export interface Watch {
  readonly journal: Journal;
  /** The clock of the day, Unix milliseconds; a test sets it as an operator would. */
  clock: number;
  /** The clock that is never set, by which back-off and rests go. */
  monotonic: number;
  /** Lets time pass, by both clocks. */
  pass(ms: number): void;
  /** As last told. */
  status(): WatcherStatus;
  /** One look at the chain, at its solid blocks first; a failure of the chain is thrown. */
  look(): Promise<void>;
  /** Looks until nothing more is asked for at once. */
  lookOn(): Promise<void>;
  /** A watcher that starts anew, as after a death of the process. */
  restart(): void;
}

/** Makes a watcher. */
export function watch(sql: Sql, chainOf: () => Chain & Partial<OpenChain>): Watch {
  const journal = openJournal(sql);
  let status: WatcherStatus | null = null;
  let again = false;
  let actors: Promise<readonly Actor<WatcherMessage>[]> | null = null;
  const activate = () => {
    const chain = chainOf();
    const { solid, head } = watcherActors({
      sql,
      chains: new Map([["TRX", chain]]),
      nodes: () => chain.nodes?.states ?? [],
      now: () => self.clock,
      monotonic: () => self.monotonic,
      wakeMerchants: (ids) => {
        for (const id of ids) journal.wake(id);
      },
      onSolid: () => {},
      onStatus: (_network, told) => status = told,
      again: () => again = true,
    });
    return Promise.all([solid.activate("TRX"), head.activate("TRX")]);
  };
  const self: Watch = {
    journal,
    clock: Date.now(),
    monotonic: 1_000,
    pass: (ms) => {
      self.clock += ms;
      self.monotonic += ms;
    },
    status: () => {
      if (status === null) throw new Error("Cannot tell a status as nobody has looked yet");
      return status;
    },
    look: async () => {
      again = false;
      for (const actor of await (actors ??= activate())) await actor.receive({ type: "tick" });
    },
    lookOn: async () => {
      do await self.look(); while (again);
    },
    restart: () => actors = null,
  };
  return self;
}

/** A merchant with a watched address. */
export async function addWatched(sql: Sql, address: string, index = 0): Promise<string> {
  const merchantId = await addMerchant(sql);
  await sql`
    INSERT INTO hub.address (address, network, merchant_id, address_id, wallet_index)
    VALUES (${address}, 'TRX', ${merchantId}, ${`adr_${address}`}, ${index})`;
  return merchantId;
}
