/**
 * The signatures that may still count, in files of the signer's own, so that a signer that starts
 * again gives the very bytes that it gave before, and no intent another nonce.
 *
 * Each batch is one line, appended and synced before any of its signatures leaves. A file that has
 * its fill is followed by the next one and deleted once everything in it has expired or is forgotten. A line without
 * its end was cut off by a crash, so no signature of it has left; anything else that cannot be
 * read keeps the signer from starting.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { removeIfThere, syncEntryOf, writeDurably } from "../durable_file.ts";
import { nonceKey, type NonceSignature, PinnedNonces } from "./pinned_nonces.ts";
import { type ExpiringSignature, SignedMemory } from "./signed_memory.ts";
import { lineOf, signaturesOf, type StoredSignature } from "./stored_signature.ts";

/** About 8 MB. */
const FILL = 5_000;
const NEWLINE = 0x0a;
const FILE_NAME = /^signed-(\d{1,15})\.jsonl$/;

/** One file. */
interface Part {
  readonly path: string;
  /** Signatures in it. */
  count: number;
  /** The latest expiry in it by block time, by network. */
  readonly latest: Map<Network, number>;
  /** The latest expiry in it by the signer's clock. */
  latestByClock: number;
  /** Its nonces. */
  readonly nonces: Set<string>;
}

/** Makes signatures durable. */
export interface SignedJournal {
  /** Begins with what an earlier run signed; what it knows to have passed is deleted. */
  readonly memory: SignedMemory;
  /** The same for chains whose senders number their transactions; what it has forgotten is deleted. */
  readonly nonces: PinnedNonces;
  /**
   * Makes a batch durable. One call at a time.
   *
   * @throws when it is not durable; then the whole batch has to be given again
   */
  append(batch: readonly StoredSignature[]): Promise<void>;
  close(): void;
}

/** Bounds of {@linkcode openSignedJournal}. */
export interface JournalBounds {
  /** Signatures of one file. */
  readonly fill: number;
}

/**
 * Opens the journal of a folder; an empty one begins with nothing.
 *
 * @throws {Error} when a file is damaged: what it held might be signed a second time
 */
export async function openSignedJournal(
  folder: string,
  { fill }: JournalBounds = { fill: FILL },
): Promise<SignedJournal> {
  const numbers: number[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const digits = FILE_NAME.exec(name)?.[1];
    if (digits !== undefined) numbers.push(Number(digits));
  }
  numbers.sort((one, other) => one - other);
  const parts: Part[] = [];
  const expiring: ExpiringSignature[] = [];
  const numbered: NonceSignature[] = [];
  for (const number of numbers) {
    const part = newPart(folder, number);
    for (const signature of await readPart(part.path)) {
      countIn(part, signature);
      if (isNumbered(signature)) numbered.push(signature);
      else if (isExpiring(signature)) expiring.push(signature);
    }
    parts.push(part);
  }
  const memories = { memory: new SignedMemory(expiring), nonces: new PinnedNonces(numbered) };
  return new Journal(folder, fill, memories, parts, (numbers.at(-1) ?? 0) + 1);
}

function isNumbered(signature: StoredSignature): signature is NonceSignature {
  return signature.end.by === "nonce";
}

function isExpiring(signature: StoredSignature): signature is ExpiringSignature {
  return signature.end.by !== "nonce";
}

class Journal implements SignedJournal {
  readonly memory: SignedMemory;
  readonly nonces: PinnedNonces;
  readonly #folder: string;
  readonly #fill: number;
  /** Full ones, and those of earlier runs. */
  #past: Part[];
  #next: number;
  #current: { readonly part: Part; readonly file: Deno.FsFile } | null = null;

  constructor(
    folder: string,
    fill: number,
    { memory, nonces }: Pick<SignedJournal, "memory" | "nonces">,
    past: Part[],
    next: number,
  ) {
    this.#folder = folder;
    this.#fill = fill;
    this.memory = memory;
    this.nonces = nonces;
    this.#past = past;
    this.#next = next;
  }

  async append(batch: readonly StoredSignature[]): Promise<void> {
    const { part, file } = this.#current ??= await this.#open();
    for (const signature of batch) countIn(part, signature);
    try {
      await writeDurably(file, `${lineOf(batch)}\n`);
    } catch (error) {
      // its end may be half a line, which nothing may follow
      this.close();
      throw error;
    }
    if (part.count >= this.#fill) this.close();
  }

  close(): void {
    if (this.#current === null) return;
    const { part, file } = this.#current;
    this.#current = null;
    this.#past.push(part);
    file.close();
  }

  async #open() {
    await this.#removeExpired();
    const part = newPart(this.#folder, this.#next++);
    const file = await Deno.open(part.path, { write: true, createNew: true, mode: 0o600 });
    try {
      await syncEntryOf(part.path);
    } catch (error) {
      file.close();
      this.#past.push(part);
      throw error;
    }
    return { part, file };
  }

  async #removeExpired(): Promise<void> {
    const left: Part[] = [];
    for (const part of this.#past) {
      const isOver = part.latestByClock <= this.memory.clock &&
        [...part.latest].every(([network, latest]) => latest <= this.memory.passed(network)) &&
        [...part.nonces].every((key) => !this.nonces.has(key));
      if (isOver) await removeIfThere(part.path);
      else left.push(part);
    }
    this.#past = left;
  }
}

function newPart(folder: string, number: number): Part {
  const path = `${folder}/signed-${String(number).padStart(6, "0")}.jsonl`;
  return { path, count: 0, latest: new Map(), latestByClock: -Infinity, nonces: new Set() };
}

/** Counts a signature in. */
function countIn(part: Part, { network, end }: StoredSignature): void {
  part.count += 1;
  switch (end.by) {
    case "time":
      part.latest.set(network, Math.max(end.at, part.latest.get(network) ?? -Infinity));
      break;
    case "clock":
      part.latestByClock = Math.max(end.at, part.latestByClock);
      break;
    case "nonce":
      part.nonces.add(nonceKey({ network, ...end }));
      break;
    default:
      end satisfies never;
  }
}

async function readPart(path: string): Promise<StoredSignature[]> {
  const bytes = await Deno.readFile(path);
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  if (end < bytes.length) {
    logEvent("signer.journal_cut", {
      count: bytes.length - end,
      path,
    });
  }
  try {
    const lines = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, end))
      .split("\n").slice(0, -1);
    return lines.flatMap((line) => [...signaturesOf(line)]);
  } catch {
    throw new Error(
      `Cannot rule out signing twice as the file of what was signed is damaged: ${path} ` +
        "(ten minutes after the last signature it may be deleted, where no network's transactions have a nonce)",
    );
  }
}
