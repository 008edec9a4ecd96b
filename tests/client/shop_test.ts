import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { PaymentsClient } from "../../client/client.ts";
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

/** A shop with books of its own, on a port that stays when it is started again. */
async function shopOf({ program, args }: Example, service: Service) {
  const { baseUrl, merchant } = service.credentials;
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const folder = await Deno.makeTempDir({ prefix: "shop-" });
  const env = {
    PAYMENTS_URL: baseUrl,
    API_KEY: merchant.apiKey,
    WEBHOOK_SECRET: merchant.webhookSecret,
    BOOKS: `${folder}/books`,
    PORT: String(port),
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
      serving = new Deno.Command(program, { args: [...args, "serve"], env, stdout: "piped" })
        .spawn();
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
  await using shop = await shopOf(example, service);
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
  await fetch(`${chains.TRX.url}/dev/transfer`, {
    method: "POST",
    body: JSON.stringify({ to: page.address, amount: page.payableAmount, currency: "USDT" }),
  });
  const deposit = await eventually("the deposit", async () => {
    const { deposits } = await payments.call("GET /api/deposits", {
      query: { referenceId: order },
    });
    return deposits.find(({ status }) => status === "CONFIRMED");
  });
  await shop.serve();
  const booked = await eventually(
    "the booking",
    async () => (await shop.books()).find(({ id }) => id === order),
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
  assertEquals([amount, commission, fee], ["20", "0.2", "0.5"]);
  assertEquals((await shop.books()).map(({ kind, id, amount }) => [kind, id, amount]), [
    ["deposit.confirmed", order, "19.3"],
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
