import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { fileURLToPath } from "node:url";
import { readBody } from "../../api/http/read_input.ts";
import { delay } from "../../ledger/database/delay.ts";
import {
  CALLBACK_DESCRIPTORS,
  callbackConnections,
  merchantBounds,
  TIME_BOUNDS,
} from "../../app/http/connection_bounds.ts";
import { Door, type Fetch } from "../../app/http/door.ts";
import {
  findServeConnection,
  type Handler,
  type ServeConnection,
} from "../../app/http/serve_connection.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ net: true, read: true, run: true });

const HOST = "127.0.0.1";
const BOUNDS = {
  total: 40,
  perAddress: 40,
  // a machine that stands still for a second must not cost a client that is in time its connection
  headMs: 1_500,
  idleMs: 4_000,
  bodyMs: 2_500,
  sendMs: 3_000,
  stopMs: 1_000,
};
/** Bound of what a test waits for; none of them waits for so long unless something is wrong. */
const FAR_MS = 60_000;

interface Options {
  readonly bounds?: Partial<typeof BOUNDS>;
  readonly fetch?: Fetch;
  readonly serveConnection?: ServeConnection;
}

/** A door that reads each body and says how long it was. */
async function withDoor(body: (door: Door) => Promise<void>, options?: Options): Promise<void> {
  const door = openDoor(options);
  try {
    await body(door);
  } finally {
    await door.shutdown();
  }
}

function openDoor(options: Options = {}): Door {
  const serveConnection = options.serveConnection ?? findServeConnection();
  assert(serveConnection !== null);
  return new Door({
    hostname: HOST,
    port: 0,
    bounds: { ...BOUNDS, ...options.bounds },
    trustedProxies: [],
    serveConnection,
    failed: () => new Response(null, { status: 500 }),
    tooLate: () => new Response(null, { status: 503 }),
    fetch: options.fetch ?? (async (request, { bodyRead }) => {
      const read = await readBody(request);
      bodyRead?.();
      return new Response(read.kind === "text" ? `read ${read.text.length}` : read.kind);
    }),
  });
}

