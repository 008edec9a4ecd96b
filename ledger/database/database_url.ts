/**
 * Connection strings of PostgreSQL, with one host or several.
 *
 * @module
 */

import { resolve } from "node:path";

/** One server of a connection string. */
export interface Host {
  /** A name or an address without brackets; for a Unix socket its folder, beginning with `/`. */
  readonly host: string;
  readonly port: number;
}

/** TLS mode, named as by libpq. */
export interface TlsTerms {
  /** `prefer`: where the server can; `require`: any certificate; `verify-*`: a trusted one. */
  readonly mode: "disable" | "prefer" | "require" | "verify-ca" | "verify-full";
  /** File of the trusted certificates (PEM); null: the system's. */
  readonly rootCertificates: string | null;
  /** True where TLS begins at once instead of being asked for first (PostgreSQL 17 and later). */
  readonly direct: boolean;
}

/** A connection string, taken apart. */
export interface DatabaseUrl {
  readonly hosts: readonly Host[];
  readonly tls: TlsTerms;
  /** True where only a server that takes writes will do: always where there are several. */
  readonly writable: boolean;
  /** The rest for the driver: user, password, database and parameters, with one host only. */
  readonly url: string;
}

/** Answer of {@linkcode parseDatabaseUrl}. */
export type ParsedDatabaseUrl =
  | { readonly ok: true; readonly database: DatabaseUrl }
  /** Follows the name of a variable: "DATABASE_URL is not ...". */
  | { readonly ok: false; readonly fault: string };

const MODES: Readonly<Record<string, TlsTerms["mode"]>> = {
  disable: "disable",
  false: "disable",
  allow: "prefer",
  prefer: "prefer",
  require: "require",
  true: "verify-full",
  "verify-ca": "verify-ca",
  "verify-full": "verify-full",
};

/** Parameters that say how to connect; the driver would send them to the server as settings. */
const OWN_PARAMETERS = ["target_session_attrs", "sslmode", "ssl", "sslrootcert", "sslnegotiation"];

/** The placeholder that makes a URL of a connection string with several hosts. */
const PLACEHOLDER = "host.invalid";

/**
 * Takes a connection string apart: `postgres://user:password@host1:5432,host2:5432/database`.
 *
 * @returns its parts, or what is wrong with it, without any of its text
 */
export function parseDatabaseUrl(text: string): ParsedDatabaseUrl {
  const shape = /^(postgres(?:ql)?:\/\/)(?:([^@/?#]*)@)?([^/?#]*)(.*)$/s.exec(text);
  if (shape === null) return fault("is not a URL of the form postgres:// or postgresql://");
  const [, scheme = "", credentials, places = "", rest = ""] = shape;
  const login = credentials === undefined ? "" : `${credentials}@`;
  const url = URL.parse(`${scheme}${login}${PLACEHOLDER}${rest}`);
  if (url === null) return fault("is not a URL of the form postgres:// or postgresql://");
  const hosts = places.split(",").map(parseHost);
  if (!hosts.every((host) => host !== null)) {
    return fault("names a host that is not of the form host:port");
  }
  const attributes = url.searchParams.get("target_session_attrs");
  if (attributes !== null && !["any", "read-write", "primary"].includes(attributes)) {
    return fault("has target_session_attrs that is neither read-write nor primary");
  }
  if (attributes === "any" && hosts.length > 1) {
    return fault("has target_session_attrs=any with several hosts, of which one takes writes");
  }
  const rootCertificates = url.searchParams.get("sslrootcert");
  const named = url.searchParams.get("sslmode") ?? url.searchParams.get("ssl") ??
    (rootCertificates === null ? "disable" : "verify-full");
  const mode = MODES[named];
  if (mode === undefined) return fault(`has an sslmode that is none of ${MODE_NAMES}`);
  const direct = url.searchParams.get("sslnegotiation") === "direct";
  for (const name of OWN_PARAMETERS) url.searchParams.delete(name);
  return {
    ok: true,
    database: {
      hosts,
      tls: {
        mode: direct && mode === "prefer" ? "require" : mode,
        rootCertificates: rootCertificates === "system" ? null : rootCertificates,
        direct,
      },
      writable: hosts.length > 1 || attributes === "read-write" || attributes === "primary",
      url: url.href,
    },
  };
}

const MODE_NAMES = "disable, allow, prefer, require, verify-ca, verify-full";

function fault(text: string): ParsedDatabaseUrl {
  return { ok: false, fault: text };
}

function parseHost(place: string): Host | null {
  const shape = /^(\[[0-9a-fA-F:.]+\]|[^:]*)(?::(\d{1,5}))?$/.exec(place);
  if (shape === null) return null;
  const port = Number(shape[2] ?? "5432");
  if (port < 1 || port > 65_535) return null;
  try {
    const host = decodeURIComponent(shape[1] ?? "").replace(/^\[|\]$/g, "");
    return { host: host === "" ? "localhost" : host, port };
  } catch {
    // a percent sign that begins no escape
    return null;
  }
}

/** Network and files that a process needs to connect to its database, for its permissions. */
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
