import type { Sql } from "postgres";
import type { Currency, Network } from "../money/pair.ts";
import type { OutgoingRow } from "../rows.ts";
import { shape } from "../shape.ts";
import { amount, bigint, json, orNull, type RowOf, text } from "../table.ts";

/** Whose coin pays for a transaction: that of the wallet it leaves, or the hot wallet's. */
export type FeePayer = "wallet" | "hot";

/** A nonce that a transaction has used which did not pay the intent. */
interface UsedNonce {
  readonly nonce: number;
  readonly txid: string;
}

const intentShape = shape({
  outgoingId: text(),
  kind: text<OutgoingRow["kind"]>(),
  network: text<Network>(),
  currency: text<Currency>(),
  amount: amount(),
  destination: text(),
  wallet: text(),
  feePayer: text<FeePayer>(),
  status: text(),
  /** The nonce that is promised to it; null: none is. */
  nonce: orNull(bigint()),
  /** Nonces of its transactions that blocks show as used, none of which has paid it. */
  usedNonces: json<readonly UsedNonce[]>(),
});
/** The part of an outgoing row that the signer reads: the columns that decide who is paid how much. */
export interface IntentRow extends Omit<RowOf<typeof intentShape>, "wallet" | "feePayer"> {
  /** Derivation index under which the destination is known as an own address; `null`: it is not. */
  readonly destinationIndex: number | null;
  /**
   * True where that address was handed out for the account that pays, or for one that is not known any
   * more: paying there would leave a payment in the books that no other account receives.
   */
  readonly isDestinationClosed: boolean;
  readonly wallet: "hot" | number;
  /** Whose transaction it is: the wallet's own, or the hot wallet's where that sends it. */
  readonly payer: "hot" | number;
}

/**
 * Reads committed intents over the signer's own connection, and no more than the signer's role is
 * granted: see `ledger/database/grant_signer_role.ts`.
 */
export async function readIntents(
  sql: Sql,
  outgoingIds: readonly string[],
): Promise<readonly IntentRow[]> {
  const rows = intentShape.all(
    await sql`
    SELECT o.id AS outgoing_id, o.kind, o.network, o.currency, o.amount, o.destination, o.wallet, o.fee_payer, o.status, o.nonce,
      coalesce((SELECT jsonb_agg(jsonb_build_object('nonce', a.nonce, 'txid', a.txid)) FROM book.attempt a
        WHERE a.outgoing_id = o.id AND a.nonce IS NOT NULL AND a.outcome IN ('failed', 'cancelled')), '[]') AS used_nonces
    FROM book.outgoing o WHERE o.id = ANY (${[...outgoingIds]}::text[])`,
  );
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.outgoingId);
  const closing = await sql<{ id: string }[]>`
    SELECT id FROM book.closed_destinations(${ids}::text[]) AS id`;
  const closed = new Set(closing.map(({ id }) => id));
  const destinations = [...new Set(rows.map((row) => row.destination))];
  const known = await sql<{ network: Network; address: string; index: number }[]>`
    SELECT network, address, wallet_index AS index FROM hub.address
    WHERE address = ANY (${destinations}::text[])`;
  const indexes = new Map(known.map((one) => [`${one.network}/${one.address}`, one.index]));
  return rows.map(({ feePayer, ...row }) => ({
    ...row,
    destinationIndex: indexes.get(`${row.network}/${row.destination}`) ?? null,
    isDestinationClosed: closed.has(row.outgoingId),
    wallet: walletOf(row.wallet),
    payer: feePayer === "hot" ? "hot" : walletOf(row.wallet),
  }));
}

function walletOf(wallet: string): "hot" | number {
  return wallet === "hot" ? "hot" : Number(wallet);
}
