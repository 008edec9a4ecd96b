import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../app/postgres/free_port.ts";
import { startDebianPostgres, testNeedingDebianPostgres } from "../support/debian_postgres.ts";
import { guardCluster } from "../support/cluster_guard.ts";
import { removeCluster } from "../support/remove_cluster.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
const SECTION = "### In the rules of production\n";
/** Bound of the whole page. */
const BOUND_MS = 300_000;
/** Numbers that no account has to have: service, signer, their group. */
const [SERVICE, SIGNER, GROUP] = ["7102", "7101", "7100"];

/** The commands of the page's section, in its order. */
async function blocks(): Promise<readonly string[]> {
  const page = await Deno.readTextFile(`${ROOT}/docs/operations.md`);
  const [, rest = ""] = page.split(SECTION);
  const [section = ""] = rest.split(/\n##+ /);
  return [...section.matchAll(/^( *)```sh\n([\s\S]*?)\n *```$/gm)].map((
    [, indent = "", text = ""],
  ) => text.replaceAll(new RegExp(`^${indent}`, "gm"), ""));
}

/** Reason for which this machine cannot run the page; null where it can. */
async function whyNot(): Promise<string | null> {
  if ((await Deno.permissions.query({ name: "run" })).state !== "granted") return "permissions";
  if (Deno.uid() !== 0) return "root";
  const asked = await new Deno.Command("bash", {
    args: [
      "-c",
      `for one in setpriv jq curl openssl psql pkill; do command -v $one || exit 1; done
       setpriv --reuid=${SERVICE} --regid=${GROUP} --clear-groups "$0" --version && exec setpriv --reuid=${SERVICE} \
         --regid=${GROUP} --clear-groups test -r "$1/deno.json"`,
      Deno.execPath(),
      ROOT,
    ],
    stdout: "null",
    stderr: "null",
  }).output();
  return asked.success ? null : "setpriv, jq, curl, openssl, psql, pkill and a readable checkout";
}

const reason = await whyNot();
const test = reason === null ? testNeedingDebianPostgres() : Deno.test.ignore;

test(
  `the page's rehearsal in the rules of production works as it stands, up to a final payout${
    reason === null ? "" : ` (skipped: needs ${reason})`
  }`,
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "engine-rehearsal-" });
    await Deno.chmod(folder, 0o755);
    const dataDir = `${folder}/postgres`;
    await Deno.mkdir(dataDir, { mode: 0o755 });
    const guard = await guardCluster(dataDir);
    try {
      const server = await startDebianPostgres(dataDir, {});
      try {
        // accounts of the page are numbers here, which only runuser would not take
        await Deno.mkdir(`${folder}/bin`);
        await Deno.writeTextFile(
          `${folder}/bin/runuser`,
          `#!/bin/bash\nexec setpriv --reuid="$2" --regid=${GROUP} --clear-groups -- "\${@:4}"\n`,
          { mode: 0o755 },
        );
        const found = await blocks();
        assertEquals(found.length, 8);
        const end = found.at(-1) ?? "";
        const script = [
          "set -eo pipefail",
          `trap 'code=$?; set +e; [ $code = 0 ] || tail -n 20 "$R"/*.log; ${'for one in service signer chain; do [ ! -f "$R/$one.pid" ] || '}pkill -TERM -P "$(cat "$R/$one.pid")"; done; wait; exit $code' EXIT`,
          ...found.slice(0, -1).map((block) =>
            // doctor ends with 1, as a rehearsal has no TLS
            block.replace(
              "as_service deno task admin doctor",
              "as_service deno task admin doctor || true",
            )
          ),
          end,
          "trap - EXIT",
        ].join("\n");
        const { HOME = folder, PATH = "" } = Deno.env.toObject();
        const address = new URL(server.url);
        const { code, stdout, stderr } = await new Deno.Command("bash", {
          args: ["-c", script],
          cwd: ROOT,
          clearEnv: true,
          env: {
            HOME,
            PATH: `${folder}/bin:${dirname(Deno.execPath())}:${PATH}`,
            NO_COLOR: "1",
            DENO_NO_UPDATE_CHECK: "1",
            R: `${folder}/rehearsal`,
            SERVICE,
            SIGNER,
            GROUP,
            PORT: String(freePort()),
            OPS: String(freePort()),
            CHAIN: String(freePort()),
            PG: address.host,
            PSQL: `psql ${Object.assign(new URL(server.url), { pathname: "/postgres" }).href}`,
          },
          stdin: "null",
          signal: AbortSignal.timeout(BOUND_MS),
        }).output();
        const decoder = new TextDecoder();
        const printed = decoder.decode(stdout) + decoder.decode(stderr);
        assertEquals(code, 0, printed);
        assertEquals(printed.match(/"status": "CONFIRMED"/g)?.length, 2, printed);
        assertMatch(printed, /^No difference/m);
        for (
          const line of [
            "by hand  environment            a rehearsal: test networks may be development chains",
            "ok       nodes ",
            "ok       users ",
            "ok       caps ",
            "ok       administrators ",
          ]
        ) assertStringIncludes(printed, line);
      } finally {
        await server.stop();
      }
    } finally {
      await guard.release();
      await removeCluster(dataDir, null);
      await Deno.remove(folder, { recursive: true });
    }
  },
);
