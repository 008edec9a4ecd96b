/**
 * The service's own folder, locked by one process, and its small files: written whole or not at all,
 * for their owner only.
 *
 * @module
 */

import type { Config } from "../config/config.ts";

/** The data folder is none that this version can use; the message is one line and names the way out. */
export class UnusableFolder extends Error {
  override readonly name = "UnusableFolder";
}

/** Reads a file, or `null` when there is none. */
export async function readStored(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Writes a file with mode 0600, durably: a crash leaves the old one or the new one. */
export async function store(path: string, text: string): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}`;
  const file = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
  try {
    await file.write(new TextEncoder().encode(text));
    await file.sync();
  } finally {
    file.close();
  }
  await Deno.rename(temporary, path);
}

/** 256 random bits as hexadecimal digits. */
export function randomHex(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

/** A text of the data folder; made once, where it is not there yet. */
export async function storedOrMade(path: string, make = randomHex): Promise<string> {
  const stored = await readStored(path);
  if (stored !== null) return stored;
  const made = make();
  await store(path, made);
  return made;
}

/** The key of upstream systems' signatures: configured, or (development) made once. */
export async function ingestSecret({ ingestSecret, dataDir }: Config): Promise<string> {
  return ingestSecret?.reveal() ?? await storedOrMade(`${dataDir}/ingest-secret`);
}

/** The key of the hosted pages' tokens: configured, or (development) made once. */
export async function sessionSecret({ sessionSecret, dataDir }: Config): Promise<string> {
  return sessionSecret?.reveal() ?? await storedOrMade(`${dataDir}/session-secret`);
}

/**
 * Name of this node, made once. The folder is locked, so what carries this name and was there before
 * this process belongs to one that has ended.
 */
export async function nodeName({ dataDir }: Pick<Config, "dataDir">): Promise<string> {
  return await storedOrMade(`${dataDir}/node-name`, () => crypto.randomUUID());
}

/** A lock of the data folder, or the process that has it. */
export type FolderLock = { readonly ok: true } | { readonly ok: false; readonly owner: string };

/**
 * Locks the data folder until this process ends, however it ends (flock(2)). Two services on one
 * folder would share a database server, ports and a development chain, and each would stop them while
 * the other needs them.
 *
 * @param dataDir an existing folder
 */
export async function lockDataDir(dataDir: string): Promise<FolderLock> {
  const path = `${dataDir}/service.lock`;
  // never closed: the lock is the open file's
  const file = await Deno.open(path, { create: true, read: true, write: true });
  if (!await file.tryLock(true)) {
    file.close();
    return { ok: false, owner: (await Deno.readTextFile(path)).trim() };
  }
  await file.truncate();
  await file.write(new TextEncoder().encode(`${Deno.pid}\n`));
  return { ok: true };
}
