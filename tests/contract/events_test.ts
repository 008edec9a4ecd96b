import { assert, assertEquals } from "@std/assert";
import { PaymentsClient } from "../../client/client.ts";
import type { Operations } from "../../client/openapi_types.ts";
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

/** A merchant's client of a running service, and an administrator's: every answer is compared with the reference. */
function clientOf(service: Service) {
  const { baseUrl, merchant, admin, chains } = service.credentials;
  async function compared(url: string, init: RequestInit): Promise<Response> {
    const response = await fetch(url, init);
    const { status, headers } = response;
    const called = { status, headers, body: JSON.parse(await response.clone().text()) };
    const method = init.method ?? "GET";
    assertEquals(responseFaults(method, url.slice(baseUrl.length), called), [], `${method} ${url}`);
    return response;
  }
  const withKey = (apiKey: string) => new PaymentsClient({ baseUrl, apiKey, fetch: compared });
  return {
    merchant,
    payments: withKey(merchant.apiKey),
    office: withKey(admin.apiKey),
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

type Profile = Operations["PATCH /api/merchants/{merchantId}"]["body"];

async function configure({ payments, merchant }: Client, body: Profile): Promise<void> {
  const path = { merchantId: merchant.id };
  await payments.call("PATCH /api/merchants/{merchantId}", { path, body });
}

async function payIn(client: Client, amount: string, identifier: string) {
  const { address } = await client.payments.call("POST /api/deposit-address", {
    body: { network: "TRX", identifier, referenceId: `order-${identifier}` },
  });
  return { address, txid: await client.transfer(address, amount) };
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
      const { merchant, payments, office } = client;
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
          network: "TRX",
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
        const claim = (txHash: string) =>
          payments.call("POST /api/deposits/claim", { body: { network: "TRX", txHash } });
        const known = await claim(txid);
        assertEquals([known.status, known.deposits.length], ["already_credited", 1]);
        const [deposit] = known.deposits;
        assertEquals([deposit?.amount, deposit?.metadata["txHash"]], ["20", txid]);
        assertEquals(await claim("0".repeat(63) + "1"), { deposits: [], status: "not_found" });
      });

      await t.step("under 1 USD: credited, listed, not told", async () => {
        const { txid } = await payIn(client, "0.5", "small");
        await eventually("the small deposit", async () => {
          const { deposits } = await payments.call("GET /api/deposits", { query: { limit: 1 } });
          return deposits.find(({ status, metadata }) =>
            status === "CONFIRMED" && metadata["txHash"] === txid
          );
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
        const { withdrawalId } = await payments.call("POST /api/withdrawals", {
          body: { ...PAYOUT, referenceId: "payout-1" },
        });
        const tries = await eventually("four deliveries", () => {
          const found = hook.received.filter(({ body: sent }) =>
            sent.withdrawalId === withdrawalId
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
        const { withdrawals } = await payments.call("GET /api/withdrawals");
        const [row] = withdrawals;
        assertEquals([row?.status, row?.txHash], ["CONFIRMED", txHash]);
        assertEquals(told, {
          type: "withdrawal",
          withdrawalId,
          amount: "10",
          currency: "USDT",
          network: "TRX",
          status: "confirmed",
          referenceId: "payout-1",
          address: PAYOUT.destination,
          identifier: "payout-1",
          feeCharges: { amount: "1", percentage: "0", type: "FIXED_AMOUNT", networkFee: "1" },
          receivableAmount: "9",
        });
        assert(eventId.startsWith("evt_"));
        const { deliveries: [delivery] } = await payments.call("GET /api/webhook-deliveries", {
          query: { event: "withdrawal.confirmed" },
        });
        assertEquals(delivery?.status, "DELIVERED");
        assertEquals(delivery?.attempts.map(({ status }) => status), [500, 200, 200, 200]);
      });

      await t.step(
        "the subscription filter: only what is listed, nothing for an empty list",
        async () => {
          const before = hook.received.length;
          await configure(client, { webhookEvents: [] });
          const { txid } = await payIn(client, "5", "filtered");
          const skipped = await eventually("a skipped event", async () => {
            const rows = payments.rows("GET /api/webhook-deliveries", {
              query: { status: "SKIPPED" },
            });
            return (await Array.fromAsync(rows)).find(({ payload }) => payload["txHash"] === txid);
          });
          assertEquals(skipped.attempts, []);
          assertEquals(hook.received.length, before);
          await payments.call("POST /api/webhook-deliveries/{eventId}/redeliver", {
            path: { eventId: skipped.id },
          });
          check(await delivered(hook, skipped.event, txid));
        },
      );

      await t.step("a settlement is paid and sends nothing", async () => {
        await configure(client, { webhookEvents: null });
        const { id: addressId } = await payments.call("POST /api/settlement-addresses", {
          body: {
            address: SETTLEMENT.destinationAddress,
            network: "TRX",
            label: "Company wallet",
          },
        });
        await office.call("POST /api/admin/settlement-addresses/{addressId}/activate", {
          path: { addressId },
        });
        const made = await payments.call("POST /api/settlements", { body: SETTLEMENT });
        assertEquals(made.status, "PROCESSING");
        await eventually("the settlement", async () => {
          const { settlements } = await payments.call("GET /api/settlements");
          return settlements[0]?.status === "COMPLETED" ? true : undefined;
        });
        for (const { raw } of hook.received) {
          const text = new TextDecoder().decode(raw);
          assert(!text.includes(made.id) && !text.includes(made.withdrawalId));
        }
      });

      await t.step("a hosted page goes from waiting to completed", async () => {
        const page = await payments.call("POST /api/deposit-url", {
          body: { network: "TRX", identifier: "hosted" },
        });
        const look = () =>
          payments.call("GET /api/deposit-page/status", { query: { token: page.sessionToken } });
        assertEquals((await look()).status, "waiting");
        const txid = await client.transfer(page.address, "7");
        const seen = new Set<string>();
        const done = await eventually("the payment", async () => {
          const now = await look();
          seen.add(now.status);
          return now.status === "completed" ? now : undefined;
        });
        assertEquals([done.deposit?.amount, done.deposit?.txHash], ["7", txid]);
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
