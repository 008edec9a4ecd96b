/**
 * Settings of a session, whatever the server, the database or the role has as its defaults: each
 * of these changes what a statement means, how fast it is, or whether its commit is durable.
 *
 * @module
 */

import { connectionFault } from "./database_errors.ts";

/** Seconds until either end of an idle connection asks if the other is still there. */
const KEEP_ALIVE_S = 15;

/** Settings that every role may change and that PostgreSQL 14 to 18 know. */
export const PINNED: Readonly<Record<string, string>> = {
  // what text means
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  bytea_output: "hex",
  extra_float_digits: "1",
  standard_conforming_strings: "on",
  array_nulls: "on",
  transform_null_equals: "off",
  lc_monetary: "C",
  lc_numeric: "C",
  lc_time: "C",
  // which objects are meant: pg_catalog comes first, and the service's own are named with their schema
  search_path: "public",
  // an error instead of rows that a policy hides
  row_security: "off",
  // decisions rest on rows that are locked and read again
  default_transaction_isolation: "read committed",
  default_transaction_deferrable: "off",
  // which plans: compiling one takes longer than the whole batch that it is for
  jit: "off",
  plan_cache_mode: "auto",
  enable_bitmapscan: "on",
  enable_hashagg: "on",
  enable_hashjoin: "on",
  enable_incremental_sort: "on",
  enable_indexonlyscan: "on",
  enable_indexscan: "on",
  enable_material: "on",
  enable_memoize: "on",
  enable_mergejoin: "on",
  enable_nestloop: "on",
  enable_seqscan: "on",
  enable_sort: "on",
  enable_tidscan: "on",
  from_collapse_limit: "8",
  join_collapse_limit: "8",
  geqo: "on",
  constraint_exclusion: "partition",
  seq_page_cost: "1",
  random_page_cost: "4",
  cpu_tuple_cost: "0.01",
  cpu_index_tuple_cost: "0.005",
  cpu_operator_cost: "0.0025",
  effective_cache_size: "4GB",
  work_mem: "4MB",
  hash_mem_multiplier: "2",
  // what ends a statement or a session
  lock_timeout: "0",
  idle_session_timeout: "0",
  // a transaction that its owner forgot must not hold its locks for ever
  idle_in_transaction_session_timeout: "60000",
  // nor one that was cut off from it
  tcp_keepalives_idle: String(KEEP_ALIVE_S),
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "3",
};

/** Over {@linkcode PINNED}: for pools whose statements all look rows up by key. */
export const LOOKING_UP: Readonly<Record<string, string>> = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

/** Settings of the server that put what was acknowledged at risk, and how each must stand. */
const DURABLE: Readonly<Record<string, string>> = {
  fsync: "on",
  full_page_writes: "on",
  zero_damaged_pages: "off",
  ignore_checksum_failure: "off",
  // otherwise the triggers that keep the books do not fire
  session_replication_role: "origin",
};

/**
 * Settings as the startup parameter `options`: in force before the first statement, whatever the role's
 * own time-outs are. It is one parameter, so that a pooler, which refuses those that it does not know,
 * has one to leave out.
 */
export function startupOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, "\\$&")}`).join(" ");
}

/**
 * Asked at the beginning of each session. It sets everything again, as a pooler between may have left
 * {@linkcode startupOptions} out, and then what depends on the server: a commit is never weaker than
 * `synchronous_commit = on`, and `remote_apply` stays; `transaction_timeout` exists since PostgreSQL 17.
 * The last answer is read by {@linkcode judgeSession}.
 */
export function preparation(settings: Readonly<Record<string, string>>): string {
  const pinned = Object.entries(settings)
    .map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', false)`);
  return `SELECT ${pinned.join(",\n  ")};\n${QUESTION}`;
}

const QUESTION = `SELECT pg_catalog.concat_ws(',',
  'recovery=' || pg_catalog.pg_is_in_recovery(),
  'read_only=' || pg_catalog.current_setting('transaction_read_only'),
  ${
  Object.keys(DURABLE).map((name) => `'${name}=' || pg_catalog.current_setting('${name}')`)
    .join(",\n  ")
},
  'commit=' || pg_catalog.set_config('synchronous_commit',
    CASE pg_catalog.current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END,
    false),
  CASE WHEN pg_catalog.current_setting('transaction_timeout', true) IS NOT NULL
    THEN 'timeout=' || pg_catalog.set_config('transaction_timeout', '0', false) END)`;

/** Settings that a pool asks of a server. */
export interface SessionNeeds {
  /** The server must be a primary. */
  readonly primary: boolean;
  /** The server must take writes of this role. */
  readonly writes: boolean;
  /** The server must keep what it acknowledged, also when its machine loses power. */
  readonly durable: boolean;
}

/**
 * Judges the answer to {@linkcode preparation}.
 *
 * @returns why the session must not be used, or null
 */
export function judgeSession(answer: string, needs: SessionNeeds): Error | null {
  const said = new Map(
    answer.split(",").map((part): [string, string] => {
      const at = part.indexOf("=");
      return [part.slice(0, at), part.slice(at + 1)];
    }),
  );
  if (needs.primary && said.get("recovery") !== "false") {
    return connectionFault("NOT_WRITABLE", "the server is a standby");
  }
  if (needs.writes && said.get("read_only") !== "off") {
    return connectionFault("NOT_WRITABLE", "the server takes no writes");
  }
  if (!needs.durable) return null;
  const wrong = Object.entries(DURABLE).filter(([name, value]) => said.get(name) !== value);
  if (wrong.length === 0) return null;
  const names = wrong.map(([name, value]) => `${name} is not ${value}`).join(", ");
  return connectionFault("UNSAFE_SERVER", `the server may lose what it acknowledged: ${names}`);
}
