/**
 * The signer's pause: a file in its own folder, so that it outlives every process, and that
 * a client that can only talk to the signer cannot lift it.
 *
 * @module
 */

import { removeIfThere, writeDurably } from "../durable_file.ts";
import { LastingFailure } from "./lasting_failure.ts";

/** The most of a pause's note that is shown, in characters. */
const NOTE_LENGTH = 200;

/** Logs that a pause cannot be read; one for all questions of a process. */
export function unreadPause(): LastingFailure {
  return new LastingFailure("signer.pause_unread", "reading the pause");
}

/** True if signing is paused. Where that cannot be told, it is. */
export async function isPaused(file: string, unread = unreadPause()): Promise<boolean> {
  try {
    const isThere = await exists(file);
    unread.succeeded();
    return isThere;
  } catch (error) {
    unread.failed(error);
    return true;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await Deno.lstat(file);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The note of a pause, in one line; null while signing is not paused. */
export async function readPause(file: string, unread = unreadPause()): Promise<string | null> {
  if (!await isPaused(file, unread)) return null;
  try {
    const note = await Deno.readTextFile(file);
    return note.replaceAll(/\s+/g, " ").trim().slice(0, NOTE_LENGTH);
  } catch (error) {
    // signing is paused all the same; a note that was just removed, or is unreadable, says nothing
    return error instanceof Deno.errors.NotFound ? "" : "the note cannot be read";
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
