/**
 * Callbacks: how many are acknowledged per second, how soon after its commit an event arrives, and
 * whether endpoints that hang or fail delay those of others.
 *
 * @module
 */

import { newId } from "../../../actors/runtime/ids.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { addTransfer } from "../../support/books.ts";
import type { BenchCluster } from "../bench_cluster.ts";
import type { Options } from "../options.ts";
import { serverTimeUs } from "../processor_time.ts";
import { type DeliveryProcesses, startDelivery, type Told } from "./delivery_process.ts";

/** One measurement. */
export type CallbackMeasurement =
  /** A backlog of one or many merchants, delivered and written down. */
  | {
    readonly kind: "throughput";
    readonly merchants: number;
    readonly round: number;
    readonly perSecond: number;
    /** Processor time per event: the delivering process with its worker, and PostgreSQL. */
    readonly senderUs: number;
    readonly databaseUs: number | null;
  }
  /** From the commit to the arrival, milliseconds. */
  | {
    readonly kind: "dispatch";
    readonly round: number;
    readonly p50: number;
    readonly p99: number;
  }
  /** The same under load for 200 endpoints, alone and beside a hanging and a failing one. */
  | {
    readonly kind: "isolation";
    readonly disturbed: boolean;
    readonly round: number;
    readonly p50: number;
    readonly p99: number;
  };

const BACKLOG = 10_000;
const ENDPOINTS = 200;
/** Events of the two bad endpoints that wait when a disturbed run begins. */
const BAD_BACKLOG = 2_000;
/** Open loop: so many events, every so often. */
const STEP_EVENTS = 5;
const STEP_MS = 10;
const DISPATCH_STEP_MS = 20;
const BOUND_MS = 60_000;

/** Measures all of it. @param note told how it goes */
export async function measureCallbacks(
  cluster: BenchCluster,
  options: Options,
  note: (text: string) => void,
): Promise<readonly CallbackMeasurement[]> {
  const { url, sql } = await cluster.database("callbacks");
  await using processes = await startDelivery(url);
  const merchants = cluster.seed.spreadMerchants;
  await point(sql, merchants, `${processes.receiver}/ok/`);
  const found: CallbackMeasurement[] = [];
  const { sections, rounds } = options;
  if (sections.has("callbacks")) {
    const { pid } = cluster;
    await deliverBacklog(sql, pid, processes, merchants.slice(0, 100), 2_000);
    for (let round = 1; round <= rounds; round++) {
      note(`callbacks, round ${round} of ${rounds}`);
      for (const count of [1, 100]) {
        const some = merchants.slice(0, count);
        const delivered = await deliverBacklog(sql, pid, processes, some, BACKLOG);
        found.push({ kind: "throughput", merchants: count, round, ...delivered });
      }
      const dispatch = await dispatchTimes(sql, processes, merchants, options.seconds);
      found.push({ kind: "dispatch", round, ...dispatch });
    }
  }
  if (sections.has("isolation")) {
    const [hanging = "", failing = "", ...others] = merchants;
    await point(sql, [hanging], `${processes.receiver}/hang/`);
    await point(sql, [failing], `${processes.receiver}/fail/`);
    const good = others.slice(0, ENDPOINTS);
    await openLoop(sql, processes, good, [], 1);
    for (let round = 1; round <= rounds; round++) {
      note(`isolation, round ${round} of ${rounds}`);
      // in turns first and second, so that what one leaves behind is not always the other's
      for (const disturbed of round % 2 === 1 ? [false, true] : [true, false]) {
        const bad = disturbed ? [hanging, failing] : [];
        const times = await openLoop(sql, processes, good, bad, options.seconds);
        found.push({ kind: "isolation", disturbed, round, ...times });
      }
    }
  }
  return found;
}

/** Gives merchants an endpoint each, below a URL. */
async function point(sql: Sql, merchants: readonly string[], below: string): Promise<void> {
  await sql`
    UPDATE book.merchant SET webhook_url = ${below} || merchant_id, webhook_enabled = true
    WHERE merchant_id = ANY (${[...merchants]}::text[])`;
}

/** Inserts events, each of a payment of its own; answers their ids. */
async function addEvents(sql: Sql, merchants: readonly string[], count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId("evt"));
  const payload = {
    type: "deposit",
    amount: "100",
    currency: "USDT",
    status: "confirmed",
    filler: "x".repeat(300),
  };
  await sql`
    INSERT INTO book.outbox (id, merchant_id, payment_id, type, payload, status, created_at)
    SELECT e.id, m.id, 'dep_' || e.id, 'deposit.confirmed', ${
    JSON.stringify(payload)
  }, 'PENDING', now()
    FROM unnest(${ids}::text[]) WITH ORDINALITY AS e(id, n)
    JOIN unnest(${[
    ...merchants,
  ]}::text[]) WITH ORDINALITY AS m(id, n) ON m.n = e.n % ${merchants.length} + 1`;
  return ids;
}