/** Sends `first`, then `drip` again and again; answers what came until the other end hung up. */
async function talk(port: number, first: string, drip: string | null = null): Promise<string> {
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  using connection = await Deno.connect({ hostname: HOST, port });
  const over = new AbortController();
  const write = async () => {
    try {
      await connection.write(encoder.encode(first));
      while (drip !== null && !over.signal.aborted) {
        await delay(50, over.signal);
        if (!over.signal.aborted) await connection.write(encoder.encode(drip));
      }
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  };
  const writing = write();
  let heard = "";
  try {
    const buffer = new Uint8Array(4_096);
    for (;;) {
      const count = await connection.read(buffer);
      if (count === null) break;
      heard += decoder.decode(buffer.subarray(0, count));
    }
  } catch (error) {
    if (!isGone(error)) throw error;
  } finally {
    over.abort();
  }
  await writing;
  return heard;
}

function isGone(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.BadResource;
}

async function ask(port: number): Promise<string> {
  const response = await fetch(`http://${HOST}:${port}/`, { signal: AbortSignal.timeout(FAR_MS) });
  return await response.text();
}

const HEAD = `Host: ${HOST}\r\n`;

test("half a head, half a body and silence are ended, however slowly they go on", async () => {
  await withDoor(async (door) => {
    const { port } = door;
    const ends = await Promise.all([
      talk(port, ""),
      talk(port, `GET / HTTP/1.1\r\n${HEAD}X-`),
      talk(port, `GET / HTTP/1.1\r\n${HEAD}X-`, "a"),
      talk(port, `POST / HTTP/1.1\r\n${HEAD}Content-Length: 1000\r\n\r\n{`),
      talk(port, `POST / HTTP/1.1\r\n${HEAD}Content-Length: 1000\r\n\r\n{`, " "),
      talk(port, `POST / HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`, "1\r\na\r\n"),
    ]);
    assertEquals(ends, ["", "", "", "", "", ""]);
    const { head, body } = door.connections.ended;
    assertEquals([head, body], [3, 3]);
    // an answered connection is kept for a while, and then ended as well: silent, or with half a head
    const kept = await Promise.all([
      talk(port, `GET / HTTP/1.1\r\n${HEAD}\r\n`),
      talk(port, `GET / HTTP/1.1\r\n${HEAD}\r\nGET /`, "a"),
    ]);
    for (const heard of kept) assertMatch(heard, /^HTTP\/1\.1 200 [^]*read 0$/);
    assertEquals([door.connections.ended.idle, door.connections.open], [2, 0]);
    assertEquals(await ask(port), "read 0");
  });
});

test("an answer that nobody takes is given up", async () => {
  const LARGE = "x".repeat(32 * 1_024 * 1_024);
  await withDoor(async (door) => {
    using connection = await Deno.connect({ hostname: HOST, port: door.port });
    await connection.write(new TextEncoder().encode(`GET / HTTP/1.1\r\n${HEAD}\r\n`));
    const end = performance.now() + FAR_MS;
    const given = () => door.connections.ended.send + door.connections.ended.idle;
    while (given() === 0 && performance.now() < end) await delay(20);
    // Deno may count an answer as taken as soon as the system has some of it
    assertEquals([given(), door.connections.open], [1, 0]);
  }, { fetch: () => new Response(LARGE) });
});

/** HTTP/2 that takes no byte of any answer: SETTINGS with a window of 0, then GET /. */
const WINDOW_0 = new Uint8Array([
  ...new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  ...[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0],
  ...[0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x84, 0x41, 1, 0x61],
]);

test("of hundreds of requests at once on one connection few are begun", async () => {
  let begun = 0;
  await withDoor(async (door) => {
    using connection = await Deno.connect({ hostname: HOST, port: door.port });
    const settings = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    await connection.write(new Uint8Array([...settings, 0, 0, 0, 4, 0, 0, 0, 0, 0]));
    const streams = Array.from({ length: 190 }, (_, i) => {
      const stream = 1 + 2 * i;
      return [0, 0, 3, 1, 5, 0, 0, stream >> 8, stream & 255, 0x82, 0x86, 0x84];
    });
    await connection.write(new Uint8Array(streams.flat()));
    const end = performance.now() + FAR_MS;
    while (door.connections.ended.streams === 0 && performance.now() < end) await delay(20);
    assertEquals([door.connections.ended.streams, door.connections.open], [1, 0]);
    assert(begun <= 16, `${begun} were begun`);
  }, {
    bounds: { idleMs: FAR_MS },
    fetch: async () => {
      begun++;
      await delay(100);
      return new Response("fine");
    },
  });
});

test("no client holds a stop: silent, halfway or taking nothing; what is answered is finished", async () => {
  const LARGE = "x".repeat(32 * 1_024 * 1_024);
  let asked = 0;
  const door = openDoor({
    // far beyond what this test waits for: only the stop may end them
    bounds: { headMs: FAR_MS, bodyMs: FAR_MS, idleMs: FAR_MS, sendMs: FAR_MS },
    fetch: async (request, { bodyRead }) => {
      await readBody(request);
      bodyRead?.();
      asked++;
      if (new URL(request.url).pathname === "/slow") await delay(2_500);
      return new Response(new URL(request.url).pathname === "/large" ? LARGE : "fine");
    },
  });
  const { port } = door;
  const text = (first: string) => new TextEncoder().encode(first);
  const held = await Promise.all([
    text(""),
    text(`GET / HTTP/1.1\r\n${HEAD}X-`),
    text(`POST / HTTP/1.1\r\n${HEAD}Content-Length: 1000\r\n\r\n{`),
    text(`GET / HTTP/1.1\r\n${HEAD}\r\n`),
    text(`GET / HTTP/1.1\r\n${HEAD}\r\nGET /`),
    text(`GET /large HTTP/1.1\r\n${HEAD}\r\n`),
    WINDOW_0,
  ].map(async (first) => {
    const connection = await Deno.connect({ hostname: HOST, port });
    if (first.byteLength > 0) await connection.write(first);
    return connection;
  }));
  const slow = fetch(`http://${HOST}:${port}/slow`, { signal: AbortSignal.timeout(FAR_MS) });
  while (asked < 5 || door.connections.open < 8) await delay(10);
  const begun = performance.now();
  await door.shutdown();
  const took = performance.now() - begun;
  assert(took < FAR_MS / 3, `the stop took ${took} ms`);
  assertEquals(await (await slow).text(), "fine");
  assertEquals(door.connections.open, 0);
  for (const connection of held) connection.close();
});

test("a route that takes long is waited for", async () => {
  await withDoor(async (door) => {
    assertEquals(await ask(door.port), "late");
    assertEquals(door.connections.ended.body, 0);
  }, {
    bounds: { headMs: 1_500, bodyMs: 1_500, sendMs: 1_500, idleMs: 1_500 },
    fetch: async (_request, { bodyRead }) => {
      bodyRead?.();
      await delay(3_000);
      return new Response("late");
    },
  });
});

test("however many connections are opened, others are answered meanwhile and afterwards", async () => {
  await withDoor(async (door) => {
    const { port } = door;
    const idle: Deno.Conn[] = [];
    for (let i = 0; i < 200; i++) idle.push(await Deno.connect({ hostname: HOST, port }));
    for (let i = 0; i < 20; i++) assertEquals(await ask(port), "read 0");
    assert(door.connections.open <= BOUNDS.total, `${door.connections.open} are open`);
    for (const connection of idle) connection.close();
    assertEquals(await ask(port), "read 0");
  }, { bounds: { headMs: FAR_MS } });
});

test("while there is no place left, those who come leave the thread to those who are there", async () => {
  const acceptedAt: number[] = [];
  const serveConnection = findServeConnection();
  assert(serveConnection !== null);
  const door = openDoor({
    bounds: { headMs: FAR_MS },
    serveConnection: (...args) => {
      acceptedAt.push(performance.now());
      return serveConnection(...args);
    },
  });
  const clients = await Promise.all(
    Array.from({ length: 200 }, () => Deno.connect({ hostname: HOST, port: door.port })),
  );
  while (acceptedAt.length < clients.length) await delay(10);
  const whileFull = acceptedAt.slice(BOUNDS.total);
  // a turn may end while the next one begins
  for (const [i, at] of whileFull.slice(64).entries()) {
    assert(
      at - (whileFull[i] ?? 0) >= 25,
      `65 connections were accepted in ${at - (whileFull[i] ?? 0)} ms`,
    );
  }
  assertEquals(await ask(door.port), "read 0");
  for (const client of clients) client.close();
  await door.shutdown();
});

test("a request that comes with the end of its connection is not carried out", async () => {
  const handlers: Handler[] = [];
  let carriedOut = 0;
  const door = new Door({
    hostname: HOST,
    port: 0,
    bounds: { ...BOUNDS, perAddress: 1 },
    trustedProxies: [],
    failed: () => new Response(null, { status: 500 }),
    tooLate: () => new Response(null, { status: 503 }),
    fetch: () => {
      carriedOut++;
      return new Response("done");
    },
    serveConnection: (connection, signal, handler) => {
      handlers.push(handler);
      const over = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => over.resolve());
      const close = () => {
        over.resolve();
        return over.promise;
      };
      return { finished: over.promise.then(() => connection.close()), shutdown: close };
    },
  });
  const clients = [];
  for (let i = 0; i < 2; i++) {
    clients.push(await Deno.connect({ hostname: HOST, port: door.port }));
    while (handlers.length <= i) await delay(1);
  }
  const info = {
    remoteAddr: { transport: "tcp", hostname: HOST, port: 1 },
    completed: Promise.resolve(),
  } as const;
  const request = () => new Request(`http://${HOST}/`, { method: "POST" });
  // the second connection took the place of the first
  assertEquals((await handlers[0]?.(request(), info))?.status, 503);
  assertEquals(carriedOut, 0);
  assertEquals((await handlers[1]?.(request(), info))?.status, 200);
  assertEquals(carriedOut, 1);
  for (const client of clients) client.close();
  await door.shutdown();
});

