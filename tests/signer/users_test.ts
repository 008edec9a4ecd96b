import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { listenSocket } from "../../chains/signer/listen_socket.ts";
import { WalletFault } from "../../chains/wallet/secret_file.ts";
import { groupNumber } from "../../app/commands/signer/socket_folder.ts";
import { requireApart, sharedUser } from "../../app/open/signer_user.ts";
import { needs, testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true, write: true });

/** Numbers that no account has to have. */
const GROUP = 7_000;
const SIGNER = { uid: 7_001, groups: [GROUP] };
const SERVICE = { uid: 7_002, groups: [GROUP] };
const STRANGER = { uid: 7_003, groups: [7_003] };

const lacksPermissions = needs({ read: true, write: true, run: true, sys: true, env: true });
const reason = lacksPermissions ? "permissions" : await whyNoUsers();

/** Runs a script as another user. */
function as(user: { readonly uid: number; readonly groups: readonly number[] }, script: string) {
  return new Deno.Command("setpriv", {
    args: [
      `--reuid=${user.uid}`,
      `--regid=${user.uid}`,
      `--groups=${user.groups.join(",")}`,
      Deno.execPath(),
      "run",
      "--allow-all",
      "--no-config",
      "--no-check",
      "--quiet",
      script,
    ],
    clearEnv: true,
    env: { PATH: Deno.env.get("PATH") ?? "", NO_COLOR: "1", DENO_DIR: "/nonexistent" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Reason for which this machine cannot run programs as several users; null where it can. */
async function whyNoUsers(): Promise<string | null> {
  if (Deno.uid() !== 0) return "root";
  const script = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.chmod(script, 0o644);
    return (await as(SERVICE, script).output()).success ? null : "a Deno that all users may run";
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return "setpriv";
  } finally {
    await Deno.remove(script);
  }
}

/** Ends a process, also where it has ended by itself. */
async function end(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  await child.status;
  await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
}

const LISTEN = `
import { listenSocket } from "./listen_socket.ts";
import { makeSocketFolder } from "./socket_folder.ts";
await makeSocketFolder("FOLDER/run", ${GROUP});
const listener = await listenSocket("FOLDER/run/signer.sock", ${GROUP});
console.log("listening");
for await (const connection of listener) connection.close();
`;

const PROBE = `
const can = async (work) => { try { await work(); return true; } catch { return false; } };
const connect = async () =>
  (await Deno.connect({ transport: "unix", path: "FOLDER/run/signer.sock" })).close();
console.log(JSON.stringify({
  connect: await can(connect),
  wallet: await can(() => Deno.readTextFile("FOLDER/signer/wallet.json")),
  passphrase: await can(() => Deno.readTextFile("FOLDER/signer/passphrase")),
  state: await can(async () => { for await (const _ of Deno.readDir("FOLDER/signer/state")); }),
  publicFile: await can(() => Deno.readTextFile("FOLDER/public-wallet.json")),
  replace: await can(() => Deno.remove("FOLDER/run/signer.sock")),
}));
`;

Deno.test({
  name:
    `service and signer are two users: the group reaches the socket, and nothing else of the signer's${
      reason === null ? "" : ` (skipped: needs ${reason})`
    }`,
  ignore: reason !== null,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    let listening: Deno.ChildProcess | null = null;
    try {
      await Deno.chmod(folder, 0o711);
      for (const name of ["code", "signer", "signer/state", "run"]) {
        await Deno.mkdir(`${folder}/${name}`);
      }
      // as an operator sets them up
      await Deno.chown(`${folder}/run`, SIGNER.uid, GROUP);
      await Deno.chmod(`${folder}/run`, 0o710);
      for (const name of ["wallet.json", "passphrase"]) {
        await Deno.writeTextFile(`${folder}/signer/${name}`, "secret", { mode: 0o600 });
        await Deno.chown(`${folder}/signer/${name}`, SIGNER.uid, SIGNER.uid);
      }
      await Deno.chown(`${folder}/signer/state`, SIGNER.uid, SIGNER.uid);
      await Deno.chmod(`${folder}/signer/state`, 0o700);
      await Deno.writeTextFile(`${folder}/public-wallet.json`, "{}");
      await Deno.chmod(`${folder}/public-wallet.json`, 0o640);
      await Deno.chown(`${folder}/public-wallet.json`, 0, GROUP);
      // copies: the checkout may be where only root can read
      const sources = ["chains/signer/listen_socket.ts", "app/commands/signer/socket_folder.ts"];
      for (const path of sources) {
        const name = path.split("/").at(-1);
        const source = fileURLToPath(new URL(`../../${path}`, import.meta.url));
        await Deno.copyFile(source, `${folder}/code/${name}`);
      }
      for (const [name, text] of [["listen.ts", LISTEN], ["probe.ts", PROBE]] as const) {
        await Deno.writeTextFile(`${folder}/code/${name}`, text.replaceAll("FOLDER", folder));
      }

      const outsider = await as(STRANGER, `${folder}/code/listen.ts`).output();
      assertStringIncludes(new TextDecoder().decode(outsider.stderr), "Permission denied");
      listening = as(SIGNER, `${folder}/code/listen.ts`).spawn();
      const reader = listening.stdout.getReader();
      assertEquals(new TextDecoder().decode((await reader.read()).value), "listening\n");
      reader.releaseLock();
      const { mode, uid, gid } = await Deno.lstat(`${folder}/run/signer.sock`);
      assertEquals([(mode ?? 0) & 0o777, uid, gid], [0o660, SIGNER.uid, GROUP]);

      const probe = async (user: typeof SERVICE) => {
        const { stdout } = await as(user, `${folder}/code/probe.ts`).output();
        return JSON.parse(new TextDecoder().decode(stdout));
      };
      const nothing = {
        connect: false,
        wallet: false,
        passphrase: false,
        state: false,
        publicFile: false,
        replace: false,
      };
      assertEquals(await probe(STRANGER), nothing);
      assertEquals(await probe(SERVICE), { ...nothing, connect: true, publicFile: true });
    } finally {
      if (listening !== null) await end(listening);
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("a service that shares its user with the signer, or is root, is refused", () => {
  assertEquals(sharedUser(7_002, 7_001), null);
  assertEquals(sharedUser(7_002, null), null);
  assertEquals(sharedUser(null, 7_001), null);
  assertStringIncludes(sharedUser(7_001, 7_001) ?? "", "as the signer's user");
  assertStringIncludes(sharedUser(0, 7_001) ?? "", "as root");
  assertStringIncludes(sharedUser(0, null) ?? "", "as root");
});

test("a service that can read the passphrase is refused, one that finds none is not", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const socket = `${folder}/signer.sock`;
    const secrets = [`${folder}/passphrase`];
    await requireApart({ socket, secrets, user: 7_002 });
    await Deno.writeTextFile(`${folder}/passphrase`, "secret", { mode: 0o600 });
    await assertRejects(
      () => requireApart({ socket, secrets, user: 7_002 }),
      WalletFault,
      "can read what only the signer may",
    );
    using _listener = Deno.listen({ transport: "unix", path: socket });
    const { uid } = await Deno.lstat(socket);
    await assertRejects(
      () => requireApart({ socket, secrets: [], user: uid }),
      WalletFault,
      "Users and groups",
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

test("a socket's group may enter its folder and not change it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const { gid } = await Deno.stat(folder);
    const path = `${folder}/signer.sock`;
    for (
      const [mode, group, why] of [
        [0o770, gid, "may change the socket's folder"],
        [0o711, gid, "others may enter"],
        [0o700, gid, "may not enter"],
        [0o710, (gid ?? 0) + 1, "may not enter"],
      ] as const
    ) {
      await Deno.chmod(folder, mode);
      await assertRejects(() => listenSocket(path, group), Error, why);
    }
    await Deno.chmod(folder, 0o710);
    (await listenSocket(path, gid)).close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

test("a group is known by its name or its number", async () => {
  assertEquals([await groupNumber("7000"), await groupNumber("root")], [7_000, 0]);
  await assertRejects(() => groupNumber("no-such-group-here"), Error, "names no group");
});
