import { assertEquals } from "@std/assert";
import { entriesOf, LONGEST } from "../run.ts";
import { needs } from "../support/permissions.ts";
import { repositoryFiles } from "./source_file.ts";

Deno.test({
  name: "`deno task test` imports every test file once, and those that take longest first",
  ignore: needs({ read: true }),
  fn: async () => {
    const files = (await repositoryFiles()).map(({ path }) => path)
      .filter((path) => /^tests\/.*_test\.tsx?$/.test(path));
    const entries = entriesOf(files);
    assertEquals(entries.flat().toSorted(), files.toSorted());
    assertEquals(entries.slice(0, LONGEST.length).flat(), [...LONGEST]);
    // files of different folders are never in one another's way
    const mixed = entries.filter((entry) =>
      new Set(entry.map((file) => file.split("/")[1])).size > 1
    );
    assertEquals(mixed, []);
  },
});
