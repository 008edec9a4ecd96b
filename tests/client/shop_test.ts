import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { freePort } from "../../app/postgres/free_port.ts";
import { PaymentsClient } from "../../client/client.ts";
import { newWebhookSecret, signedHeaders } from "../../webhooks/signature.ts";
import { needs } from "../support/permissions.ts";
import type { Service } from "../support/service.ts";

const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });
const pathOf = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

/** Fast blocks, final three blocks later. */
const ENV = { DEV_CHAIN_BLOCK_MS: "150", DEV_CHAIN_SOLID_LAG: "3" };

/** An example of a shop, as its header says that it is run. */
interface Example {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}

const TYPESCRIPT: Example = {
  name: "shop.ts",
  program: Deno.execPath(),
  args: ["run", "--no-config", "--no-prompt", "-A", pathOf("shop.ts")],
};
const PYTHON: Example = { name: "shop.py", program: "python3", args: [pathOf("shop.py")] };

async function isHere(program: string): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args: ["--version"] }).output()).success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const isPythonMissing = !ignore && !await isHere(PYTHON.program);

/** Waits for something, at most 90 s. */
async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + 90_000; Date.now() < end;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Cannot go on as it did not happen in 90 s: ${what}`);
}

/** An entry of a shop's books. */
interface Entry {
  readonly eventId: string;
  readonly kind: string;
  readonly id: string;
  readonly amount: string;
}

/** True for an entry of a kind for an order. */
function isOf(kind: string, id: string): (entry: Entry) => boolean {
  return (entry) => entry.kind === kind && entry.id === id;
}

/** The service that a shop speaks to. */
interface Peer {
  readonly baseUrl: string;
  readonly merchant: { readonly apiKey: string; readonly webhookSecret: string };
}

/** A shop with books of its own, on a port that stays when it is started again. */
async function shopOf({ program, args }: Example, { baseUrl, merchant }: Peer) {
  const port = freePort();
  const folder = await Deno.makeTempDir({ prefix: "shop-" });
  const env = {
    PAYMENTS_URL: baseUrl,
    API_KEY: merchant.apiKey,
    WEBHOOK_SECRET: merchant.webhookSecret,
    BOOKS: `${folder}/books`,
    SHOP_PORT: String(port),
  };
  let serving: Deno.ChildProcess | null = null;
  const kill = async () => {
    serving?.kill("SIGKILL");
    await serving?.status;
    serving = null;
  };
  return {
    url: `http://127.0.0.1:${port}/callbacks`,
    serve: async () => {
      serving = new Deno.Command(program, {
        args: [...args, "serve"],
        env,
        stdout: "piped",
      }).spawn();
      const reader = serving.stdout.getReader();
      let said = "";
      while (!said.endsWith("\n")) {
        const { value, done } = await reader.read();
        if (done) break;
        said += new TextDecoder().decode(value);
      }
      assertEquals(said, "open\n");
      await reader.cancel();
    },
    kill,
    run: async (...words: readonly string[]) => {
      const { success, stdout, stderr } = await new Deno.Command(program, {
        args: [...args, ...words],
        env,
      }).output();
      assert(success, new TextDecoder().decode(stderr));
      return JSON.parse(new TextDecoder().decode(stdout));
    },
    /** Runs what the shop refuses; its last words. */
    refuses: async (...words: readonly string[]) => {
      const { success, stderr } = await new Deno.Command(program, {
        args: [...args, ...words],
        env,
      }).output();
      assertEquals(success, false);
      return new TextDecoder().decode(stderr);
    },
    books: async (): Promise<readonly Entry[]> =>
      await (await fetch(`http://127.0.0.1:${port}/books`)).json(),
    [Symbol.asyncDispose]: async () => {
      await kill();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** From the order to the payout, with a shop that is dead while its customer pays. */
async function sells(example: Example, service: Service): Promise<void> {
  const { baseUrl, merchant, chains } = service.credentials;
  const payments = new PaymentsClient({ baseUrl, apiKey: merchant.apiKey });
  await using shop = await shopOf(example, service.credentials);
  await shop.serve();
  await payments.call("PATCH /api/merchants/{merchantId}", {
    path: { merchantId: merchant.id },
    body: { webhookUrl: shop.url, webhookEnabled: true },
  });

  const [order, payout] = [`${example.name} order`, `${example.name} payout`];
  const page = await shop.run("order", order, "20");
  assertEquals(await shop.run("order", order, "20"), page, "asked again, it is the same page");
  assertStringIncludes(await (await fetch(page.url)).text(), page.address);

  await shop.kill();
  const pays = async (amount: string) => {
    await fetch(`${chains.TRX.url}/dev/transfer`, {
      method: "POST",
      body: JSON.stringify({ to: page.address, amount, currency: "USDT" }),
    });
    return await eventually("the deposit", async () => {
      const { deposits } = await payments.call("GET /api/deposits", {
        query: { referenceId: order, status: "CONFIRMED" },
      });
      return deposits.find((deposit) => deposit.amount === amount);
    });
  };
  assertEquals([page.payableAmount, await shop.run("paid", order)], ["20", false]);
  const deposit = await pays("19.9");
  assertEquals(await shop.run("paid", order), false, "a part is not the whole");
  await pays("0.1"); // no callback tells of so little
  assertEquals(await shop.run("paid", order), true);
  await shop.serve();
  const booked = await eventually(
    "the booking",
    async () => (await shop.books()).find(({ kind }) => kind === "deposit.confirmed"),
  );
  await payments.call("POST /api/webhook-deliveries/{eventId}/redeliver", {
    path: { eventId: booked.eventId },
  });

  const made = await shop.run("payout", payout, "5", chains.TRX.faucetAddress);
  const again = await shop.run("payout", payout, "5", chains.TRX.faucetAddress);
  assertEquals(again.withdrawalId, made.withdrawalId, "asked again, it is the same payout");
  await eventually("the payout", async () => (await shop.books()).find(({ id }) => id === payout));
  await eventually("the redelivery", async () => {
    const { deliveries } = await payments.call("GET /api/webhook-deliveries");
    const event = deliveries.find(({ id }) => id === booked.eventId);
    return event?.status === "DELIVERED" && event.attempts.at(-1)?.outcome === "acknowledged"
      ? true
      : undefined;
  });
  const { amount, commission, fee } = deposit;
  assertEquals([amount, commission, fee], ["19.9", "0.199", "0.5"]);
  // it was paid while the shop was dead, in part by what no callback tells of
  await eventually("the order", async () => (await shop.books()).find(isOf("paid", order)));
  assertEquals((await shop.books()).map(({ kind, id, amount }) => [kind, id, amount]).toSorted(), [
    ["deposit.confirmed", order, "19.201"],
    ["order", order, "20"],
    ["paid", order, ""],
    ["price", order, "20"],
    ["withdrawal.confirmed", payout, "5"],
  ], "each booked once");
}

Deno.test({
  name:
    "examples: a shop that is killed while its customer pays books the order and its payout once",
  ignore,
  fn: async (t) => {
    const { withService } = await import("../support/service.ts");
    await withService(async (service) => {
      await service.start();
      await t.step("in TypeScript, with the client", () => sells(TYPESCRIPT, service));
      await t.step({
        name: `in Python${isPythonMissing ? " (skipped: there is no python3 here)" : ""}`,
        ignore: isPythonMissing,
        fn: () => sells(PYTHON, service),
      });
    }, { env: ENV });
  },
});

/** Tests both shops, without the service. */
function testBoth(name: string, fn: (example: Example) => Promise<void>): void {
  for (const example of [TYPESCRIPT, PYTHON]) {
    const isMissing = example === PYTHON && isPythonMissing;
    Deno.test({
      name: `examples: ${example.name}: ${name}${isMissing ? " (skipped: no python3 here)" : ""}`,
      ignore: ignore || isMissing,
      fn: () => fn(example),
    });
  }
}

const NOBODY = "http://127.0.0.1:9";

/** Delivers the confirmation of a deposit of 10, as the service does; the status of the answer. */
async function deliver(url: string, secret: string, order: string, changes: {
  readonly header?: "withdrawal.failed";
  readonly previous?: string;
} = {}): Promise<number> {
  const eventId = `evt_${order}`;
  const body = JSON.stringify({
    type: "deposit",
    status: "confirmed",
    amount: "10.5",
    receivableAmount: "10",
    referenceId: order,
    eventId,
  });
  const { header = "deposit.confirmed" as const, previous = null } = changes;
  const timestamp = Math.floor(Date.now() / 1_000);
  const headers = signedHeaders({ current: secret, previous }, {
    eventId,
    type: header,
    timestamp,
    body,
  });
  const response = await fetch(url, { method: "POST", headers, body });
  await response.body?.cancel();
  return response.status;
}

testBoth(
  "what it has acknowledged outlives a kill amid callbacks, and is booked once",
  async (example) => {
    const secret = newWebhookSecret();
    await using shop = await shopOf(example, {
      baseUrl: NOBODY,
      merchant: { apiKey: "sk_test", webhookSecret: secret },
    });
    await shop.serve();
    const orders = Array.from({ length: 200 }, (_, i) => String(i));
    const waiting = [...orders];
    const acknowledged: string[] = [];
    let killed: Promise<void> | null = null;
    const deliverMany = async () => {
      for (let order = waiting.shift(); order !== undefined; order = waiting.shift()) {
        try {
          if (await deliver(shop.url, secret, order) === 200) acknowledged.push(order);
        } catch (error) {
          if (killed === null || !(error instanceof TypeError)) throw error; // the shop is dead
        }
        if (acknowledged.length >= 50) killed ??= shop.kill();
      }
    };
    await Promise.all(Array.from({ length: 8 }, deliverMany));
    await killed;
    assert(
      acknowledged.length >= 50 && acknowledged.length < orders.length,
      `${acknowledged.length}`,
    );
    await shop.serve();
    const booked = new Set((await shop.books()).map(({ id }) => id));
    assertEquals(acknowledged.filter((order) => !booked.has(order)), [], "acknowledged and lost");
    for (const order of orders) assertEquals(await deliver(shop.url, secret, order), 200);
    assertEquals(
      (await shop.books()).map(({ id }) => Number(id)).sort((x, y) => x - y),
      orders.map(Number),
    );
  },
);

testBoth(
  "an event is booked as its signed body says, whatever the header says",
  async (example) => {
    const secret = newWebhookSecret();
    await using shop = await shopOf(example, {
      baseUrl: NOBODY,
      merchant: { apiKey: "sk_test", webhookSecret: secret },
    });
    await shop.serve();
    assertEquals(await deliver(shop.url, secret, "1", { header: "withdrawal.failed" }), 200);
    assertEquals((await shop.books()).map(({ kind, id, amount }) => [kind, id, amount]), [
      ["deposit.confirmed", "1", "10"],
    ]);
  },
);

testBoth("its secret counts on while it is rotated", async (example) => {
  const secret = newWebhookSecret();
  await using shop = await shopOf(example, {
    baseUrl: NOBODY,
    merchant: { apiKey: "sk_test", webhookSecret: secret },
  });
  await shop.serve();
  const next = newWebhookSecret();
  assertEquals(await deliver(shop.url, next, "1", { previous: secret }), 200);
  assertEquals(await deliver(shop.url, next, "2"), 401);
  assertEquals((await shop.books()).map(({ id }) => id), ["1"]);
});

testBoth("an order is asked for again after an answer that was cut off", async (example) => {
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const page = JSON.stringify({ url: "page", payableAmount: "20", expiresAt });
  const answers = [
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"url"',
    "HTTP/1.1 200 ",
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
  ];
  const keys: string[] = [];
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answering = (async () => {
    for (const answer of answers) {
      using connection = await listener.accept();
      let request = "";
      const buffer = new Uint8Array(4_096);
      while (!request.endsWith("}")) {
        const count = await connection.read(buffer);
        if (count === null) break;
        request += new TextDecoder().decode(buffer.subarray(0, count));
      }
      keys.push(request.match(/^idempotency-key: (.*)\r$/im)?.[1] ?? "");
      await connection.write(new TextEncoder().encode(answer));
    }
  })();
  await using shop = await shopOf(example, {
    baseUrl: `http://127.0.0.1:${listener.addr.port}`,
    merchant: { apiKey: "sk_test", webhookSecret: newWebhookSecret() },
  });
  assertEquals(await shop.run("order", "order-1", "20"), JSON.parse(page));
  await answering;
  assertEquals(keys, ["order-1:1", "order-1:1", "order-1:1"]);
});

Deno.test({
  name: "examples: a shop has 150 lines at most",
  ignore: needs({ read: true }),
  fn: async () => {
    for (const { name } of [TYPESCRIPT, PYTHON]) {
      const lines = (await Deno.readTextFile(pathOf(name))).trimEnd().split("\n").length;
      assert(lines <= 150, `${name}: ${lines}`);
    }
  },
});

testBoth("an order whose page has expired gets another one", async (example) => {
  const keys: string[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => {
      keys.push(request.headers.get("idempotency-key") ?? "");
      const expiresAt = new Date(Date.now() + (keys.length < 3 ? -60_000 : 60_000)).toISOString();
      const page = { url: `page ${keys.length}`, payableAmount: "20", expiresAt };
      return Response.json(page, { status: 201 });
    },
  );
  const baseUrl = `http://127.0.0.1:${server.addr.port}`;
  const merchant = { apiKey: "sk", webhookSecret: newWebhookSecret() };
  await using shop = await shopOf(example, { baseUrl, merchant });
  const page = await shop.run("order", "order-1", "20");
  assertEquals([page.url, keys], ["page 3", ["order-1:1", "order-1:2", "order-1:3"]]);
});

testBoth("an order costs what its first page asked for, however many it gets", async (example) => {
  const payables = ["20", "20", "10"]; // the first page, the same one when it is over, the next
  let deposits: readonly { readonly id: string; readonly amount: string }[] = [];
  let made = 0;
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => {
      if (request.method === "GET") {
        const pagination = { total: deposits.length, page: 1, limit: 100, pages: 1 };
        return Response.json({ deposits, pagination });
      }
      made++;
      const expiresAt = new Date(Date.now() + (made === 2 ? -60_000 : 60_000)).toISOString();
      const page = { url: `page ${made}`, payableAmount: payables[made - 1], expiresAt };
      return Response.json(page, { status: 201 });
    },
  );
  const baseUrl = `http://127.0.0.1:${server.addr.port}`;
  const merchant = { apiKey: "sk", webhookSecret: newWebhookSecret() };
  await using shop = await shopOf(example, { baseUrl, merchant });
  await shop.run("order", "order-1", "20");
  const next = await shop.run("order", "order-1", "20");
  assertEquals([next.url, next.payableAmount], ["page 3", "10"]);
  deposits = [{ id: "dep_1", amount: "10" }];
  assertEquals(await shop.run("paid", "order-1"), false, "half of what the order costs");
  deposits = [...deposits, { id: "dep_2", amount: "10" }];
  assertEquals(await shop.run("paid", "order-1"), true);
});