test("what is answered at once is not waited for, and headers are not read again after an answer", async () => {
  const handlers: Handler[] = [];
  const over = Promise.withResolvers<void>();
  const door = openDoor({
    serveConnection: (connection, _signal, handler) => {
      handlers.push(handler);
      return {
        finished: over.promise.then(() => connection.close()),
        shutdown: () => over.promise,
      };
    },
    fetch: (request, { bodyRead }) => {
      const asked = request.headers.get("x-asked");
      if (asked === "fault") throw new Error("of one request");
      if (asked === "read") bodyRead?.();
      const response = new Response(asked);
      return asked === "later" ? Promise.resolve(response) : response;
    },
  });
  const client = await Deno.connect({ hostname: HOST, port: door.port });
  while (handlers.length === 0) await delay(1);
  let waitedFor = 0;
  const info = {
    remoteAddr: { transport: "tcp", hostname: HOST, port: 1 },
    get completed() {
      waitedFor++;
      return Promise.resolve();
    },
  } as const;
  const ask = (asked: string) => {
    const request = new Request(`http://${HOST}/`, { headers: { "x-asked": asked } });
    return { answer: handlers[0]?.(request, info), areReadAgain: () => isRemembered(request) };
  };
  assertThrows(() => ask("fault"), Error, "of one request");
  const answers = ["first", "second", "read", "later"].map(ask);
  assertEquals(waitedFor, 1);
  const areResponses = answers.map(({ answer }) => answer instanceof Response);
  assertEquals(areResponses, [true, true, true, false]);
  const areReadAgain = () => answers.map((one) => one.areReadAgain());
  assertEquals(areReadAgain(), [false, false, false, true]);
  const texts = await Promise.all(answers.map(async ({ answer }) => await (await answer)?.text()));
  assertEquals(texts, ["first", "second", "read", "later"]);
  assertEquals(areReadAgain(), [false, false, false, false]);
  // none of them keeps its connection from going when another needs its place
  door.connections.relieve(1, Infinity);
  assertEquals([door.connections.ended.room, door.connections.open], [1, 0]);
  client.close();
  over.resolve();
  await door.shutdown();
});

