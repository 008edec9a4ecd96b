import { assertEquals, assertRejects } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/**
 * `npm:postgres` 3.4.9 writes the rollback of a transaction whose connection is gone to a socket that
 * it has let go of (porsager/postgres#1208): an error that cannot be caught, and the process ends.
 */
test("a connection that ends within a transaction fails that, and nothing else", async () => {
  const { connect } = await import("../../ledger/database/connect.ts");
  const { classifyDatabaseError } = await import(
    "../../ledger/database/database_errors.ts"
  );
  const { testDatabase } = await import("../support/database.ts");
  await using database = await testDatabase({ migrated: false });
  await using proxy = openProxy(database.url);
  const sql = connect(proxy.url, { max: 1 });
  try {
    for (let n = 1; n <= 3; n++) {
      const failed = await assertRejects(() =>
        sql.begin(async (tx) => {
          await tx`SELECT ${n}::int`;
          // sent, and not answered yet
          setTimeout(() => proxy.cut(), 50);
          await tx`SELECT pg_sleep(20)`;
        })
      );
      assertEquals(classifyDatabaseError(failed), "connection");
      const [row] = await sql`SELECT ${n}::int AS n`;
      assertEquals(row?.["n"], n, "the next query has a connection of its own");
    }
  } finally {
    await sql.end({ timeout: 1 });
  }
});

test("a transaction that does something else while its connection ends is lost, and nothing else", async () => {
  const { classifyDatabaseError } = await import(
    "../../ledger/database/database_errors.ts"
  );
  const { testDatabase } = await import("../support/database.ts");
  await using database = await testDatabase({ migrated: false });
  const admin = database.connect({ max: 1 });
  for (const end of ["answers", "fails", "asks"] as const) {
    const sql = database.connect({ max: 1 });
    let settled = Promise.resolve("");
    const failed = await assertRejects(() =>
      sql.begin((tx) => {
        const work = (async () => {
          const [row] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
          await admin`SELECT pg_terminate_backend(${row?.pid ?? 0})`;
          // the connection is gone for long when this goes on; however late timers are, what has
          // arrived is read between two of them
          for (let turn = 0; turn < 30; turn++) {
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
          if (end === "fails") throw new Error("of its own");
          if (end === "asks") await tx`SELECT 1`;
        })();
        settled = work.then(() => "answered", (error) => String(error.message));
        return work;
      })
    );
    assertEquals(classifyDatabaseError(failed), "connection");
    const expected = { answers: "answered", fails: "of its own", asks: "its transaction lost it" };
    assertEquals((await settled).endsWith(expected[end]), true);
    // no answer of the lost connection reaches a query of the next
    const [row] = await sql`SELECT 1 AS one`;
    assertEquals(row?.["one"], 1);
  }
});

/** Passes bytes through to a server until the test cuts every connection. */
function openProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const clients = new Set<Deno.TcpConn>();
  const pipes: Promise<unknown>[] = [];
  const accept = async () => {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: target.hostname, port: Number(target.port) });
      clients.add(client);
      pipes.push(
        Promise.allSettled([
          client.readable.pipeTo(server.writable),
          server.readable.pipeTo(client.writable),
        ]).then(() => clients.delete(client)),
      );
    }
  };
  const accepting = accept();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${listener.addr.port}`;
  return {
    url: url.href,
    cut: () => {
      for (const client of clients) client.close();
    },
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await accepting;
      await Promise.all(pipes);
    },
  };
}
