/**
 * A sender whose connections are made by a worker with permissions of its own: the guard that judges
 * a URL is the first wall, what the runtime lets this worker connect to is the second. Signing and
 * HTTP are also off the thread that commits money.
 *
 * @module
 */

import type { AttemptOutcome } from "../../webhooks/attempt_outcome.ts";
import type { NameLookups, ResolvedAddress } from "../../webhooks/name_lookups.ts";
import type { Delivery, Sender } from "../../webhooks/sender.ts";
import type { UrlRules } from "../../webhooks/url_guard.ts";
import { WorkerClient, WorkerUnavailable } from "./worker_client.ts";

/** Time beyond its time-out that an attempt may take before the worker counts as stuck. */
const STUCK_MS = 10_000;

/** Time for which the look-up of a name waits for its turn. */
const TURN_MS = 10_000;

/** Outcome of an attempt whose endpoint's name found no turn. */
const NAMES_BUSY = "NAMES_BUSY";

/** The worker is started with these. */
export interface SenderSettings {
  readonly rules: UrlRules;
  /** Connections above which idle ones are closed; default 2,048. */
  readonly connections?: number | undefined;
}

/** One attempt. */
export interface SendRequest {
  readonly delivery: Delivery;
  /** Unix milliseconds, for the signature's timestamp. */
  readonly now: number;
}

/** Asks for the addresses of a name, which the worker itself may not look up. */
export interface NameAsked {
  readonly hostname: string;
  /** Whose endpoint it is. */
  readonly merchantId: string;
}

/** `code` is the system's word where a name does not resolve. */
export interface NameReply {
  readonly code: string | null;
  readonly addresses: readonly ResolvedAddress[];
}

export interface WorkerSenderOptions extends SenderSettings {
  /** The worker's module, `app/commands/sender_worker.ts`. */
  readonly entry: URL;
  /** See `senderPermissions`. */
  readonly permissions: Deno.PermissionOptionsObject;
  /** Looks names up for the worker, which may not. */
  readonly names: NameLookups;
}

/** A sender and how its worker fares. */
export interface SupervisedSender extends Sender {
  /** Attempts under way, how often the worker was started again, and for how long none is ready. */
  readonly figures: WorkerClient<SendRequest, AttemptOutcome>["figures"];
}

/** Starts the worker. */
export function createWorkerSender(options: WorkerSenderOptions): SupervisedSender {
  const { entry, permissions, names, rules, connections } = options;
  const client = new WorkerClient<SendRequest, AttemptOutcome>({
    name: "sender",
    entry,
    permissions,
    settings: (): SenderSettings => ({ rules, connections }),
    reply: (question) => lookUp(names, question as NameAsked),
  });
  let isClosed = false;
  return {
    get figures() {
      return client.figures;
    },
    async send(delivery, now, signal) {
      const startedAt = performance.now();
      const durationMs = () => Math.round(performance.now() - startedAt);
      if (isClosed || signal.aborted) return { category: "stopped", durationMs: 0 };
      try {
        return await client.call({ delivery, now }, delivery.timeoutMs + STUCK_MS, signal);
      } catch (error) {
        if (!(error instanceof WorkerUnavailable)) throw error;
        if (isClosed || signal.aborted) return { category: "stopped", durationMs: durationMs() };
        if (!error.wasReceived) return { category: "not_sent", durationMs: durationMs() };
        return { category: "network", code: "SENDER_ENDED", durationMs: durationMs() };
      }
    },
    close(): void {
      isClosed = true;
      void client.close(0);
    },
  };
}

async function lookUp(
  names: NameLookups,
  { hostname, merchantId: asker }: NameAsked,
): Promise<NameReply> {
  const found = await names.find({ hostname, asker, use: "delivery", waitMs: TURN_MS });
  const code = found.kind === "failed" ? found.code : found.kind === "busy" ? NAMES_BUSY : null;
  return { code, addresses: found.kind === "found" ? found.addresses : [] };
}
