import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createSender, type Delivery, type Resolve } from "../../webhooks/sender.ts";
import { testNeeding } from "../support/permissions.ts";
import { AUTHORITY, CERTIFICATE, KEY } from "./support/certificate.ts";

const test = testNeeding({ net: true });

const NEVER = new AbortController().signal;
const NOW = 1_700_000_000_000;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"ok":true}';
const REFUSAL = 'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"ok":false}';

function deliveryTo(url: string, fields: Partial<Delivery> = {}): Delivery {
  return {
    merchantId: "mer_1",
    eventId: "evt_1",
    type: "deposit.confirmed",
    body: '{"note":"\u{1f4b6}"}',
    url,
    secrets: { current: "whsec_dGVzdC1zZWNyZXQtdGVzdC1zZWNyZXQ=", previous: null },
    timeoutMs: 30_000,
    ...fields,
  };
}

/** One connection, as the endpoint has it. */
class Line {
  #text = "";
  readonly #decoder = new TextDecoder();

  constructor(readonly connection: Deno.Conn, readonly number: number) {}

  /** Reads one request. @returns false where the other end has closed instead */
  async hears(): Promise<boolean> {
    const buffer = new Uint8Array(8_192);
    for (;;) {
      const end = this.#text.indexOf('"}');
      if (end >= 0) {
        this.#text = this.#text.slice(end + 2);
        return true;
      }
      const size = await this.connection.read(buffer).catch(() => null);
      if (size === null) return false;
      this.#text += this.#decoder.decode(buffer.subarray(0, size), { stream: true });
    }
  }

  async says(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length;) at += await this.connection.write(bytes.subarray(at));
  }

  /** Answers every request alike. */
  async always(text: string): Promise<void> {
    while (await this.hears()) await this.says(text);
  }
}

/** An endpoint that speaks for itself; a connection is closed when its conversation ends. */
function endpoint(
  converse: (line: Line) => Promise<void>,
  listener: Deno.Listener = Deno.listen({ hostname: "127.0.0.1", port: 0 }),
) {
  const conversations: Promise<void>[] = [];
  let open = 0;
  const seen = { lines: 0, most: 0 };
  const accepting = (async () => {
    for await (const connection of listener) {
      seen.most = Math.max(seen.most, ++open);
      const line = new Line(connection, ++seen.lines);
      conversations.push(
        converse(line).catch(() => {}).finally(() => {
          open--;
          connection.close();
        }),
      );
    }
  })().catch(() => {});
  const { port } = listener.addr as Deno.NetAddr;
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    seen,
    ended: () => Promise.all(conversations),
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await accepting;
      await Promise.all(conversations);
    },
  };
}

function opened(options: Partial<Parameters<typeof createSender>[0]> = {}) {
  const sender = createSender({ rules: { allowLoopback: true }, ...options });
  return {
    send: (delivery: Delivery, signal = NEVER) => sender.send(delivery, NOW, signal),
    [Symbol.dispose]: () => sender.close(),
  };
}

