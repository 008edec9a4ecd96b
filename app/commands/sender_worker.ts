/**
 * Composition root of the worker that calls merchants' endpoints: it makes attempts, and asks the
 * service for the addresses of names.
 *
 * @module
 */

import { createSender, type Resolve } from "../../webhooks/sender.ts";
import { serveWorker } from "../workers/serve_worker.ts";
import type {
  NameAsked,
  NameReply,
  SenderSettings,
  SendRequest,
} from "../workers/worker_sender.ts";

serveWorker(({ rules, connections }: SenderSettings, ask) => {
  const resolve: Resolve = async (hostname, { merchantId = "" }, callback) => {
    const asked: NameAsked = { hostname, merchantId };
    const { code, addresses } = await ask(asked) as NameReply;
    callback(
      code === null ? null : Object.assign(new Error(`Cannot resolve ${hostname}`), { code }),
      addresses,
    );
  };
  const sender = createSender({ rules, connections, resolve, mayConnect });
  const underWay = new Map<number, () => void>();
  return {
    ready: null,
    async call({ delivery, now }: SendRequest, id) {
      const { promise, resolve: conclude } = Promise.withResolvers();
      underWay.set(id, sender.begin(delivery, now, conclude));
      try {
        return await promise;
      } finally {
        underWay.delete(id);
      }
    },
    cancel(ids) {
      for (const id of ids) underWay.get(id)?.();
    },
  };
});

/** Asks the runtime first: a connection it does not permit is an exception that ends the worker. */
function mayConnect(address: string): boolean {
  const host = address.includes(":") ? `[${address}]` : address;
  return Deno.permissions.querySync({ name: "net", host }).state === "granted";
}
