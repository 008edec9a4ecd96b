/**
 * Reads an installation as a whole, for a command that checks it.
 *
 * @module
 */

import type { AnySql } from "./connect.ts";

/** The server as one connection sees it. */
export interface ServerFacts {
  /** For example `18.4`. */
  readonly version: string;
  /** True where this connection is encrypted. */
  readonly encrypted: boolean;
  /** Connections that roles without privileges may have, in all. */
  readonly connections: number;
}

/** The server that answers. */
export async function readServer(sql: AnySql): Promise<ServerFacts> {
  const [row] = await sql<ServerFacts[]>`
    SELECT current_setting('server_version') AS version,
      coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted,
      current_setting('max_connections')::int
        - current_setting('superuser_reserved_connections')::int AS connections`;
  if (row === undefined) throw new Error("Cannot check the server as it answers nothing");
  return row;
}

/** The wallet that a network's addresses are derived from, as the database keeps it. */
export interface KeptWallet {
  readonly network: string;
  readonly walletId: string;
  /** Digest of the network's public part; null: of a wallet of the old form. */
  readonly fingerprint: string | null;
  /** True when a signer has said that it has the keys. */
  readonly isAttested: boolean;
}

/** The wallets, by network. */
export async function readKeptWallets(sql: AnySql): Promise<readonly KeptWallet[]> {
  return await sql<KeptWallet[]>`
    SELECT network, wallet_id AS "walletId", fingerprint, attested_at IS NOT NULL AS "isAttested"
    FROM hub.wallet ORDER BY network`;
}

/** An administrator's key that can be used now. */
export interface AdministratorKey {
  readonly id: string;
  /** The administrator who stands behind it. */
  readonly administrator: string;
  readonly permissions: readonly string[];
}

/** The administrators' usable keys, at most so many. */
export async function readAdministratorKeys(
  sql: AnySql,
  limit: number,
): Promise<readonly AdministratorKey[]> {
  return await sql<AdministratorKey[]>`
    SELECT id, coalesce(administrator, id) AS administrator, permissions
    FROM hub.api_key WHERE role = 'ADMIN' AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > now())
    ORDER BY created_at, id LIMIT ${limit}`;
}

/** A role that a signer is connected as now. */
export interface SignerRole {
  readonly name: string;
  /** True where it may change the books, so that what it signs could be made up with its password. */
  readonly mayWrite: boolean;
}

/** The roles that signers are connected as now; a signer names itself in its connections. */
export async function readSignerRoles(sql: AnySql): Promise<readonly SignerRole[]> {
  return await sql<SignerRole[]>`
    WITH session AS (
      SELECT DISTINCT usesysid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'signer'
    )
    SELECT r.rolname AS name, EXISTS (
      SELECT FROM pg_class c
      WHERE c.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('book', 'hub'))
        AND c.relkind IN ('r', 'p')
        AND has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
    ) AS "mayWrite"
    FROM session s JOIN pg_roles r ON r.oid = s.usesysid ORDER BY r.rolname`;
}
