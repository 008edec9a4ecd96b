import { assert, assertEquals } from "@std/assert";
import { responseFaults } from "../support/documented.ts";
import { needs } from "../support/permissions.ts";
import type { Service } from "../support/service.ts";
import { checkDelivery, type Hook, openHook, type Received } from "./support/hook.ts";
import { PAYOUT, SETTLEMENT } from "./support/shop.ts";

const ignore = needs({ net: true, read: true, write: true, run: true, env: true, sys: true });

/** Fast blocks, final three blocks later. */
const ENV = { DEV_CHAIN_BLOCK_MS: "150", DEV_CHAIN_SOLID_LAG: "3" };

/** Waits for something, at most 90 s. */
async function eventually<T>(what: string, look: () => T | undefined | Promise<T | undefined>) {
  for (const end = Date.now() + 90_000; Date.now() < end;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`Cannot go on as it did not happen in 90 s: ${what}`);
}

/** A running service with a merchant's eyes: every answer is compared with the reference. */
function clientOf(service: Service) {
  const { baseUrl, merchant, admin, chains } = service.credentials;
  async function call(method: string, path: string, body?: unknown, key = merchant.apiKey) {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    const called = {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : text,
    };
    assertEquals(responseFaults(method, path, called), [], `${method} ${path}`);
    return called;
  }
  return {
    merchant,
    call,
    admin: (method: string, path: string, body?: unknown) => call(method, path, body, admin.apiKey),
    /** A customer sends tokens; answers the transaction id. */
    transfer: async (to: string, amount: string) => {
      const response = await fetch(`${chains.TRX.url}/dev/transfer`, {
        method: "POST",
        body: JSON.stringify({ to, amount, currency: "USDT" }),
      });
      assertEquals(response.status, 200);
      return (await response.json()).txid as string;
    },
  };
}

type Client = ReturnType<typeof clientOf>;

/** The first delivery of an event that tells of a record. */
function delivered(hook: Hook, event: string, about: string): Promise<Received> {
  return eventually(
    `${event} of ${about}`,
    () =>
      hook.received.find(({ headers, raw }) =>
        headers.get("x-webhook-event") === event && new TextDecoder().decode(raw).includes(about)
      ),
  );
}

async function configure(client: Client, fields: object): Promise<void> {
  const { status } = await client.call("PATCH", `/api/merchants/${client.merchant.id}`, fields);
  assertEquals(status, 200);
}

async function payIn(client: Client, amount: string, identifier: string) {
  const { body } = await client.call("POST", "/api/deposit-address", {
    network: "TRX",
    identifier,
    referenceId: `order-${identifier}`,
  });
  return { address: body.address as string, txid: await client.transfer(body.address, amount) };
}

