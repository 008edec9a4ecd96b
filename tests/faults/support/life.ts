import type { Chain } from "../../../chains/chain.ts";
import type { IntentSource, TransferBuilder } from "../../../chains/signer.ts";
import type { OpenChain } from "../../../chains/family.ts";
import type { KeySource } from "../../../chains/wallet/unlock_wallet.ts";
import { Engine } from "../../../actors/engine.ts";
import type { EngineDeps } from "../../../actors/engine_deps.ts";
import { crashPoint } from "../../../actors/runtime/crash_point.ts";
import { Webhooks } from "../../../actors/webhook/webhooks.ts";
import { connect } from "../../../ledger/database/connect.ts";
import { createOutbox } from "../../../ledger/outbox/outbox.ts";
import { readIntents } from "../../../ledger/treasury/intents.ts";
import { readUsedNonces } from "../../../ledger/treasury/used_nonces.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { createSender, type Sender } from "../../../webhooks/sender.ts";
import { openSwallowingProxy } from "../../support/swallowing_proxy.ts";
import { bounded } from "./patience.ts";
import { type KeptSignatures, type MortalSigner, openMortalSigner } from "./mortal_signer.ts";

/** Parts that all lives of a node share, as a real one keeps them outside of its process. */
export interface LifeParts extends Pick<EngineDeps, "pace" | "now" | "sweeps"> {
  readonly network: Network;
  readonly databaseUrl: string;
  /** The chain's node. */
  readonly chainUrl: string;
  /** Opens the chain as one life knows it, whose calls all go to a URL. */
  readonly openChain: (nodeUrl: string) => OpenChain;
  readonly keys: KeySource;
  readonly builders: readonly TransferBuilder[];
  /** Signatures are durable before they leave the signer, so they outlive it. */
  readonly kept: KeptSignatures;
  readonly pollWebhooksMs: number;
}

/**
 * One life of a node in this process: actors, signer and deliveries, on connections of their own to the
 * database, to the chain's node and to endpoints. All that it does outside of itself it does by these.
 */
export interface Life {
  readonly engine: Engine;
  readonly webhooks: Webhooks;
  readonly chain: Chain;
  readonly signer: MortalSigner;
  readonly sender: Sender;
  /** Resolves at its death. */
  readonly died: Promise<void>;
  /**
   * Dies as by `kill -9`, in this very moment: code of it that still runs reaches neither the database,
   * which frees what its sessions held, nor the chain's node nor an endpoint. Returns at once.
   */
  die(): void;
  /**
   * Resolves when nothing of it runs any more, after its death or {@linkcode Life.end}; rejects when
   * something does all the same.
   */
  readonly isOver: Promise<void>;
  /** Stops it as a service stops. */
  end(): Promise<void>;
}

const NODE = "node";
/** Bound of the end of a life; after a death all work fails at once, as its database is gone. */
const STOP_MS = 2_000;
/** Bound of all of that; the stop above gives each kind of actor its own. */
const END_MS = 20_000;

/** Opens a life; nothing of it runs before its engine is started. */
export function openLife(parts: LifeParts): Life {
  const {
    network,
    databaseUrl,
    chainUrl,
    openChain,
    keys,
    builders,
    kept,
    pollWebhooksMs,
    ...deps
  } = parts;
  const toDatabase = openSwallowingProxy(databaseUrl);
  const toChain = openSwallowingProxy(chainUrl);
  const open = (options = {}) =>
    connect(toDatabase.url, { max: 4, connectTimeoutMs: 60_000, ...options });
  const pools = { sql: open(), journalSql: open({ looksUpOnly: true }), signer: open({ max: 1 }) };
  const { sql, journalSql } = pools;
  let isDead = false;
  const connections = createSender({ rules: { allowLoopback: true } });
  const sender: Sender = {
    send: (delivery, now, signal) =>
      isDead
        ? Promise.reject(new Error("Cannot deliver as the node is dead"))
        : connections.send(delivery, now, signal),
    close: () => connections.close(),
  };
  const chain = openChain(new URL(toChain.url).origin);
  const intents: IntentSource = {
    read: (ids) => readIntents(pools.signer, ids),
    readUsed: (places) => readUsedNonces(pools.signer, places),
  };
  const signer = openMortalSigner({ keys, intents, builders, now: deps.now }, kept);
  const webhooks = new Webhooks({
    outbox: createOutbox(sql, { node: NODE }),
    sender,
    now: deps.now,
    random: () => 0,
    // what is left of a dead life must not pass a point that is armed for the next one
    crashPoint: (name) => isDead || crashPoint(name),
    pollMs: pollWebhooksMs,
    drainMs: 200,
  });
  const engine = new Engine({
    ...deps,
    sql,
    journalSql,
    signer,
    chains: new Map([[network, chain]]),
    nodes: () => chain.nodes.states,
    node: NODE,
    webhooks,
    usdRate: () => "1",
  });
  const died = Promise.withResolvers<void>();
  const isOver = Promise.withResolvers<void>();
  let isEnding = false;
  const stop = async () => {
    await engine.stop(STOP_MS);
    sender.close();
    await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 0 })));
    await Promise.all([toDatabase[Symbol.asyncDispose](), toChain[Symbol.asyncDispose]()]);
    const ghosts = isDead ? engine.busyFor(-1) : [];
    if (ghosts.length > 0) {
      throw new Error(`A life went on after its death: ${JSON.stringify(ghosts)}`);
    }
  };
  const end = () => {
    if (!isEnding) {
      isEnding = true;
      isOver.resolve(bounded("the end of a life", stop(), END_MS));
    }
    return isOver.promise;
  };
  return {
    engine,
    webhooks,
    chain,
    signer,
    sender,
    died: died.promise,
    isOver: isOver.promise,
    die: () => {
      isDead = true;
      toDatabase.kill();
      toChain.kill();
      sender.close();
      died.resolve();
      // the start of the next life waits for it and throws what went wrong
      end().catch(() => {});
    },
    end,
  };
}
