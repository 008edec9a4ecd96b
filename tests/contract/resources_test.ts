import { assert, assertEquals, assertMatch } from "@std/assert";
import { SOMEWHERE } from "../support/books.ts";
import { endPayout, pay } from "./support/chain.ts";

import {
  assertFields,
  currency,
  decimal,
  eightDecimals,
  flag,
  id,
  iso,
  isoGmt8,
  list,
  network,
  number,
  object,
  oneOf,
  orNull,
  signed,
  text,
  tronAddress,
  txHash,
} from "./support/shape.ts";
import { suite } from "./support/suite.ts";

const rule = suite("Resources");

const PAGINATION = { total: number, page: number, limit: number, pages: number };
const SHORT_DEPOSIT = {
  id: id("dep"),
  amount: decimal,
  currency,
  status: oneOf("PENDING", "CONFIRMED", "FAILED", "CANCELLED"),
  createdAt: iso,
};

rule("Deposit: every field of a list row has its type and format", async (api) => {
  const { id: merchantId, key } = await api.addMerchant();
  await api.sql`
    UPDATE book.merchant SET deposit_commission_rate = 0.0125 WHERE merchant_id = ${merchantId}`;
  const { body: issued } = await api.call("POST", "/api/deposit-address", {
    key,
    body: { network: "TRX", identifier: "eve", referenceId: "order-9" },
  });
  const txid = await pay(api, merchantId, issued.address, "123.456789");
  await pay(api, merchantId, issued.address, "7", { phase: "seen" });
  const { body } = await api.call("GET", "/api/deposits", { key });
  assertFields(body.pagination, PAGINATION);
  assertEquals(body.pagination, { total: 2, page: 1, limit: 10, pages: 1 });
  for (const row of body.deposits) {
    assertFields(row, {
      id: id("dep"),
      amount: decimal,
      currency,
      network,
      status: oneOf("PENDING", "CONFIRMED", "FAILED", "CANCELLED"),
      source: oneOf("onchain"),
      referenceId: oneOf("order-9"),
      description: orNull(text),
      createdAt: iso,
      updatedAt: iso,
      clearedAt: orNull(iso),
      fee: decimal,
      commission: decimal,
      commissionRate: decimal,
      depositAddressId: id("adr"),
      depositAddress: object,
      metadata: object,
    });
    assertFields(row.depositAddress, {
      id: id("adr"),
      address: tronAddress,
      networkSymbol: network,
    });
    assertFields(row.metadata, { txHash });
  }
  const [pending, confirmed] = body.deposits;
  assertEquals([pending.status, pending.clearedAt, pending.fee, pending.commission], [
    "PENDING",
    null,
    "0",
    "0",
  ]);
  assertEquals(
    [confirmed.status, confirmed.amount, confirmed.fee, confirmed.commission],
    ["CONFIRMED", "123.456789", "0.5", "1.54321"],
  );
  assertEquals([confirmed.commissionRate, confirmed.metadata.txHash], ["0.0125", txid]);
});

rule("Deposit: the record of a manual deposit", async (api) => {
  const { key } = await api.addMerchant();
  const { status, body } = await api.call("POST", "/api/deposits", {
    key,
    body: {
      amount: "0.123456",
      currency: "USDT",
      network: "TRX",
      source: "bank",
      description: "first",
      metadata: { invoice: 7 },
    },
  });
  assertEquals(status, 201);
  assertFields(body, {
    id: id("dep"),
    amount: oneOf("0.123456"),
    currency,
    network,
    status: oneOf("PENDING"),
    source: oneOf("bank"),
    description: oneOf("first"),
    createdAt: iso,
    metadata: object,
  });
  assertEquals(body.metadata, { invoice: 7 });
});

