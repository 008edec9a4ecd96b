import { delay } from "../../ledger/database/delay.ts";
import { eventually } from "../faults/support/client.ts";
import { seeded } from "../faults/support/seeded.ts";
import type { Mortal } from "../faults/support/mortal.ts";
import { passTime } from "../faults/support/pass_time.ts";
import { withService } from "../support/service.ts";
import { auditWebhooks, type WebhookAudit } from "./webhook_audit.ts";
import { addTransfers, type Doomed, letVanish, makeListener } from "./webhook_ledger.ts";
import { type FailingReceiver, openFailingReceiver } from "./webhook_receiver.ts";

/** Settings of a run. */
export interface WebhookSoakOptions {
  readonly seed: number;
  /** Events in all; two per deposit. */
  readonly events: number;
  readonly kills: number;
  readonly merchants: number;
}

/** Of 100 deposits 95 are told of, each by two events. */
const EVENTS_PER_DEPOSIT = 1.9;
/** Bound of the wait before each death, and of that for the end of all deliveries. */
const PORTION_MS = 20_000;
const PEACE_MS = 600_000;

/** Runs something with a service of its own that was started. */
type Open = <T>(body: (service: Mortal) => Promise<T>) => Promise<T>;

/** The real one, in a process of its own. */
const openService: Open = (body) =>
  withService(async (service) => {
    await service.start();
    return await body(service);
  }, { env: { DEV_CHAIN_BLOCK_MS: "1000" } });

/**
 * Runs a soak to its end.
 *
 * @param note told how it goes
 * @param open the service that is tried
 * @param passMs time that is let pass whenever the last retries are looked for, so that nothing has to
 *   be waited for
 */
export async function runWebhookSoak(
  { seed, events, kills, merchants: count }: WebhookSoakOptions,
  note: (text: string) => void,
  open: Open = openService,
  passMs = 0,
): Promise<WebhookAudit> {
  const draw = seeded(seed);
  await using receiver = openFailingReceiver(seeded(seed + 1));
  return await open(async (service) => {
    const { sql } = service;
    const merchants = await Promise.all(
      Array.from({ length: count }, () => makeListener(sql, receiver)),
    );
    note("the service is up");
    const portion = Math.ceil(events / EVENTS_PER_DEPOSIT / (kills + 1));
    let doomed: readonly Doomed[] = [];
    for (let life = 0; life <= kills; life++) {
      const before = receiver.requests;
      // what the last life saw fails in this one
      await letVanish(sql, doomed);
      doomed = await addTransfers(sql, merchants, portion, draw);
      if (life === kills) break;
      await someProgress(receiver, before + Math.floor(draw() * portion * EVENTS_PER_DEPOSIT));
      await service.kill9();
      const started = await service.start();
      note(
        `death ${
          life + 1
        } of ${kills} after ${receiver.requests} deliveries of ${receiver.arrived.size} events; alive again in ${started} ms`,
      );
    }
    await eventually("what was seen", () => nothingWaits(service, ["seen"]), PEACE_MS);
    await letVanish(sql, doomed);
    note("all deposits are made; waiting for the last retries");
    await eventually("the end of all deliveries", async () => {
      if (await nothingWaits(service, null)) return true;
      if (passMs > 0) await passTime(sql, passMs);
      return false;
    }, PEACE_MS);
    note("nothing waits; audit");
    return await auditWebhooks(service, merchants, receiver);
  });
}

/** Waits until so many deliveries were made, within a bound: a death need not wait for progress. */
async function someProgress(receiver: FailingReceiver, deliveries: number): Promise<void> {
  const end = Date.now() + PORTION_MS;
  while (receiver.requests < deliveries && Date.now() < end) await delay(5);
}

/**
 * True when nothing is left to do, by the indexes of what waits.
 *
 * @param phases of inbox rows; null: all of them, and events
 */
async function nothingWaits({ sql }: Mortal, phases: readonly string[] | null): Promise<boolean> {
  const [row] = await sql`
    SELECT FROM book.inbox WHERE consumed_at IS NULL AND quarantine IS NULL
      AND (${phases === null} OR phase = ANY (${[...phases ?? []]}::text[]))
    ORDER BY merchant_id, created_at LIMIT 1`;
  if (row !== undefined) return false;
  if (phases !== null) return true;
  const [event] = await sql`
    SELECT FROM book.outbox WHERE status = 'PENDING' ORDER BY merchant_id, id LIMIT 1`;
  return event === undefined;
}
