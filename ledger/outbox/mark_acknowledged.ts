import type { Sql } from "../database/connect.ts";
import type { AttemptMark } from "./outbox.ts";

/**
 * Writes down attempts where all were acknowledged, by endpoints of which nothing bad is known and
 * which are owed nothing.
 *
 * @returns false, and nothing is written, where one of them is another
 */
export async function markAcknowledged(sql: Sql, marks: readonly AttemptMark[]): Promise<boolean> {
  if (marks.some(({ verdict }) => verdict.kind !== "delivered")) return false;
  const [row] = await sql<{ marked: boolean }[]>`
    SELECT book.mark_acknowledged(
      ${marks.map((mark) => mark.eventId)}::text[],
      ${marks.map((mark) => mark.merchantId)}::text[],
      ${marks.map((mark) => mark.attempt)}::int[],
      ${marks.map((mark) => mark.outcome)}::text[],
      ${marks.map((mark) => mark.httpStatus)}::int[],
      ${marks.map((mark) => mark.durationMs)}::int[],
      ${marks.map((mark) => mark.answer)}::text[]) AS marked`;
  return row?.marked === true;
}
