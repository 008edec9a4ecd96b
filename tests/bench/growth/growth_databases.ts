/**
 * Filled databases of the section "growth". Filling the large ones takes minutes, so that with
 * `--folder` they are kept and found again, as long as schema and seed are the same.
 *
 * @module
 */

import { join } from "node:path";
import { connect, type Sql } from "../../../ledger/database/connect.ts";
import { migrate, readMigrations } from "../../../ledger/database/migrate.ts";
import { admitHistory } from "../../support/database.ts";
import type { BenchServer } from "../bench_cluster.ts";
import type { Place } from "../measure.ts";
import { type Seed, seed } from "../seed.ts";
import { fillWithdrawals } from "./fill_rows.ts";

/** Size of a filled database. */
export interface Size {
  /** Withdrawals. */
  readonly rows: number;
  /** Merchants of the spread case, beside the hot one. */
  readonly merchants: number;
}

/** A filled database, ready to be measured. */
export interface GrowthDatabase extends Place, AsyncDisposable {
  readonly url: string;
  readonly sql: Sql;
  readonly seed: Seed;
}

/** Databases that a measurement's own rows would make noticeably larger are measured as copies. */
const COPIED_BELOW = 1_000_000;
/** Part of a kept database's name; to be changed with the rows that are filled in. */
const LAYOUT = "1";

/** Makes the databases that are missing, and opens them. */
export class GrowthDatabases {
  readonly #server: BenchServer;
  readonly #note: (text: string) => void;

  constructor(server: BenchServer, note: (text: string) => void) {
    this.#server = server;
    this.#note = note;
  }

  /** Makes a filled database unless it is there. */
  async fill(size: Size): Promise<string> {
    const { admin, urlOf } = this.#server;
    const name = await nameOf(size);
    const [found] = await admin`SELECT FROM pg_database WHERE datname = ${name}`;
    if (found !== undefined) return name;
    this.#note(`filling ${size.rows} withdrawals of ${size.merchants} merchants`);
    const began = performance.now();
    const draft = `${name}_draft`;
    await admin`DROP DATABASE IF EXISTS ${admin(draft)} WITH (FORCE)`;
    await admin`CREATE DATABASE ${admin(draft)} TEMPLATE template0`;
    const sql = connect(urlOf(draft), { max: 2, statementTimeoutMs: 0 });
    try {
      await migrate(sql);
      const seeded = await seed(sql, size.merchants);
      await sql`CREATE TABLE public.bench_seed AS SELECT ${sql.json({ ...seeded })}::jsonb AS seed`;
      await fillWithdrawals(sql, seeded, size.rows);
    } finally {
      await sql.end({ timeout: 5 });
    }
    await admin`ALTER DATABASE ${admin(draft)} RENAME TO ${admin(name)}`;
    this.#note(`filled in ${Math.round((performance.now() - began) / 1_000)} s`);
    return name;
  }

  /** Opens a filled database; a small one as a copy that goes with it. */
  async open(size: Size): Promise<GrowthDatabase> {
    const { admin, urlOf, pid } = this.#server;
    const kept = await this.fill(size);
    const isCopy = size.rows < COPIED_BELOW;
    const name = isCopy ? `bench_${crypto.randomUUID().slice(0, 8)}` : kept;
    await using stack = new AsyncDisposableStack();
    if (isCopy) {
      await admin`CREATE DATABASE ${admin(name)} TEMPLATE ${admin(kept)}`;
      stack.defer(async () => {
        await admin`DROP DATABASE ${admin(name)} WITH (FORCE)`;
      });
    }
    const url = urlOf(name);
    await admitHistory(url);
    const sql = connect(url, { max: 2, statementTimeoutMs: 0 });
    stack.defer(() => sql.end({ timeout: 5 }));
    const [row] = await sql<{ seed: Seed }[]>`SELECT seed FROM public.bench_seed`;
    if (row === undefined) throw new Error(`Cannot measure ${name} as it has lost its seed`);
    const folder = await Deno.makeTempDir({ prefix: "engine-growth-" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    const write = async (file: string, lines: readonly string[]) => {
      const path = join(folder, file);
      await Deno.writeTextFile(path, lines.join("\n") + "\n");
      return path;
    };
    const files = {
      hot: await write("hot_keys", row.seed.hotKeys),
      spread: await write("spread_keys", row.seed.spreadKeys),
      destinations: await write("destinations", row.seed.destinations),
    };
    const disposal = stack.move();
    return {
      url,
      sql,
      pid,
      files,
      database: () => Promise.resolve({ url, sql }),
      seed: row.seed,
      [Symbol.asyncDispose]: () => disposal.disposeAsync(),
    };
  }
}

/** A kept database's name says what is in it. */
async function nameOf({ rows, merchants }: Size): Promise<string> {
  const sums = (await readMigrations()).map(({ checksum }) => checksum).join() + LAYOUT;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(sums));
  return `growth_${rows}_${merchants}_${new Uint8Array(digest).toHex().slice(0, 8)}`;
}
