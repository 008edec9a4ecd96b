import { ReadingThread, readOnThreads } from "../../chains/tron/reading_thread.ts";
import type { ReadRange } from "../../chains/tron/read_range.ts";

/** Who reads blocks for networks that are caught up with. */
export interface Reading {
  readonly readRange: ReadRange;
  close(): void;
}

/**
 * Two threads for all networks: more would take the cores of what writes. They start when they are
 * needed.
 *
 * @param entry their module, `app/commands/reader_worker.ts`
 */
export function openReading(entry: URL): Reading {
  const threads = [new ReadingThread({ entry }), new ReadingThread({ entry })] as const;
  return {
    readRange: readOnThreads(threads),
    close: () => {
      for (const thread of threads) thread.close();
    },
  };
}
