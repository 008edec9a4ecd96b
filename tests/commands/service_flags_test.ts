import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { serviceFlags } from "../../app/commands/service_flags.ts";
import { needs } from "../support/permissions.ts";

const START_MS = 300_000;
const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
const PROGRAM = fileURLToPath(new URL("../../app/commands/service_flags.ts", import.meta.url));

Deno.test("the service reads and writes what it needs, and runs nothing", () => {
  const answer = serviceFlags({
    DATA_DIR: "/var/lib/engine",
    WALLET_FILE: "/etc/engine/public-wallet.json",
    WALLET_PASSPHRASE_FILE: "/secure/passphrase",
    SIGNER_SOCKET: "/run/signer/signer.sock",
    DATABASE_URL: "postgres://e:secret@%2Frun%2Fpostgresql/e?sslrootcert=/etc/engine/ca.pem",
  }, "/opt/engine");
  assert(answer.ok);
  assertEquals(answer.flags, [
    "--allow-net",
    "--allow-env",
    "--allow-sys=uid",
    "--allow-read=/opt/engine,/var/lib/engine,/etc/engine/public-wallet.json,/secure/passphrase,/etc/engine/ca.pem," +
    "/run/signer/signer.sock,/run/postgresql/.s.PGSQL.5432,/dev/null",
    "--allow-write=/var/lib/engine,/run/signer/signer.sock,/run/postgresql/.s.PGSQL.5432",
  ]);
});

Deno.test("a path that the task would split is refused by name", () => {
  for (const DATA_DIR of ["/var/lib/my engine", "/var/lib/a,/secure"]) {
    const answer = serviceFlags({ DATA_DIR }, "/opt/engine");
    assertStringIncludes(answer.ok ? "" : answer.fault, DATA_DIR);
  }
});

Deno.test({
  name: "the task's program prints the flags for the folder of this code",
  ignore: needs({ run: true }),
  fn: async () => {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--no-prompt", "--allow-env", "--allow-read", PROGRAM],
      env: { DATA_DIR: "/var/lib/engine" },
    }).output();
    const printed = new TextDecoder().decode(stdout).trim();
    assert(printed.split(" ").includes(`--allow-write=/var/lib/engine`), printed);
    assertStringIncludes(printed, `--allow-read=${ROOT},/var/lib/engine`);
  },
});

Deno.test({
  name: "the service starts and serves with these permissions alone",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async () => {
    const { testDatabase } = await import("../support/database.ts");
    await using database = await testDatabase();
    const folder = await Deno.makeTempDir();
    // without a signer's process and real nodes, as in development; with a database of its own
    const env = { DATA_DIR: `${folder}/data`, DATABASE_URL: database.url };
    const answer = serviceFlags(env, ROOT);
    assert(answer.ok);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--no-check", ...answer.flags, "main.ts"],
      cwd: ROOT,
      env: { ...env, PORT: "0", NO_COLOR: "1", API_DOCS: "on" },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const errors = new Response(child.stderr).text();
    // one that never serves ends the test with what it printed
    const bound = setTimeout(() => child.kill("SIGKILL"), START_MS);
    let printed = "";
    let isAsked = false;
    try {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
        printed += text;
        const url = /serving on "(http:\/\/[\d.:]+)"/.exec(printed)?.[1];
        if (url === undefined || isAsked) continue;
        isAsked = true;
        const statuses = [];
        for (const path of ["/readyz", "/api/docs", "/api/openapi.json"]) {
          const response = await fetch(`${url}${path}`);
          await response.body?.cancel();
          statuses.push(response.status);
        }
        assertEquals(statuses, [200, 200, 200]);
        child.kill("SIGTERM");
      }
      const { code } = await child.status;
      assertEquals([code, /NotCapable/.test(printed)], [0, false], printed + await errors);
    } finally {
      clearTimeout(bound);
      if ((await Promise.race([child.status, Promise.resolve(null)])) === null) {
        child.kill("SIGKILL");
      }
      await child.status;
      await errors;
      await Deno.remove(folder, { recursive: true });
    }
  },
});
