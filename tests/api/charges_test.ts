import { assert, assertEquals } from "@std/assert";
import { newId } from "../../actors/runtime/ids.ts";
import { add, formatAmount, ZERO } from "../../ledger/money/amount.ts";
import { type TestApi, testApi, testsOfOneApi } from "../support/api.ts";
import {
  addTransfer,
  amount,
  booksFaults,
  fund,
  refundCommand,
  SOMEWHERE,
  until,
} from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { sumBuckets } from "../support/list_buckets.ts";

const test = testNeeding(DATABASE);
const shared = testsOfOneApi("charges");

const PAYOUT = { amount: "10", currency: "USDT", network: "TRX", destination: SOMEWHERE };

test("every fee is a charge with its description and its payment; a refund reverses it", async () => {
  await using api = await testApi({ payoutsOpen: () => false });
  const { id, key } = await api.addMerchant("100");
  await api.sql`UPDATE book.merchant SET deposit_commission_rate = 0.01 WHERE merchant_id = ${id}`;
  const address = await api.call("POST", "/api/deposit-address", {
    key,
    body: { network: "TRX", identifier: "alice" },
  });
  // written past the journal: the actor must read it anew
  await api.sql`UPDATE book.account SET version = version + 1 WHERE merchant_id = ${id}`;
  await addTransfer(api.sql, id, "50", { to: address.body.address });
  await fund(api.sql, api.journal, id, "0.5");
  const failed = await api.call("POST", "/api/withdrawals", { key, body: PAYOUT });
  const { body } = await api.call("GET", `/api/merchants/${id}/charges`, { key });
  const shown = body.charges.map((
    { type, description, amount }: { type: string; description: string; amount: string },
  ) => [type, description, amount]);
  assertEquals(shown, [
    ["REVERSAL", "Fee returned", "-1"],
    ["REVERSAL", "Fee returned", "-1"],
    ["NETWORK_FEE", "Network fee", "1"],
    ["WITHDRAWAL_COMMISSION", "Withdrawal commission", "1"],
    ["ADDRESS_ACTIVATION", "Address activation fee (fixed)", "0.5"],
    ["DEPOSIT_COMMISSION", "Deposit commission (percentage)", "0.5"],
  ]);
  const { id: _, createdAt: __, ...reversal } = body.charges[0];
  assertEquals(reversal, {
    type: "REVERSAL",
    description: "Fee returned",
    amount: "-1",
    currency: "USDT",
    network: "TRX",
    depositId: null,
    withdrawalId: failed.body.withdrawalId,
    settlementId: null,
  });
  assert(body.charges[5].depositId.startsWith("dep_"));
  assertEquals(body.charges[5].withdrawalId, null);
  assertEquals(body.pagination, { total: 6, page: 1, limit: 20, pages: 1 });
  const pair = { currency: "USDT", network: "TRX" };
  assertEquals(body.totals, [
    { type: "ADDRESS_ACTIVATION", ...pair, count: 1, amount: "0.5" },
    { type: "DEPOSIT_COMMISSION", ...pair, count: 1, amount: "0.5" },
    { type: "NETWORK_FEE", ...pair, count: 1, amount: "1" },
    { type: "REVERSAL", ...pair, count: 2, amount: "-2" },
    { type: "WITHDRAWAL_COMMISSION", ...pair, count: 1, amount: "1" },
  ]);
});

shared("a settlement's charges name it", async (api) => {
  const { id, key } = await api.addMerchant("100");
  const added = await api.call("POST", "/api/settlement-addresses", {
    key,
    body: { address: SOMEWHERE, network: "TRX", label: "cold" },
  });
  await api.journal.ask(id, {
    type: "activate-settlement-address",
    at: Date.now(),
    addressId: added.body.id,
    active: true,
    audit: {
      auditId: newId("aud"),
      actor: "key_admin",
      action: "settlement-address.activate",
      requestId: "req_test",
    },
  }, 60_000);
  const { body } = await api.call("POST", "/api/settlements", {
    key,
    body: {
      currency: "USDT",
      requestedAmount: "10",
      destinationAddress: SOMEWHERE,
      destinationNetwork: "TRX",
    },
  });
  const { charges } = (await api.call("GET", `/api/merchants/${id}/charges`, { key })).body;
  assertEquals(charges.length, 2);
  for (const charge of charges) {
    assertEquals([charge.settlementId, charge.withdrawalId], [body.id, body.withdrawalId]);
  }
});

