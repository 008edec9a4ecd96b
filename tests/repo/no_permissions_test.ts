import { assert, assertEquals } from "@std/assert";
import { needingNothing } from "../run.ts";
import { needs } from "../support/permissions.ts";
import { repositoryFiles, ROOT } from "./source_file.ts";

Deno.test({
  name: "plain `deno test` skips what it may not do and fails nothing",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true }),
  fn: async () => {
    // all files as one module: what they share is loaded once, and not once for each of them
    const all = (await repositoryFiles()).map(({ path }) => path)
      .filter((path) => /^tests\/.*_test\.tsx?$/.test(path));
    // those that need nothing are run without permissions by `deno task test` anyway
    const plain = await needingNothing(all);
    const files = all.filter((file) => !plain.includes(file));
    assert(plain.length > 50 && files.length > 100, `${plain.length}, ${files.length}`);
    const folder = await Deno.makeTempDir({ prefix: "engine-no-permissions-" });
    try {
      await Deno.writeTextFile(
        `${folder}/all_test.ts`,
        files.map((path) => `import "${new URL(path, `file://${ROOT}`)}";\n`).join(""),
      );
      const { success, stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["test", "--no-prompt", "--no-check", "--quiet", "--config", "deno.json", folder],
        cwd: ROOT,
        env: { NO_COLOR: "1" },
        stderr: "null",
        signal: AbortSignal.timeout(600_000),
      }).output();
      const said = new TextDecoder().decode(stdout);
      const failures = said.slice(said.lastIndexOf("\n FAILURES ")).split("\n")
        .filter((line) => line.includes(" => "));
      assertEquals(
        failures,
        [],
        "give these files `const test = testNeeding(DATABASE)` of tests/support/permissions.ts",
      );
      assertEquals(success, true, said.slice(-2_000));
      // that nothing failed says nothing where nothing was run
      assert(/ \d{2,} passed .* \d{3,} ignored/.test(said), said.slice(-200));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
