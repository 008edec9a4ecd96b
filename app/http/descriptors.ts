/**
 * File descriptors: how many the process can have, and how many it has. The service may not read
 * /proc, so both are found by opening a file: the null device, whose short path is opened five times
 * as fast as one of the code's, and thousands are opened at the start.
 *
 * @module
 */

import { closeSync, openSync } from "node:fs";

const FILE = "/dev/null";

/**
 * Finds by trying how many descriptors the process can have.
 *
 * @param wanted no more than so many are tried: a limit far above it takes long to reach
 * @returns `wanted` where the limit is there or above
 */
export function countDescriptors(wanted: number): number {
  const opened: number[] = [];
  let used = 0;
  try {
    const first = openSync(FILE, "r");
    opened.push(first);
    // the system gives the lowest free number, so that those below it are in use
    used = first;
    while (used + opened.length < wanted) opened.push(openSync(FILE, "r"));
  } catch (error) {
    if (!isExhausted(error)) throw error;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
  return used + opened.length;
}

/** Counts the descriptors that the process has, or a few fewer: those below the lowest free one. */
export function descriptorsUsed(limit: number): number {
  try {
    const descriptor = openSync(FILE, "r");
    closeSync(descriptor);
    return descriptor;
  } catch (error) {
    if (isExhausted(error)) return limit;
    throw error;
  }
}

/** True for an error which says that the process, or the machine, has no descriptor left. */
function isExhausted(error: unknown): boolean {
  return error instanceof Error && "code" in error &&
    (error.code === "EMFILE" || error.code === "ENFILE");
}
