/**
 * Keeps the sums that the signer signed away in the last day in a file of its own.
 *
 * The database would know it too, but it is what the caps are there to outlive: an intruder who can
 * write to it could take signatures without ever recording them, and find the day's sum at zero.
 *
 * @module
 */

import { z } from "zod";
import { syncEntryOf, writeDurably } from "../durable_file.ts";
import type { SpentHours } from "./signing_rules.ts";

const spentSchema = z.record(
  z.string().regex(/^[A-Za-z]+\/[A-Za-z_]+$/),
  z.record(z.string().regex(/^\d{1,9}$/), z.string().regex(/^\d{1,20}(\.\d{1,18})?$/)),
);

/**
 * Reads the sums of an earlier run; none when there is no file.
 *
 * @throws {Error} when the file is damaged: without the sums the caps would not hold
 */
export async function readSpent(file: string): Promise<SpentHours> {
  let text: string;
  try {
    text = await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
  try {
    return spentSchema.parse(JSON.parse(text));
  } catch {
    throw new Error(`Cannot keep to the caps as the file of what was spent is damaged: ${file}`);
  }
}

/** Writes the sums, durably: a crash leaves the old ones or the new ones. */
export async function writeSpent(file: string, spent: SpentHours): Promise<void> {
  const temporary = `${file}.tmp`;
  {
    using handle = await Deno.open(temporary, {
      write: true,
      create: true,
      truncate: true,
      mode: 0o600,
    });
    await writeDurably(handle, JSON.stringify(spent) + "\n");
  }
  await Deno.rename(temporary, file);
  await syncEntryOf(file);
}
