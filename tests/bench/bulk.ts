/**
 * E: what the database's write itself allows. The journal's own decisions, made before the clock
 * starts, written batch after batch by the journal's own write; no HTTP.
 *
 * @module
 */

import { v7 } from "uuid";
import { Draft } from "../../actors/journal/draft.ts";
import { HotFunds } from "../../actors/merchant/liquidity.ts";
import { CommandEnvelope } from "../../actors/journal/envelope.ts";
import { decideSlice } from "../../actors/journal/slice.ts";
import { type MerchantState, Records } from "../../actors/merchant/state.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { SliceChanges } from "../../ledger/journal/batch.ts";
import { createJournalStore, type JournalStore } from "../../ledger/journal/store.ts";
import { newId } from "../../actors/runtime/ids.ts";
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
  for (const { commitId, slices } of batches) {
    const misses = await store.writeBatch(commitId, epoch, slices);
    if (misses.length > 0) {
      throw new Error(`Cannot measure as a slice missed: ${misses[0]?.reason}`);
    }
  }
  const seconds = (performance.now() - started) / 1_000;
  return { ...task, perSecond: batches.length * task.size / seconds };
}

/** What is written at once; the next decision on its merchants names its commit. */
interface Batch {
  readonly commitId: string;
  readonly slices: readonly SliceChanges[];
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
    const work = new Map<string, CommandEnvelope[]>();
    for (let i = 0; i < size; i++) {
      const merchantId = merchantIds[next++ % merchantIds.length] ?? "";
      const command = reserveCommand({
        amount: amount("10.25"),
        referenceId: `bulk-${newId("evt")}`,
        destination: seed.destinations[next % seed.destinations.length] ?? "",
      });
      const envelopes = work.get(merchantId) ?? [];
      envelopes.push(new CommandEnvelope(command, Infinity, () => {}));
      work.set(merchantId, envelopes);
    }
    const commitId = v7();
    const slices = [...work].map(([merchantId, envelopes]) => {
      const state = states.get(merchantId);
      if (state === undefined) throw new Error(`Cannot decide as nobody is there: ${merchantId}`);
      const draft = new Draft(state, new Records(), new Map(), new HotFunds(() => null));
      const { messages } = decideSlice(merchantId, draft, settings, envelopes);
      if (messages.some(({ outcome }) => outcome.kind !== "done")) {
        throw new Error("Cannot measure as a withdrawal was refused");
      }
      states.set(merchantId, {
        ...draft.state,
        version: state.version + 1,
        lastCommit: commitId,
      });
      return draft.changes();
    });
    batches.push({ commitId, slices });
  }
  return { epoch: settings.epoch, batches };
}