const TYPES = ["DEPOSIT_COMMISSION", "WITHDRAWAL_COMMISSION", "NETWORK_FEE", "REVERSAL"] as const;
const NETWORKS = ["TRX", "TRX_SHASTA"] as const;

interface Charge {
  readonly id: string;
  readonly type: (typeof TYPES)[number];
  readonly network: (typeof NETWORKS)[number];
  readonly amount: string;
  readonly at: number;
}

const BEGIN = Date.UTC(2026, 2, 30, 20);

/** 400 charges over ten days, some days without any. */
async function addCharges(api: TestApi, merchantId: string): Promise<readonly Charge[]> {
  const charges: Charge[] = [];
  let at = BEGIN;
  for (let i = 0; i < 400; i++) {
    at += i % 97 === 0 ? 2 * 86_400_000 : (i * 7919) % 1_200_000;
    const type = TYPES[(i * 31) % 7] ?? "NETWORK_FEE";
    charges.push({
      id: newId("chg"),
      type,
      network: i % 5 === 0 ? "TRX_SHASTA" : "TRX",
      amount: `${type === "REVERSAL" ? "-" : ""}0.${(i % 9) + 1}`,
      at,
    });
  }
  await api.sql`
    INSERT INTO book.charge (merchant_id, seq, id, payment_id, type, currency, network, amount, created_at)
    SELECT ${merchantId}, n, id, 'wd_' || n, type, 'USDT', network, amount::numeric, created_at
    FROM unnest(${charges.map((one) => one.id)}::text[], ${charges.map((one) => one.type)}::text[],
      ${charges.map((one) => one.network)}::text[], ${charges.map((one) => one.amount)}::text[],
      ${charges.map((one) => new Date(one.at).toISOString())}::text[]::timestamptz[])
      WITH ORDINALITY AS t(id, type, network, amount, created_at, n)`;
  await api.sql`UPDATE book.account SET charge_seq = 400 WHERE merchant_id = ${merchantId}`;
  await sumBuckets(api.sql, merchantId);
  return charges.toReversed();
}

test("pages and totals are those of the rows, whatever the filter", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const charges = await addCharges(api, id);
  const newest = charges[0]?.at ?? 0;
  const times = [
    null,
    BEGIN + 3 * 86_400_000 + 12_345,
    charges[150]?.at ?? 0,
    newest,
  ];
  const dates = times.flatMap((from, i) => times.slice(i).map((last) => [from, last] as const));
  for (const type of [null, "NETWORK_FEE", "ADDRESS_ACTIVATION"] as const) {
    for (const network of [null, "TRX_SHASTA"] as const) {
      for (const [from, last] of dates) {
        if (from !== null && last === null) continue;
        const expected = charges.filter((one) =>
          (type === null || one.type === type) && (network === null || one.network === network) &&
          (from === null || one.at >= from) && (last === null || one.at <= last)
        );
        const query = new URLSearchParams({ limit: "30" });
        if (type !== null) query.set("type", type);
        if (network !== null) query.set("network", network);
        if (from !== null) query.set("startDate", new Date(from).toISOString());
        if (last !== null) query.set("endDate", new Date(last).toISOString());
        const middle = Math.max(Math.ceil(expected.length / 60), 1);
        for (const page of new Set([1, middle, Math.ceil(expected.length / 30) + 1])) {
          query.set("page", String(page));
          const { body, status } = await api.call("GET", `/api/merchants/${id}/charges?${query}`, {
            key,
          });
          assertEquals(status, 200, `${query}`);
          assertEquals(
            body.charges.map((one: Charge) => one.id),
            expected.slice((page - 1) * 30, page * 30).map((one) => one.id),
            `${query}`,
          );
          assertEquals(body.pagination.total, expected.length, `${query}`);
          assertEquals(body.totals, totalsOf(expected), `${query}`);
        }
      }
    }
  }
});

function totalsOf(charges: readonly Charge[]) {
  const groups = Map.groupBy(charges, ({ type, network }) => `${type} ${network}`);
  return [...groups].sort(([a], [b]) => a < b ? -1 : 1).map(([key, rows]) => ({
    type: key.split(" ")[0],
    currency: "USDT",
    network: key.split(" ")[1],
    count: rows.length,
    amount: formatAmount(rows.reduce((sum, row) => add(sum, signed(row.amount)), ZERO)),
  }));
}

function signed(text: string) {
  return text.startsWith("-") ? -amount(text.slice(1)) as typeof ZERO : amount(text);
}

