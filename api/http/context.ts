/**
 * The parts that the interface is built on. Wired by the composition root; handlers see nothing else.
 *
 * @module
 */

import type { Registry } from "prom-client";
import type { AddressBook } from "../../actors/addresses/address_book.ts";
import type { AddressGuard } from "../../actors/addresses/address_guard.ts";
import type { Merchants } from "../../actors/merchant/merchants.ts";
import type { IdPrefix } from "../../actors/runtime/ids.ts";
import type { FeeBoard } from "../../actors/treasury/fee_board.ts";
import type { TreasuryPolicy, TreasuryStatus } from "../../actors/treasury/treasury_deps.ts";
import type { WatcherStatus } from "../../actors/watcher/scan_memory.ts";
import type { Chain } from "../../chains/chain.ts";
import type { NodeState } from "../../chains/node_state.ts";
import type { Balances } from "../../ledger/balances.ts";
import type { LoadOne } from "../../ledger/database/batcher.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { AddressOwner } from "../../ledger/deposit_addresses.ts";
import type { HostedStatus } from "../../ledger/hosted_page.ts";
import type { Settings } from "../../ledger/settings.ts";
import type { Duties } from "../../ledger/money/duties.ts";
import type { Network } from "../../ledger/money/pair.ts";
import type { Rates } from "../../rates/rates.ts";
import type { NameLookups } from "../../webhooks/name_lookups.ts";
import type { SecretBox } from "../../webhooks/secret_box.ts";
import type { Sender } from "../../webhooks/sender.ts";
import type { UrlRules } from "../../webhooks/url_guard.ts";
import type { ChangePlaces } from "./change_places.ts";
import type { ClaimPlaces } from "./claim_places.ts";
import type { ApiPools } from "./read_slots.ts";
import type { SharedPlaces } from "./shared_places.ts";
import type { Environment, KeyRing } from "./key_ring.ts";
import type { RateLimits } from "./rate_limits.ts";
import type { FailedAuthentications } from "./request_log.ts";
import type { SessionTokens } from "./session_token.ts";

/** True where this node can serve. */
export interface Readiness {
  /** `unready` only where requests would fail: no database, old schema, journal stopped. */
  readonly status: "ok" | "degraded" | "unready";
  readonly reasons: readonly string[];
}

/** The state of a network as this node reads it. */
export interface ScanState {
  /** null: it was not reached yet. */
  readonly status: WatcherStatus | null;
  readonly nodes: readonly NodeState[];
}

/** The parts that the composition root passes in. */
export interface ApiDeps {
  readonly merchants: Merchants;
  /** The pool of a handler; see {@linkcode poolOf}. */
  readonly sql: Sql;
  /** Pools of their own for kinds of requests; absent: `sql` serves all of them. */
  readonly pools?: ApiPools;
  /** The networks that are configured. */
  readonly chains: ReadonlyMap<
    Network,
    Pick<
      Chain,
      | "address"
      | "transactionId"
      | "transaction"
      | "paymentLink"
      | "blocks"
      | "hotWallet"
      | "addressOf"
      | "eventAddress"
      | "deriveAddress"
      | "balanceOf"
      | "capabilities"
    >
  >;
  /**
   * The canonical spelling of a transaction id, of networks that are not configured here as well: other nodes of
   * this service may read them. Null for a text that names no transaction.
   */
  readonly transactionIdOn: (network: Network, text: string) => string | null;
  readonly addressBook: Pick<AddressBook, "take">;
  /** Decides whether deposit addresses may be part of an answer. */
  readonly addresses: Pick<AddressGuard, "clears">;
  /** Gives the place of a list back once it was read; absent where none is held. May be called again. */
  readonly doneReading?: () => void;
  /** Derivation indexes per network that a declared history jumps over; absent: 1,000. */
  readonly addressGap?: number;
  /** Dynamic network fees as of now. */
  readonly fees: Pick<FeeBoard, "dynamicFee" | "basis">;
  /** The state of a network's scan and of its nodes; absent where no chain is read. */
  readonly scanOf?: (network: Network) => ScanState;
  /** The set-up of a network's treasury, and its state at its last poll. */
  readonly treasury: (
    network: Network,
  ) => { readonly policy: TreasuryPolicy | null; readonly status: TreasuryStatus | null };
  /** True where payouts of a network can be signed at all, as far as is known. */
  readonly payoutsOpen: (network: Network) => boolean;
  /** Rates of stablecoins in national currencies. */
  readonly rates: Rates;
  /** Bounds the changes that are under way. */
  readonly changePlaces: ChangePlaces;
  /** Bounds the claims that are under way on each network. */
  readonly claimPlaces: Pick<ClaimPlaces, "take">;
  /** Bounds the hosted pages that are read, by the hash of their token. */
  readonly pagePlaces: Pick<SharedPlaces, "take">;
  /** Bounds what holds a merchant's outbox for longer, by the merchant. */
  readonly redeliveryPlaces: Pick<SharedPlaces, "take">;
  /** Makes the tokens of hosted payment pages. */
  readonly sessionTokens: SessionTokens;
  /** Key of the signatures of trusted upstream systems. */
  readonly ingestSecret: string;
  /** The rules of approval. */
  readonly duties: Duties;
  /** Samples failed authentications into the log; absent: the program's log. */
  readonly failedAuthentications?: FailedAuthentications;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly newId: (prefix: IdPrefix) => string;
  readonly environment: Environment;
  /** Base address that merchants use, without a slash at its end. */
  readonly publicUrl: string;
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** The time that a request waits for its merchant's actor, milliseconds. */
  readonly askTimeoutMs: number;
  readonly registry: Registry;
  readonly readiness: () => Promise<Readiness>;
  readonly urlRules: UrlRules;
  /** Encrypts the callback secrets that are kept. */
  readonly callbackSecrets: SecretBox;
  /** Makes single deliveries, for tests of an endpoint. */
  readonly webhookSender: Pick<Sender, "send">;
  /** Says that a merchant has events to deliver. */
  readonly wakeWebhooks: (merchantId: string) => void;
  /** Looks up host names of webhooks. */
  readonly names: NameLookups;
}

/** The context of handlers: the deps, and what is shared between requests. */
export interface ApiContext extends ApiDeps {
  /** The metrics as text for Prometheus; made once a second at most, like `readiness`. */
  readonly measurements: () => Promise<string>;
  readonly keys: KeyRing;
  readonly balances: LoadOne<Balances>;
  /** For whom an address was handed out; undefined: by no merchant here. */
  readonly addressOwners: LoadOne<readonly AddressOwner[]>;
  /** Hosted payments by the hash of their page's token; see {@linkcode POLL_SPACING_MS}. */
  readonly hostedStatuses: LoadOne<HostedStatus>;
  /** Hashes of tokens that open a hosted page, each by itself. */
  readonly sessions: LoadOne<string>;
  readonly rateLimits: RateLimits;
  /** Merchants whose webhook is being tried by this node: each test holds a socket for long. */
  readonly webhookTests: Set<string>;
  readonly settings: () => Promise<Settings>;
  /** Headers of every answer that say how clients have to connect. */
  readonly transportHeaders: Readonly<Record<string, string>>;
  readonly failedAuthentications: FailedAuthentications;
}

/** Ids of the rows by which a payment may end: two charges and two events at most. */
export function endIds({ newId }: Pick<ApiContext, "newId">) {
  return {
    chargeIds: [newId("chg"), newId("chg")],
    eventIds: [newId("evt"), newId("evt")],
  } as const;
}
