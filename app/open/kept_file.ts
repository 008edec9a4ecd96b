/**
 * Small files that the service keeps for itself: written whole or not at all, for its owner only.
 *
 * @module
 */

/** Reads a file, or `null` when there is none. */
export async function readKept(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Writes a file with mode 0600, durably: a crash leaves the old one or the new one. */
export async function keep(path: string, text: string): Promise<void> {
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
