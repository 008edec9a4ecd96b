import { z } from "zod";
import { ask, expectBody } from "../faults/support/client.ts";
import { booksFaults } from "../support/books.ts";
import type { Mortal } from "../faults/support/mortal.ts";
import type { SoakListener } from "./webhook_ledger.ts";
import type { FailingReceiver } from "./webhook_receiver.ts";

/** Result of an audit. */
export interface WebhookAudit {
  /** Everything that is wrong, as sentences; empty: nothing is. */
  readonly faults: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

const Listed = z.object({ pagination: z.object({ total: z.number() }) });

/** Compares books, outbox, what arrived and what merchants are shown. */
export async function auditWebhooks(
  service: Mortal,
  merchants: readonly SoakListener[],
  receiver: FailingReceiver,
): Promise<WebhookAudit> {
  const { sql } = service;
  const ids = merchants.map(({ id }) => id);
  const faults = [...receiver.faults, ...await booksFaults(sql)];
  const events = await sql<
    { id: string; merchant_id: string; type: string; status: string; payload: string }[]
  >`
    SELECT id, merchant_id, type, status, payload FROM book.outbox
    WHERE merchant_id = ANY (${ids}::text[]) AND last_outcome IS DISTINCT FROM 'under_1_usd'`;
  const failed = new Map<string, number>();
  for (const { id, merchant_id: merchantId, type, status, payload } of events) {
    const arrival = receiver.arrived.get(id);
    if (status === "FAILED") failed.set(merchantId, (failed.get(merchantId) ?? 0) + 1);
    else if (status !== "DELIVERED") faults.push(`${id} is ${status}`);
    else if (arrival?.acknowledged !== true) faults.push(`${id} counts as delivered and is not`);
    if (arrival === undefined) continue;
    if (arrival.body !== payload || arrival.type !== type || arrival.merchantId !== merchantId) {
      faults.push(`${id} arrived as something else`);
    }
  }
  const known = new Set(events.map(({ id }) => id));
  for (const id of receiver.arrived.keys()) {
    if (!known.has(id)) faults.push(`${id} arrived and is none of the books`);
  }
  for (const { id, apiKey } of merchants) {
    const path = "/api/webhook-deliveries?status=FAILED&limit=1";
    const { pagination } = expectBody(
      Listed,
      await ask(service, "GET", path, undefined, apiKey),
      200,
    );
    const expected = failed.get(id) ?? 0;
    if (pagination.total !== expected) {
      faults.push(`${pagination.total} failed events are listed for ${id} instead of ${expected}`);
    }
  }
  faults.push(...await changesWithoutEvents(service, ids));
  const [row] = await sql<{ attempts: number; revived: number }[]>`
    SELECT (SELECT count(*)::int FROM book.delivery_attempt) AS attempts,
      (SELECT count(*)::int FROM book.event_revival) AS revived`;
  const acknowledged = [...receiver.arrived.values()].filter((one) => one.acknowledged).length;
  return {
    faults,
    figures: {
      "events": events.length,
      "acknowledged at least once": acknowledged,
      "listed as failed": [...failed.values()].reduce((sum, n) => sum + n, 0),
      "deliveries that arrived, signatures verified": receiver.requests,
      "attempts in the log": row?.attempts ?? 0,
      "ran out of retries, sent once more": row?.revived ?? 0,
    },
  };
}

/** Each end of a deposit of a dollar or more has its two events; of less, one that is kept unsent. */
async function changesWithoutEvents(
  { sql }: Mortal,
  merchantIds: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ id: string; status: string; types: string[] | null }[]>`
    SELECT coalesce(d.id, o.payment_id) AS id, coalesce(d.status, 'none') AS status, o.types
    FROM (SELECT id, status, amount FROM book.deposit WHERE merchant_id = ANY (${[
    ...merchantIds,
  ]}::text[])) d
    FULL JOIN (
      SELECT payment_id,
        array_agg(type || CASE WHEN last_outcome = 'under_1_usd' THEN ' unsent' ELSE '' END ORDER BY id) AS types
      FROM book.outbox
      WHERE merchant_id = ANY (${[
    ...merchantIds,
  ]}::text[]) GROUP BY payment_id) o ON o.payment_id = d.id
    WHERE o.types IS DISTINCT FROM CASE
      WHEN d.amount < 1 AND d.status = 'CONFIRMED' THEN ARRAY['deposit.confirmed unsent']
      WHEN d.amount >= 1 AND d.status IN ('CONFIRMED', 'FAILED')
      THEN ARRAY['deposit.' || lower(d.status), 'transaction.' || lower(d.status)] END`;
  return rows.map(({ id, status, types }) =>
    `${id} is ${status} and has the events ${types?.join(", ") ?? "none"}`
  );
}
