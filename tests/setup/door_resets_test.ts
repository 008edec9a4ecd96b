import { assert, assertEquals } from "@std/assert";
import { acceptTroubleOf } from "../../app/http/accept_trouble.ts";
import { Door } from "../../app/http/door.ts";
import { findServeConnection } from "../../app/http/serve_connection.ts";
import { delay } from "../../ledger/database/delay.ts";
import { testNeeding } from "../support/permissions.ts";
import type { ResetOrder } from "./support/reset_connections.ts";

const test = testNeeding({ net: true, read: true, run: true });

const HOST = "127.0.0.1";
/** Bound of what a test waits for; none of them waits for so long unless something is wrong. */
const FAR_MS = 60_000;
const TIMES = { headMs: FAR_MS, idleMs: FAR_MS, bodyMs: FAR_MS, sendMs: FAR_MS, stopMs: 1_000 };

function openDoor(): Door {
  const serveConnection = findServeConnection();
  assert(serveConnection !== null);
  return new Door({
    hostname: HOST,
    port: 0,
    bounds: { total: 1_000, perAddress: 1_000, ...TIMES },
    trustedProxies: [],
    serveConnection,
    failed: () => new Response(null, { status: 500 }),
    tooLate: () => new Response(null, { status: 503 }),
    fetch: () => new Response("fine"),
  });
}

/** Opens connections that wait for their first request, as many as the door has then. */
async function openIdle(door: Door, count: number): Promise<Deno.Conn[]> {
  const idle: Deno.Conn[] = [];
  while (idle.length < count) idle.push(await Deno.connect({ hostname: HOST, port: door.port }));
  while (door.connections.open < count) await delay(5);
  return idle;
}

async function ask(port: number): Promise<string> {
  const response = await fetch(`http://${HOST}:${port}/`, { signal: AbortSignal.timeout(FAR_MS) });
  return await response.text();
}

/** Stands still until so many connections to the door lie reset in its queue. */
function fillWithResets(worker: Worker, port: number, count: number): void {
  const order: ResetOrder = { port, count, done: new Int32Array(new SharedArrayBuffer(4)) };
  worker.postMessage(order);
  assertEquals(Atomics.wait(order.done, 0, 0, FAR_MS), "ok");
}

test("connections reset before they are accepted cost no other client its connection or its turn", async () => {
  const RESETS = 300;
  const door = openDoor();
  const idle = await openIdle(door, 60);
  const worker = new Worker(new URL("./support/reset_connections.ts", import.meta.url), {
    type: "module",
  });
  fillWithResets(worker, door.port, RESETS);
  worker.terminate();
  let isAnswered = false;
  const answer = ask(door.port).finally(() => isAnswered = true);
  let mostInATurn = 0;
  for (let before = door.resets; !isAnswered; before = door.resets) {
    await delay(0);
    mostInATurn = Math.max(mostInATurn, door.resets - before);
  }
  assertEquals(await answer, "fine");
  assertEquals(door.resets, RESETS);
  // a turn of the door may end while the next one begins
  assert(mostInATurn <= 64, `${mostInATurn} were passed over before others had a turn`);
  assertEquals([door.acceptFailures, door.sinceAcceptFailure], [0, null]);
  assertEquals([door.connections.ended.room, door.connections.open >= idle.length], [0, true]);
  for (const connection of idle) connection.close();
  await door.shutdown();
});

test("only an accept that lacks descriptors or memory ends connections of others", async () => {
  const rows: readonly [code: string | null, trouble: string, ended: boolean, failures: number][] =
    [
      ["ENOTCONN", "reset", false, 0],
      ["ECONNRESET", "reset", false, 0],
      ["ECONNABORTED", "reset", false, 0],
      ["EMFILE", "exhausted", true, 1],
      ["ENFILE", "exhausted", true, 1],
      ["ENOBUFS", "exhausted", true, 1],
      ["ENOMEM", "exhausted", true, 1],
      ["EINVAL", "unknown", false, 1],
      [null, "unknown", false, 1],
    ];
  for (const [code, trouble, isEnded, failures] of rows) {
    const error = Object.assign(new Error("not accepted"), code === null ? {} : { code });
    assertEquals(acceptTroubleOf(error), trouble);
    const listening = failingOnce(error);
    const door = openDoor();
    listening.restore();
    const idle = await openIdle(door, 40);
    listening.fail();
    const last = await Deno.connect({ hostname: HOST, port: door.port });
    assertEquals(await ask(door.port), "fine", trouble);
    assertEquals(door.connections.ended.room > 0, isEnded, `${code}`);
    assertEquals([door.acceptFailures, door.resets], [failures, 1 - failures], `${code}`);
    assertEquals(door.sinceAcceptFailure === null, failures === 0);
    for (const connection of [...idle, last]) connection.close();
    await door.shutdown();
  }
});

Deno.test("an error of the network that an accept reports is of the new connection alone", () => {
  const codes =
    "EPROTO EHOSTUNREACH ENETUNREACH ENETDOWN EPERM ENOPROTOOPT EHOSTDOWN EOPNOTSUPP ENONET";
  for (const code of codes.split(" ")) {
    const error = Object.assign(new Error("not accepted"), { code });
    assertEquals([code, acceptTroubleOf(error)], [code, "reset"]);
  }
});

/** Makes the next listener's accept throw once, in place of the first connection after `fail()`. */
function failingOnce(error: Error) {
  const { listen } = Deno;
  let mustFail = false;
  const failing = (options: Deno.TcpListenOptions): Deno.TcpListener => {
    const listener = listen(options);
    const accept = listener.accept.bind(listener);
    listener.accept = async () => {
      const accepted = await accept();
      if (!mustFail) return accepted;
      mustFail = false;
      accepted.close();
      throw error;
    };
    return listener;
  };
  Reflect.set(Deno, "listen", failing);
  return { restore: () => Reflect.set(Deno, "listen", listen), fail: () => mustFail = true };
}
