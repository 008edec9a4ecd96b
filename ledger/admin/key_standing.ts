import type { AnySql } from "../database/connect.ts";
import type { KeyRecord } from "./key_record.ts";

/** How far a merchant's new key is the merchant's own. */
export interface KeyStanding {
  /** Whether it has no payout right before another administrator has approved it. */
  readonly needsApproval: boolean;
  /** Whether it is the merchant's own, though an administrator stands behind it. */
  readonly handedOver: boolean;
}

/** The standing of what a key makes, and whether this is the merchant's first rotation of what it was handed. */
export interface MadeStanding extends KeyStanding {
  readonly isHandOver: boolean;
}

/** Of an administrator's key: it has no account to pay out from. */
export const NO_STANDING: MadeStanding = {
  needsApproval: false,
  handedOver: false,
  isHandOver: false,
};

/**
 * The standing of a new key. One that an administrator makes is free only as the first living key of an account
 * that was never paid anything and is no reseller's. What is made with a key that the merchant was handed needs
 * approval; the key that takes its place is the merchant's own, and so is what is made with that one.
 * A RESELLER key needs no approval, as each of its payouts does.
 *
 * Call it in the transaction of the insert, after `hub.living_keys` has locked the account's keys.
 *
 * @param replaces the key whose place the new one takes
 */
export async function standingOf(
  tx: AnySql,
  { merchantId, role }: Pick<KeyRecord, "merchantId" | "role">,
  makerId: string,
  replaces: string | null,
): Promise<MadeStanding> {
  if (merchantId === null) return NO_STANDING;
  const [maker] = await tx<{
    role: KeyRecord["role"];
    own: boolean;
    needs_approval: boolean;
    is_new: boolean;
  }[]>`
    SELECT k.role, k.needs_approval, k.administrator IS NULL OR k.handed_over AS own,
      hub.living_keys(${merchantId}) = 0
      AND NOT EXISTS (SELECT FROM book.account a WHERE a.merchant_id = ${merchantId} AND a.transaction_seq > 0)
      AND NOT EXISTS (SELECT FROM hub.reseller r WHERE r.merchant_id = ${merchantId}) AS is_new
    FROM hub.api_key k WHERE k.id = ${makerId}`;
  if (maker === undefined) throw new Error(`Cannot make a key as its maker is gone: ${makerId}`);
  const mayNeed = role !== "RESELLER";
  if (maker.role === "ADMIN") {
    const isFirst = replaces === null && maker.is_new;
    return { needsApproval: mayNeed && !isFirst, handedOver: false, isHandOver: false };
  }
  const isHandOver = maker.role === "MERCHANT" && replaces === makerId && !maker.own &&
    !maker.needs_approval;
  const isOwn = !maker.needs_approval && (maker.own || isHandOver);
  return { needsApproval: mayNeed && !isOwn, handedOver: isOwn, isHandOver };
}

/**
 * Takes the payout right from an account's living keys that count as an administrator, until another one approves them.
 *
 * @param administrator null: whoever stands behind them
 * @returns the keys that had it
 */
export async function requireApproval(
  tx: AnySql,
  merchantId: string,
  administrator: string | null,
): Promise<readonly string[]> {
  const rows = await tx<{ id: string }[]>`
    UPDATE hub.api_key SET needs_approval = true
    WHERE merchant_id = ${merchantId} AND role = 'MERCHANT' AND NOT needs_approval AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > now()) AND administrator IS NOT NULL
      AND (${administrator}::text IS NULL OR administrator = ${administrator})
    RETURNING id`;
  return rows.map(({ id }) => id).sort();
}
