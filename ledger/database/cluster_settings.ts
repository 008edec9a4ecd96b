/**
 * Settings of the embedded PostgreSQL. Every one differs from PostgreSQL's default for the reason
 * beside it; durability (fsync, full_page_writes, synchronous_commit) is the default and is named
 * so that nobody has to look it up.
 *
 * @module
 */

import { join } from "node:path";

/** Names and values of PostgreSQL settings. */
export type Settings = Readonly<Record<string, string | number>>;

const SETTINGS: Settings = {
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  // Reached by password over loopback only: no socket file in a folder others can write.
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: 60,
  shared_buffers: "128MB",
  // Few, spread checkpoints: a checkpoint makes each page's next change log the whole page.
  max_wal_size: "2GB",
  min_wal_size: "128MB",
  checkpoint_timeout: "15min",
  // Each journal batch is small; compiling its plan costs more than it saves.
  jit: "off",
  // Reads come from memory here; three I/O workers per cluster would idle.
  io_method: "sync",
  timezone: "UTC",
  log_timezone: "UTC",
  // The log outlives the service that started the server, and stays small: one file per weekday.
  logging_collector: "on",
  log_directory: "log",
  log_filename: "postgresql-%a.log",
  log_rotation_age: "1d",
  log_truncate_on_rotation: "on",
  log_line_prefix: "%m [%p] %a ",
  // The service refuses duplicates by constraint: each would print the values it was refused for.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
};

/** Writes the settings of the next start into the cluster. */
export async function writeSettings(
  folder: string,
  port: number,
  overrides: Settings,
): Promise<void> {
  const all = Object.entries({ ...SETTINGS, port, ...overrides });
  const lines = all.map(([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'`);
  await Deno.writeTextFile(join(folder, "engine.conf"), `${lines.join("\n")}\n`);
}
