import { assert, assertEquals, assertMatch } from "@std/assert";
import { createSender, type Delivery, type Resolve } from "../../webhooks/sender.ts";
import { hexSignature, newWebhookSecret } from "../../webhooks/signature.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ net: true });

const NEVER = new AbortController().signal;
const NOW = 1_700_000_000_500;

function deliveryTo(url: string, fields: Partial<Delivery> = {}): Delivery {
  return {
    merchantId: "mer_1",
    eventId: "evt_1",
    type: "deposit.confirmed",
    body: '{"amount":"1","note":"\u{1f4b6}"}',
    url,
    secrets: { current: newWebhookSecret(), previous: null },
    timeoutMs: 30_000,
    ...fields,
  };
}

/** An endpoint that answers as told. */
function endpoint(answer: (request: Request) => Response | Promise<Response>) {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, answer);
  return {
    port: server.addr.port,
    url: `http://127.0.0.1:${server.addr.port}/hook?a=b`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function send(delivery: Delivery, options: Partial<Parameters<typeof createSender>[0]> = {}) {
  const sender = createSender({ rules: { allowLoopback: true }, ...options });
  try {
    return await sender.send(delivery, NOW, NEVER);
  } finally {
    sender.close();
  }
}

test("a delivery is the exact bytes with a signature over them", async () => {
  const seen: { method: string; url: string; headers: Headers; text: string }[] = [];
  await using hook = endpoint(async (request) => {
    const { method, url, headers } = request;
    seen.push({ method, url, headers, text: await request.text() });
    return Response.json({ ok: true });
  });
  const delivery = deliveryTo(hook.url);
  const outcome = await send(delivery);
  assert(outcome.category === "acknowledged");
  assertEquals([outcome.status, outcome.answer], [200, '{"ok":true}']);
  const [received] = seen;
  assert(received !== undefined);
  const { method, url, headers, text } = received;
  assertEquals([method, new URL(url).search, text], ["POST", "?a=b", delivery.body]);
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(headers.get("x-webhook-event"), "deposit.confirmed");
  assertEquals(headers.get("x-webhook-id"), "evt_1");
  assertEquals(headers.get("x-webhook-timestamp"), "1700000000");
  assertEquals(
    headers.get("x-webhook-signature"),
    hexSignature(delivery.secrets.current, delivery.body),
  );
  assertMatch(headers.get("webhook-signature") ?? "", /^v1,/);
});

test("only 2xx with ok true acknowledges", async (t) => {
  const rows: readonly (readonly [string, () => Response, string])[] = [
    ["201", () => Response.json({ ok: true, more: [1] }, { status: 201 }), "acknowledged"],
    ["as text", () => new Response(' {"ok":true} '), "acknowledged"],
    ["ok false", () => Response.json({ ok: false }), "not_acknowledged"],
    ["ok as text", () => Response.json({ ok: "true" }), "not_acknowledged"],
    ["ok as number", () => Response.json({ ok: 1 }), "not_acknowledged"],
    ["in an array", () => Response.json([{ ok: true }]), "not_acknowledged"],
    ["deeper", () => Response.json({ data: { ok: true } }), "not_acknowledged"],
    ["inherited", () => new Response('{"__proto__":{"ok":true}}'), "not_acknowledged"],
    ["empty", () => new Response(null, { status: 204 }), "not_acknowledged"],
    ["not JSON", () => new Response("ok"), "not_acknowledged"],
    ["400 with ok", () => Response.json({ ok: true }, { status: 400 }), "bad_status"],
    ["500", () => new Response("x", { status: 500 }), "bad_status"],
    [
      "redirect",
      () => new Response(null, { status: 307, headers: { location: "/" } }),
      "bad_status",
    ],
    ["too long", () => new Response(`{"ok":true,"x":"${"y".repeat(70_000)}"}`), "answer_too_long"],
  ];
  for (const [name, answer, category] of rows) {
    await t.step(name, async () => {
      let calls = 0;
      await using hook = endpoint(() => {
        calls++;
        return answer();
      });
      assertEquals((await send(deliveryTo(hook.url))).category, category);
      assertEquals(calls, 1);
    });
  }
});

test("two kilobytes of the answer are kept, without NUL", async () => {
  await using hook = endpoint(() => new Response(`\0${"z".repeat(5_000)}`, { status: 500 }));
  const outcome = await send(deliveryTo(hook.url));
  assert(outcome.category === "bad_status");
  assertEquals(outcome.answer, `\u{fffd}${"z".repeat(2_047)}`);
});

test("an endpoint that does not answer in time is a timeout, also in mid-answer", async () => {
  const held = Promise.withResolvers<Response>();
  await using silent = endpoint(() => held.promise);
  assertEquals((await send(deliveryTo(silent.url, { timeoutMs: 50 }))).category, "timeout");
  held.resolve(new Response());
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  await using slow = endpoint(() => new Response(readable));
  const sending = send(deliveryTo(slow.url, { timeoutMs: 1_000 }));
  await writer.write(new TextEncoder().encode('{"ok":'));
  assertEquals((await sending).category, "timeout");
  await writer.close().catch(() => {});
});

test("broken connections are network outcomes with the system's word", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr as Deno.NetAddr;
  const serving = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(64));
      await connection.write(
        new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"),
      );
      connection.close();
    }
  })();
  const cut = await send(deliveryTo(`http://127.0.0.1:${port}/`));
  assertEquals(cut.category, "network");
  listener.close();
  await serving;
  const refused = await send(deliveryTo(`http://127.0.0.1:${port}/`));
  assert(refused.category === "network");
  assertEquals(refused.code, "ECONNREFUSED");
});

