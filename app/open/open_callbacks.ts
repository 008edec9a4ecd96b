import { crashPoint } from "../../actors/runtime/crash_point.ts";
import { IN_FLIGHT, Webhooks } from "../../actors/webhook/webhooks.ts";
import type { ApiDeps } from "../../api/http/context.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { createOutbox } from "../../ledger/outbox/outbox.ts";
import { NameLookups } from "../../webhooks/name_lookups.ts";
import { senderPermissions } from "../../webhooks/sender_permissions.ts";
import type { Config } from "../config/config.ts";
import { callbackConnections } from "../http/connection_bounds.ts";
import { createWorkerSender, type SupervisedSender } from "../workers/worker_sender.ts";
import { type CallbackSecrets, openCallbackSecrets } from "./callback_secrets.ts";

/** The parts that deliver callbacks. */
export interface Callbacks {
  readonly webhooks: Webhooks;
  readonly sender: SupervisedSender;
  readonly secrets: CallbackSecrets;
  readonly names: NameLookups;
  /** The part of them that the API uses. */
  readonly forApi: Pick<
    ApiDeps,
    "urlRules" | "names" | "callbackSecrets" | "webhookSender" | "wakeWebhooks"
  >;
}

/**
 * Opens the parts that deliver callbacks.
 *
 * @param node name of this node, which claims events
 * @param descriptors file descriptors that the process can have
 */
export async function openCallbacks(
  config: Config,
  sql: Sql,
  { node, now, descriptors }: {
    readonly node: string;
    readonly now: () => number;
    readonly descriptors: number;
  },
): Promise<Callbacks> {
  const urlRules = { allowLoopback: config.environment === "development" };
  const secrets = await openCallbackSecrets(config, sql);
  const names = new NameLookups();
  const connections = callbackConnections(descriptors);
  const sender = createWorkerSender({
    entry: new URL("../commands/sender_worker.ts", import.meta.url),
    rules: urlRules,
    permissions: senderPermissions(urlRules),
    names,
    connections,
  });
  const webhooks = new Webhooks({
    outbox: createOutbox(sql, { node }),
    sender,
    openSecret: (sealed, merchantId) => secrets.box.open(sealed, merchantId),
    now,
    random: Math.random,
    crashPoint,
    inFlight: Math.min(IN_FLIGHT, connections),
  });
  const forApi = {
    urlRules,
    names,
    callbackSecrets: secrets.box,
    webhookSender: sender,
    wakeWebhooks: (merchantId: string) => webhooks.wake(merchantId),
  };
  return { webhooks, sender, secrets, names, forApi };
}
