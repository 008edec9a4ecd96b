/**
 * The worker's side of sending: makes attempts as it is told, and asks the service for the addresses
 * of names.
 *
 * @module
 */

import { createSender, type DirectSender, type Resolve } from "./sender.ts";
import type { Done, FromSender, Job, ToSender } from "./sender_protocol.ts";

type Resolved = Extract<ToSender, { readonly kind: "resolved" }>;

/** How many outcomes are told at once, and how long one waits for others, milliseconds. */
const TOLD_TOGETHER = 32;
const TELLING_MS = 2;

/** Serves the service that sends this worker a port, until the worker ends. */
export function serveSender(): void {
  globalThis.addEventListener("message", (event) => {
    const port = event instanceof MessageEvent ? event.ports[0] : undefined;
    if (port !== undefined) serve(port);
  }, { once: true });
}

/** Makes the attempts that come through a port. */
function serve(port: MessagePort): void {
  const tell = (message: FromSender): void => port.postMessage(message);
  const asked = new Map<number, (answer: Resolved) => void>();
  const underWay = new Map<number, () => void>();
  let sender: DirectSender | null = null;
  let nextQuestion = 1;
  let done: Done[] = [];
  let telling: ReturnType<typeof setTimeout> | undefined;

  const resolve: Resolve = (hostname, { merchantId = "" }, callback) => {
    const id = nextQuestion++;
    asked.set(id, ({ code, addresses }) => {
      const error = code === null
        ? null
        : Object.assign(new Error(`Cannot resolve ${hostname}`), { code });
      callback(error, addresses);
    });
    tell({ kind: "resolve", id, hostname, merchantId });
  };

  const flush = () => {
    clearTimeout(telling);
    telling = undefined;
    if (done.length === 0) return;
    tell({ kind: "done", done });
    done = [];
  };

  const conclude = (one: Done) => {
    underWay.delete(one.id);
    done.push(one);
    // what ends at about the same time is told together; the last waits for nothing
    if (underWay.size === 0 || done.length === TOLD_TOGETHER) setImmediate(flush);
    else telling ??= setTimeout(flush, TELLING_MS);
  };

  const start = ({ id, delivery, now }: Job) => {
    if (sender === null) throw new Error("Cannot send as the worker was not started");
    try {
      underWay.set(id, sender.begin(delivery, now, (outcome) => conclude({ id, outcome })));
    } catch (error) {
      // told and not thrown: that would end the worker, and with it what others have under way
      tell({ kind: "broken", id, reason: String(error) });
    }
  };

  port.onmessage = ({ data }: MessageEvent<ToSender>) => {
    switch (data.kind) {
      case "start":
        sender = createSender({
          rules: data.rules,
          connections: data.connections,
          resolve,
          mayConnect,
        });
        return;
      case "send":
        for (const job of data.jobs) start(job);
        return;
      case "stop":
        for (const id of data.ids) underWay.get(id)?.();
        return;
      case "resolved":
        asked.get(data.id)?.(data);
        asked.delete(data.id);
        return;
      default:
        data satisfies never;
    }
  };
}

/** Asks the runtime first: a connection it does not permit is an exception that ends the worker. */
function mayConnect(address: string): boolean {
  const host = address.includes(":") ? `[${address}]` : address;
  return Deno.permissions.querySync({ name: "net", host }).state === "granted";
}
