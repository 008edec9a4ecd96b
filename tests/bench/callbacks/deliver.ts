/**
 * The delivering process of the bench: the service's journal and its deliveries, without HTTP and
 * without chains. Told over a local port whom to wake.
 *
 *     deno run deliver.ts postgres://...
 *
 * @module
 */

import process from "node:process";
import { Journal } from "../../../actors/journal/journal.ts";
import { Webhooks } from "../../../actors/webhook/webhooks.ts";
import { connect } from "../../../ledger/database/connect.ts";
import { createJournalStore } from "../../../ledger/journal/store.ts";
import { createOutbox } from "../../../ledger/outbox/outbox.ts";
import { NameLookups } from "../../../webhooks/name_lookups.ts";
import { senderPermissions } from "../../../webhooks/sender_permissions.ts";
import { createWorkerSender } from "../../../app/workers/worker_sender.ts";
import { showWarnings } from "../logging.ts";
import type { Told, Whom } from "./delivery_process.ts";

/** As in the service. */
const READ_POOL = 10;
const JOURNAL_POOL = 4;

await showWarnings();
const databaseUrl = Deno.args[0] ?? "";
const rules = { allowLoopback: true };
const webhooks = new Webhooks({
  outbox: createOutbox(connect(databaseUrl, { max: READ_POOL, applicationName: "bench-outbox" })),
  sender: createWorkerSender({
    entry: new URL("../../../app/commands/sender_worker.ts", import.meta.url),
    rules,
    permissions: senderPermissions(rules),
    names: new NameLookups(),
  }),
  now: () => Date.now(),
  random: Math.random,
  crashPoint: () => {},
});
const committed: [string, number][] = [];
const journal = new Journal({
  store: createJournalStore(
    connect(databaseUrl, {
      max: JOURNAL_POOL,
      applicationName: "bench-journal",
      looksUpOnly: true,
    }),
  ),
  now: () => Date.now(),
  usdRate: () => "1",
  onCommitted: ({ events }) => {
    const at = Date.now();
    for (const merchantId of events) {
      committed.push([merchantId, at]);
      webhooks.wake(merchantId);
    }
  },
});
await journal.settings();
webhooks.start();

const listen = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
const server = Deno.serve(listen, async (request) => {
  if (request.method === "POST") {
    const { events, inboxes }: Whom = await request.json();
    for (const merchantId of events) webhooks.wake(merchantId);
    for (const merchantId of inboxes) journal.wake(merchantId);
  }
  const { user, system } = process.cpuUsage();
  const told: Told = { cpuUs: user + system, committed: committed.splice(0) };
  return Response.json(told);
});
// deno-lint-ignore no-console -- the bench reads it
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.addr.port}` }));
