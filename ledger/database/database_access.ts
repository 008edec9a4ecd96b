import { resolve } from "node:path";
import { parseDatabaseUrl } from "./database_url.ts";

/** What a process needs of network and files to connect to its database, for its permissions. */
export interface DatabaseAccess {
  /** `host:port` of each server that is reached over the network. */
  readonly hosts: readonly string[];
  /** Unix sockets, as files. */
  readonly sockets: readonly string[];
  /** Files that are read: the certificates that are trusted. */
  readonly files: readonly string[];
}

/** The access that a connection string needs; null where it is malformed. */
export function databaseAccess(text: string): DatabaseAccess | null {
  const parsed = parseDatabaseUrl(text);
  if (!parsed.ok) return null;
  const { hosts, tls } = parsed.database;
  const isSocket = (host: string) => host.startsWith("/");
  return {
    hosts: hosts.filter(({ host }) => !isSocket(host)).map(({ host, port }) =>
      `${host.includes(":") ? `[${host}]` : host}:${port}`
    ),
    sockets: hosts.filter(({ host }) => isSocket(host)).map(({ host, port }) =>
      `${host}/.s.PGSQL.${port}`
    ),
    files: tls.rootCertificates === null ? [] : [resolve(tls.rootCertificates)],
  };
}
