import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { configure, type LogRecord, reset } from "@logtape/logtape";
import { join } from "node:path";
import { UnusableFolder } from "../../app/open/data_folder.ts";
import { connect } from "../../ledger/database/connect.ts";
import { delay } from "../../ledger/database/delay.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../app/postgres/embedded.ts";
import { isListening, readLockFile } from "../../app/postgres/server.ts";
import { guardCluster } from "../support/cluster_guard.ts";
import { DATABASE, needs } from "../support/permissions.ts";
import { removeCluster } from "../support/remove_cluster.ts";

const ignore = needs(DATABASE);
const isRoot = !ignore && Deno.uid() === 0;

/** A data folder that is removed at the end, with every server that was started on it stopped. */
async function withDataDir(
  body: (
    start: (options?: { supervise?: boolean; dataDir?: string }) => Promise<EmbeddedPostgres>,
    dataDir: string,
  ) => Promise<void>,
): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "engine-embedded-" });
  await Deno.chmod(dataDir, 0o755);
  const started: EmbeddedPostgres[] = [];
  const guard = await guardCluster(dataDir);
  try {
    await body(async (options = {}) => {
      const server = await startEmbeddedPostgres({
        dataDir,
        supervise: false,
        syncNewCluster: false,
        ...options,
      });
      started.push(server);
      return server;
    }, dataDir);
  } finally {
    for (const server of started) await server.stop();
    await guard.release();
    await removeCluster(dataDir, started.at(-1)?.folder ?? null);
  }
}

