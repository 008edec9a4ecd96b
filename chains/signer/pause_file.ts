/**
 * The signer's pause: a file in its own folder, so that it outlives every process, and that
 * a client that can only talk to the signer cannot lift it.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import { removeIfThere, writeDurably } from "../durable_file.ts";

const log = getLogger(["engine", "chains", "signer"]);

/** True if signing is paused. Where that cannot be told, it is. */
export async function isPaused(file: string): Promise<boolean> {
  try {
    await Deno.lstat(file);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    log.error("the pause cannot be read, nothing is signed: {error}", { error });
    return true;
  }
}

/** Pauses; from the next batch on nothing is signed. A pause that is on already keeps its note. */
export async function pause(file: string, note: string): Promise<void> {
  try {
    using handle = await Deno.open(file, { write: true, createNew: true, mode: 0o600 });
    await writeDurably(handle, `${note}\n`);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

/** Lifts the pause; one that is not on is no fault. */
export async function resume(file: string): Promise<void> {
  await removeIfThere(file);
}
