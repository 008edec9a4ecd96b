import type { Fragment } from "postgres";
import type { Sql } from "../database/connect.ts";
import { type EventRow, eventTable } from "../rows.ts";
import type { Page, PageRequest } from "./list_page.ts";

/** One attempt to deliver an event. */
export interface ListedAttempt {
  readonly number: number;
  /** One word, for example `timeout`. */
  readonly outcome: string;
  readonly httpStatus: number | null;
  readonly durationMs: number;
  /** Beginning of the answer. */
  readonly answer: string | null;
  /** Unix milliseconds. */
  readonly endedAt: number;
}

/** An event with every attempt to deliver it, oldest attempt first. */
export interface ListedDelivery extends EventRow {
  readonly tries: readonly ListedAttempt[];
}

/** Statuses of an event. */
export const EVENT_STATUSES = [
  "PENDING",
  "DELIVERED",
  "FAILED",
  "SKIPPED",
] as const satisfies readonly EventRow["status"][];

/** Which events are wanted; an undefined field does not restrict. */
export interface DeliveryFilter {
  readonly id?: string | undefined;
  readonly status?: EventRow["status"] | undefined;
  readonly type?: string | undefined;
  /** Not older than, Unix milliseconds. */
  readonly from?: number | undefined;
  /** Older than, Unix milliseconds. */
  readonly until?: number | undefined;
}

/** One page of a merchant's delivery log, newest first. */
export async function listDeliveries(
  sql: Sql,
  merchantId: string,
  filter: DeliveryFilter,
  { page, limit }: PageRequest,
): Promise<Page<ListedDelivery>> {
  const offset = (page - 1) * limit;
  const matching = sql`
    FROM book.outbox o WHERE o.merchant_id = ${merchantId} ${conditions(sql, filter)}`;
  // each status by itself is in order in its index; of each no more is read than the page can need
  const statuses = filter.status === undefined ? EVENT_STATUSES : [filter.status];
  const rows = await sql`
    WITH counted AS (
      SELECT count(*) AS total ${matching} AND o.status = ANY (${[...statuses]}::text[])),
    page AS (
      SELECT x.id FROM unnest(${[...statuses]}::text[]) s(status) CROSS JOIN LATERAL (
        SELECT o.id ${matching} AND o.status = s.status
        ORDER BY o.id DESC LIMIT ${offset + limit}) x
      ORDER BY x.id DESC OFFSET ${offset} LIMIT ${limit})
    SELECT c.total, o.*, t.tries FROM counted c LEFT JOIN page p ON true
    LEFT JOIN book.outbox o ON o.id = p.id AND o.merchant_id = ${merchantId}
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('number', a.number, 'outcome', a.outcome,
        'httpStatus', a.http_status, 'durationMs', a.duration_ms, 'answer', a.answer,
        'endedAt', floor(extract(epoch FROM a.ended_at) * 1000)) ORDER BY a.number) AS tries
      FROM book.delivery_attempt a WHERE a.event_id = o.id AND a.merchant_id = ${merchantId}) t ON true
    ORDER BY o.id DESC`;
  return {
    total: Number(rows[0]?.total ?? 0),
    rows: rows.filter((row) => row.id !== null).map((row) => ({
      ...eventTable.decode(row),
      tries: (row["tries"] ?? []) as readonly ListedAttempt[],
    })),
  };
}

function conditions(sql: Sql, { id, type, from, until }: DeliveryFilter): Fragment {
  return sql`
    ${id === undefined ? sql`` : sql`AND o.id = ${id}`}
    ${type === undefined ? sql`` : sql`AND o.type = ${type}`}
    ${from === undefined ? sql`` : sql`AND o.created_at >= ${new Date(from)}`}
    ${until === undefined ? sql`` : sql`AND o.created_at < ${new Date(until)}`}`;
}
