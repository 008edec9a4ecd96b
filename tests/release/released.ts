/**
 * Migrations of each release, and the rows that are kept of it.
 *
 * @module
 */

import { assert } from "@std/assert";
import { type Migration, readMigrations } from "../../ledger/database/migrate.ts";

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

/** The migrations of this checkout that a release had. */
export async function migrationsOf(version: string): Promise<readonly Migration[]> {
  const released = await releasedMigrations();
  const last = released.findLastIndex((migration) => migration.version === version);
  const names = new Set(released.slice(0, last + 1).map(({ name }) => name));
  return (await readMigrations()).filter(({ name }) => names.has(name));
}

/** The kept rows of each release, oldest first. */
export async function keptDumps(): Promise<
  readonly { readonly version: string; readonly text: string }[]
> {
  const versions = [...new Set((await releasedMigrations()).map(({ version }) => version))];
  return await Promise.all(versions.map(async (version) => ({
    version,
    text: await Deno.readTextFile(new URL(`./${version}.sql`, import.meta.url)),
  })));
}