test("a name is called at the address that was judged, and not at a private one", async () => {
  let hits = 0;
  await using hook = endpoint(() => {
    hits++;
    return Response.json({ ok: true });
  });
  const answers = (...addresses: string[]): Resolve =>
    ((_host: string, _options: unknown, done: (error: null, found: unknown) => void) =>
      done(null, addresses.map((address) => ({ address, family: 4 })))) as never;
  const delivery = deliveryTo(`http://shop.example:${hook.port}/`);
  const good = await send(delivery, { resolve: answers("127.0.0.1") });
  assertEquals([good.category, hits], ["acknowledged", 1]);
  for (const bad of [["10.0.0.1"], ["127.0.0.1", "169.254.169.254"], []]) {
    const outcome = await send(delivery, { resolve: answers(...bad) });
    assert(outcome.category === "refused_url");
    assertEquals(outcome.reason, "not_public");
  }
  const strict = await send(deliveryTo(`https://shop.example:${hook.port}/`), {
    rules: { allowLoopback: false },
    resolve: answers("127.0.0.1"),
  });
  assertEquals(strict.category, "refused_url");
  assertEquals(hits, 1);
});

test("a literal private address and plain http are refused before anything is sent", async () => {
  let hits = 0;
  await using hook = endpoint(() => {
    hits++;
    return Response.json({ ok: true });
  });
  const outcome = await send(deliveryTo(hook.url), { rules: { allowLoopback: false } });
  assert(outcome.category === "refused_url");
  const literal = await send(deliveryTo("https://10.0.0.1/"));
  assert(literal.category === "refused_url");
  assertEquals([outcome.reason, literal.reason, hits], ["not_https", "not_public", 0]);
});

test("stopping gives an attempt up", async () => {
  const held = Promise.withResolvers<Response>();
  await using hook = endpoint(() => held.promise);
  const sender = createSender({ rules: { allowLoopback: true } });
  const controller = new AbortController();
  const sending = sender.send(deliveryTo(hook.url), NOW, controller.signal);
  controller.abort();
  assertEquals((await sending).category, "stopped");
  const late = await sender.send(deliveryTo(hook.url), NOW, controller.signal);
  assertEquals(late.category, "stopped");
  held.resolve(new Response());
  sender.close();
});

test("connections are kept and used again", async () => {
  const ports = new Set<number>();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (_request, info) => {
      ports.add(info.remoteAddr.port);
      return Response.json({ ok: true });
    },
  );
  const sender = createSender({ rules: { allowLoopback: true } });
  for (let i = 0; i < 5; i++) {
    await sender.send(deliveryTo(`http://127.0.0.1:${server.addr.port}/`), NOW, NEVER);
  }
  assertEquals(ports.size, 1);
  sender.close();
  await server.shutdown();
});
