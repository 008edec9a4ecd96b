import { assertEquals, assertRejects } from "@std/assert";
import { type ClientOptions, PaymentsClient, PaymentsError } from "../../client/client.ts";

const ADDRESS = { network: "TRX", identifier: "customer-7" } as const;
const PAYOUT = { amount: "10", currency: "USDT", network: "TRX", destination: "T" } as const;

type Answered = () => Response | Promise<Response>;

/** A client whose requests get these answers, the last one again and again; with the requests. */
function clientOf(answers: readonly Answered[], options: Partial<ClientOptions> = {}) {
  const sent: { readonly url: string; readonly init: RequestInit }[] = [];
  const client = new PaymentsClient({
    baseUrl: "https://pay.example/",
    apiKey: "sk_test",
    fetch: async (url, init) => {
      const answer = answers[Math.min(sent.length, answers.length - 1)];
      sent.push({ url, init });
      if (answer === undefined) throw new Error("no answer was prepared");
      return await answer();
    },
    ...options,
  });
  return { client, sent };
}

function refusal(status: number, code: string, headers: Record<string, string> = {}): Answered {
  const given = { "x-request-id": "req_1", ...headers };
  return () => Response.json({ error: "Some text", code }, { status, headers: given });
}

const lost: Answered = () => {
  throw new TypeError("connection reset");
};
const done: Answered = () => Response.json({ done: true });
const proxy: Answered = () => new Response("<h1>Bad gateway</h1>", { status: 502 });
const atOnce = { "retry-after": "0" };

/** The code of the error, and how many requests were sent. */
async function failed(call: Promise<unknown>, sent: readonly unknown[]) {
  const error = await assertRejects(() => call, PaymentsError);
  return [error.code, sent.length, error.mayHaveHappened] as const;
}

Deno.test("client: a request goes to its path with key, query and body", async () => {
  const { client, sent } = clientOf([done]);
  await client.call("GET /api/deposits", { query: { referenceId: "a b", page: 2 } });
  await client.call("POST /api/withdrawals/{withdrawalId}/cancel", {
    path: { withdrawalId: "wd/1" },
  });
  await client.call("POST /api/deposit-address", { body: ADDRESS });
  assertEquals(sent.map(({ url, init }) => [init.method, url, init.body]), [
    ["GET", "https://pay.example/api/deposits?referenceId=a+b&page=2", undefined],
    ["POST", "https://pay.example/api/withdrawals/wd%2F1/cancel", undefined],
    ["POST", "https://pay.example/api/deposit-address", JSON.stringify(ADDRESS)],
  ]);
  const headers = new Headers(sent[2]?.init.headers);
  assertEquals(headers.get("authorization"), "Bearer sk_test");
  assertEquals(headers.get("content-type"), "application/json");
  assertEquals(sent[0]?.init.redirect, "error");
});

Deno.test("client: what creates without a reference is never sent twice where its outcome is unknown", async () => {
  for (const answer of [lost, proxy, refusal(500, "internal"), refusal(500, "outcome_unknown")]) {
    const { client, sent } = clientOf([answer, done]);
    const [, count, mayHaveHappened] = await failed(
      client.call("POST /api/withdrawals", { body: PAYOUT }),
      sent,
    );
    assertEquals([count, mayHaveHappened], [1, true]);
  }
  const { client, sent } = clientOf([lost, done]);
  const body = { ...PAYOUT, source: "bank" };
  assertEquals(await failed(client.call("POST /api/deposits", { body }), sent), [
    "no_answer",
    1,
    true,
  ]);
});

Deno.test("client: what names its reference, key or customer is sent again, as the same request", async () => {
  const { client, sent } = clientOf([lost, proxy, refusal(500, "outcome_unknown"), done]);
  await client.call("POST /api/withdrawals", { body: { ...PAYOUT, referenceId: "payout-1" } });
  assertEquals(sent.length, 4);
  assertEquals(new Set(sent.map(({ init }) => init.body)).size, 1);

  const address = clientOf([lost, done]);
  await address.client.call("POST /api/deposit-address", { body: ADDRESS });
  assertEquals(address.sent.length, 2);

  const settled = clientOf([lost, done]);
  await settled.client.call("POST /api/settlements", {
    body: {
      currency: "USDT",
      requestedAmount: "5",
      destinationAddress: "T",
      destinationNetwork: "TRX",
    },
  });
  const keys = settled.sent.map(({ init }) => new Headers(init.headers).get("idempotency-key"));
  assertEquals([keys.length, new Set(keys).size, keys[0]?.length], [2, 1, 36]);
});

Deno.test("client: where the service has done nothing, any request is sent again after its pause", async () => {
  const answers = [
    refusal(429, "rate_limit_exceeded", atOnce),
    refusal(503, "unavailable", atOnce),
    refusal(503, "withdrawal_unavailable", atOnce),
    done,
  ];
  const { client, sent } = clientOf(answers);
  await client.call("POST /api/withdrawals", { body: PAYOUT });
  assertEquals(sent.length, 4);

  const late = clientOf([refusal(503, "withdrawal_unavailable", { "retry-after": "30" }), done]);
  const error = await assertRejects(
    () => late.client.call("POST /api/withdrawals", { body: PAYOUT }),
    PaymentsError,
  );
  assertEquals([error.code, error.retryAfterMs, error.mayHaveHappened, late.sent.length], [
    "withdrawal_unavailable",
    30_000,
    false,
    1,
  ]);
});

