import type { KeyRecord } from "./api_keys.ts";
import { type HubAudit, writeAudit } from "./audit.ts";
import type { AnySql, Sql } from "./database/connect.ts";

/** The standing of a merchant's new key: with or without payout right, the merchant's own or not. */
export interface KeyStanding {
  /** True if it has no payout right before another administrator has approved it. */
  readonly needsApproval: boolean;
  /** True if it is the merchant's own, though an administrator stands behind it. */
  readonly handedOver: boolean;
}

/** The standing of what a key makes, and whether this is the merchant's first rotation of what it was handed. */
export interface MadeStanding extends KeyStanding {
  readonly isHandOver: boolean;
}

/** Of an administrator's key: it has no account to pay out from. */
const NO_STANDING: MadeStanding = {
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
async function standingOf(
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
 * @param administrator null: any that stands behind them
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
      AND coalesce(expires_at, 'infinity') > now() AND administrator IS NOT NULL
      AND (${administrator}::text IS NULL OR administrator = ${administrator})
    RETURNING id`;
  return rows.map(({ id }) => id).sort();
}

/** A key to be stored: everything but the key itself, of which only the hash is. */
export interface NewKey extends Omit<KeyRecord, "lastUsedAt" | "needsApproval"> {
  /** SHA-256 of the key, lowercase hex. */
  readonly hash: string;
}

/** Living keys that a merchant may make. */
export const MOST_KEYS = 25;

/** Living keys with those that are being replaced; the database refuses more. */
const MOST_KEYS_IN_ROTATION = 50;

/**
 * Stores a new key, together with its entry in the audit.
 *
 * @param makerId the key that makes it
 * @returns its standing. `too_many`: the merchant has as many as it may have, `maker_ended`: the key that makes
 *   it was revoked or has expired; nothing was changed
 */
export async function insertApiKey(
  sql: Sql,
  key: NewKey,
  makerId: string,
  audit: (standing: KeyStanding) => HubAudit,
): Promise<KeyStanding | "too_many" | "maker_ended"> {
  return await sql.begin(async (tx) => {
    if (!await hasRoom(tx, key.merchantId, MOST_KEYS)) return "too_many";
    if (!await isLiving(tx, makerId)) return "maker_ended";
    const standing = await standingOf(tx, key, makerId, null);
    await putKey(tx, key, standing);
    await writeAudit(tx, audit(standing));
    return standing;
  });
}

/** True where a merchant has fewer living keys; until the transaction ends none is added. */
async function hasRoom(
  tx: AnySql,
  merchantId: string | null,
  most: number,
): Promise<boolean> {
  if (merchantId === null) return true;
  const [found] = await tx<{ living: number }[]>`
    SELECT hub.living_keys(${merchantId}) AS living`;
  return found !== undefined && found.living < most;
}

/**
 * True while a key lives, which it does until the transaction ends: who revokes it finds all that it has made.
 * A node may go by what it read of a key a second ago.
 *
 * @param changed another key that the transaction will change; two that are changed are locked in one order
 */
async function isLiving(tx: AnySql, keyId: string, changed: string = keyId): Promise<boolean> {
  const rows = await tx<{ id: string; ended: boolean }[]>`
    SELECT id, revoked_at IS NOT NULL OR coalesce(expires_at <= now(), false) AS ended
    FROM hub.api_key WHERE id IN (${keyId}, ${changed}) ORDER BY id FOR NO KEY UPDATE`;
  return rows.some(({ id, ended }) => id === keyId && !ended);
}

/** The insert alone, for statements that do more in the same transaction. */
async function putKey(
  sql: AnySql,
  key: NewKey,
  standing: KeyStanding = NO_STANDING,
): Promise<void> {
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, administrator, needs_approval, handed_over,
      label, ip_allowlist, expires_at, created_at)
    VALUES (${key.id}, decode(${key.hash}, 'hex'), ${key.merchantId}, ${key.role},
      ${[
    ...key.permissions,
  ]}::text[], ${key.administrator}, ${standing.needsApproval}, ${standing.handedOver}, ${key.label},
      ${key.ipAllowlist === null ? null : [...key.ipAllowlist]}::text[],
      ${key.expiresAt === null ? null : new Date(key.expiresAt)}, ${new Date(key.createdAt)})`;
}

/** Advisory lock under which the administrators' keys are counted. */
const KEYS_LOCK = "4021993307761200146";

/**
 * Stores the first key of an administrator.
 *
 * @returns false when there is a usable one already: nothing was changed
 */
export async function insertFirstAdminKey(
  sql: Sql,
  key: NewKey,
  auditId: string,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${KEYS_LOCK}::bigint)`;
    const [present] = await tx`
      SELECT 1 FROM hub.api_key WHERE role = 'ADMIN' AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > now()) LIMIT 1`;
    if (present !== undefined) return false;
    await putFirst(tx, key, auditId);
    return true;
  });
}

/** Stores the first key of another administrator, who approves what the others make. */
export async function insertAnotherAdminKey(
  sql: Sql,
  key: NewKey,
  auditId: string,
): Promise<boolean> {
  await sql.begin((tx) => putFirst(tx, key, auditId));
  return true;
}

async function putFirst(sql: AnySql, key: NewKey, auditId: string): Promise<void> {
  await putKey(sql, key);
  await writeAudit(sql, {
    id: auditId,
    merchantId: null,
    actor: "bootstrap",
    action: "api-key.create",
    subject: key.id,
    before: null,
    after: { role: key.role, permissions: key.permissions },
    requestId: null,
  });
}

/**
 * Gives a merchant's key its payout right, together with the entry in the audit.
 *
 * @returns false where the key has ended, or needs no approval: nothing was changed
 */
export async function approveApiKey(
  sql: Sql,
  merchantId: string,
  keyId: string,
  audit: HubAudit,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const approved = await tx`
      UPDATE hub.api_key SET needs_approval = false
      WHERE id = ${keyId} AND merchant_id = ${merchantId} AND revoked_at IS NULL AND needs_approval
      RETURNING 1`;
    if (approved.length === 0) return false;
    await writeAudit(tx, audit);
    return true;
  });
}

/** A key that was replaced. */
export interface Rotated extends KeyStanding {
  /** The end of the old key, Unix milliseconds. */
  readonly ends: number;
  /** Keys of the account, the old one included, that have no payout right any more until they are approved. */
  readonly nowNeedApproval: readonly string[];
}

/**
 * Puts a new key in the place of another one, which stays valid for a while at most.
 *
 * @param makerId the key that asks for it
 * @param until when the old key ends, unless it ends before; Unix milliseconds
 * @returns what has become of the keys, or `null` when the old one is revoked or has ended already: nothing
 *   was changed then; `too_many`: the same, as the merchant has as many keys as it may have; `maker_ended`: the
 *   same, as the key that asks for it has ended
 */
export async function rotateApiKey(
  sql: Sql,
  oldId: string,
  fresh: NewKey,
  makerId: string,
  until: number,
  audit: (rotated: Rotated) => HubAudit,
): Promise<Rotated | null | "too_many" | "maker_ended"> {
  return await sql.begin(async (tx) => {
    if (!await hasRoom(tx, fresh.merchantId, MOST_KEYS_IN_ROTATION)) return "too_many";
    if (!await isLiving(tx, makerId, oldId)) return "maker_ended";
    const standing = await standingOf(tx, fresh, makerId, oldId);
    const [old] = await tx<{ expires_at: Date }[]>`
      UPDATE hub.api_key SET expires_at = least(expires_at, ${new Date(until)})
      WHERE id = ${oldId} AND merchant_id IS NOT DISTINCT FROM ${fresh.merchantId}
        AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${new Date(fresh.createdAt)})
      RETURNING expires_at`;
    if (old === undefined) return null;
    // who handed the key over may know it, and have others of the account
    const nowNeedApproval = standing.isHandOver && fresh.merchantId !== null
      ? await requireApproval(tx, fresh.merchantId, fresh.administrator)
      : [];
    await putKey(tx, fresh, standing);
    const { needsApproval, handedOver } = standing;
    const ends = old.expires_at.getTime();
    const rotated = { ends, needsApproval, handedOver, nowNeedApproval };
    await writeAudit(tx, audit(rotated));
    return rotated;
  });
}

/**
 * Ends a key now.
 *
 * @param merchantId null: one of the administrators' keys, of which the last one that can manage
 *   keys is kept
 */
export async function revokeApiKey(
  sql: Sql,
  merchantId: string | null,
  keyId: string,
  audit: HubAudit,
): Promise<"revoked" | "not_found" | "last_admin"> {
  return await sql.begin(async (tx) => {
    if (merchantId === null) {
      // two administrators who revoke each other's key must not both succeed
      await tx`SELECT pg_advisory_xact_lock(${KEYS_LOCK}::bigint)`;
      const [other] = await tx`
        SELECT 1 FROM hub.api_key WHERE merchant_id IS NULL AND id <> ${keyId} AND revoked_at IS NULL
          AND coalesce(expires_at, 'infinity') > now() AND 'admin:write' = ANY (permissions) LIMIT 1`;
      if (other === undefined) return "last_admin";
    }
    const revoked = await tx`
      UPDATE hub.api_key SET revoked_at = now()
      WHERE id = ${keyId} AND merchant_id IS NOT DISTINCT FROM ${merchantId} AND revoked_at IS NULL
      RETURNING 1`;
    if (revoked.length === 0) return "not_found";
    await writeAudit(tx, audit);
    return "revoked";
  });
}
