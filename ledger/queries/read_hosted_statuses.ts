import type { Sql } from "../database/connect.ts";
import { table } from "../table.ts";
import type { SessionRow } from "./session_row.ts";
import { decodePayment, paymentOf, type SessionPayment } from "./session_payment.ts";

/** What the status of a hosted payment goes by. */
export interface HostedStatus {
  readonly session: PolledSession;
  /** Null while nothing was seen. */
  readonly payment: SessionPayment | null;
}

/** What a poll needs to know of the page. */
export type PolledSession = Pick<
  SessionRow,
  "network" | "currency" | "amount" | "requestedAmount" | "expiresAt"
>;

const polledSession = table<PolledSession>("hub.session", {
  network: "text",
  currency: "text",
  amount: "amount",
  requestedAmount: "amount",
  expiresAt: "time",
});

/**
 * Reads how hosted payments stand, many in one statement.
 *
 * @param tokenHashes SHA-256 of the tokens that open their pages, hex
 * @returns by hash; a hash that is no page's is absent
 */
export async function readHostedStatuses(
  sql: Sql,
  tokenHashes: readonly string[],
): Promise<ReadonlyMap<string, HostedStatus>> {
  const rows = await sql`
    SELECT t.hash, s.network, s.currency, s.amount, s.requested_amount, s.expires_at, p.*
    FROM unnest(${[...tokenHashes]}::text[]) t(hash)
      JOIN hub.session s ON s.token_hash = decode(t.hash, 'hex')
      ${paymentOf(sql)}`;
  return new Map(rows.map((row) => [
    row.hash,
    { session: polledSession.decode(row), payment: decodePayment(row) },
  ]));
}