test("whole days are whole days, and a reversed range is refused", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const charges = await addCharges(api, id);
  const day = new Date(charges[100]?.at ?? 0).toISOString().slice(0, 10);
  const get = (query: string, by = key) =>
    api.call("GET", `/api/merchants/${id}/charges${query}`, { key: by });
  const { body } = await get(`?startDate=${day}&endDate=${day}`);
  const expected = charges.filter(({ at }) => new Date(at).toISOString().startsWith(day));
  assert(expected.length > 0);
  assertEquals([body.pagination.total, body.totals], [expected.length, totalsOf(expected)]);
  assertEquals((await get("?startDate=2026-04-02&endDate=2026-04-01")).status, 422);
  for (const query of ["?type=x", "?page=0", "?limit=101", "?currency=EUR", "?network=x"]) {
    assertEquals((await get(query)).status, 400, query);
  }
  const stranger = await api.addMerchant();
  const refused = await get("", stranger.key);
  assertEquals([refused.status, refused.body], [403, {
    error: "Insufficient permissions",
    code: "insufficient_permissions",
  }]);
  const admin = await api.addKey(null, { permissions: ["admin:read"] });
  assertEquals((await get("", admin)).body.pagination.total, 400);
  assertEquals((await api.call("GET", "/api/merchants/mer_x/charges", { key: admin })).status, 404);
});

test("earnings are the margins of the account, in whatever part they came to it", async () => {
  await using api = await testApi();
  const merchant = await api.addMerchant();
  const reseller = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET deposit_commission_rate = 0.1, margin_rate = 0.25, margin_beneficiary = merchant_id
    WHERE merchant_id = ${merchant.id}`;
  const earnings = async (id: string, key: string, query = "") => {
    const { status, body } = await api.call("GET", `/api/merchants/${id}/earnings${query}`, {
      key,
    });
    assertEquals([status, body.merchantId], [200, id]);
    return body.earnings;
  };
  assertEquals(await earnings(merchant.id, merchant.key), []);
  await fund(api.sql, api.journal, merchant.id, "100");
  const body = { ...PAYOUT, destination: SOMEWHERE };
  const { withdrawalId } =
    (await api.call("POST", "/api/withdrawals", { key: merchant.key, body })).body;
  await api.journal.ask(merchant.id, refundCommand(withdrawalId), 60_000);
  const pair = { currency: "USDT", network: "TRX" };
  assertEquals(await earnings(merchant.id, merchant.key), [{
    ...pair,
    feeEvents: 2,
    volume: "110",
    grossFeesCharged: "11",
    marginEarned: "2.75",
    reversed: "0.25",
    net: "2.5",
  }]);
  assertEquals(await earnings(merchant.id, merchant.key, "?endDate=2020-01-01"), []);
  const [whole] = await earnings(merchant.id, merchant.key);
  const instant = (shift: number) => new Date(Date.now() + shift).toISOString();
  for (
    const query of [
      "?startDate=2020-01-01",
      `?startDate=${instant(-120_000)}`,
      `?startDate=${instant(-120_000)}&endDate=${instant(0)}`,
      `?endDate=${instant(0).slice(0, 10)}`,
    ]
  ) {
    assertEquals(await earnings(merchant.id, merchant.key, query), [whole], query);
  }
  // the beneficiary changes: from now on the reseller earns the shares
  await api.sql`
    UPDATE book.merchant SET margin_beneficiary = ${reseller.id} WHERE merchant_id = ${merchant.id}`;
  await api.sql`UPDATE book.account SET version = version + 1 WHERE merchant_id = ${merchant.id}`;
  await fund(api.sql, api.journal, merchant.id, "10");
  await until(async () => (await earnings(reseller.id, reseller.key)).length === 1);
  assertEquals(await earnings(reseller.id, reseller.key), [{
    ...pair,
    feeEvents: 1,
    volume: "10",
    grossFeesCharged: "1",
    marginEarned: "0.25",
    reversed: "0",
    net: "0.25",
  }]);
  assertEquals(await booksFaults(api.sql), []);
  const [own] = await earnings(merchant.id, merchant.key);
  assertEquals([own.feeEvents, own.volume, own.marginEarned], [3, "120", "2.75"]);
  const refused = await api.call("GET", `/api/merchants/${merchant.id}/earnings`, {
    key: reseller.key,
  });
  assertEquals([refused.status, refused.body], [403, {
    error: "Insufficient permissions",
    code: "insufficient_permissions",
  }]);
});