async function ask<T>(url: string, text: string): Promise<readonly T[]> {
  const sql = connect(url, { max: 1 });
  try {
    return [...await sql.unsafe<T[] & Record<string, unknown>[]>(text)];
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function setting(url: string, name: string): Promise<string | undefined> {
  return (await ask<{ value: string }>(url, `SELECT current_setting('${name}') AS value`))[0]
    ?.value;
}

async function mode(path: string): Promise<number> {
  return ((await Deno.stat(path)).mode ?? 0) & 0o777;
}

Deno.test({
  name: "an embedded database is durable, private, and found again",
  ignore,
  fn: (t) =>
    withDataDir(async (start, dataDir) => {
      const first = await start();

      await t.step("it flushes what it acknowledges", async () => {
        assertEquals(await setting(first.url, "fsync"), "on");
        assertEquals(await setting(first.url, "synchronous_commit"), "on");
        assertEquals(await setting(first.url, "full_page_writes"), "on");
      });

      await t.step("no commit waits long for a new segment of its log", async () => {
        assertEquals(await setting(first.url, "wal_segment_size"), "1MB");
      });

      await t.step("it is reached over loopback or its socket with a password only", async () => {
        assertEquals(await setting(first.url, "listen_addresses"), "127.0.0.1");
        assertEquals(await setting(first.url, "unix_socket_directories"), ".");
        assert(first.nearestUrl.includes(`@${encodeURIComponent(first.folder)}:${first.port}/`));
        const from = "SELECT inet_client_addr() IS NULL AS local";
        assertEquals(await ask(first.nearestUrl, from), [{ local: true }]);
        assertEquals(await ask(first.url, from), [{ local: false }]);
        for (const url of [first.url, first.nearestUrl]) {
          const other = url.replace(/:[0-9a-f]{64}@/, ":wrong@");
          assertNotEquals(other, url);
          await assertRejects(
            () => ask(other, "SELECT 1"),
            Error,
            "password authentication failed",
          );
        }
      });

      await t.step("others can read neither the password nor the files", async () => {
        assertEquals(await mode(join(dataDir, "postgres-password")), 0o600);
        assertEquals(await mode(first.folder), 0o700);
      });

      await t.step("it does not run as root", async () => {
        const { uid } = await Deno.stat(join(first.folder, "postmaster.pid"));
        assertNotEquals(uid, 0);
      });

      await t.step("a later start finds the running server", async () => {
        const second = await start();
        assertEquals([second.pid, second.url], [first.pid, first.url]);

        await second.stop();
        assertEquals(await setting(first.url, "fsync"), "on", "the first one still uses it");
      });

      await t.step("what was committed is there after kill -9 of the server", async () => {
        await ask(first.url, "CREATE TABLE kept AS SELECT 42 AS n");
        Deno.kill(first.pid, "SIGKILL");
        while (await isListening(first.port)) await delay(5);
        await first.stop();
        const again = await start();
        assertEquals(again.url, first.url);
        assertEquals(await ask<{ n: number }>(again.url, "SELECT n FROM kept"), [{ n: 42 }]);
        await again.stop();
      });

      await t.step("a port that something else took is chosen anew", async () => {
        using listener = Deno.listen({ hostname: "127.0.0.1", port: first.port });
        const moved = await start();
        assertNotEquals(moved.port, listener.addr.port);
        assertEquals(await ask<{ n: number }>(moved.url, "SELECT n FROM kept"), [{ n: 42 }]);
        await moved.stop();
      });

      await t.step("a lock file that names another program's process is no obstacle", async () => {
        const owner = await Deno.stat(first.folder);
        // The same account as the server's: PostgreSQL would take it for a server.
        const other = new Deno.Command("/bin/sleep", {
          args: ["60"],
          cwd: "/",
          ...(isRoot ? { uid: owner.uid ?? 0, gid: owner.gid ?? 0 } : {}),
        }).spawn();
        const lock = [other.pid, first.folder, 1, first.port, "", "127.0.0.1", "1 1", "ready", ""];
        await Deno.writeTextFile(join(first.folder, "postmaster.pid"), lock.join("\n"));
        // the step before has moved it to another port
        const port = (await Deno.readTextFile(join(dataDir, "postgres-port"))).trim();
        const ofSocket = join(first.folder, `.s.PGSQL.${port}.lock`);
        await Deno.writeTextFile(ofSocket, lock.join("\n"));
        const server = await start();
        assertEquals((await readLockFile(first.folder))?.pid, server.pid);
        assertNotEquals(server.nearestUrl, server.url, "it has its socket");
        await server.stop();
        other.kill("SIGKILL");
        await other.status;
      });

      for (const [left, text] of [["empty", ""], ["with zeros only", "\0".repeat(100)]] as const) {
        await t.step(
          `a lock file that a crash of the machine left ${left} is no obstacle`,
          async () => {
            await Deno.writeTextFile(join(first.folder, "postmaster.pid"), text);
            const server = await start();
            assertEquals((await readLockFile(first.folder))?.pid, server.pid);
            await server.stop();
          },
        );
      }

      await t.step("starts at the same time end with one server", async () => {
        const servers = await Promise.all([start(), start(), start()]);
        assertEquals(new Set(servers.map((server) => server.pid)).size, 1);
      });
    }),
});

Deno.test({
  name: "an embedded server that is killed returns by itself on the same port",
  ignore,
  fn: () =>
    withDataDir(async (start) => {
      const server = await start({ supervise: true });
      const sql = connect(server.url, { max: 1 });
      const before = server.pid;
      Deno.kill(before, "SIGKILL");
      const deadline = Date.now() + 60_000;
      while (server.pid === before && Date.now() < deadline) await delay(10);
      assertNotEquals(server.pid, before);
      assertEquals((await sql`SELECT 1 AS one`)[0]?.one, 1);
      await sql.end({ timeout: 5 });
      await server.stop();
    }),
});

Deno.test({
  name: "in a private folder root's server lies where its account can enter",
  ignore: ignore || !isRoot,
  fn: () =>
    withDataDir(async (start, parent) => {
      const dataDir = join(parent, "data");
      await Deno.chmod(parent, 0o700);
      const server = await start({ dataDir });
      const named = (await Deno.readTextFile(join(dataDir, "postgres-path"))).trim();
      assertEquals(named, server.folder);
      assert(!server.folder.startsWith(parent));
      await server.stop();
      const again = await start({ dataDir });
      assertEquals([again.folder, again.url], [server.folder, server.url]);
    }),
});

Deno.test({
  name: "a folder whose path is too long for a socket is reached over TCP",
  ignore,
  fn: () =>
    withDataDir(async (start, parent) => {
      const server = await start({ dataDir: join(parent, "x".repeat(100)) });
      assertEquals(server.nearestUrl, server.url);
      assertEquals(await setting(server.nearestUrl, "fsync"), "on");
    }),
});

Deno.test({
  name: "a server whose socket's file vanishes while it runs is started again, and that is logged",
  ignore,
  fn: () =>
    withDataDir(async (start) => {
      const server = await start({ supervise: true });
      await using stack = new AsyncDisposableStack();
      const records: LogRecord[] = [];
      await configure({
        sinks: { kept: (record) => void records.push(record) },
        loggers: [
          { category: ["engine"], lowestLevel: "warning", sinks: ["kept"] },
          { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["kept"] },
        ],
      });
      stack.defer(() => reset());
      const path = join(server.folder, `.s.PGSQL.${server.port}`);
      const { pid } = server;
      await Deno.remove(path);
      // never by way of the port meanwhile: a program that listens there need not be this server
      await assertRejects(() => ask(server.nearestUrl, "SELECT 1"));
      const deadline = performance.now() + 20_000;
      while (server.pid === pid && performance.now() < deadline) await delay(20);
      const local = "SELECT inet_client_addr() IS NULL AS local";
      assertEquals(await ask(server.nearestUrl, local), [{ local: true }]);
      const told = records.filter(({ properties }) =>
        properties["event"] === "postgres.socket_lost"
      );
      assertEquals(told.length, 1);
    }),
});

Deno.test({
  name: "a folder on which another container's server runs is refused, with nothing started",
  ignore,
  fn: () =>
    withDataDir(async (start) => {
      const server = await start();
      await server.stop();
      // what is seen of another container's server: its socket, and a process id of no process here
      using socket = Deno.listen({
        transport: "unix",
        path: join(server.folder, `.s.PGSQL.${server.port}`),
      });
      const lock = [
        999_999_999,
        server.folder,
        1,
        server.port,
        "",
        "127.0.0.1",
        "1 1",
        "ready",
        "",
      ];
      await Deno.writeTextFile(join(server.folder, "postmaster.pid"), lock.join("\n"));
      await assertRejects(() => start(), UnusableFolder, "server of another container");
      assertEquals(await isListening(server.port), false);
      assertEquals((await readLockFile(server.folder))?.pid, 999_999_999);
      socket.close();
      await (await start()).stop();
    }),
});

Deno.test({
  name: "a cluster that went missing is never replaced by an empty one",
  ignore,
  fn: async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "engine-embedded-" });
    await Deno.writeTextFile(join(dataDir, "postgres-path"), join(dataDir, "gone", "postgres"));
    await assertRejects(() => startEmbeddedPostgres({ dataDir }), Error, "Cannot find the cluster");
    await Deno.remove(dataDir, { recursive: true });
  },
});
