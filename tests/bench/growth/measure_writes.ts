/**
 * The journal's write alone, on one connection whose statistics are known at once: blocks, log and
 * time of each withdrawal.
 *
 * @module
 */

import { connect, type Sql } from "../../../ledger/database/connect.ts";
import { createJournalStore } from "../../../ledger/journal/store.ts";
import { readWalBytes } from "../../support/table_activity.ts";
import { decideAll } from "../bulk.ts";
import type { Case } from "../measure.ts";
import type { Seed } from "../seed.ts";

/** Cost of one withdrawal in batches of {@linkcode SIZE}. */
export interface WriteCost {
  readonly case: Case;
  readonly round: number;
  readonly perSecond: number;
  /** Blocks of tables and indexes that were looked at, and those of them that were not in memory. */
  readonly blocks: number;
  readonly blocksRead: number;
  /** Bytes of write-ahead log, and images of whole pages in it. */
  readonly logBytes: number;
  readonly pageImages: number;
}

const SIZE = 200;
const BATCHES = 25;
const WARM_UP_BATCHES = 8;

/** Writes batches of withdrawals that were decided before. */
export async function measureWrites(
  url: string,
  seed: Seed,
  which: Case,
  round: number,
): Promise<WriteCost> {
  const sql = connect(url, { max: 1, looksUpOnly: true });
  try {
    const store = createJournalStore(sql);
    const { epoch, batches } = await decideAll(
      store,
      seed,
      which,
      SIZE,
      SIZE * (BATCHES + WARM_UP_BATCHES),
    );
    const write = async (from: number, to: number) => {
      for (const { commitId, changes } of batches.slice(from, to)) {
        const misses = await store.writeBatch(commitId, epoch, changes);
        if (misses.length > 0) {
          throw new Error(`Cannot measure as a merchant missed: ${misses[0]?.reason}`);
        }
      }
    };
    await write(0, WARM_UP_BATCHES);
    const before = await readCounts(sql);
    const began = performance.now();
    await write(WARM_UP_BATCHES, batches.length);
    const seconds = (performance.now() - began) / 1_000;
    const after = await readCounts(sql);
    const rows = SIZE * BATCHES;
    return {
      case: which,
      round,
      perSecond: rows / seconds,
      blocks: (after.blocks - before.blocks) / rows,
      blocksRead: (after.blocksRead - before.blocksRead) / rows,
      logBytes: (after.logBytes - before.logBytes) / rows,
      pageImages: (after.pageImages - before.pageImages) / rows,
    };
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function readCounts(sql: Sql) {
  await sql`SELECT pg_stat_force_next_flush()`;
  const [row] = await sql<{ hit: string; read: string; images: string }[]>`
    SELECT d.blks_hit AS hit, d.blks_read AS read, w.wal_fpi AS images
    FROM pg_stat_database d, pg_stat_wal w WHERE d.datname = current_database()`;
  const [hit = 0, read = 0, images = 0] = [row?.hit, row?.read, row?.images].map(Number);
  return {
    blocks: hit + read,
    blocksRead: read,
    pageImages: images,
    logBytes: await readWalBytes(sql),
  };
}