testBoth("an order that was made is not sold again at another price", async (example) => {
  let made = 0;
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const { requestedAmount } = await request.json();
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      const page = { url: `page ${++made}`, payableAmount: requestedAmount, expiresAt };
      return Response.json(page, { status: 201 });
    },
  );
  const baseUrl = `http://127.0.0.1:${server.addr.port}`;
  const merchant = { apiKey: "sk", webhookSecret: newWebhookSecret() };
  await using shop = await shopOf(example, { baseUrl, merchant });
  await shop.run("order", "order-1", "20");
  assertStringIncludes(await shop.refuses("order", "order-1", "200"), "at another price");
  assertEquals([(await shop.run("order", "order-1", "20")).url, made], ["page 2", 2]);
});

testBoth("a callback has its order looked at, and books it as paid", async (example) => {
  const deposits: { readonly id: string; readonly amount: string }[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => {
      if (request.method === "GET") {
        const pagination = { total: deposits.length, page: 1, limit: 100, pages: 1 };
        return Response.json({ deposits, pagination });
      }
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      return Response.json({ url: "page", payableAmount: "20", expiresAt }, { status: 201 });
    },
  );
  const secret = newWebhookSecret();
  const baseUrl = `http://127.0.0.1:${server.addr.port}`;
  await using shop = await shopOf(example, {
    baseUrl,
    merchant: { apiKey: "sk", webhookSecret: secret },
  });
  await shop.serve();
  await shop.run("order", "order-1", "20");
  deposits.push({ id: "dep_1", amount: "10" });
  assertEquals(await deliver(shop.url, secret, "order-1"), 200);
  deposits.push({ id: "dep_2", amount: "10" });
  assertEquals(await deliver(shop.url, secret, "order-1"), 200);
  await eventually("the order", async () => (await shop.books()).find(isOf("paid", "order-1")));
  assertEquals((await shop.books()).map(({ kind }) => kind).toSorted(), [
    "deposit.confirmed",
    "order",
    "paid",
    "price",
  ]);
});
