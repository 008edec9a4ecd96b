import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { VERSION } from "../../api/http/version.ts";
import { readMigrations } from "../../ledger/database/migrate.ts";
import { releasedMigrations } from "../release/released.ts";
import { needs } from "../support/permissions.ts";
import { ROOT } from "./source_file.ts";

const ignore = needs({ read: true });

Deno.test({
  name: "migrations of a release are never changed, only added to",
  ignore,
  fn: async () => {
    const files = new Map((await readMigrations()).map((file) => [file.name, file.checksum]));
    const released = await releasedMigrations();
    for (const { version, checksum, name } of released) {
      assertEquals(
        files.get(name),
        checksum,
        `ledger/migrations/${name} is part of release ${version}: databases have applied it as it was ` +
          "and would refuse to start. Put it back to the byte (git log -- the file), and write what is " +
          "to change as a new file with the next number",
      );
    }
    assertEquals(
      [...files.keys()].slice(0, released.length),
      released.map(({ name }) => name),
      "a new migration takes a number after those of the releases in ledger/migrations/released.sum",
    );
  },
});

Deno.test({
  name:
    "the version of deno.json is a release with its migrations and its section of the changelog",
  ignore,
  fn: async () => {
    const released = await releasedMigrations();
    assert(
      released.some(({ version }) => version === VERSION) ||
        (await readMigrations()).length === released.length,
      `release ${VERSION}: write "# ${VERSION}" and the lines of \`sha256sum\` for its new migrations ` +
        "at the end of ledger/migrations/released.sum",
    );
    const headings = (await Deno.readTextFile(join(ROOT, "CHANGELOG.md"))).split("\n")
      .filter((line) => line.startsWith("## "));
    assertEquals(headings[0], "## Unreleased", "CHANGELOG.md begins with what is unreleased");
    const newest = /^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$/.exec(headings[1] ?? "")?.[1];
    assertEquals(
      newest,
      VERSION,
      "CHANGELOG.md: the newest section is that of deno.json's version",
    );
  },
});
