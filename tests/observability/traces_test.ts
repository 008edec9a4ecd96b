import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { delay } from "../../ledger/database/delay.ts";
import { SPANS, tracesDocument } from "../../log/span_table.ts";
import { isTracing, traceSpan } from "../../log/traces.ts";
import { needs, testNeeding } from "../support/permissions.ts";

const ALL = { net: true, read: true, write: true, run: true, env: true, sys: true } as const;
const MINUTE_MS = 60_000;

const Export = z.object({
  resourceSpans: z.array(z.object({
    scopeSpans: z.array(z.object({
      spans: z.array(z.object({
        name: z.string(),
        traceId: z.string(),
        attributes: z.array(z.object({ key: z.string(), value: z.unknown() })),
        links: z.array(z.object({ traceId: z.string() })),
      })),
    })),
  })),
});
type Exported = z.infer<typeof Export>["resourceSpans"][0]["scopeSpans"][0]["spans"][0];

/** The environment of a service that exports to a port of this machine, as docs/traces.md says it. */
function exportingTo(port: number): Record<string, string> {
  return {
    OTEL_DENO: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_TIMEOUT: "2000",
    OTEL_BSP_SCHEDULE_DELAY: "500",
    OTEL_TRACES_SAMPLER: "parentbased_always_off",
    OTEL_PROPAGATORS: "none",
    OTEL_DENO_CONSOLE: "ignore",
    OTEL_DENO_METRICS: "false",
  };
}

const traceOf = (id: string) => id.replace(/^[a-z]+_/, "").replaceAll("-", "");

testNeeding({ read: true })("docs/traces.md is what the table says", async () => {
  const path = new URL("../../docs/traces.md", import.meta.url);
  assertEquals(await Deno.readTextFile(path), tracesDocument());
});

Deno.test("traces are off where nothing switched them on, and a span is nothing then", () => {
  assertEquals(isTracing(), false);
  traceSpan("journal.batch", { of: crypto.randomUUID(), from: 0, attributes: {} });
});