test("answers in pieces and in chunks are read, over one connection", async () => {
  await using hook = endpoint(async (line) => {
    const chunked =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n{"ok":true}\r\n0\r\n\r\n';
    for (const text of [OK, chunked, `HTTP/1.1 102 Wait\r\n\r\n${OK}`]) {
      await line.hears();
      for (const piece of text.match(/[^]{1,9}/g) ?? []) {
        await line.says(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await line.hears();
  });
  using sender = opened();
  for (let i = 0; i < 3; i++) {
    const outcome = await sender.send(deliveryTo(hook.url));
    assert(outcome.category === "acknowledged", outcome.category);
    assertEquals(outcome.answer, '{"ok":true}');
  }
  assertEquals(hook.seen.lines, 1);
});

test("an answer without a length ends with its connection", async () => {
  await using hook = endpoint(async (line) => {
    await line.hears();
    await line.says('HTTP/1.1 200 OK\r\n\r\n{"ok":true}');
  });
  using sender = opened();
  for (let i = 0; i < 2; i++) {
    assertEquals((await sender.send(deliveryTo(hook.url))).category, "acknowledged");
  }
  assertEquals(hook.seen.lines, 2);
});

test("a kept connection that was closed while idle is no failure: once more over a new one", async () => {
  let requests = 0;
  await using hook = endpoint(async (line) => {
    for (let served = 0; await line.hears(); served++) {
      requests++;
      // the second request on a line meets a closed one
      if (served > 0) return;
      await line.says(OK);
    }
  });
  using sender = opened();
  for (let i = 0; i < 3; i++) {
    assertEquals((await sender.send(deliveryTo(hook.url))).category, "acknowledged");
  }
  assertEquals([hook.seen.lines, requests], [3, 5]);
});

test("the second try is the last, and a new connection has none", async () => {
  let requests = 0;
  await using hook = endpoint(async (line) => {
    for (let served = 0; await line.hears(); served++) {
      requests++;
      if (served > 0 || line.number > 1) return;
      await line.says(OK);
    }
  });
  using sender = opened();
  assertEquals((await sender.send(deliveryTo(hook.url))).category, "acknowledged");
  for (const sent of [3, 4]) {
    const outcome = await sender.send(deliveryTo(hook.url));
    assert(outcome.category === "network", outcome.category);
    assertEquals([outcome.code, requests], ["ECONNRESET", sent]);
  }
});

test("an answer that breaks off is not asked for again, also on a kept connection", async () => {
  let requests = 0;
  await using hook = endpoint(async (line) => {
    for (let served = 0; await line.hears(); served++) {
      requests++;
      await line.says(served === 0 ? OK : OK.slice(0, -3));
      if (served > 0) return;
    }
  });
  using sender = opened();
  assertEquals((await sender.send(deliveryTo(hook.url))).category, "acknowledged");
  const outcome = await sender.send(deliveryTo(hook.url));
  assert(outcome.category === "network", outcome.category);
  assertEquals([outcome.code, requests], ["ECONNRESET", 2]);
});

test("what is no answer is a failure of the network, and closes the connection", async () => {
  await using hook = endpoint(async (line) => {
    await line.hears();
    await line.says("220 mail.example ESMTP\r\n\r\n");
    assertEquals(await line.hears(), false);
  });
  using sender = opened();
  const outcome = await sender.send(deliveryTo(hook.url));
  assert(outcome.category === "network", outcome.category);
  assertEquals(outcome.code, "MALFORMED_ANSWER");
  await hook.ended();
});

test("what an endpoint says unasked answers nothing", async (t) => {
  await t.step("in the same breath as an answer", async () => {
    await using hook = endpoint((line) => line.always(line.number === 1 ? REFUSAL + OK : REFUSAL));
    using sender = opened();
    for (let i = 0; i < 2; i++) {
      assertEquals((await sender.send(deliveryTo(hook.url))).category, "not_acknowledged");
    }
    assertEquals(hook.seen.lines, 2);
  });
  await t.step("on an idle connection", async () => {
    const idle = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    await using hook = endpoint(async (line) => {
      if (line.number > 1) return await line.always(REFUSAL);
      await line.hears();
      await line.says(REFUSAL);
      await idle.promise;
      await line.says(OK);
      await line.hears();
      closed.resolve();
    });
    using sender = opened();
    assertEquals((await sender.send(deliveryTo(hook.url))).category, "not_acknowledged");
    idle.resolve();
    await closed.promise;
    assertEquals((await sender.send(deliveryTo(hook.url))).category, "not_acknowledged");
    assertEquals(hook.seen.lines, 2);
  });
});

test("a merchant has at most 64 connections to an origin; what waits for one is sent, or times out", async () => {
  const held = Promise.withResolvers<void>();
  const crowd = Promise.withResolvers<void>();
  let heard = 0;
  await using hook = endpoint(async (line) => {
    while (await line.hears()) {
      if (++heard === 64) crowd.resolve();
      await held.promise;
      await line.says(OK);
    }
  });
  using sender = opened();
  const sending = Array.from({ length: 100 }, () => sender.send(deliveryTo(hook.url)));
  await crowd.promise;
  const late = await sender.send(deliveryTo(hook.url, { timeoutMs: 50 }));
  assertEquals([late.category, heard], ["timeout", 64]);
  held.resolve();
  const outcomes = await Promise.all(sending);
  assertEquals(new Set(outcomes.map(({ category }) => category)), new Set(["acknowledged"]));
  assertEquals([hook.seen.most, hook.seen.lines, heard], [64, 64, 100]);
});

test("deliveries of one merchant that hang take no connection of another to the same origin", async () => {
  const held = Promise.withResolvers<void>();
  const crowd = Promise.withResolvers<void>();
  let heard = 0;
  await using hook = endpoint(async (line) => {
    while (await line.hears()) {
      if (++heard === 64) crowd.resolve();
      if (heard <= 64) await held.promise;
      await line.says(OK);
    }
  });
  using _released = { [Symbol.dispose]: held.resolve };
  using sender = opened();
  let ended = 0;
  const hanging = Array.from(
    { length: 80 },
    () => sender.send(deliveryTo(hook.url, { merchantId: "mer_hangs" })).finally(() => ended++),
  );
  await crowd.promise;
  const other = await sender.send(
    deliveryTo(hook.url, { merchantId: "mer_other", timeoutMs: 10_000 }),
  );
  assertEquals([other.category, ended], ["acknowledged", 0]);
  held.resolve();
  await Promise.all(hanging);
});

test("connections that time out make room for those that wait", async () => {
  await using hook = endpoint(async (line) => {
    if (line.number > 64) return await line.always(OK);
    while (await line.hears());
  });
  using sender = opened();
  const first = Array.from(
    { length: 64 },
    () => sender.send(deliveryTo(hook.url, { timeoutMs: 1_000 })),
  );
  const second = Array.from({ length: 20 }, () => sender.send(deliveryTo(hook.url)));
  const categories = async (all: readonly Promise<{ readonly category: string }>[]) =>
    new Set((await Promise.all(all)).map(({ category }) => category));
  assertEquals(await categories(first), new Set(["timeout"]));
  assertEquals(await categories(second), new Set(["acknowledged"]));
});

test("giving an attempt up closes its connection", async () => {
  const heard = Promise.withResolvers<void>();
  await using hook = endpoint(async (line) => {
    await line.hears();
    heard.resolve();
    assertEquals(await line.hears(), false);
  });
  using sender = opened();
  const controller = new AbortController();
  const sending = sender.send(deliveryTo(hook.url), controller.signal);
  await heard.promise;
  controller.abort();
  assertEquals((await sending).category, "stopped");
  await hook.ended();
});

test("an idle connection is closed, before the endpoint does it where that names a limit", async () => {
  const kept = OK.replace("\r\n\r\n", "\r\nKeep-Alive: timeout=2\r\n\r\n");
  await using hook = endpoint((line) => line.always(kept));
  using sender = opened();
  assertEquals((await sender.send(deliveryTo(hook.url))).category, "acknowledged");
  // the endpoint never closes first
  await hook.ended();
  assertEquals((await sender.send(deliveryTo(hook.url))).category, "acknowledged");
  assertEquals(hook.seen.lines, 2);
});

test("a name that does not resolve is told with the resolver's word", async () => {
  const resolve: Resolve =
    ((_host: string, _options: unknown, done: (error: Error) => void) =>
      done(Object.assign(new Error("no"), { code: "ENOTFOUND" }))) as never;
  using sender = opened({ resolve });
  for (const protocol of ["http", "https"]) {
    const outcome = await sender.send(deliveryTo(`${protocol}://shop.example:9/`));
    assert(outcome.category === "network", outcome.category);
    assertEquals(outcome.code, "ENOTFOUND");
  }
});

test("an attempt that times out while its name is resolved connects to nothing", async () => {
  const asked: ((error: null, all: unknown) => void)[] = [];
  const resolve: Resolve =
    ((_host: string, _options: unknown, done: (error: null, all: unknown) => void) => {
      asked.push(done);
    }) as never;
  await using hook = endpoint((line) => line.always(OK));
  using sender = opened({ resolve });
  for (const protocol of ["http", "https"]) {
    const delivery = deliveryTo(`${protocol}://shop.example:${hook.port}/`, { timeoutMs: 50 });
    assertEquals((await sender.send(delivery)).category, "timeout");
  }
  assertEquals(asked.length, 2);
  for (const done of asked) done(null, [{ address: "127.0.0.1", family: 4 }]);
  // what connected late would be the first
  assertEquals((await sender.send(deliveryTo(hook.url))).category, "acknowledged");
  assertEquals(hook.seen.lines, 1);
});

test("a handshake that does not come is a timeout", async () => {
  // what it is sent is a handshake, random bytes: none of them ends a request
  await using hook = endpoint(async ({ connection }) => {
    const buffer = new Uint8Array(8_192);
    while (await connection.read(buffer).catch(() => null) !== null);
  });
  using sender = opened();
  const delivery = deliveryTo(hook.url.replace("http:", "https:"), { timeoutMs: 500 });
  assertEquals((await sender.send(delivery)).category, "timeout");
  await hook.ended();
});

test("a header is one line, whatever an event is called", async () => {
  using sender = opened();
  for (const eventId of ["evt_1\r\nX-Webhook-Event: deposit.failed", "evt_\u00fc", "evt_\0"]) {
    const delivery = deliveryTo("http://127.0.0.1:9/", { eventId });
    await assertRejects(() => sender.send(delivery), TypeError);
  }
});

test("TLS: the certificate is checked, by the name in the URL", async (t) => {
  const resolve: Resolve =
    ((_host: string, _options: unknown, done: (error: null, all: unknown) => void) =>
      done(null, [{ address: "127.0.0.1", family: 4 }])) as never;
  const secure = (converse = (line: Line) => line.always(OK)) =>
    endpoint(
      converse,
      Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: CERTIFICATE, key: KEY }),
    );
  await t.step("the right name, over one connection", async () => {
    await using hook = secure();
    using sender = opened({ resolve, trusted: AUTHORITY });
    for (let i = 0; i < 3; i++) {
      const outcome = await sender.send(deliveryTo(`https://shop.example:${hook.port}/`));
      assertEquals([outcome.category, hook.seen.lines], ["acknowledged", 1]);
    }
  });
  await t.step("an address that the certificate names", async () => {
    await using hook = secure();
    using sender = opened({ trusted: AUTHORITY });
    const outcome = await sender.send(deliveryTo(`https://127.0.0.1:${hook.port}/`));
    assertEquals(outcome.category, "acknowledged");
  });
  const strangers: readonly (readonly [string, string, Partial<Parameters<typeof opened>[0]>])[] = [
    ["another name", "bank.example", { resolve, trusted: AUTHORITY }],
    ["an authority that nobody trusts", "shop.example", { resolve }],
  ];
  for (const [name, host, options] of strangers) {
    await t.step(name, async () => {
      let heard = 0;
      await using hook = secure(async (line) => {
        while (await line.hears()) heard++;
      });
      using sender = opened(options);
      const outcome = await sender.send(deliveryTo(`https://${host}:${hook.port}/`));
      assert(outcome.category === "network", outcome.category);
      assertMatch(outcome.code, /CERT|SIGNATURE/);
      await hook.ended();
      assertEquals(heard, 0);
    });
  }
});
