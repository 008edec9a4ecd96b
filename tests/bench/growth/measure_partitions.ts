/**
 * The question whether append-only tables should be partitioned by time, asked of the entries: one
 * table beside one of twelve partitions. Ids are ordered by time, so that partitions by ranges of ids
 * are partitions by time which keep the primary key; partitions by `created_at` could not.
 *
 * @module
 */

import { connect, type Sql } from "../../../ledger/database/connect.ts";
import { readWalBytes } from "../../support/table_activity.ts";
import type { BenchCluster } from "../bench_cluster.ts";
import { median } from "../statistics.ts";

/** One way to keep the entries, measured. */
export interface PartitionMeasurement {
  readonly way: "one table" | "12 partitions";
  /** Rows that were there before. */
  readonly rows: number;
  /** Time of an entry that is inserted in batches, and blocks and bytes of log, each per entry. */
  readonly insertUs: number;
  readonly blocks: number;
  readonly logBytes: number;
  /** Time to read the entries of one payment by its id, by a kept plan and by a new one, microseconds. */
  readonly readUs: number;
  readonly planUs: number;
  /** Time until the oldest twelfth is gone, milliseconds. */
  readonly removalMs: number;
}

/** Entries of 1,000,000 withdrawals. */
const ROWS = 3_000_000;
const PARTITIONS = 12;
/** As a batch of 200 withdrawals has them. */
const BATCH = 600;
const BATCHES = 100;
const READS = 500;
const WAYS = ["one table", "12 partitions"] as const;
const TABLES = { "one table": "part.whole", "12 partitions": "part.divided" } as const;

/** Measures both ways with as many entries, in interleaved rounds. */
export async function measurePartitions(
  cluster: BenchCluster,
  rounds: number,
  note: (text: string) => void,
): Promise<readonly PartitionMeasurement[]> {
  const { url } = await cluster.database("partitions");
  const sql = connect(url, { max: 1, statementTimeoutMs: 0, looksUpOnly: true });
  try {
    const rows = ROWS;
    note(`inserting ${rows} entries, both ways`);
    await makeTables(sql, rows);
    const first: Record<string, Awaited<ReturnType<typeof measureWay>>[]> = {};
    for (let round = 0; round < rounds; round++) {
      for (const way of WAYS) {
        const from = rows + 1 + round * (BATCHES + 1) * BATCH;
        (first[way] ??= []).push(await measureWay(sql, TABLES[way], from, rows));
      }
    }
    const found: PartitionMeasurement[] = [];
    for (const way of WAYS) {
      const of = first[way] ?? [];
      const middle = (name: keyof (typeof of)[number]) => median(of.map((one) => one[name]));
      found.push({
        way,
        rows,
        insertUs: middle("insertUs"),
        blocks: middle("blocks"),
        logBytes: middle("logBytes"),
        readUs: middle("readUs"),
        planUs: middle("planUs"),
        removalMs: await measureRemoval(sql, way, rows),
      });
    }
    return found;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** SQL of the id of payment `n`, ordered as ids are. */
function idOf(n: string): string {
  return `'wd_' || lpad(to_hex(${n}), 12, '0') || '-7000-8000-000000000000'`;
}

/** Inserts entries `$1` to `$2`, three to a payment. */
function insertion(table: string): string {
  return `
    INSERT INTO ${table} (payment_id, leg, merchant_id, from_account, to_account, currency, network, amount, created_at)
    SELECT ${idOf("(n / 3)::int")}, (ARRAY['reserve', 'commission', 'network_fee'])[n % 3 + 1],
      'mer_' || lpad((n / 3 % 1000)::text, 36, '0'), 'available',
      (ARRAY['reserved', 'commission', 'network_fee'])[n % 3 + 1], 'USDT', 'TRX', 10.25, now()
    FROM generate_series($1::int, $2::int) n`;
}

async function makeTables(sql: Sql, rows: number): Promise<void> {
  await sql`CREATE SCHEMA part`;
  await sql`CREATE TABLE part.whole (LIKE book.entry INCLUDING ALL)`;
  await sql`CREATE TABLE part.divided (LIKE book.entry INCLUDING ALL) PARTITION BY RANGE (payment_id)`;
  const step = Math.ceil(rows / 3 / (PARTITIONS - 1));
  for (let n = 0; n < PARTITIONS; n++) {
    // the newest is written, the others are full
    const low = n === 0 ? "MINVALUE" : idOf(String(n * step));
    const high = n === PARTITIONS - 1 ? "MAXVALUE" : idOf(String((n + 1) * step));
    await sql.unsafe(
      `CREATE TABLE part.divided_${n} PARTITION OF part.divided FOR VALUES FROM (${low}) TO (${high})`,
    );
  }
  for (const way of WAYS) {
    await sql.unsafe(insertion(TABLES[way]), [0, rows]);
    await sql.unsafe(`VACUUM ANALYZE ${TABLES[way]}`);
  }
}

async function measureWay(sql: Sql, table: string, from: number, rows: number) {
  const insert = (batch: number) =>
    sql.unsafe(insertion(table), [from + batch * BATCH, from + (batch + 1) * BATCH - 1], {
      prepare: true,
    });
  await insert(0);
  const before = await readCounts(sql);
  let began = performance.now();
  for (let batch = 1; batch <= BATCHES; batch++) await insert(batch);
  const insertMs = performance.now() - began;
  const after = await readCounts(sql);
  const read = async (prepare: boolean) => {
    const ids = await sql.unsafe<{ id: string }[]>(
      `SELECT ${
        idOf(`(i::bigint * 7919 % ${Math.floor(rows / 3)})::int`)
      } AS id FROM generate_series(1, ${READS}) i`,
    );
    began = performance.now();
    for (const { id } of ids) {
      await sql.unsafe(`SELECT * FROM ${table} WHERE payment_id = $1`, [id], { prepare });
    }
    return (performance.now() - began) / READS * 1_000;
  };
  await read(true);
  const entries = BATCHES * BATCH;
  return {
    insertUs: insertMs / entries * 1_000,
    blocks: (after.blocks - before.blocks) / entries,
    logBytes: (after.log - before.log) / entries,
    readUs: await read(true),
    planUs: await read(false),
  };
}

/** Removes the oldest twelfth: row by row as pruning does, or a partition at once. */
async function measureRemoval(sql: Sql, way: typeof WAYS[number], rows: number): Promise<number> {
  const began = performance.now();
  if (way === "12 partitions") await sql`DROP TABLE part.divided_0`;
  else {
    const limit = idOf(String(Math.ceil(rows / 3 / (PARTITIONS - 1))));
    for (let count = 1_000; count === 1_000;) {
      ({ count } = await sql.unsafe(`
        DELETE FROM part.whole WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM part.whole WHERE payment_id < ${limit} ORDER BY payment_id LIMIT 1000))`));
    }
    await sql`VACUUM part.whole`;
  }
  return performance.now() - began;
}

async function readCounts(sql: Sql) {
  await sql`SELECT pg_stat_force_next_flush()`;
  const [row] = await sql<{ blocks: string }[]>`
    SELECT blks_hit + blks_read AS blocks FROM pg_stat_database WHERE datname = current_database()`;
  return { blocks: Number(row?.blocks ?? 0), log: await readWalBytes(sql) };
}