Deno.test("client: a refusal is thrown once, with code, text, fields and the request's id", async () => {
  const { client, sent } = clientOf([
    () =>
      Response.json({
        error: "Duplicate referenceId",
        code: "duplicate_reference",
        withdrawalId: "wd_1",
      }, {
        status: 409,
        headers: { "x-request-id": "req_1" },
      }),
  ]);
  const body = { ...PAYOUT, referenceId: "payout-1" };
  const error = await assertRejects(
    () => client.call("POST /api/withdrawals", { body }),
    PaymentsError,
  );
  assertEquals([error.code, error.status, error.requestId, error.body["withdrawalId"]], [
    "duplicate_reference",
    409,
    "req_1",
    "wd_1",
  ]);
  assertEquals(error.message, "POST /api/withdrawals: duplicate_reference (Duplicate referenceId)");
  assertEquals([sent.length, error.mayHaveHappened], [1, false]);
});

Deno.test("client: attempts are bounded, and each one ends by its time-out", async () => {
  const many = clientOf([refusal(503, "unavailable", atOnce)], { attempts: 3 });
  assertEquals(await failed(many.client.call("GET /api/balance"), many.sent), [
    "unavailable",
    3,
    false,
  ]);

  const silent: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const slow = new PaymentsClient({
    baseUrl: "https://pay.example",
    apiKey: "sk_test",
    timeoutMs: 20,
    attempts: 1,
    fetch: silent,
  });
  const error = await assertRejects(() => slow.call("GET /api/balance"), PaymentsError);
  assertEquals([error.code, (error.cause as Error).name], ["no_answer", "TimeoutError"]);
});

Deno.test("client: a caller that gives up ends the call, and no more is sent", async () => {
  const { client, sent } = clientOf([refusal(503, "unavailable", { "retry-after": "5" })]);
  const signal = AbortSignal.timeout(30);
  await assertRejects(() => client.call("GET /api/balance", {}, { signal }), DOMException);
  assertEquals(sent.length, 1);
});

Deno.test("client: rows are read page by page, and none twice though new ones push them on", async () => {
  const page = (ids: readonly string[]): Answered => () =>
    Response.json({ deposits: ids.map((id) => ({ id })), pagination: { pages: 3 } });
  const { client, sent } = clientOf([page(["d", "c"]), page(["c", "b"]), page(["a"])]);
  const rows = await Array.fromAsync(client.rows("GET /api/deposits", { query: { limit: 2 } }));
  assertEquals(rows.map(({ id }) => id), ["d", "c", "b", "a"]);
  assertEquals(sent.map(({ url }) => new URL(url).search), [
    "?limit=2&page=1",
    "?limit=2&page=2",
    "?limit=2&page=3",
  ]);
});

Deno.test("client: a key that the operation does not know has nothing sent twice", async () => {
  const { client, sent } = clientOf([lost, done]);
  const parts = { body: PAYOUT, header: { "Idempotency-Key": "payout-1" } };
  assertEquals(await failed(client.call("POST /api/withdrawals", parts), sent), [
    "no_answer",
    1,
    true,
  ]);
});

Deno.test("client: addresses for settlements are read row by row", async () => {
  const { client } = clientOf([
    () => Response.json({ settlementAddresses: [{ id: "a" }], pagination: { pages: 1 } }),
  ]);
  const rows = await Array.fromAsync(client.rows("GET /api/settlement-addresses"));
  assertEquals(rows.map(({ id }) => id), ["a"]);
});

Deno.test("client: the key that it made is in the error, and what a lost attempt may have done as well", async () => {
  const { client, sent } = clientOf([lost, refusal(503, "unavailable", atOnce)], { attempts: 2 });
  const body = {
    currency: "USDT",
    requestedAmount: "5",
    destinationAddress: "T",
    destinationNetwork: "TRX",
  } as const;
  const error = await assertRejects(
    () => client.call("POST /api/settlements", { body }),
    PaymentsError,
  );
  const keys = sent.map(({ init }) => new Headers(init.headers).get("idempotency-key"));
  assertEquals(keys, [error.idempotencyKey, error.idempotencyKey]);
  assertEquals([error.code, error.mayHaveHappened], ["unavailable", true]);
});

Deno.test("client: a caller that gives up a change is told that it may have happened", async () => {
  const giving = new AbortController();
  const { client } = clientOf([() => {
    giving.abort();
    throw giving.signal.reason;
  }]);
  const options = { signal: giving.signal };
  const error = await assertRejects(
    () => client.call("POST /api/withdrawals", { body: PAYOUT }, options),
    PaymentsError,
  );
  assertEquals([error.code, error.mayHaveHappened], ["no_answer", true]);
  assertEquals((error.cause as Error).name, "AbortError");
});
