import { assertEquals } from "@std/assert";
import { needs } from "../support/permissions.ts";
import { ROOT } from "./source_file.ts";

Deno.test({
  name: "plain `deno test` skips what it may not do and fails nothing",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true }),
  fn: async () => {
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "--no-prompt", "--no-check", "--quiet"],
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
  },
});
