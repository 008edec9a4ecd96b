import type { Sql } from "postgres";
import type { Network } from "../money/pair.ts";
import type { OutgoingStatus } from "../money/transitions.ts";
import { PLATFORM_ACCOUNT } from "../own_accounts.ts";
import { shape } from "../shape.ts";
import { orNull, type RowOf, text } from "../table.ts";

/** A transaction that the hot wallet has to send once before it can send sweeps. */
export interface NewSetup {
  readonly outgoingId: string;
  readonly network: Network;
  /** The contract that it creates; see `Chain.missingSetup`. */
  readonly destination: string;
}

/**
 * Queues a set-up, unless one of its destination is under way, has ended well, or has failed of late.
 *
 * @param restMs time for which one that has failed is not tried again
 * @returns true if it was queued
 */
export async function queueSetup(sql: Sql, setup: NewSetup, restMs: number): Promise<boolean> {
  const { outgoingId, network, destination } = setup;
  const rows = await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, destination, status, created_at, updated_at)
    SELECT ${outgoingId}, ${PLATFORM_ACCOUNT}, 'setup', ${network}, 'native', 0, ${destination}, 'queued', now(), now()
    WHERE NOT EXISTS (
      SELECT FROM book.outgoing o
      WHERE o.network = ${network} AND o.destination = ${destination} AND o.kind = 'setup'
        AND o.status = 'void' AND o.reason LIKE 'failed:%'
        AND o.updated_at > now() - make_interval(secs => ${restMs / 1_000}))
    ON CONFLICT (network, destination) WHERE kind = 'setup' AND status <> 'void'
    DO NOTHING RETURNING 1`;
  return rows.length > 0;
}

const setupShape = shape({ id: text(), status: text<OutgoingStatus>(), reason: orNull(text()) });
/** A set-up as the books have it. */
export type Setup = RowOf<typeof setupShape>;

/** The newest set-up of a destination; null: there was none. */
export async function readSetup(
  sql: Sql,
  network: Network,
  destination: string,
): Promise<Setup | null> {
  return setupShape.first(
    await sql`
    SELECT id, status, reason FROM book.outgoing
    WHERE network = ${network} AND destination = ${destination} AND kind = 'setup'
    ORDER BY id DESC LIMIT 1`,
  );
}

/**
 * Gives up set-ups of a network that are not signed, as what they create is there.
 *
 * @returns their ids
 */
export async function giveUpSetups(sql: Sql, network: Network): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    UPDATE book.outgoing SET status = 'void', reason = 'it is there already', lease_until = NULL, updated_at = now()
    WHERE network = ${network} AND kind = 'setup' AND status = 'queued' RETURNING id`;
  return rows.map(({ id }) => id);
}
