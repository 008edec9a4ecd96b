import { createSigner } from "../../../chains/signer/create_signer.ts";
import type { SignedMemory } from "../../../chains/signer/signed_memory.ts";
import { SpendingLimits } from "../../../chains/signer/spending_limits.ts";
import type { TransferBuilder } from "../../../chains/signer.ts";
import type { KeySource } from "../../../chains/wallet/unlock_wallet.ts";
import { Engine } from "../../../actors/engine.ts";
import type { EngineDeps } from "../../../actors/engine_deps.ts";
import { crashPoint } from "../../../actors/runtime/crash_point.ts";
import { Webhooks } from "../../../actors/webhook/webhooks.ts";
import { connect } from "../../../ledger/database/connect.ts";
import { createOutbox } from "../../../ledger/outbox/outbox.ts";
import { readIntents } from "../../../ledger/treasury/signing.ts";
import { createSender } from "../../../webhooks/sender.ts";
import { openSwallowingProxy } from "../../support/swallowing_proxy.ts";

/** Parts that all lives of a node share, as a real one keeps them outside of its process. */
export interface LifeParts extends Pick<EngineDeps, "chains" | "pace" | "now" | "sweeps"> {
  readonly databaseUrl: string;
  readonly keys: KeySource;
  readonly builders: readonly TransferBuilder[];
  /** Signatures are durable before they leave the signer, so they outlive it. */
  readonly memory: SignedMemory;
  readonly pollWebhooksMs: number;
}

/** One life of a node in this process: actors, signer and deliveries, on connections of their own. */
export interface Life {
  readonly engine: Engine;
  readonly webhooks: Webhooks;
  /** Resolves at its death. */
  readonly died: Promise<void>;
  /**
   * Dies as by `kill -9`, in this very moment: nothing that it says from now on reaches the database,
   * which frees what its sessions held. Returns at once.
   */
  die(): void;
  /** Resolves when nothing of it runs any more, after its death or {@linkcode Life.end}. */
  readonly isOver: Promise<unknown>;
  /** Stops it as a service stops. */
  end(): Promise<void>;
}

const NODE = "node";
/** Bound of the end of a life; after a death all work fails at once, as its database is gone. */
const STOP_MS = 2_000;

/** Opens a life; nothing of it runs before its engine is started. */
export function openLife(parts: LifeParts): Life {
  const { databaseUrl, keys, builders, memory, pollWebhooksMs, ...deps } = parts;
  const proxy = openSwallowingProxy(databaseUrl);
  const open = (options = {}) =>
    connect(proxy.url, { max: 4, connectTimeoutMs: 60_000, ...options });
  const pools = { sql: open(), journalSql: open({ looksUpOnly: true }), signer: open({ max: 1 }) };
  const { sql, journalSql } = pools;
  const sender = createSender({ rules: { allowLoopback: true } });
  const webhooks = new Webhooks({
    outbox: createOutbox(sql, { node: NODE }),
    sender,
    now: deps.now,
    random: () => 0,
    crashPoint,
    pollMs: pollWebhooksMs,
    drainMs: 200,
  });
  const engine = new Engine({
    ...deps,
    sql,
    journalSql,
    signer: createSigner({
      keys,
      intents: { read: (ids) => readIntents(pools.signer, ids) },
      builders,
      memory,
      spending: new SpendingLimits({}),
      now: deps.now,
    }),
    node: NODE,
    webhooks,
    usdRate: () => "1",
  });
  const died = Promise.withResolvers<void>();
  const isOver = Promise.withResolvers<unknown>();
  let isEnding = false;
  const stop = async () => {
    await engine.stop(STOP_MS);
    sender.close();
    await Promise.all(Object.values(pools).map((pool) => pool.end({ timeout: 0 })));
    await proxy[Symbol.asyncDispose]();
  };
  const end = () => {
    if (!isEnding) {
      isEnding = true;
      isOver.resolve(stop());
    }
    return isOver.promise;
  };
  return {
    engine,
    webhooks,
    died: died.promise,
    isOver: isOver.promise,
    die: () => {
      proxy.kill();
      died.resolve();
      end();
    },
    end: async () => void await end(),
  };
}
