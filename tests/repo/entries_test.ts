import { assertEquals, assertStringIncludes } from "@std/assert";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { entriesOf, LONGEST } from "../run.ts";
import { needs } from "../support/permissions.ts";
import { repositoryFiles } from "./source_file.ts";

const RUNS = { read: true, write: true, run: true, env: true } as const;

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

Deno.test({
  name: "`deno task test` fails where a file ends its module at import and hides its neighbours",
  ignore: needs(RUNS),
  fn: async () => {
    const { code, stderr } = await runTests({ "ends_test.ts": "Deno.exit(0);\n" });
    assertEquals(code, 1);
    assertStringIncludes(stderr, "one of them ends its module");
  },
});

Deno.test({
  name: "`deno task test` fails where a file declares no test, and names it",
  ignore: needs(RUNS),
  fn: async () => {
    const { code, stdout, stderr } = await runTests({
      "empty_test.ts": "export {};\n",
      "one_test.ts": 'Deno.test("one", () => {});\n',
    });
    assertEquals(code, 1);
    assertStringIncludes(stdout + stderr, "empty_test.ts declares no test");
  },
});

Deno.test({
  name: "`deno task test` runs a file that asks for no permission without any",
  ignore: needs(RUNS),
  fn: async () => {
    const { code, stdout } = await runTests({
      "reads_test.ts": 'Deno.test("reads", () => void Deno.readTextFileSync("deno.json"));\n',
    });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "Requires read access");
  },
});

Deno.test({
  name:
    "`deno task test` runs a file with its permissions that asks for some, itself or by an import",
  ignore: needs(RUNS),
  fn: async () => {
    const reads = 'test("reads", () => void Deno.readTextFileSync("deno.json"));\n';
    const asks = 'import { testNeeding } from "../../support/permissions.ts";\n';
    const { code, stdout, stderr } = await runTests({
      "itself_test.ts": `${asks}const test = testNeeding({ read: true });\n${reads}`,
      "helper.ts": `${asks}export const test = testNeeding({ read: true });\n`,
      "by_import_test.ts": `import { test } from "./helper.ts";\n${reads}`,
    });
    assertEquals(code, 0, stdout + stderr);
    assertStringIncludes(stdout, "2 passed");
  },
});

Deno.test({
  name: "`deno task test` fails where a test is skipped as nothing tells that it needs permissions",
  ignore: needs(RUNS),
  fn: async () => {
    const { code, stderr } = await runTests({
      "skips_test.ts": 'Deno.test("one", () => {});\nDeno.test.ignore("other", () => {});\n',
    });
    assertEquals(code, 1);
    assertStringIncludes(stderr, "1 tests that need a permission were skipped");
  },
});

/** Runs files as `deno task test` does. */
async function runTests(files: Readonly<Record<string, string>>) {
  const output = fileURLToPath(new URL("../output", import.meta.url));
  await Deno.mkdir(output, { recursive: true });
  const folder = await Deno.makeTempDir({ dir: output });
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
    const script = fileURLToPath(new URL("../run.ts", import.meta.url));
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", script, "--no-check", `tests/output/${basename(folder)}`],
      stdout: "piped",
      stderr: "piped",
    }).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
