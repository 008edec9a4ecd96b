import { assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { needs } from "../support/permissions.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
/** A number that no account has to have. */
const USER = 7_002;

const lacks = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });
const reason = lacks ? "permissions" : await whyNot();

/** Carries out a script without a network, as another user without a home. */
async function apart(script: string, env: Record<string, string>) {
  const { code, stdout, stderr } = await new Deno.Command("unshare", {
    args: [
      "--net",
      "setpriv",
      `--reuid=${USER}`,
      `--regid=${USER}`,
      "--clear-groups",
      "--no-new-privs",
      "sh",
      "-c",
      script,
    ],
    clearEnv: true,
    env: { PATH: Deno.env.get("PATH") ?? "", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, printed: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** Reason for which this machine cannot run programs like that; null where it can. */
async function whyNot(): Promise<string | null> {
  if (Deno.uid() !== 0) return "root";
  try {
    const { code } = await apart(`"${Deno.execPath()}" --version`, {});
    return code === 0 ? null : "namespaces, and a Deno that all users may run";
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return "unshare and setpriv";
  }
}

Deno.test({
  name:
    `installed once, it starts from a checkout that it cannot write, without a network, a home or a cache${
      reason === null ? "" : ` (skipped: needs ${reason})`
    }`,
  ignore: reason !== null,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    try {
      await Deno.chmod(folder, 0o755);
      const code = `${folder}/code`;
      // what the image copies, with the packages that were installed
      const file = await Deno.readTextFile(`${ROOT}/deploy/Containerfile`);
      const paths = [...file.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, all = ""]) =>
        all.split(" ")
      );
      const copy = await new Deno.Command("sh", {
        args: [
          "-c",
          `mkdir "$0" && cp -a ${paths.join(" ")} node_modules "$0" && chmod -R a+rX,go-w "$0"`,
          code,
        ],
        cwd: ROOT,
      }).output();
      assertEquals(copy.code, 0, new TextDecoder().decode(copy.stderr));
      await Deno.mkdir(`${folder}/data`);
      await Deno.chown(`${folder}/data`, USER, USER);
      const { tasks } = z.object({ tasks: z.record(z.string(), z.string()) })
        .parse(JSON.parse(await Deno.readTextFile(`${code}/deno.json`)));
      const env = { DATA_DIR: `${folder}/data`, HOME: "/nonexistent", ENVIRONMENT: "production" };
      const task = (name: string) =>
        apart(
          `cd "${code}" && deno() { "${Deno.execPath()}" "$@"; } && ${tasks[name] ?? "false"}`,
          env,
        );
      // as far as the settings: nothing was fetched and nothing written before them
      const serve = await task("serve");
      assertEquals(serve.code, 2, serve.printed);
      assertMatch(serve.printed, /^Cannot start as the environment is wrong:\n/);
      const signer = await task("signer");
      assertEquals(signer.code, 2, signer.printed);
      assertMatch(signer.printed, /^Cannot sign as the environment is wrong:\n/);
      const admin = await apart(
        `cd "${code}" && deno() { "${Deno.execPath()}" "$@"; } && ${tasks.admin} pairs`,
        env,
      );
      assertEquals(admin.code, 1, admin.printed);
      assertMatch(admin.printed, /^Cannot speak to the service as ADMIN_API_KEY/);
      for (const { printed } of [serve, signer, admin]) {
        assertEquals(
          /download|registry|read-only|permission denied/i.test(printed),
          false,
          printed,
        );
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
