import type { Sql } from "../../../ledger/database/connect.ts";
import { createJournalStore, type JournalStore } from "../../../ledger/journal/store.ts";

/** Faults of a write: its connection is lost before or after it happens; a deadlock. */
export type Fault = "lost-before" | "lost-after" | "deadlock";

/** A journal's store whose next write goes wrong when a test says so. */
export interface FaultyStore extends JournalStore {
  /** Fault of the next write, once. */
  next: Fault | null;
}

/** A store on a database, faultless until told otherwise. */
export function faultyStore(sql: Sql): FaultyStore {
  const store = createJournalStore(sql);
  return {
    ...store,
    next: null,
    async writeBatch(...args) {
      const fault = this.next;
      this.next = null;
      if (fault === "lost-before") throw lost();
      if (fault === "deadlock") {
        await sql`DO $$ BEGIN RAISE EXCEPTION 'test' USING ERRCODE = '40P01'; END $$`;
      }
      const misses = await store.writeBatch(...args);
      if (fault === "lost-after") throw lost();
      return misses;
    },
  };
}

function lost(): Error {
  return Object.assign(new Error("write CONNECTION_CLOSED"), { code: "CONNECTION_CLOSED" });
}
