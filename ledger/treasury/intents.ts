import type { Sql } from "postgres";
import type { Currency, Network } from "../money/pair.ts";
import type { OutgoingRow } from "../rows.ts";
import { shape } from "../shape.ts";
import { amount, type RowOf, text } from "../table.ts";

const intentShape = shape({
  outgoingId: text(),
  kind: text<OutgoingRow["kind"]>(),
  network: text<Network>(),
  currency: text<Currency>(),
  amount: amount(),
  destination: text(),
  wallet: text(),
  status: text(),
});
/** The part of an outgoing row that the signer reads: the columns that decide who is paid how much. */
export interface IntentRow extends Omit<RowOf<typeof intentShape>, "wallet"> {
  /** Derivation index under which the destination is known as an own address; `null`: it is not. */
  readonly destinationIndex: number | null;
  /**
   * True where that address was handed out for the account that pays, or for one that is not known any
   * more: paying there would leave a payment in the books that no other account receives.
   */
  readonly isDestinationClosed: boolean;
  readonly wallet: "hot" | number;
}

/**
 * Reads committed intents over the signer's own connection, and no more than the signer's role is
 * granted: see `ledger/database/grant_signer_role.ts`.
 */
export function createIntentSource(sql: Sql): {
  read(outgoingIds: readonly string[]): Promise<readonly IntentRow[]>;
} {
  return {
    async read(outgoingIds) {
      const rows = intentShape.all(
        await sql`
        SELECT id AS outgoing_id, kind, network, currency, amount, destination, wallet, status
        FROM book.outgoing WHERE id = ANY (${[...outgoingIds]}::text[])`,
      );
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
        wallet: row.wallet === "hot" ? "hot" : Number(row.wallet),
      }));
    },
  };
}
