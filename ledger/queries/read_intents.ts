import type { Sql } from "postgres";
import { amountOf } from "../amount.ts";
import type { Currency, Network } from "../pair.ts";

/** What the signer reads of an outgoing row: the columns that decide who is paid how much. */
export interface IntentRow {
  readonly outgoingId: string;
  readonly network: Network;
  readonly currency: Currency;
  readonly amount: ReturnType<typeof amountOf>;
  readonly destination: string;
  readonly wallet: "hot" | number;
  readonly status: string;
}

/** Reads committed intents over the signer's own connection. */
export function createIntentSource(sql: Sql): {
  read(outgoingIds: readonly string[]): Promise<readonly IntentRow[]>;
} {
  return {
    async read(outgoingIds) {
      const rows = await sql<
        (Omit<IntentRow, "amount" | "wallet"> & { amount: string; wallet: string })[]
      >`
        SELECT id AS "outgoingId", network, currency, trim_scale(amount)::text AS amount, destination, wallet, status
        FROM book.outgoing WHERE id = ANY (${[...outgoingIds]}::text[])`;
      return rows.map((row) => ({
        ...row,
        amount: amountOf(row.amount),
        wallet: row.wallet === "hot" ? "hot" : Number(row.wallet),
      }));
    },
  };
}