Deno.test({
  name: "Events: the real service pays and is paid on a chain, and tells it as the contract says",
  ignore,
  fn: async (t) => {
    const { withService } = await import("../support/service.ts");
    await withService(async (service) => {
      await service.start();
      await using hook = openHook();
      const client = clientOf(service);
      const { merchant } = client;
      await configure(client, { webhookUrl: hook.url, webhookEnabled: true });
      const check = (delivery: Received) => checkDelivery(delivery, merchant.webhookSecret);

      await t.step("deposit.confirmed and transaction.confirmed", async () => {
        const { address, txid } = await payIn(client, "100", "first");
        const delivery = await delivered(hook, "deposit.confirmed", txid);
        check(delivery);
        const { depositId, eventId, ...body } = delivery.body;
        assertEquals(body, {
          type: "deposit",
          amount: "100",
          currency: "USDT",
          status: "confirmed",
          identifier: `${merchant.id}_first`,
          txHash: txid,
          referenceId: "order-first",
          address,
          isMerchantDirectDeposit: false,
          feeCharges: {
            amount: "1",
            percentage: "0.01",
            type: "HYBRID",
            activationFee: { amount: "0.5", charged: true },
          },
          receivableAmount: "98.5",
        });
        assert(eventId.length > 4 && depositId.length > 4);
        const line = await delivered(hook, "transaction.confirmed", txid);
        check(line);
        assertEquals(
          [line.body.transactionType, line.body.amount, line.body.fee, line.body.balanceAfter],
          ["DEPOSIT", "98.5", "1.5", "98.5"],
        );
      });

      await t.step("a transaction that is claimed is credited once", async () => {
        const { txid } = await payIn(client, "20", "claimed");
        await delivered(hook, "deposit.confirmed", txid);
        const claim = async (txHash: string) =>
          (await client.call("POST", "/api/deposits/claim", { network: "TRX", txHash })).body;
        const known = await claim(txid);
        assertEquals([known.status, known.deposits.length], ["already_credited", 1]);
        assertEquals([known.deposits[0].amount, known.deposits[0].metadata.txHash], ["20", txid]);
        assertEquals(await claim("0".repeat(63) + "1"), { deposits: [], status: "not_found" });
      });

      await t.step("under 1 USD: credited, listed, not told", async () => {
        const { txid } = await payIn(client, "0.5", "small");
        await eventually("the small deposit", async () => {
          const { body } = await client.call("GET", "/api/deposits?limit=1");
          const [row] = body.deposits;
          return row.status === "CONFIRMED" && row.metadata.txHash === txid ? row : undefined;
        });
        assert(!hook.received.some(({ raw }) => new TextDecoder().decode(raw).includes(txid)));
      });

      await t.step("withdrawal.confirmed, redelivered until it is acknowledged", async () => {
        hook.answer(
          () => new Response("no", { status: 500 }),
          () => Response.json({ ok: false }),
          () => new Response("ok"),
        );
        await configure(client, { webhookEvents: ["withdrawal.confirmed"] });
        const { status, body } = await client.call("POST", "/api/withdrawals", {
          ...PAYOUT,
          referenceId: "payout-1",
        });
        assertEquals(status, 201);
        const tries = await eventually("four deliveries", () => {
          const found = hook.received.filter(({ body: sent }) =>
            sent.withdrawalId === body.withdrawalId
          );
          return found.length >= 4 ? found : undefined;
        });
        for (const [i, delivery] of tries.entries()) {
          check(delivery);
          assertEquals(delivery.raw, tries[0]?.raw, "the same bytes and the same eventId");
          const waited = delivery.at - (tries[i - 1]?.at ?? -Infinity);
          assert(
            waited >= [0, 1_000, 2_000, 4_000][i]! - 50,
            `attempt ${i + 1} after ${waited} ms`,
          );
        }
        assertEquals(tries.length, 4, "acknowledged ones are not repeated");
        const { eventId, txHash, ...told } = tries[0]?.body;
        const { body: list } = await client.call("GET", "/api/withdrawals?limit=1");
        assertEquals([list.withdrawals[0].status, list.withdrawals[0].txHash], [
          "CONFIRMED",
          txHash,
        ]);
        assertEquals(told, {
          type: "withdrawal",
          withdrawalId: body.withdrawalId,
          amount: "10",
          currency: "USDT",
          status: "confirmed",
          referenceId: "payout-1",
          address: PAYOUT.destination,
          identifier: "payout-1",
          feeCharges: { amount: "1", percentage: "0", type: "FIXED_AMOUNT", networkFee: "1" },
          receivableAmount: "9",
        });
        assert(eventId.startsWith("evt_"));
        const { body: log } = await client.call(
          "GET",
          "/api/webhook-deliveries?event=withdrawal.confirmed",
        );
        assertEquals(log.deliveries[0].status, "DELIVERED");
        assertEquals(
          log.deliveries[0].attempts.map(({ status }: { status: number }) => status),
          [500, 200, 200, 200],
        );
      });

      await t.step(
        "the subscription filter: only what is listed, nothing for an empty list",
        async () => {
          const before = hook.received.length;
          await configure(client, { webhookEvents: [] });
          const { txid } = await payIn(client, "5", "filtered");
          const skipped = await eventually("a skipped event", async () => {
            const { body } = await client.call("GET", "/api/webhook-deliveries?status=SKIPPED");
            return body.deliveries.find(({ payload }: { payload: { txHash: string } }) =>
              payload.txHash === txid
            );
          });
          assertEquals(skipped.attempts, []);
          assertEquals(hook.received.length, before);
          const again = await client.call(
            "POST",
            `/api/webhook-deliveries/${skipped.id}/redeliver`,
          );
          assertEquals(again.status, 200);
          check(await delivered(hook, skipped.event, txid));
        },
      );

      await t.step("a settlement is paid and sends nothing", async () => {
        await configure(client, { webhookEvents: null });
        const { body: address } = await client.call("POST", "/api/settlement-addresses", {
          address: SETTLEMENT.destinationAddress,
          network: "TRX",
          label: "Company wallet",
        });
        const activated = await client.admin(
          "POST",
          `/api/admin/settlement-addresses/${address.id}/activate`,
        );
        assertEquals(activated.status, 200);
        const { body } = await client.call("POST", "/api/settlements", SETTLEMENT);
        assertEquals(body.status, "PROCESSING");
        await eventually("the settlement", async () => {
          const { body: list } = await client.call("GET", "/api/settlements?limit=1");
          return list.settlements[0].status === "COMPLETED" ? true : undefined;
        });
        for (const { raw } of hook.received) {
          const text = new TextDecoder().decode(raw);
          assert(!text.includes(body.id) && !text.includes(body.withdrawalId));
        }
      });

      await t.step("a hosted page goes from waiting to completed", async () => {
        const { body: page } = await client.call("POST", "/api/deposit-url", {
          network: "TRX",
          identifier: "hosted",
        });
        const path = `/api/deposit-page/status?token=${page.sessionToken}`;
        assertEquals((await client.call("GET", path)).body.status, "waiting");
        const txid = await client.transfer(page.address, "7");
        const seen = new Set<string>();
        const done = await eventually("the payment", async () => {
          const { body } = await client.call("GET", path);
          seen.add(body.status);
          return body.status === "completed" ? body : undefined;
        });
        assertEquals([done.deposit.amount, done.deposit.txHash], ["7", txid]);
        assert([...seen].every((status) => ["waiting", "received", "completed"].includes(status)));
      });

      await t.step("Pending states and payout.* are never sent", () => {
        const sent = new Set(hook.received.map(({ headers }) => headers.get("x-webhook-event")));
        for (const event of sent) {
          assert(
            /^(deposit|withdrawal|transaction)\.(confirmed|failed)$/.test(event ?? ""),
            event ?? "none",
          );
        }
      });
    }, { env: ENV });
  },
});
