import type { Config } from "../../config/config.ts";
import { parseDatabaseUrl } from "../../../ledger/database/database_url.ts";
import { isPrivate } from "../../../chains/nodes/node.ts";
import { clockReasons } from "../../health/clocks.ts";
import type { DatabaseFacts } from "./facts.ts";
import { type Finding, missing, ok, unknown } from "./finding.ts";

/** Connections of a node beside `DATABASE_POOL`: journal, readiness and its details, comparison, signer. */
const OWN_CONNECTIONS = 13;
/** Every pool has half as many again for transactions, while there are any. */
const WITH_TRANSACTIONS = 1.5;

/** Judges the database: whether it is reached, keeps what it acknowledges, and fits. */
export function judgeDatabase(facts: DatabaseFacts, config: Config): readonly Finding[] {
  const { server } = facts;
  if (!server.ok) {
    const mend = "DATABASE_URL=postgres://user:password@host:5432/database, and start the server";
    const points = [
      "database tls",
      "connections",
      "schema",
      "database environment",
      "clock",
      "callback secrets",
    ] as const;
    return [
      missing("database", server.reason, mend),
      ...points.map((point) => unknown(point, "the database is not reached")),
    ];
  }
  const { version, connections } = server.value;
  const wanted = Math.ceil((config.databasePool + OWN_CONNECTIONS) * WITH_TRANSACTIONS);
  return [
    facts.durable.ok ? ok("database", `PostgreSQL ${version}`) : missing(
      "database",
      facts.durable.reason,
      "set it in postgresql.conf and restart the server",
    ),
    tlsPoint(config),
    connections >= wanted
      ? ok("connections", `${connections}, of which a node takes ${wanted} at most`)
      : missing(
        "connections",
        `the server grants ${connections}, a node takes ${wanted} at most`,
        `max_connections = ${wanted + 20} or more, or a smaller DATABASE_POOL`,
      ),
    facts.schema.ok ? ok("schema", "of this version") : missing(
      "schema",
      facts.schema.reason,
      'the start of this version migrates an older database; docs/operations.md, "Upgrade"',
    ),
    environmentPoint(facts.environment, config),
    clockPoint(facts.aheadMs),
    callbackPoint(facts),
  ];
}

function tlsPoint({ databaseUrl }: Config): Finding {
  if (databaseUrl === null) {
    return missing(
      "database tls",
      "the embedded database is not for real money",
      "DATABASE_URL=...",
    );
  }
  const parsed = parseDatabaseUrl(databaseUrl.reveal());
  if (!parsed.ok) {
    return missing("database tls", `DATABASE_URL ${parsed.fault}`, "mend DATABASE_URL");
  }
  const { hosts, tls } = parsed.database;
  const far = hosts.map(({ host }) => host).filter((host) =>
    !host.startsWith("/") && !isPrivate(host)
  );
  if (far.length === 0) return ok("database tls", "on this machine or a private network");
  if (tls.mode === "verify-full") return ok("database tls", "sslmode=verify-full");
  return missing(
    "database tls",
    `anyone between reads and changes what goes to ${far.join(", ")} (sslmode=${tls.mode})`,
    "sslmode=verify-full in DATABASE_URL and SIGNER_DATABASE_URL",
  );
}

/** A service refuses a database of another environment before it changes anything. */
function environmentPoint(begun: DatabaseFacts["environment"], config: Config): Finding {
  const point = "database environment";
  if (!begun.ok) return unknown(point, begun.reason);
  if (begun.value === null) return ok(point, "not begun yet");
  if (begun.value === config.environment) return ok(point, `begun for ${begun.value}`);
  return missing(
    point,
    `it was begun for ${begun.value}, and ENVIRONMENT is ${config.environment}`,
    `ENVIRONMENT=${begun.value}, or a new database in DATABASE_URL`,
  );
}

function clockPoint(aheadMs: DatabaseFacts["aheadMs"]): Finding {
  if (!aheadMs.ok) return unknown("clock", aheadMs.reason);
  const [reason] = clockReasons({ figures: { aheadMs: aheadMs.value, ageMs: 0, jumps: 0 } });
  return reason === undefined
    ? ok("clock", "this machine and the database agree")
    : missing("clock", reason, "keep both by NTP (timedatectl set-ntp true)");
}

function callbackPoint({ schema, callbackKey }: DatabaseFacts): Finding {
  if (!schema.ok) return unknown("callback secrets", "the schema is not of this version");
  if (!callbackKey.ok) {
    return missing(
      "callback secrets",
      callbackKey.reason,
      "CALLBACK_SECRETS_KEY, or the key it replaced in CALLBACK_SECRETS_EARLIER_KEYS",
    );
  }
  return ok("callback secrets", callbackKey.value > 0 ? "the key opens them" : "none is kept yet");
}