Deno.test({
  name: "a withdrawal is one trace by its id, from request to callback, and no secret is exported",
  ignore: needs(ALL),
  fn: async () => {
    const { withService } = await import("../support/service.ts");
    const bodies: string[] = [];
    const paths = new Set<string>();
    const headers = new Set<string>();
    await using collector = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async (request) => {
        paths.add(new URL(request.url).pathname);
        bodies.push(await request.text());
        return Response.json({});
      },
    );
    await using receiver = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async (request) => {
        for (const name of request.headers.keys()) headers.add(name);
        await request.body?.cancel();
        return new Response("ok");
      },
    );
    await withService(async (service) => {
      await service.start();
      const { baseUrl, merchant, admin, chains } = service.credentials;
      const call = async (method: string, url: string, body?: unknown): Promise<unknown> => {
        const response = await fetch(url, {
          method,
          headers: { authorization: merchant.apiKey, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        assert(response.ok, `${method} ${url}: ${response.status}`);
        return await response.json();
      };
      await call("PATCH", `${baseUrl}/api/merchants/${merchant.id}`, {
        webhookUrl: `http://127.0.0.1:${receiver.addr.port}/hook`,
        webhookEnabled: true,
      });
      const { address } = z.object({ address: z.string() }).parse(
        await call("POST", `${baseUrl}/api/deposit-address`, {
          network: "TRX",
          identifier: "traces",
        }),
      );
      await call("POST", `${chains.TRX.url}/dev/transfer`, {
        to: address,
        amount: "100",
        currency: "USDT",
      });
      const order = {
        amount: "10",
        currency: "USDT",
        network: "TRX",
        destination: chains.TRX.faucetAddress,
        referenceId: "traces-1",
      };
      const withdraw = () =>
        fetch(`${baseUrl}/api/withdrawals`, {
          method: "POST",
          headers: { authorization: merchant.apiKey, "content-type": "application/json" },
          body: JSON.stringify(order),
        });
      let response = await withdraw();
      for (const end = performance.now() + MINUTE_MS; response.status !== 201;) {
        const answer = await response.text();
        assert(performance.now() < end, answer);
        await delay(500);
        response = await withdraw();
      }
      const requestId = response.headers.get("x-request-id") ?? "";
      const { withdrawalId: id } = z.object({ withdrawalId: z.string() })
        .parse(await response.json());

      const spans = (): readonly Exported[] =>
        bodies.filter((body) => body.includes("resourceSpans")).flatMap((body) =>
          Export.parse(JSON.parse(body)).resourceSpans.flatMap(({ scopeSpans }) =>
            scopeSpans.flatMap((scope) => scope.spans)
          )
        );
      const of = (trace: string) => spans().filter(({ traceId }) => traceId === traceOf(trace));
      const wanted = [
        "callback.deliver",
        "http.request",
        "payment.move",
        "transfer.broadcast",
        "transfer.final",
        "transfer.sign",
      ];
      const names = () => [...new Set(of(id).map(({ name }) => name))].toSorted();
      for (const end = performance.now() + MINUTE_MS; names().length < wanted.length;) {
        assert(performance.now() < end, `only ${names().join()}`);
        await delay(250);
      }
      assertEquals(names(), wanted);
      const texts = (name: string, key: string) =>
        of(id).filter((span) => span.name === name).map(({ attributes }) =>
          JSON.stringify(attributes.find((one) => one.key === key)?.value)
        );
      assert(texts("http.request", "request").includes(`{"stringValue":"${requestId}"}`));
      assert(texts("payment.move", "status").includes('{"stringValue":"CONFIRMED"}'));

      // the batch that moved it is found by the link, and names it
      const [batch] = of(id).filter(({ name }) => name === "payment.move")
        .flatMap(({ links }) => links);
      assert(batch !== undefined);
      const batches = spans().filter(({ traceId }) => traceId === batch.traceId);
      assertEquals(batches.map(({ name }) => name), ["journal.batch"]);
      assert(batches[0]?.links.some(({ traceId }) => traceId === traceOf(id)));

      // nothing but what the table has
      for (const { name, attributes } of spans()) {
        const known = Object.entries(SPANS).find(([one]) => one === name);
        assert(known !== undefined, `a span that is not in the table: ${name}`);
        const allowed: readonly string[] = known[1][2];
        assertEquals(attributes.filter(({ key }) => !allowed.includes(key)), [], name);
      }
      const text = bodies.join("\n");
      const secrets = [
        merchant.apiKey,
        merchant.webhookSecret,
        admin.apiKey,
        address,
        "/hook",
        chains.TRX.url,
      ];
      assertEquals(secrets.filter((secret) => text.includes(secret)), []);
      assertEquals([...paths], ["/v1/traces"]);
      assertEquals(headers.has("traceparent"), false);
    }, { env: exportingTo(collector.addr.port) });
  },
});

Deno.test({
  name: "a collector that never answers stops nothing, and the service ends in bounded time",
  ignore: needs(ALL),
  fn: async () => {
    const { withService } = await import("../support/service.ts");
    const hanging = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const held: Deno.Conn[] = [];
    const accepting = (async () => {
      for await (const connection of hanging) held.push(connection);
    })().catch((error) => assert(error instanceof Deno.errors.BadResource, String(error)));
    await withService(async (service) => {
      await service.start();
      const { baseUrl, merchant } = service.credentials;
      const took: number[] = [];
      const least = performance.now() + 4_000;
      for (const end = least + MINUTE_MS; held.length === 0 || performance.now() < least;) {
        assert(performance.now() < end, "the collector was never asked");
        const begun = performance.now();
        const response = await fetch(`${baseUrl}/api/balance?currency=USDT&network=TRX`, {
          headers: { authorization: merchant.apiKey },
        });
        await response.body?.cancel();
        assertEquals(response.status, 200);
        took.push(performance.now() - begun);
        await delay(50);
      }
      // one that waits for the collector takes the exporter's two seconds; a busy machine is slow now and then
      const middle = took.toSorted((a, b) => a - b)[took.length >> 1] ?? 0;
      assert(middle < 1_000, `half of the requests took ${middle} ms and more`);
      const told = performance.now();
      service.signal("SIGTERM");
      const { code } = await service.ended;
      assertEquals(code, 0);
      assert(performance.now() - told < 20_000, "it hung at its end");
    }, { env: exportingTo(hanging.addr.port) });
    for (const connection of held) connection.close();
    hanging.close();
    await accepting;
  },
});