/** Delivers a backlog; answers events per second, acknowledged and written down, and what each cost. */
async function deliverBacklog(
  sql: Sql,
  databasePid: number | null,
  processes: DeliveryProcesses,
  merchants: readonly string[],
  count: number,
) {
  await addEvents(sql, merchants, count);
  await sql`VACUUM ANALYZE book.outbox`;
  const databaseBefore = await serverTimeUs(databasePid);
  const started = performance.now();
  const before = await processes.wake({ events: merchants });
  await until(() => nothingWaits(sql, []));
  const seconds = (performance.now() - started) / 1_000;
  const after = await processes.wake({});
  const databaseAfter = await serverTimeUs(databasePid);
  const { size } = await processes.arrivals();
  if (size !== count) throw new Error(`Cannot trust the figure as ${size} of ${count} arrived`);
  return {
    perSecond: count / seconds,
    senderUs: (after.cpuUs - before.cpuUs) / count,
    databaseUs: databaseBefore === null || databaseAfter === null
      ? null
      : (databaseAfter - databaseBefore) / count,
  };
}

/** Deposits, one merchant after the other; from each commit to the arrival of its first event. */
async function dispatchTimes(
  sql: Sql,
  processes: DeliveryProcesses,
  merchants: readonly string[],
  seconds: number,
) {
  await processes.wake({});
  const commits = new Map<string, number>();
  const count = Math.min(merchants.length, seconds * 1_000 / DISPATCH_STEP_MS);
  const used = merchants.slice(0, count);
  await eachStep(used, DISPATCH_STEP_MS, async (merchantId) => {
    await addTransfer(sql, merchantId, "100", {
      txid: newId("txn").slice(4).replaceAll("-", "").padStart(64, "0"),
    });
    note(await processes.wake({ inboxes: [merchantId] }));
  });
  await until(async () => {
    const [row] = await sql`SELECT FROM book.inbox WHERE consumed_at IS NULL LIMIT 1`;
    return row === undefined && await nothingWaits(sql, []);
  });
  const arrivals = await processes.arrivals();
  note(await processes.wake({}));
  const rows = await sql<{ id: string; merchant_id: string }[]>`
    SELECT DISTINCT ON (merchant_id) id, merchant_id FROM book.outbox
    WHERE id = ANY (${[...arrivals.keys()]}::text[]) ORDER BY merchant_id, id`;
  return quantiles(
    rows.map((row) => (arrivals.get(row.id) ?? NaN) - (commits.get(row.merchant_id) ?? NaN)),
  );

  function note({ committed }: Told): void {
    for (const [merchantId, at] of committed) commits.set(merchantId, at);
  }
}

/** True when all events but those of some merchants are delivered, by the index of what waits. */
async function nothingWaits(sql: Sql, but: readonly string[]): Promise<boolean> {
  const [row] = await sql`
    SELECT FROM book.outbox WHERE status = 'PENDING' AND NOT merchant_id = ANY (${[...but]}::text[])
    ORDER BY merchant_id, id LIMIT 1`;
  return row === undefined;
}

/** Events at a fixed rate; from each commit to the arrival. */
async function openLoop(
  sql: Sql,
  processes: DeliveryProcesses,
  good: readonly string[],
  bad: readonly string[],
  seconds: number,
) {
  if (bad.length > 0) {
    await addEvents(sql, bad, bad.length * BAD_BACKLOG);
    await processes.wake({ events: bad });
  }
  await processes.arrivals();
  const commits = new Map<string, number>();
  const steps = Array.from({ length: seconds * 1_000 / STEP_MS }, (_, step) => step);
  await eachStep(steps, STEP_MS, async (step) => {
    const first = (step * STEP_EVENTS) % good.length;
    const chosen = good.slice(first, first + STEP_EVENTS);
    const ids = await addEvents(sql, [...chosen, ...bad], chosen.length + bad.length);
    const at = Date.now();
    for (const id of ids) commits.set(id, at);
    await processes.wake({ events: [...chosen, ...bad] });
  });
  await until(() => nothingWaits(sql, bad));
  const arrivals = await processes.arrivals();
  const owned = await sql<{ id: string }[]>`
    SELECT id FROM book.outbox
    WHERE id = ANY (${[...commits.keys()]}::text[]) AND NOT merchant_id = ANY (${[
    ...bad,
  ]}::text[])`;
  // what the bad ones still have would disturb the run that is not to be disturbed
  await sql`UPDATE book.outbox SET status = 'SKIPPED', claimed_until = NULL WHERE status = 'PENDING'`;
  return quantiles(owned.map(({ id }) => (arrivals.get(id) ?? NaN) - (commits.get(id) ?? NaN)));
}

/** Begins one piece of work per step, whether or not the ones before have ended. */
async function eachStep<T>(
  items: readonly T[],
  everyMs: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const began = performance.now();
  const running: Promise<void>[] = [];
  for (const [n, item] of items.entries()) {
    const wait = began + n * everyMs - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    running.push(work(item));
  }
  await Promise.all(running);
}

function quantiles(times: readonly number[]) {
  if (times.length === 0 || times.some(Number.isNaN)) {
    throw new Error("Cannot trust the figure as an event has no commit or did not arrive");
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + BOUND_MS;
  while (!await condition()) {
    if (Date.now() > end) throw new Error("Cannot go on as deliveries did not end in a minute");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
