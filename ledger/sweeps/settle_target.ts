import type { Sql } from "postgres";
import { type Amount, formatAmount } from "../money/amount.ts";
import type { SweepTarget } from "./due_targets.ts";
import type { SweepReason } from "./sweep_reason.ts";

/** Why an address is not swept now, and when it is looked at again. */
export interface Waiting {
  readonly reason: SweepReason;
  readonly detail: string;
  /** What is there to be swept, as far as it is known. */
  readonly amount: Amount;
  readonly lookMs: number;
}

/** Keeps the reason why an address is not swept; nothing where something has happened to it since. */
export async function keepWaiting(sql: Sql, target: SweepTarget, waiting: Waiting): Promise<void> {
  await sql`
    UPDATE book.sweep_target SET reason = ${waiting.reason}, detail = ${
    waiting.detail.slice(0, 500)
  },
      amount = ${formatAmount(waiting.amount)}, updated_at = now(), tries = 0,
      look_at = now() + make_interval(secs => ${waiting.lookMs / 1_000})
    WHERE network = ${target.network} AND address = ${target.address} AND currency = ${target.currency}
      AND touched = ${target.touched}`;
}

/** Forgets an address with nothing left to sweep; nothing where something has happened to it since. */
export async function closeTarget(sql: Sql, target: SweepTarget): Promise<void> {
  await sql`
    DELETE FROM book.sweep_target
    WHERE network = ${target.network} AND address = ${target.address} AND currency = ${target.currency}
      AND touched = ${target.touched}`;
}

/** How long an address is left alone that cannot be looked at; doubled with every look in vain. */
export interface TargetPause {
  readonly firstMs: number;
  readonly mostMs: number;
}

/**
 * Looks at an address later, for whatever reason it could not be looked at now.
 *
 * @param silence what the chain's nodes failed with; null: it was not the chain, the reason stays
 */
export async function postpone(
  sql: Sql,
  target: SweepTarget,
  { firstMs, mostMs }: TargetPause,
  silence: string | null,
): Promise<void> {
  const reason: SweepReason | null = silence === null ? null : "chain_unavailable";
  await sql`
    UPDATE book.sweep_target SET tries = least(tries + 1, 1000),
      look_at = now() + make_interval(secs => least(${mostMs / 1_000}::float8, ${
    firstMs / 1_000
  }::float8 * 2 ^ least(tries, 20))),
      reason = coalesce(${reason}, reason),
      detail = CASE WHEN ${reason}::text IS NULL THEN detail ELSE ${
    silence?.slice(0, 500) ?? null
  } END
    WHERE network = ${target.network} AND address = ${target.address} AND currency = ${target.currency}
      AND touched = ${target.touched}`;
}
