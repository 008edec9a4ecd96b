import { assertEquals, assertNotEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Connections, type Listener } from "../../webhooks/connections.ts";
import { movedClock } from "../support/moved_clock.ts";

const REQUEST = Buffer.from("POST / HTTP/1.1\r\n\r\n");
const OK = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
const SHOP = new URL("https://shop.example/");
const SOCKETS = 2_048;
const LIFE_MS = 300_000;

/** The parts of a socket that are used, without a network. */
class Line extends EventEmitter {
  readonly writableLength = 0;
  requests = 0;
  isOpen = true;

  write(): boolean {
    this.requests++;
    return true;
  }

  destroy(): void {
    this.isOpen = false;
  }

  answers(answer = OK): void {
    this.emit("data", answer);
  }

  breaks(): void {
    this.emit("error", Object.assign(new Error("reset"), { code: "ECONNRESET" }));
  }
}

function opened(most?: number) {
  const lines: Line[] = [];
  const connections = new Connections(() => {
    const line = new Line();
    lines.push(line);
    return line as never;
  }, most);
  const bodies: WeakRef<Uint8Array>[] = [];
  let failures = 0;
  const listener: Listener = {
    answered: ({ body }) => bodies.push(new WeakRef(body)),
    failed: () => failures++,
  };
  return {
    lines,
    bodies,
    send: (url = SHOP, merchantId = "mer_1") =>
      connections.request({ merchantId, origin: url.origin, url }, REQUEST, listener),
    told: () => [bodies.length, failures],
    [Symbol.dispose]: () => connections.close(),
  };
}

Deno.test("a connection in use without a pause is replaced: its name may be elsewhere by now", () => {
  using time = movedClock();
  using pool = opened();
  for (let elapsed = 0; elapsed < LIFE_MS; elapsed += 10_000) {
    pool.send();
    pool.lines[0]?.answers();
    assertEquals([pool.lines.length, pool.lines[0]?.isOpen], [1, true]);
    time.advance(10_000);
  }
  pool.send();
  pool.lines[0]?.answers();
  assertEquals(pool.lines[0]?.isOpen, false);
  pool.send();
  assertEquals(pool.lines.length, 2);
  assertEquals(pool.told(), [LIFE_MS / 10_000 + 1, 0]);
});

Deno.test("one that breaks where all are crowded keeps the others of its endpoint together", () => {
  using pool = opened();
  for (let i = 0; i < SOCKETS; i++) pool.send(new URL(`https://shop${i}.example/`));
  pool.send();
  pool.send();
  const [first, second] = pool.lines.slice(-2);
  first?.answers();
  second?.answers();
  // over the one that was used last; its second try makes room by closing the other
  pool.send();
  second?.breaks();
  assertEquals([first?.isOpen, second?.isOpen], [false, false]);
  const third = pool.lines.at(-1);
  assertNotEquals(third, second);
  third?.answers();
  pool.send();
  assertEquals([pool.lines.at(-1) === third, third?.requests], [true, 2]);
  assertEquals(pool.told(), [3, 0]);
});

Deno.test("where all are crowded the connection that was idle the longest goes, whosever it is", () => {
  using pool = opened();
  for (let i = 0; i < SOCKETS; i++) pool.send(SHOP, `mer_${i}`);
  for (const i of [7, 3, 5]) pool.lines[i]?.answers();
  // over the one that has been idle the longest, which is then idle the shortest
  pool.send(SHOP, "mer_7");
  pool.lines[7]?.answers();
  const idle = () => [3, 5, 7].map((i) => pool.lines[i]?.isOpen);
  pool.send(SHOP, "mer_new");
  assertEquals([pool.lines.length, idle()], [SOCKETS + 1, [false, true, true]]);
  pool.send(SHOP, "mer_newer");
  assertEquals(idle(), [false, false, true]);
  pool.send(SHOP, "mer_7");
  assertEquals([pool.lines.length, pool.lines[7]?.requests], [SOCKETS + 2, 3]);
});

Deno.test("a connection that waits for its next request does not hold its last answer", async () => {
  using pool = opened();
  pool.send();
  pool.lines[0]?.answers(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"ok": 1}'));
  // what a turn of the event loop has read is held until its end
  await new Promise((resolve) => setTimeout(resolve));
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  assertEquals([pool.lines[0]?.isOpen, pool.bodies.length], [true, 1]);
  assertEquals(pool.bodies[0]?.deref(), undefined);
});

Deno.test("where descriptors are few, fewer idle connections are kept", () => {
  using pool = opened(2);
  for (let i = 0; i < 3; i++) pool.send(SHOP, `mer_${i}`);
  for (const line of [...pool.lines]) line.answers();
  pool.send(SHOP, "mer_3");
  assertEquals(pool.lines.map(({ isOpen }) => isOpen), [false, false, true, true]);
});
