import type { Sql } from "postgres";
import { amountOf } from "../money/amount.ts";
import type { Currency, Network } from "../money/pair.ts";
import type { OutgoingRow } from "../rows.ts";

/** What the signer reads of an outgoing row: the columns that decide who is paid how much. */
export interface IntentRow {
  readonly outgoingId: string;
  readonly kind: OutgoingRow["kind"];
  readonly network: Network;
  readonly currency: Currency;
  readonly amount: ReturnType<typeof amountOf>;
  readonly destination: string;
  /** Derivation index under which the destination is known as ours; `null`: it is not. */
  readonly destinationIndex: number | null;
  /**
   * True where that address was handed out for the account that pays, or for one that is not known any
   * more: paying there would leave a payment in the books that no other account receives.
   */
  readonly isDestinationClosed: boolean;
  readonly wallet: "hot" | number;
  readonly status: string;
}

/**
 * Reads committed intents over the signer's own connection. What it reads is all that the signer's
 * role is granted: see `ledger/database/grant_signer_role.ts`.
 */
export function createIntentSource(sql: Sql): {
  read(outgoingIds: readonly string[]): Promise<readonly IntentRow[]>;
} {
  return {
    async read(outgoingIds) {
      const rows = await sql<
        (Omit<IntentRow, "amount" | "wallet" | "destinationIndex" | "isDestinationClosed"> & {
          amount: string;
          wallet: string;
        })[]
      >`
        SELECT id AS "outgoingId", kind, network, currency, trim_scale(amount)::text AS amount, destination, wallet, status
        FROM book.outgoing WHERE id = ANY (${[...outgoingIds]}::text[])`;
      if (rows.length === 0) return [];
      const closing = await sql<{ id: string }[]>`
        SELECT id FROM book.closed_destinations(${
        rows.map((row) => row.outgoingId)
      }::text[]) AS id`;
      const closed = new Set(closing.map(({ id }) => id));
      const known = await sql<{ network: Network; address: string; index: number }[]>`
        SELECT network, address, wallet_index AS index FROM hub.address
        WHERE address = ANY (${[...new Set(rows.map((row) => row.destination))]}::text[])`;
      const indexes = new Map(known.map(({ network, address, index }) => [
        `${network}/${address}`,
        index,
      ]));
      return rows.map((row) => ({
        ...row,
        destinationIndex: indexes.get(`${row.network}/${row.destination}`) ?? null,
        isDestinationClosed: closed.has(row.outgoingId),
        amount: amountOf(row.amount),
        wallet: row.wallet === "hot" ? "hot" : Number(row.wallet),
      }));
    },
  };
}