rule("Deposit address: create response and list item", async (api) => {
  const { id: merchantId, key } = await api.addMerchant();
  const create = async (body: object) =>
    (await api.call("POST", "/api/deposit-address", { key, body })).body;
  const plain = await create({ network: "TRX", identifier: "customer-1" });
  assertFields(plain, {
    address: tronAddress,
    identifier: oneOf(`${merchantId}_customer-1`),
    network: oneOf("TRX"),
    networkSymbol: oneOf("TRX"),
  });
  assert(!("referenceId" in plain), "echoed only when supplied");
  const named = await create({ network: "TRX", identifier: "customer-1", referenceId: "r1" });
  assertEquals([named.referenceId, named.address], ["r1", plain.address]);
  await pay(api, merchantId, plain.address, "5");
  const { body } = await api.call("GET", "/api/deposit-address", { key });
  assertEquals(body.addresses.length, 1);
  assertFields(body.addresses[0], {
    id: id("adr"),
    address: oneOf(plain.address),
    networkSymbol: oneOf("TRX"),
    createdAt: iso,
    deposits: list,
  });
  assertEquals(body.addresses[0].deposits.length, 1);
  assertFields(body.addresses[0].deposits[0], SHORT_DEPOSIT);
});

rule("Deposit URL: create response and list item", async (api) => {
  const { id: merchantId, key } = await api.addMerchant();
  const create = async (body: object) =>
    (await api.call("POST", "/api/deposit-url", { key, body: { network: "TRX", ...body } })).body;
  const before = Date.now();
  const plain = await create({ identifier: "a" });
  assertFields(plain, {
    url: text,
    address: tronAddress,
    identifier: oneOf(`${merchantId}_a`),
    network: oneOf("TRX"),
    sessionToken: text,
    expiresAt: iso,
  });
  const life = Date.parse(plain.expiresAt) - before;
  assert(life >= 15 * 60_000 && life < 15 * 60_000 + 60_000, "15 minutes after creation");
  assertEquals(plain.url, `http://localhost/deposit/${plain.sessionToken}`);
  for (const name of ["referenceId", "requestedAmount", "requestedCurrency", "token"]) {
    assert(!(name in plain), `${name} is echoed only when supplied`);
  }
  assert(!("exchangeRate" in plain) && !("amount" in plain));
  const full = await create({
    identifier: "a",
    referenceId: "order 7",
    requestedAmount: "10",
    requestedCurrency: "EUR",
    token: "USDT",
  });
  assertFields(full, {
    referenceId: oneOf("order 7"),
    requestedAmount: oneOf("10"),
    requestedCurrency: oneOf("EUR"),
    token: oneOf("USDT"),
    exchangeRate: decimal,
    amount: eightDecimals,
  });
  assert(full.address !== plain.address, "a fresh deposit address behind each session");
  const { searchParams } = new URL(full.url);
  assertEquals(Object.fromEntries(searchParams), {
    ref: "order 7",
    amount: "10",
    currency: "EUR",
    token: "USDT",
  });
  await pay(api, merchantId, full.address, "5");
  const { body } = await api.call("GET", "/api/deposit-url", { key });
  assertEquals(body.depositUrls.map(({ url }: { url: string }) => url), [full.url, plain.url]);
  for (const row of body.depositUrls) {
    assertFields(row, {
      id: text,
      url: text,
      address: tronAddress,
      network: oneOf("TRX"),
      createdAt: iso,
      deposits: list,
    });
  }
  assertFields(body.depositUrls[0].deposits[0], SHORT_DEPOSIT);
});

rule("Hosted page status: waiting has no deposit, later ones show it", async (api) => {
  const { id: merchantId, key } = await api.addMerchant();
  const { body: page } = await api.call("POST", "/api/deposit-url", {
    key,
    body: { network: "TRX", identifier: "a" },
  });
  const look = () => api.call("GET", `/api/deposit-page/status?token=${page.sessionToken}`);
  const waiting = await look();
  assertEquals(waiting.body, { status: "waiting" });
  assertEquals(waiting.headers.get("cache-control"), "no-store");
  const txid = await pay(api, merchantId, page.address, "5", { phase: "seen" });
  const received = await look();
  assertEquals(received.body.status, "received");
  assertFields(received.body.deposit, {
    amount: oneOf("5"),
    currency,
    txHash: oneOf(txid),
    receivedAt: iso,
  });
  assertEquals(received.body.deposit.creditedAt, null);
  await pay(api, merchantId, page.address, "5", { txid });
  const completed = await look();
  assertEquals(completed.body.status, "completed");
  assertFields(completed.body.deposit, {
    amount: oneOf("5"),
    currency,
    txHash: oneOf(txid),
    receivedAt: iso,
    creditedAt: iso,
  });
});

