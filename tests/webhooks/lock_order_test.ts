import { assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import type { AttemptMark, AttemptResult } from "../../ledger/outbox/attempts.ts";
import { redeliverEvent, redeliverEvents } from "../../ledger/outbox/deliveries.ts";
import { recordTestEvent, resumeEndpoint } from "../../ledger/outbox/endpoint_status.ts";
import { createOutbox } from "../../ledger/outbox/outbox.ts";
import { addMerchant } from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { addEvent } from "../support/hooks.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const URL_OF_SHOP = "https://shop.example/";
const ROUNDS = 60;

const mark = (eventId: string, merchantId: string, kind: "failed" | "delivered"): AttemptMark => ({
  eventId,
  merchantId,
  attempt: 1,
  url: URL_OF_SHOP,
  result: { kind } satisfies AttemptResult,
  outcome: kind,
  httpStatus: null,
  durationMs: 1,
  answer: null,
});

const testEvent = (merchantId: string) => ({
  eventId: newId("evt"),
  merchantId,
  type: "webhook.test",
  payload: "{}",
  acknowledged: true,
  outcome: "acknowledged",
  httpStatus: 200,
  durationMs: 1,
  answer: null,
  createdAt: Date.now(),
});

/** Two merchants, each with an event that is being delivered. */
async function listeners(sql: Sql) {
  const merchants = [
    await addMerchant(sql, { webhookUrl: URL_OF_SHOP }),
    await addMerchant(sql, { webhookUrl: URL_OF_SHOP }),
  ];
  const events = await Promise.all(merchants.map((id) => addEvent(sql, id, { attempts: 1 })));
  return merchants.map((merchantId, i) => ({ merchantId, eventId: events[i] ?? "" }));
}

test("attempts are written down while endpoints are resumed, tested and sent to again: nothing deadlocks", async () => {
  await using database = await testDatabase({ max: 8 });
  const { sql } = database;
  const both = await listeners(sql);
  const [one] = both;
  if (one === undefined) throw new Error("Cannot test without a merchant");
  const { merchantId, eventId } = one;
  const nodes = [createOutbox(sql), createOutbox(sql)];
  const range = { status: "FAILED", from: 0, until: Date.now() + 3_600_000 } as const;
  const loop = async (step: (round: number) => Promise<unknown>) => {
    for (let round = 0; round < ROUNDS; round++) await step(round);
  };
  await Promise.all([
    // two nodes, with the merchants in opposite orders
    loop((round) =>
      nodes[0]?.mark(
        both.map((of) => mark(of.eventId, of.merchantId, round % 2 ? "delivered" : "failed")),
      ) ?? Promise.resolve()
    ),
    loop((round) =>
      nodes[1]?.mark(
        both.toReversed().map((of) =>
          mark(newId("evt"), of.merchantId, round % 3 ? "failed" : "delivered")
        ),
      ) ?? Promise.resolve()
    ),
    loop(() => resumeEndpoint(sql, merchantId, null)),
    loop(() => recordTestEvent(sql, testEvent(merchantId), null)),
    loop(() => redeliverEvent(sql, merchantId, eventId)),
    loop(() => redeliverEvents(sql, merchantId, range, 10, () => null)),
    loop(() => nodes[0]?.probe().then(() => nodes[1]?.revive()) ?? Promise.resolve()),
  ]);
  // and nothing is left locked
  await resumeEndpoint(sql, merchantId, null);
  assertEquals(
    (await sql`SELECT FROM book.webhook_endpoint WHERE merchant_id = ${merchantId}`).length,
    0,
  );
});
