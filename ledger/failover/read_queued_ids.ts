import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";

/** A transfer that waits for a signature. */
export interface QueuedId {
  readonly id: string;
  readonly merchantId: string;
  readonly isHot: boolean;
}

/** Queued transfers of a network in the order of their ids, suspended merchants' too. */
export async function readQueuedIds(
  sql: Sql,
  network: Network,
  after: string,
  limit: number,
): Promise<readonly QueuedId[]> {
  const rows = await sql<{ id: string; merchant_id: string; wallet: string }[]>`
    SELECT id, merchant_id, wallet FROM book.outgoing
    WHERE network = ${network} AND status = 'queued' AND id > ${after} ORDER BY id LIMIT ${limit}`;
  return rows.map((row) => ({
    id: row.id,
    merchantId: row.merchant_id,
    isHot: row.wallet === "hot",
  }));
}
