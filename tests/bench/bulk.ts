/**
 * E: what the database's write itself allows. The journal's own decisions, made before the clock
 * starts, written batch after batch by the journal's own write; no HTTP.
 *
 * @module
 */

import { v7 } from "uuid";
import { decideMerchant } from "../../actors/journal/decide_batch.ts";
import { QueuedCommand } from "../../actors/journal/queue.ts";
import { UnitOfWork } from "../../actors/journal/unit_of_work.ts";
import { type MerchantState, Records, RemainingLiquidity } from "../../actors/merchant/state.ts";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { createJournalStore, type JournalStore } from "../../ledger/journal/store.ts";
import type { MerchantChanges } from "../../ledger/journal/write_batch.ts";
import { amount, reserveCommand } from "../support/books.ts";
import type { Case } from "./measure.ts";
import type { Seed } from "./seed.ts";

/** One measurement of E. */
export interface BulkMeasurement {
  readonly case: Case;
  readonly size: number;
  readonly round: number;
  readonly perSecond: number;
}

/** Withdrawals of one measurement. */
const ROWS = 10_000;

/** Writes {@linkcode ROWS} withdrawals in batches of `size`. */
export async function measureBulk(
  sql: Sql,
  seed: Seed,
  task: { readonly case: Case; readonly size: number; readonly round: number },
): Promise<BulkMeasurement> {
  const store = createJournalStore(sql);
  const { epoch, batches } = await decideAll(store, seed, task.case, task.size, ROWS);
  const started = performance.now();
  for (const { commitId, changes } of batches) {
    const misses = await store.writeBatch(commitId, epoch, changes);
    if (misses.length > 0) {
      throw new Error(`Cannot measure as a merchant missed: ${misses[0]?.reason}`);
    }
  }
  const seconds = (performance.now() - started) / 1_000;
  return { ...task, perSecond: batches.length * task.size / seconds };
}

/** Changes written at once; the next decision on its merchants names its commit. */
interface Batch {
  readonly commitId: string;
  readonly changes: readonly MerchantChanges[];
}

/** Decides batch after batch as if each had been committed. */
export async function decideAll(
  store: JournalStore,
  seed: Seed,
  which: Case,
  size: number,
  rows: number,
): Promise<{ readonly epoch: string; readonly batches: readonly Batch[] }> {
  const merchantIds = which === "hot" ? seed.hotMerchants : seed.spreadMerchants;
  const settings = await store.readSettings();
  const states = new Map<string, MerchantState>(await store.readAccounts(merchantIds));
  const batches: Batch[] = [];
  let next = 0;
  for (let b = 0; b < rows / size; b++) {
    const work = new Map<string, QueuedCommand[]>();
    for (let i = 0; i < size; i++) {
      const merchantId = merchantIds[next++ % merchantIds.length] ?? "";
      const command = reserveCommand({
        amount: amount("10.25"),
        referenceId: `bulk-${newId("evt")}`,
        destination: seed.destinations[next % seed.destinations.length] ?? "",
      });
      const queued = work.get(merchantId) ?? [];
      queued.push(new QueuedCommand(command, Infinity, () => {}));
      work.set(merchantId, queued);
    }
    const commitId = v7();
    const changes = [...work].map(([merchantId, queued]) => {
      const state = states.get(merchantId);
      if (state === undefined) throw new Error(`Cannot decide as nobody is there: ${merchantId}`);
      const unit = new UnitOfWork(state, new Records(), new RemainingLiquidity(() => null));
      const { messages } = decideMerchant(merchantId, unit, settings, queued);
      if (messages.some(({ outcome }) => outcome.kind !== "done")) {
        throw new Error("Cannot measure as a withdrawal was refused");
      }
      states.set(merchantId, {
        ...unit.state,
        version: state.version + 1,
        lastCommit: commitId,
      });
      return unit.changes();
    });
    batches.push({ commitId, changes });
  }
  return { epoch: settings.epoch, batches };
}
