import { dirname } from "node:path";

/** Writes all bytes of a text to a file and makes them durable. */
export async function writeDurably(file: Deno.FsFile, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
  await file.sync();
}

/** Makes the entry of a file in its directory durable. */
export async function syncEntryOf(path: string): Promise<void> {
  using directory = await Deno.open(dirname(path), { read: true });
  await directory.sync();
}

/** Removes a file; one that is not there is no fault. */
export async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