rule("Withdrawal: create response and list row", async (api) => {
  const { key } = await api.addMerchant("100");
  const { status, body } = await api.call("POST", "/api/withdrawals", {
    key,
    body: {
      amount: "10.250",
      currency: "USDT",
      network: "TRX",
      destination: SOMEWHERE,
      referenceId: "order-1",
      description: "first",
    },
  });
  assertEquals(status, 201);
  assertFields(body, {
    success: flag,
    message: text,
    withdrawalId: id("wd"),
    status: oneOf("PENDING"),
    amount: oneOf("10.25"),
    currency: oneOf("USDT"),
    network: oneOf("TRX"),
    destination: oneOf(SOMEWHERE),
    feeInfo: object,
  });
  assertEquals(body.success, true);
  assertFields(body.feeInfo, { grossAmount: decimal, netAmount: decimal, totalFees: decimal });
  assertFields(body.feeInfo.feeBreakdown, {
    baseFee: decimal,
    markupRate: decimal,
    markupAmount: decimal,
    networkFee: decimal,
    totalFee: decimal,
  });
  await endPayout(api, body.withdrawalId, "paid");
  const { body: page } = await api.call("GET", "/api/withdrawals", { key });
  assertFields(page.pagination, PAGINATION);
  assertFields(page.withdrawals[0], {
    id: oneOf(body.withdrawalId),
    amount: oneOf("10.25"),
    currency: oneOf("USDT"),
    network: oneOf("TRX"),
    status: oneOf("CONFIRMED"),
    destination: oneOf(SOMEWHERE),
    description: oneOf("first"),
    createdAt: iso,
    processedAt: iso,
    fee: oneOf("1"),
    commission: oneOf("1"),
    commissionRate: oneOf("0"),
  });
});

rule("Settlement: created settlement and list row", async (api) => {
  const { id: merchantId, key } = await api.addMerchant("100");
  const { body: listed } = await api.call("POST", "/api/settlement-addresses", {
    key,
    body: { address: SOMEWHERE, network: "TRX", label: "Company wallet" },
  });
  await api.journal.ask(merchantId, {
    type: "activate-settlement-address",
    at: Date.now(),
    addressId: listed.id,
    active: true,
    audit: {
      auditId: "aud_activated",
      actor: "key_admin",
      action: "settlement-address.activate",
      requestId: "req_test",
    },
  }, 60_000);
  const created = await api.call("POST", "/api/settlements", {
    key,
    body: {
      currency: "USDT",
      requestedAmount: "10.50",
      destinationAddress: SOMEWHERE,
      destinationNetwork: "TRX",
    },
  });
  assertEquals(created.status, 201);
  const fields = {
    id: id("stl"),
    amount: oneOf("10.5"),
    currency: oneOf("USDT"),
    network: oneOf("TRX"),
    status: oneOf("PROCESSING"),
    destinationAddress: oneOf(SOMEWHERE),
    destinationNetwork: oneOf("TRX"),
    createdAt: iso,
    totalFees: oneOf("2"),
    merchantAddress: object,
  };
  assertFields(created.body, { ...fields, withdrawalId: id("wd") });
  assertEquals(created.body.merchantAddress, { address: SOMEWHERE, label: "Company wallet" });
  const { body } = await api.call("GET", "/api/settlements", { key });
  assertFields(body.pagination, PAGINATION);
  assertFields(body.settlements[0], fields);
});

