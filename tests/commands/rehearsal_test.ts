import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../app/postgres/free_port.ts";
import { startDebianPostgres, testNeedingDebianPostgres } from "../support/debian_postgres.ts";
import { guardCluster } from "../support/cluster_guard.ts";
import { removeCluster } from "../support/remove_cluster.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
/** The task that the rehearsal's parts follow, down to the next one of its rank. */
const SECTION = "## In the rules of production\n";
/** Line between what one block prints and the next one. */
const MARKER = "-- the next block --";
/** Bound of the whole page, on a machine that has other work too. */
const BOUND_MS = 600_000;
/** Numbers that no account has to have: service, signer, their group. */
const [SERVICE, SIGNER, GROUP] = ["7102", "7101", "7100"];

/** Commands of the page, and the lines that it says they print; null where it says nothing. */
interface Block {
  readonly command: string;
  readonly shown: readonly string[] | null;
}

/** The commands of the page's section, in its order; a block of text right behind one is what it prints. */
async function blocks(): Promise<readonly Block[]> {
  const page = await Deno.readTextFile(`${ROOT}/docs/operations.md`);
  const [, rest = ""] = page.split(SECTION);
  const [section = ""] = rest.split(/\n## /);
  const found = section.matchAll(
    /^( *)```sh\n([\s\S]*?)\n *```$(?:\n\n? *```text\n([\s\S]*?)\n *```$)?/gm,
  );
  return [...found].map(([, indent = "", command = "", text]) => {
    const outdent = (lines: string) => lines.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    return {
      command: outdent(command),
      shown: text === undefined ? null : outdent(text).split("\n"),
    };
  });
}

/** The line that the page gives for a second terminal, and the name of the file that it writes. */
async function secondTerminal(): Promise<string> {
  const page = await Deno.readTextFile(`${ROOT}/docs/operations.md`);
  const [, line] = /`(\(umask 077; declare -p [^`]+ > "\$R\/shell")`/.exec(page) ?? [];
  assert(line !== undefined, "the page has a line for a second terminal");
  return line;
}

/** A text as one word of a shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** True where the lines are those that the page shows: `...` is any text in a line, any lines where it is alone. */
function isShown(shown: readonly string[], printed: string): boolean {
  const pattern = shown.map((line) =>
    line.trim() === "..."
      ? "(?:.*\\n)*?"
      : `${line.split("...").map((part) => RegExp.escape(part.trimEnd())).join(".*")} *\\n`
  ).join("");
  return new RegExp(`^${pattern}$`).test(printed);
}

Deno.test("what the page shows is compared line by line, and three dots are what differs each time", () => {
  assertEquals(isShown(["a ... c", "d"], "a b c\nd\n"), true);
  assertEquals(isShown(["a", "...", "d"], "a\nb\nc\nd\n"), true);
  assertEquals(isShown(["a", "d"], "a\nb\nd\n"), false);
  assertEquals(isShown(["a.c"], "abc\n"), false);
  assertEquals(isShown(["a"], ""), false);
});

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
        // accounts of the page are numbers here, which runuser would not take; told to end, it gives its
        // program two seconds, kills it and ends, as the real one does, while the program's own may go on
        await Deno.mkdir(`${folder}/bin`);
        await Deno.writeTextFile(
          `${folder}/bin/runuser`,
          [
            "#!/bin/bash",
            `setpriv --reuid="$2" --regid=${GROUP} --clear-groups -- "\${@:4}" <&0 &`,
            "program=$!",
            "trap 'kill -TERM $program; sleep 2; kill -KILL $program; exit 143' TERM",
            "wait $program",
            "",
          ].join("\n"),
          { mode: 0o755 },
        );
        const found = await blocks();
        assertEquals(found.length, 17);
        const end = found.at(-1)?.command ?? "";
        const script = [
          "set -e", // an operator's shell has no pipefail
          `trap 'code=$?; set +e; [ $code = 0 ] || tail -n 20 "$R"/*.log; ${'for one in service signer chain; do [ ! -f "$R/$one.pid" ] || '}kill "$(cat "$R/$one.pid")"; done; wait; exit $code' EXIT`,
          ...found.slice(0, -1).flatMap(({ command }) => [
            // doctor ends with 1, as a rehearsal has no TLS
            command.replace(
              "as_service deno task admin doctor",
              "as_service deno task admin doctor || true",
            ),
            `echo '${MARKER}'`,
          ]),
          // each file has the number of a group, whose death is that of all that the task runs
          'for one in service signer chain; do kill -0 -- "-$(cat "$R/$one.pid")"; done',
          await secondTerminal(),
          `env -i HOME="$HOME" PATH="$PATH" R="$R" DENO_NO_UPDATE_CHECK=1 bash -e -c '. "$R/shell"; eval "$0"' ${
            shellQuoted(`admin callbacks status "$MERCHANT"\n${end}`)
          }`,
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
        const parts = decoder.decode(stdout).split(`${MARKER}\n`);
        for (const [i, { command, shown }] of found.entries()) {
          if (shown === null) continue;
          const part = parts[i] ?? "";
          assert(isShown(shown, part), `${command}\nshows\n${shown.join("\n")}\nprints\n${part}`);
        }
        assert(
          found.filter(({ shown }) => shown !== null).length >= 6,
          "what is printed stands there",
        );
        assertEquals(printed.match(/"status": "CONFIRMED"/g)?.length, 3, printed);
        assertEquals(printed.match(/"status": "COMPLETED"/g)?.length, 1, printed);
        // the first administrator opens neither the address nor the settlement
        assertEquals(printed.match(/Another administrator has to decide/g)?.length, 2, printed);
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
