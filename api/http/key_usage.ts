/**
 * When keys were last used, to a few minutes: enough to find those that nobody needs, at the cost
 * of one small write per key and five minutes.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";

const log = getLogger(["engine", "api"]);

/** How old a note may be before a use is noted again, milliseconds. */
export const NOTE_AGE_MS = 5 * 60_000;

/** Makes a function that notes a use, some time soon; uses at the same time are written together. */
export function createUsageNotes(
  mark: (keyIds: readonly string[]) => Promise<void>,
): (keyId: string) => void {
  let waiting = new Set<string>();
  let writing = false;

  async function write(): Promise<void> {
    writing = true;
    while (waiting.size > 0) {
      const keyIds = [...waiting];
      waiting = new Set();
      try {
        await mark(keyIds);
      } catch (error) {
        // the next use notes it: nothing rests on it
        log.debug("cannot note the use of keys: {error}", { error });
      }
    }
    writing = false;
  }

  return (keyId) => {
    waiting.add(keyId);
    if (!writing) void write();
  };
}