rule("Transaction: every field of a row, and the balance beside the rows", async (api) => {
  const { id: merchantId, key } = await api.addMerchant();
  const { body: issued } = await api.call("POST", "/api/deposit-address", {
    key,
    body: { network: "TRX", identifier: "eve" },
  });
  const txid = await pay(api, merchantId, issued.address, "100");
  const withdrawal = await api.call("POST", "/api/withdrawals", {
    key,
    body: {
      amount: "10",
      currency: "USDT",
      network: "TRX",
      destination: SOMEWHERE,
      description: "why",
    },
  });
  const paid = await endPayout(api, withdrawal.body.withdrawalId, "paid");
  const { body } = await api.call("GET", "/api/transactions?currency=USDT&network=TRX", { key });
  assertFields(body.pagination, PAGINATION);
  assertEquals(body.pagination.limit, 20);
  assertFields(body.balance, {
    currency: oneOf("USDT"),
    network: oneOf("TRX"),
    available: oneOf("87.5"),
  });
  assertEquals(body.transactions.length, 2);
  for (const row of body.transactions) {
    assertFields(row, {
      id: id("txn"),
      txnHash: txHash,
      block: orNull(number),
      age: text,
      from: text,
      to: tronAddress,
      amount: signed,
      fee: decimal,
      token: oneOf("USDT"),
      type: oneOf("DEPOSIT", "WITHDRAWAL"),
      status: oneOf("CONFIRMED"),
      balanceBefore: decimal,
      balanceAfter: decimal,
      createdAt: iso,
      createdAtGmt8: isoGmt8,
      description: orNull(text),
      category: object,
      tags: list,
      metadata: object,
    });
    assertFields(row.category, { name: oneOf("Deposit", "Withdrawal"), description: text });
    assertEquals(Date.parse(row.createdAt), Date.parse(row.createdAtGmt8), "the same instant");
    assertEquals(
      Date.parse(`${row.createdAtGmt8.slice(0, 23)}Z`) - Date.parse(row.createdAt),
      8 * 3_600_000,
    );
    assertMatch(row.age, /^(just now|\d+ seconds? ago)$/);
  }
  const [out, into] = body.transactions;
  assertEquals(
    [out.amount, out.fee, out.txnHash, out.to, out.description, out.balanceBefore],
    ["-12", "2", paid, SOMEWHERE, "why", "99.5"],
  );
  assertEquals(
    [into.amount, into.fee, into.txnHash, into.to, into.block, into.balanceBefore],
    ["99.5", "0.5", txid, issued.address, 7, "0"],
  );
});

rule("Balance: the single row, the list, and a pair without a row", async (api) => {
  const { key } = await api.addMerchant("12.345678");
  const one = await api.call("GET", "/api/balance?currency=USDT&network=TRX", { key });
  assertFields(one.body, {
    currency: oneOf("USDT"),
    network: oneOf("TRX"),
    available: oneOf("12.345678"),
    pending: oneOf("0"),
    lastUpdatedAt: iso,
  });
  const none = await api.call("GET", "/api/balance?currency=USDT&network=TRX_SHASTA", { key });
  assertEquals([none.body.available, none.body.pending], ["0", "0"]);
  const { body } = await api.call("GET", "/api/balance", { key });
  for (const row of body.balances) {
    assertFields(row, {
      currency,
      network,
      available: decimal,
      pending: decimal,
      withdrawalEnabled: flag,
      networkFee: orNull(decimal),
      baseFee: orNull(decimal),
      markupRate: orNull(decimal),
      minWithdrawal: orNull(decimal),
      maxWithdrawable: decimal,
      largestWithdrawal: decimal,
      lastUpdatedAt: orNull(iso),
    });
  }
  const row = body.balances.find((found: { network: string }) => found.network === "TRX");
  assertEquals(
    [row.withdrawalEnabled, row.networkFee, row.maxWithdrawable],
    [true, "1", "11.345678"],
  );
});

rule("Exchange rates: units per network, as decimal strings", async (api) => {
  const { key } = await api.addMerchant();
  const { body } = await api.call("GET", "/api/exchange-rates?requestedCurrency=EUR", { key });
  assertFields(body, { baseCurrency: oneOf("EUR"), rates: object, timestamp: iso });
  assertEquals(Object.keys(body.rates).toSorted(), ["TRX", "TRX_SHASTA"]);
  for (const rate of Object.values(body.rates)) assert(decimal(rate), String(rate));
});

rule("Merchant profile: the webhook fields, and never the secret", async (api) => {
  const { id: merchantId, key } = await api.addMerchant();
  const { body } = await api.call("GET", `/api/merchants/${merchantId}`, { key });
  assertFields(body, {
    id: oneOf(merchantId),
    name: text,
    status: oneOf("ACTIVE"),
    depositCommissionRate: decimal,
    directDepositFee: oneOf("1"),
    activationFee: oneOf("0.5"),
    webhookUrl: orNull(text),
    webhookEnabled: flag,
    webhookEvents: orNull(list),
    webhookTimeout: number,
    webhookRetryCount: number,
    successUrl: orNull(text),
    failureUrl: orNull(text),
    pageOrigins: orNull(list),
    logoColor: orNull(text),
    rateLimits: object,
    resellerId: orNull(text),
    createdAt: iso,
  });
  assertEquals([body.webhookRetryCount, body.webhookTimeout], [3, 10_000]);
  assert(!JSON.stringify(body).includes("whsec_"));
});
