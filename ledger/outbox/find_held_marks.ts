import type { AnySql } from "../database/connect.ts";
import { endpointKey, tryEndpointLock } from "./lock_endpoint.ts";
import type { AttemptMark } from "./outbox.ts";

/**
 * Locks all that attempts write and that is free, without waiting for anything: the merchants'
 * locks, their endpoints' rows and second chances, and the events.
 *
 * @param tx the transaction that writes the others down afterwards; it has locked nothing yet
 * @returns the attempts that cannot be written now, as something else holds what they write
 */
export async function findHeldMarks(
  tx: AnySql,
  marks: readonly AttemptMark[],
): Promise<ReadonlySet<AttemptMark>> {
  const merchantIds = [...new Set(marks.map(({ merchantId }) => merchantId))];
  // the lists of what was locked are read whole before anything is compared with them
  const rows = await tx<{ place: number }[]>`
    WITH said AS MATERIALIZED (
      SELECT * FROM unnest(
        ${marks.map(({ eventId }) => eventId)}::text[],
        ${marks.map(({ merchantId }) => merchantId)}::text[])
      WITH ORDINALITY AS t (id, merchant_id, place)),
    merchants AS MATERIALIZED (
      SELECT m.id, ${tryEndpointLock(tx, endpointKey(tx, tx`m.id`))} AS is_free
      FROM unnest(${merchantIds}::text[]) m (id)),
    endpoints AS MATERIALIZED (
      SELECT merchant_id FROM book.webhook_endpoint WHERE merchant_id = ANY (${merchantIds}::text[])
      FOR UPDATE SKIP LOCKED),
    chances AS MATERIALIZED (
      SELECT merchant_id FROM book.second_chance WHERE merchant_id = ANY (${merchantIds}::text[])
      FOR NO KEY UPDATE SKIP LOCKED),
    events AS MATERIALIZED (
      SELECT o.id, o.merchant_id FROM said s JOIN book.outbox o ON o.id = s.id AND o.merchant_id = s.merchant_id
      WHERE o.status = 'PENDING' FOR NO KEY UPDATE OF o SKIP LOCKED)
    SELECT s.place::int FROM said s
    JOIN merchants m ON m.id = s.merchant_id
    LEFT JOIN book.webhook_endpoint e ON e.merchant_id = s.merchant_id
    LEFT JOIN book.second_chance c ON c.merchant_id = s.merchant_id
    LEFT JOIN book.outbox o ON o.id = s.id AND o.merchant_id = s.merchant_id AND o.status = 'PENDING'
    WHERE NOT m.is_free
      OR e.merchant_id IS NOT NULL AND e.merchant_id <> ALL (coalesce((SELECT array_agg(merchant_id) FROM endpoints), '{}'))
      OR c.merchant_id IS NOT NULL AND c.merchant_id <> ALL (coalesce((SELECT array_agg(merchant_id) FROM chances), '{}'))
      OR o.id IS NOT NULL AND o.id <> ALL (coalesce((SELECT array_agg(id) FROM events), '{}'))`;
  const held = new Set<AttemptMark>();
  for (const { place } of rows) {
    const mark = marks[place - 1];
    if (mark !== undefined) held.add(mark);
  }
  return held;
}
