import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { createWorkerSender, type WorkerSenderOptions } from "../../app/workers/worker_sender.ts";
import { NameLookups } from "../../webhooks/name_lookups.ts";
import type { Delivery, Resolve } from "../../webhooks/sender.ts";
import { publicIpv4Ranges, senderPermissions } from "../../webhooks/sender_permissions.ts";
import { isAllowedAddress } from "../../webhooks/url_guard.ts";
import { openHook } from "../support/hooks.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ net: true, read: true, env: true });

const NOW = 1_700_000_000_000;
const NEVER = new AbortController().signal;
const DEVELOPMENT = { allowLoopback: true };
const PUBLIC = { allowLoopback: false };
const ENTRY = new URL("../../app/commands/sender_worker.ts", import.meta.url);

function deliveryTo(url: string, fields: Partial<Delivery> = {}): Delivery {
  return {
    merchantId: "mer_1",
    eventId: "evt_1",
    type: "deposit.confirmed",
    body: '{"type":"deposit","note":"\u00fc"}',
    url,
    secrets: { current: "whsec_dGVzdC1zZWNyZXQtdGVzdC1zZWNyZXQ=", previous: null },
    timeoutMs: 30_000,
    ...fields,
  };
}

function workerSender(
  { resolve, ...options }: Partial<WorkerSenderOptions> & { readonly resolve?: Resolve } = {},
) {
  const sender = createWorkerSender({
    entry: ENTRY,
    rules: DEVELOPMENT,
    permissions: senderPermissions(DEVELOPMENT),
    names: new NameLookups(resolve === undefined ? {} : { resolve }),
    ...options,
  });
  return {
    send: (delivery: Delivery, signal = NEVER) => sender.send(delivery, NOW, signal),
    [Symbol.dispose]: () => sender.close(),
  };
}

const answering = (...addresses: string[]): Resolve => (_host, _options, done) =>
  done(null, addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));

Deno.test("the worker's ranges hold exactly the IPv4 addresses that the guard allows", () => {
  const ranges = publicIpv4Ranges().map((text) => {
    const [address = "", bits = ""] = text.split("/");
    const first = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
    return { first, last: first + 2 ** (32 - Number(bits)) - 1 };
  });
  const textOf = (number: number) =>
    [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
  const agrees = (number: number) => {
    const isInRange = ranges.some(({ first, last }) => number >= first && number <= last);
    assertEquals(isInRange, isAllowedAddress(textOf(number), PUBLIC), textOf(number));
  };
  for (const { first, last } of ranges) {
    for (const edge of [first - 1, first, last, last + 1]) {
      if (edge >= 0 && edge < 2 ** 32) agrees(edge);
    }
  }
  fc.assert(fc.property(fc.nat(2 ** 32 - 1), agrees), { numRuns: 2_000 });
});

test("a worker delivers many at once, to names that are resolved outside of it", async () => {
  await using hook = openHook();
  const { port } = new URL(hook.url);
  using sender = workerSender({ resolve: answering("127.0.0.1", "2606:4700::1") });
  const outcomes = await Promise.all(
    Array.from(
      { length: 50 },
      (_, i) => sender.send(deliveryTo(`http://shop.example:${port}/`, { eventId: `evt_${i}` })),
    ),
  );
  assertEquals(new Set(outcomes.map(({ category }) => category)), new Set(["acknowledged"]));
  assertEquals(new Set(hook.arrived.map(({ eventId }) => eventId)).size, 50);
  assertEquals(hook.arrived[0]?.body, deliveryTo("").body);
});

test("where the guard lets a private address through, the worker's permissions do not", async () => {
  await using hook = openHook();
  const { port } = new URL(hook.url);
  // the guard is set to allow loopback, the permissions are those of production
  using sender = workerSender({
    permissions: senderPermissions(PUBLIC),
    resolve: answering("127.0.0.1"),
  });
  for (const url of [hook.url, `http://shop.example:${port}/`]) {
    const outcome = await sender.send(deliveryTo(url));
    assert(outcome.category === "refused_url", outcome.category);
    assertEquals(outcome.reason, "not_public");
  }
  assertEquals(hook.arrived.length, 0);
});

test("a name whose look-up hangs is asked for once, however many deliveries wait, and holds no other", async () => {
  await using hook = openHook();
  const { port } = new URL(hook.url);
  const asked: string[] = [];
  const resolve: Resolve = (host, options, done) => {
    asked.push(host);
    if (host === "hangs.example") return;
    if (host === "odd.example") throw new TypeError("Cannot ask for it");
    answering("127.0.0.1")(host, options, done);
  };
  using sender = workerSender({ resolve });
  const hanging = Array.from(
    { length: 20 },
    (_, i) =>
      sender.send(
        deliveryTo(`http://hangs.example:${port}/`, {
          merchantId: "mer_hangs",
          eventId: `h${i}`,
          timeoutMs: 1_000,
        }),
      ),
  );
  const other = await sender.send(deliveryTo(`http://shop.example:${port}/`));
  assertEquals(other.category, "acknowledged");
  const odd = await sender.send(deliveryTo(`http://odd.example:${port}/`));
  assertEquals(odd.category === "network" && odd.code, "TypeError");
  const outcomes = await Promise.all(hanging);
  assertEquals(new Set(outcomes.map(({ category }) => category)), new Set(["timeout"]));
  assertEquals(asked.filter((host) => host === "hangs.example").length, 1);
});

test("names of one merchant that hang cost no other merchant's callbacks", async () => {
  await using hook = openHook();
  const { port } = new URL(hook.url);
  let hanging = 0;
  const resolve: Resolve = (host, options, done) => {
    if (host.startsWith("hangs")) hanging++;
    else answering("127.0.0.1")(host, options, done);
  };
  using sender = workerSender({ resolve });
  const lost = Array.from(
    { length: 40 },
    (_, i) =>
      sender.send(deliveryTo(`http://hangs-${i}.example:${port}/`, {
        merchantId: "mer_hangs",
        eventId: `h${i}`,
        timeoutMs: 1_000,
      })),
  );
  for (let i = 0; i < 10; i++) {
    const delivery = deliveryTo(`http://shop-${i}.example:${port}/`, { merchantId: `mer_${i}` });
    assertEquals((await sender.send(delivery)).category, "acknowledged");
  }
  const outcomes = await Promise.all(lost);
  assertEquals(new Set(outcomes.map(({ category }) => category)), new Set(["timeout"]));
  assertEquals(hanging, 1);
});

test("the runtime itself refuses what the permissions do not name", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const program = `
    import net from "node:net";
    import tls from "node:tls";
    const tries = [["127.0.0.1", ${listener.addr.port}], ["169.254.169.254", 80], ["10.0.0.1", 80]];
    const ended = (socket) => new Promise((resolve) => {
      socket.on("connect", () => resolve("connected"));
      socket.on("error", (error) => resolve(error.name));
    });
    const found = [];
    for (const [hostname, port] of tries) {
      try { await Deno.connect({ hostname, port }); found.push("connected"); }
      catch (error) { found.push(error.name); }
      const lookup = (_name, { all }, done) =>
        all ? done(null, [{ address: hostname, family: 4 }]) : done(null, hostname, 4);
      for (const { connect } of [net, tls]) {
        found.push(await ended(connect({ host: hostname, port, ca: null })));
        found.push(await ended(connect({ host: "shop.example", port, ca: null, lookup })));
      }
    }
    postMessage(found);`;
  const worker = new Worker(`data:text/javascript,${encodeURIComponent(program)}`, {
    type: "module",
    deno: { permissions: senderPermissions(PUBLIC) },
  });
  const found = await new Promise((resolve) => worker.onmessage = ({ data }) => resolve(data));
  assertEquals(found, Array(15).fill("NotCapable"));
  worker.terminate();
  listener.close();
});

