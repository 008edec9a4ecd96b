import { assert, assertEquals } from "@std/assert";
import { testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const DEPOSIT = { amount: "5", currency: "USDT", network: "TRX", source: "bank transfer" } as const;

/** Metadata of exactly so many bytes of JSON. */
function ofBytes(bytes: number): Record<string, string> {
  return { note: "é".repeat(Math.floor((bytes - 11) / 2)) + "x".repeat((bytes - 11) % 2) };
}

function keys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
}

test("metadata is bounded in bytes, keys and depth, and a refusal changes nothing", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const rows: readonly [string, object, number][] = [
    ["4096 bytes", ofBytes(4_096), 201],
    ["4097 bytes", ofBytes(4_097), 400],
    ["50 keys", keys(50), 201],
    ["51 keys", keys(51), 400],
    ["51 keys, within each other", { inner: keys(50) }, 400],
    ["3 levels", { a: { b: [1, "two", null] } }, 201],
    ["4 levels", { a: { b: [{}] } }, 400],
    ["numbers with digits", { a: [2 ** 53 - 1, 0.000001, 1 - 2 ** 53, 0, 123456.789] }, 201],
    ["2^53", { order: 2 ** 53 }, 400],
    ["-2^53", { a: { b: [-(2 ** 53)] } }, 400],
    ["1e20", { a: 1e20 }, 400],
    ["large numbers", { a: Array.from({ length: 500 }, () => 1e308) }, 400],
    ["1e21", { a: 1e21 }, 400],
    ["small numbers", { a: { b: [-1e-7] } }, 400],
    ["nothing", {}, 201],
  ];
  let stored = 0;
  for (const [what, metadata, status] of rows) {
    const answer = await api.call("POST", "/api/deposits", { key, body: { ...DEPOSIT, metadata } });
    assertEquals(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
    if (status === 201) {
      stored++;
      assertEquals(answer.body.metadata, metadata);
      continue;
    }
    assertEquals(answer.body.error, "Invalid request data");
    assertEquals(answer.body.details.map(({ path }: { path: string[] }) => path), [["metadata"]]);
  }
  const [row] = await api.sql`SELECT count(*) FROM book.deposit WHERE merchant_id = ${id}`;
  assertEquals(Number(row?.count), stored);
});

test("a number of metadata is shown with the digits that were sent, or refused", async () => {
  await using api = await testApi();
  const { key } = await api.addMerchant();
  const rows: readonly [string, number][] = [
    ["9007199254740993", 400],
    ["9007199254740991", 201],
    ["-9007199254740991", 201],
    ["123456789012345678", 400],
    ["0.1", 201],
    ["0.30000000000000004", 201],
    ["19.989999999999998", 201],
    ["0.10000000000000001", 201],
    ["1234.5599999999999", 201],
    ["0.123456789012345678", 400],
    ["0.1234567890123456789", 400],
    ["1234567890.1234567890", 400],
    ["1.0", 201],
    ["1.00000000000000000000", 201],
    ["-0", 201],
    ["0.0000000000000000000", 201],
    ["1e3", 201],
    ["1.5E+2", 201],
    ["2500e-2", 201],
    ["1e-400", 400],
    ["1e400", 400],
  ];
  for (const [number, status] of rows) {
    for (const metadata of [`{"n":${number}}`, `{"text":"1e9","in":{"list":[true,${number}]}}`]) {
      const raw = JSON.stringify(DEPOSIT).replace(/\}$/, `,"metadata":${metadata}}`);
      const answer = await api.call("POST", "/api/deposits", { key, raw });
      assertEquals(answer.status, status, metadata);
      if (status === 201) {
        // in the text of the answer zeros may be fewer; the number is the same
        assertEquals(answer.body.metadata, JSON.parse(metadata.replace("-0", "0")));
        continue;
      }
      assertEquals(answer.body.error, "Invalid request data");
      assertEquals(answer.body.details.map(({ path }: { path: string[] }) => path), [["metadata"]]);
      assert(answer.body.details[0].message.endsWith("write others as text"));
    }
  }
});

test("larger metadata of before is still shown whole, and its list counts as what it weighs", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const ROWS = 12;
  for (let i = 0; i < ROWS; i++) {
    const { status } = await api.call("POST", "/api/deposits", { key, body: DEPOSIT });
    assertEquals(status, 201);
  }
  const metadata = { note: "x".repeat(58_000), deep: [[[[{ a: 1 }]]]] };
  await api.sql`
    UPDATE book.deposit SET metadata = ${api.sql.json(metadata)} WHERE merchant_id = ${id}`;
  const ask = (limit: number) => api.call("GET", `/api/deposits?limit=${limit}`, { key });
  const { status, body, headers } = await ask(100);
  assertEquals([status, body.deposits.length], [200, ROWS]);
  for (const deposit of body.deposits) assertEquals(deposit.metadata, metadata);
  const left = Number(headers.get("ratelimit-remaining"));
  // 12 rows of 58 kB are 35 portions of 16 KiB above the first 128 KiB
  assert(left >= 460 && left <= 466, `${left}`);
  assertEquals(Number((await ask(1)).headers.get("ratelimit-remaining")), left - 1);
});
