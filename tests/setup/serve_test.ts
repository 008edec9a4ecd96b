import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Hono } from "hono";
import { serve, type Server, type Serving } from "../../app/http/serve.ts";
import { needs } from "../support/permissions.ts";

const HOST = "127.0.0.1";
const ANY = {
  host: HOST,
  port: 0,
  publicUrl: null,
  trustedProxies: [],
  connections: { total: 100, perAddress: 100 },
  descriptors: 1_000,
} as const;
const ignore = needs({ net: true });

function appThatSays(text: string): Hono {
  const app = new Hono();
  app.get("/", (c) => c.text(text));
  return app;
}

const APPS = { merchants: appThatSays("merchants"), ops: appThatSays("operators") };

/** An address that is taken for as long as it is held. */
function takenPort(): { readonly port: number; readonly [Symbol.dispose]: () => void } {
  const listener = Deno.listen({ hostname: HOST, port: 0 });
  return { port: listener.addr.port, [Symbol.dispose]: () => listener.close() };
}

function serverOf(serving: Serving): Server {
  if (!serving.ok) throw new Error(serving.fault);
  return serving.server;
}

async function get(url: string | null, path = "/"): Promise<string> {
  return await (await fetch(`${url}${path}`)).text();
}

Deno.test({
  name: "operators have an address of their own where one is set, and both end together",
  ignore,
  fn: async () => {
    const both = serverOf(await serve({ ...ANY, ops: { host: HOST, port: 0 } }, () => APPS));
    assertEquals([await get(both.baseUrl), await get(both.opsUrl)], ["merchants", "operators"]);
    // a server that is left would fail the test as a leak
    await both.stop(60_000);
    const alone = serverOf(await serve({ ...ANY, ops: null }, () => ({ ...APPS, ops: null })));
    assertEquals([await get(alone.baseUrl), alone.opsUrl], ["merchants", null]);
    await alone.stop(60_000);
  },
});

Deno.test({
  name: "requests under way are answered before either address is closed",
  ignore,
  fn: async () => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = new Hono().get("/", async (c) => {
      asked.resolve();
      await answered.promise;
      return c.text("late");
    });
    const ops = { host: HOST, port: 0 };
    const server = serverOf(await serve({ ...ANY, ops }, () => ({ ...APPS, ops: slow })));
    const text = get(server.opsUrl);
    await asked.promise;
    const stopped = server.stop(60_000);
    answered.resolve();
    assertEquals(await text, "late");
    await stopped;
  },
});

Deno.test({
  name: "until what answers is made everybody hears 503, and nothing listens when that fails",
  ignore,
  fn: async () => {
    const paths = ["/", "/readyz"];
    const early: number[] = [];
    const options = { ...ANY, ops: { host: HOST, port: 0 } };
    const server = serverOf(
      await serve(options, async (baseUrl) => {
        for (const path of paths) {
          const response = await fetch(baseUrl + path);
          await response.body?.cancel();
          early.push(response.status);
        }
        return APPS;
      }),
    );
    assertEquals(early, [503, 503]);
    assertEquals([await get(server.baseUrl), await get(server.opsUrl)], ["merchants", "operators"]);
    await server.stop(60_000);
    // a server that is left would fail the test as a leak
    const failed = () => serve(options, () => Promise.reject(new Error("cannot be made")));
    await assertRejects(failed, Error, "cannot be made");
  },
});

Deno.test({
  name: "an address that is taken is named, and nothing is left listening",
  ignore,
  fn: async () => {
    using taken = takenPort();
    const { port } = taken;
    const make = () => APPS;
    assertEquals(await serve({ ...ANY, port, ops: null }, make), {
      ok: false,
      fault: `the address of HOST and PORT is taken: ${HOST}:${port}`,
    });
    assertEquals(await serve({ ...ANY, ops: { host: HOST, port } }, make), {
      ok: false,
      fault: `the address of OPS_HOST and OPS_PORT is taken: ${HOST}:${port}`,
    });
  },
});

Deno.test({
  name: "the service tells operators on OPS_PORT alone, and does not start where it is taken",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async () => {
    const { withService } = await import("../support/service.ts");
    const { eventually } = await import("../faults/support/client.ts");
    await withService(async (service) => {
      using taken = takenPort();
      const { port } = taken;
      await assertRejects(() => service.start({ env: { OPS_PORT: String(port) } }));
      assertEquals((await service.ended).code, 2);
      const fault =
        `Cannot start as the address of OPS_HOST and OPS_PORT is taken: ${HOST}:${port}`;
      const printed = await service.log();
      assertEquals(printed.split("\n").filter((line) => line === fault).length, 1, printed);

      await service.start({ env: { OPS_PORT: "0" } });
      // its line may be written a moment after the service answers
      const opsUrl = await eventually(
        "the address of operators in the log",
        async () => /health and metrics on "?(http[^\s"]+)/.exec(await service.log())?.[1],
      );
      const { baseUrl } = service.credentials;
      const status = async (url: string | undefined, path: string) => {
        const response = await fetch(`${url}${path}`);
        await response.body?.cancel();
        return response.status;
      };
      for (const path of ["/healthz", "/readyz", "/metrics"]) {
        assertEquals([await status(opsUrl, path), await status(baseUrl, path)], [200, 404], path);
      }
      assertEquals([await status(opsUrl, "/api/balance"), await status(baseUrl, "/api/balance")], [
        404,
        401,
      ]);
      assertMatch(await get(opsUrl ?? null, "/metrics"), /^process_cpu_seconds_total /m);
      service.signal("SIGTERM");
      assertEquals(await service.ended, { code: 0, signal: null });
    });
  },
});