test("a host with an IPv6 address alone is refused by name, and so is such an address", async () => {
  using sender = workerSender({ rules: PUBLIC, resolve: answering("2606:4700::1111") });
  for (const url of ["https://shop.example/", "https://[2606:4700::1111]/"]) {
    const outcome = await sender.send(deliveryTo(url));
    assert(outcome.category === "refused_url", outcome.category);
    assertEquals(outcome.reason, "only_ipv6");
  }
});

test("https works without the permission to read the system's certificates", async () => {
  Deno.env.set("NODE_EXTRA_CA_CERTS", "/etc/ssl/certs/ca-certificates.crt");
  await using hook = openHook();
  using sender = workerSender();
  const outcome = await sender.send(deliveryTo(hook.url.replace("http:", "https:")));
  // the endpoint speaks no TLS, so what fails is the handshake
  assert(outcome.category === "network", outcome.category);
  assertNotEquals(outcome.code, "NotCapable");
  assertNotEquals(outcome.code, "SENDER_ENDED");
});

test("giving up reaches the worker, and a time-out is kept there", async () => {
  const held = Promise.withResolvers<Response>();
  await using hook = openHook(() => held.promise);
  using sender = workerSender();
  const controller = new AbortController();
  const stopped = sender.send(deliveryTo(hook.url), controller.signal);
  const late = await sender.send(deliveryTo(hook.url, { timeoutMs: 50 }));
  assertEquals(late.category, "timeout");
  controller.abort();
  assertEquals((await stopped).category, "stopped");
  held.resolve(new Response());
});

test("a worker that dies is started again, and what it had under way is an attempt that broke", async () => {
  const program = `
    addEventListener("message", (event) => {
      const port = event.ports[0];
      port.onmessage = ({ data }) => {
        if (data.kind === "start") port.postMessage({ kind: "ready", ready: null });
        if (data.kind === "calls") throw new Error("a bug");
      };
    }, { once: true });`;
  using sender = workerSender({
    entry: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  });
  for (let life = 1; life <= 2; life++) {
    const outcome = await sender.send(deliveryTo("http://127.0.0.1:9/"));
    assert(outcome.category === "network", outcome.category);
    assertEquals(outcome.code, "SENDER_ENDED");
  }
});

test("where the worker cannot start no attempt is made, which is said at once", async () => {
  const program = `
    addEventListener("message", (event) => {
      const port = event.ports[0];
      port.onmessage = () => port.postMessage({ kind: "start-failed", message: "a bug" });
    }, { once: true });`;
  using sender = workerSender({
    entry: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  });
  for (let start = 1; start <= 2; start++) {
    const outcome = await sender.send(deliveryTo("http://127.0.0.1:9/"));
    assertEquals(outcome.category, "not_sent");
    assert(outcome.durationMs < 20_000, `waited for ${outcome.durationMs} ms`);
  }
});

test("a delivery that cannot be made is a fault of its own, and no other notices", async () => {
  const held = Promise.withResolvers<Response>();
  await using hook = openHook(() => held.promise);
  using sender = workerSender();
  const other = sender.send(deliveryTo(hook.url));
  const secrets = { current: "not a secret", previous: null };
  await assertRejects(() => sender.send(deliveryTo(hook.url, { secrets })), Error, "is malformed");
  held.resolve(Response.json({ ok: true }));
  assertEquals((await other).category, "acknowledged");
  assertEquals(hook.arrived.length, 1);
});
