/**
 * A chain whose blocks and balances a test moves, and the service's transactions in its blocks.
 *
 * @module
 */

import type { ReconciledChain } from "../../../actors/reconcile/passed_block.ts";
import type { Asset } from "../../../chains/chain.ts";
import type { Amount } from "../../../ledger/money/amount.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import { PLATFORM_ACCOUNT } from "../../../ledger/own_accounts.ts";
import { moveCursor } from "../../../ledger/watcher/cursor.ts";
import { amount } from "../../support/books.ts";
import { paperChain } from "../../support/paper_chain.ts";

let rows = 0;

/** Key under which a test sets the coin that an address holds. */
export function coinOf(address: string): string {
  return `${address} native`;
}

/** A chain whose newest solid block and balances, by address or by {@linkcode coinOf} it, a test moves. */
export function movingChain(held: Record<string, Amount>) {
  const at = { height: 10 };
  const solid = () =>
    Promise.resolve({
      height: at.height,
      parentHeight: at.height - 1,
      hash: `h${at.height}`,
      parentHash: "",
      time: 0,
      tick: 0,
    });
  const chain: ReconciledChain = {
    ...paperChain("TRX"),
    capabilities: { ...paperChain("TRX").capabilities, currencies: ["USDT"] },
    solid,
    balanceOf: (address: string, asset: Asset) =>
      Promise.resolve(held[asset === "native" ? coinOf(address) : address] ?? amount("0")),
  };
  return { at, chain };
}

/** A transaction of the house that is in a block. */
export interface Moved {
  readonly kind: "sweep" | "gas" | "delegation" | "reclaim" | "cold";
  readonly amount: string;
  readonly height: number;
  readonly destination: string;
  /** Default: the coin where the kind moves it, otherwise USDT. */
  readonly currency?: "USDT" | "native";
  readonly outcome?: "paid" | "failed" | "unexpected";
  readonly fee?: string;
}

/** Writes it as the scan does when it meets it. */
export async function moved(sql: Sql, one: Moved): Promise<void> {
  const { kind, height, destination, outcome = "paid", fee = "0" } = one;
  const id = `out_${kind}_${++rows}`;
  const currency = one.currency ??
    (kind === "sweep" || kind === "cold" ? "USDT" : "native");
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, network, currency, amount, wallet, destination, status, attempts, created_at, updated_at)
    VALUES (${id}, ${PLATFORM_ACCOUNT}, ${kind}, 'TRX', ${currency}, ${one.amount}::text::numeric,
      ${kind === "sweep" ? "5" : "hot"}, ${destination}, ${outcome === "failed" ? "void" : "final"},
      1, now(), now())`;
  await sql`
    INSERT INTO book.attempt
      (outgoing_id, number, merchant_id, network, txid, bytes, expires_at, dies_after, created_at, outcome, height, fee, fee_limit)
    VALUES (${id}, 1, ${PLATFORM_ACCOUNT}, 'TRX', ${
    id.padEnd(64, "0")
  }, '{}', now(), extract(epoch FROM now()) * 1000, now(),
      ${outcome}, ${height}, ${fee}::text::numeric, 15)`;
}

/** The scan has passed a block. */
export async function passed(sql: Sql, height: number): Promise<void> {
  await sql`DELETE FROM hub.cursor`;
  const hash = `h${height}`;
  await moveCursor(sql, "TRX", "solid", null, {
    height,
    hash,
    time: 0,
    previousTime: 0,
    tick: 0,
    previousTick: 0,
  });
}
