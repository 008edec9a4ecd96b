import { assert } from "@std/assert";

/** One line of `ledger/migrations/released.sum`, in the form of sha256sum(1). */
export interface Released {
  readonly version: string;
  readonly checksum: string;
  readonly name: string;
}

const FILE = new URL("../../ledger/migrations/released.sum", import.meta.url);

/** The migrations of every release, in the order of the file. */
export async function releasedMigrations(): Promise<readonly Released[]> {
  const text = await Deno.readTextFile(FILE);
  const released: Released[] = [];
  let version = "";
  for (const line of text.trimEnd().split("\n")) {
    const heading = /^# (\d+\.\d+\.\d+)$/.exec(line)?.[1];
    if (heading !== undefined) {
      version = heading;
      continue;
    }
    const [, checksum, name] = /^([0-9a-f]{64}) {2}(\d{4}_[a-z0-9_]+\.sql)$/.exec(line) ?? [];
    assert(version !== "" && checksum && name, `not in the form of sha256sum: ${line}`);
    released.push({ version, checksum, name });
  }
  return released;
}