/** True where Deno knows of a request that its headers were read; false where it does not, or not any more. */
function isRemembered(request: Request): boolean {
  const known = Object.getOwnPropertySymbols(request)
    .find(({ description }) => description === "headers cache");
  assert(known !== undefined, "this version of Deno remembers otherwise that headers were read");
  return Reflect.get(request, known) !== undefined;
}

test("a request whose connection is ended while its body is read hears of it before it is carried out", async () => {
  const heard: (boolean | undefined)[] = [];
  const door = openDoor({
    fetch: async (request, { bodyRead }) => {
      await readBody(request);
      // others need the place
      if (heard.length === 0) door.connections.relieve(1, Infinity);
      heard.push(bodyRead?.());
      return new Response("fine");
    },
  });
  await talk(door.port, `POST / HTTP/1.1\r\n${HEAD}Content-Length: 1\r\n\r\n{`);
  assertEquals(await ask(door.port), "fine");
  assertEquals(heard, [false, true]);
  await door.shutdown();
});

test("a request that throws ends its own connection's answer and nothing else", async () => {
  let asked = 0;
  await withDoor(async (door) => {
    assertEquals(await ask(door.port), "");
    assertEquals(await ask(door.port), "fine");
  }, {
    fetch: () => {
      if (asked++ === 0) throw new Error("of one request");
      return new Response("fine");
    },
  });
});

test("a connection that ends as it is ended does not end the process, a bug does", () => {
  const uncaught: unknown[] = [];
  const hear = (event: ErrorEvent) => {
    event.preventDefault();
    uncaught.push(event.error);
  };
  const bug = new TypeError("a bug");
  globalThis.addEventListener("error", hear);
  try {
    for (const thrown of [new Deno.errors.BadResource("Bad resource ID"), bug]) {
      const serve = findServeConnection({
        serveHttpOnConnection: (_connection: unknown, signal: AbortSignal) => {
          signal.addEventListener("abort", () => {
            throw thrown;
          });
        },
      });
      assert(serve !== null);
      const ended = new AbortController();
      Reflect.apply(serve, undefined, [null, ended.signal]);
      ended.abort();
    }
  } finally {
    globalThis.removeEventListener("error", hear);
  }
  assertEquals(uncaught, [bug]);
});

test("clients have half of the descriptors and callbacks a quarter, the rest is for all else", () => {
  const settings = { connections: { total: 4_096, perAddress: 256 } };
  const rows: readonly [number, number, number][] = [
    [1_024, 512, 256],
    [300, 150, 75],
    [20_000, 4_096, 256],
    [1, 1, 1],
  ];
  for (const [descriptors, total, perAddress] of rows) {
    assertEquals(merchantBounds(settings, descriptors), { total, perAddress, ...TIME_BOUNDS });
  }
  assertEquals([1, 1_024, CALLBACK_DESCRIPTORS, 65_536].map(callbackConnections), [
    1,
    256,
    2_048,
    2_048,
  ]);
});

test("a process without descriptors lives on, makes room, and answers", async () => {
  const program = fileURLToPath(new URL("./support/door_program.ts", import.meta.url));
  // far more connections are allowed than the process has descriptors for
  const bounds = { ...BOUNDS, total: 10_000, perAddress: 10_000, headMs: FAR_MS };
  const child = new Deno.Command("/bin/sh", {
    args: [
      "-c",
      `ulimit -n 400 && exec "$0" run --no-check --allow-net --allow-read --allow-env "$1" "$2"`,
      Deno.execPath(),
      program,
      JSON.stringify(bounds),
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  try {
    const port = Number((await lines.read()).value);
    const idle: Deno.Conn[] = [];
    for (let i = 0; i < 900; i++) idle.push(await Deno.connect({ hostname: HOST, port }));
    const during = await ask(port);
    assertMatch(during, /^open \d+, failed [1-9]/);
    for (const connection of idle) connection.close();
    assertMatch(await ask(port), /^open \d+, failed/);
  } finally {
    await lines.cancel();
    child.kill("SIGKILL");
    await child.status;
  }
});
