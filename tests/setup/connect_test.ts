import { assertEquals, assertRejects } from "@std/assert";
import { needs } from "../support/permissions.ts";

Deno.test({
  name: "a server that dies while a connection is being set up costs that query and nothing else",
  ignore: needs({ net: true, env: true }),
  fn: async () => {
    const { connect } = await import("../../ledger/database/connect.ts");
    const { classifyDatabaseError } = await import(
      "../../ledger/database/database_errors.ts"
    );
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const serving = dieAfterGreeting(listener);
    const sql = connect(`postgres://engine:x@127.0.0.1:${listener.addr.port}/engine`, { max: 1 });
    // the client's own query for the array types fails as well, and its result is not awaited
    const error = await assertRejects(() => sql`SELECT 1`);
    assertEquals(classifyDatabaseError(error), "connection");
    await serving;
    await sql.end({ timeout: 1 });
  },
});

Deno.test({
  name: "a lost connection of somebody else is not taken for one of the database's",
  ignore: needs({ net: true, env: true }),
  fn: async () => {
    const { connect } = await import("../../ledger/database/connect.ts");
    await connect("postgres://127.0.0.1:1/engine").end();
    const taken = Object.assign(new Error("Address already in use"), { code: "EADDRINUSE" });
    const promise = Promise.resolve();
    const event = new PromiseRejectionEvent("unhandledrejection", {
      promise,
      reason: taken,
      cancelable: true,
    });
    globalThis.dispatchEvent(event);
    assertEquals(event.defaultPrevented, false);
  },
});

Deno.test({
  name: "a server that falls silent costs the query, and the next one has a new connection",
  ignore: needs({ net: true, env: true }),
  fn: async () => {
    const { connect } = await import("../../ledger/database/connect.ts");
    const { classifyDatabaseError } = await import(
      "../../ledger/database/database_errors.ts"
    );
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const met: Deno.Conn[] = [];
    const serving = (async () => {
      for await (const connection of listener) {
        met.push(connection);
        const buffer = new Uint8Array(65_536);
        await connection.read(buffer); // startup message
        await connection.write(GREETING);
      }
    })();
    const url = `postgres://engine:x@127.0.0.1:${listener.addr.port}/engine`;
    const sql = connect(url, { max: 1, silenceMs: 100 });
    for (const connections of [1, 2]) {
      const error = await assertRejects(() => sql`SELECT 1`);
      assertEquals([classifyDatabaseError(error), met.length], ["connection", connections]);
    }
    await sql.end({ timeout: 1 });
    listener.close();
    await serving;
    for (const connection of met) connection.close();
  },
});

/** AuthenticationOk and ReadyForQuery, idle (PostgreSQL manual, chapter "Message Formats"). */
const GREETING = new Uint8Array([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

/** Greets the first client as PostgreSQL does, then goes away for good with its next message. */
async function dieAfterGreeting(listener: Deno.TcpListener): Promise<void> {
  const connection = await listener.accept();
  listener.close();
  const buffer = new Uint8Array(65_536);
  await connection.read(buffer); // startup message
  await connection.write(GREETING);
  await connection.read(buffer);
  connection.close();
}
