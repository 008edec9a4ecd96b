import { assert, assertEquals } from "@std/assert";
import { ChainUnavailable } from "../../chains/chain.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { EMPTY_CHAIN, HOT_WALLET, testApi } from "../support/api.ts";
import { amount, reserveCommand } from "../support/books.ts";
import { commitSigned } from "../support/commit_signed.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { addWallet } from "../support/wallet_row.ts";

const test = testNeeding(DATABASE);

test("rates are per network that takes deposits, as decimal strings", async () => {
  const at = Date.parse("2026-08-01T12:00:00Z");
  await using api = await testApi({
    rates: { find: (_, fiat) => fiat === "CNY" ? { rate: "7.1525", at } : null },
  });
  const { key } = await api.addMerchant();
  const get = (query: string) => api.call("GET", `/api/exchange-rates${query}`, { key });
  const { status, body } = await get("?requestedCurrency=CNY");
  assertEquals([status, body], [200, {
    baseCurrency: "CNY",
    rates: { TRX: "7.1525", TRX_SHASTA: "7.1525" },
    timestamp: "2026-08-01T12:00:00.000Z",
  }]);
  await api.sql`UPDATE book.pair SET deposits_enabled = false WHERE network = 'TRX_SHASTA'`;
  assertEquals((await get("?requestedCurrency=CNY")).body.rates, { TRX: "7.1525" });
  for (
    const code of [null, "", "USDT", "1", "usd", "ABC", "ZZZ", "XBA", "XTS", "XAU", "XDR"]
  ) {
    const query = code === null ? "" : `?requestedCurrency=${code}`;
    const answer = await get(query);
    assertEquals([answer.status, answer.body.error], [400, "Invalid request data"]);
    assertEquals(answer.body.details[0].path, ["requestedCurrency"]);
  }
  for (const code of ["EUR", "XOF", "SLE"]) {
    const stale = await get(`?requestedCurrency=${code}`);
    assertEquals(stale.status, 503, code);
    assert(stale.headers.has("retry-after"));
  }
  assertEquals((await api.call("GET", "/api/exchange-rates?requestedCurrency=CNY")).status, 401);
});

test("the treasury shows what is held, promised, waiting and under way, and a node that is silent", async () => {
  const held = { ...EMPTY_CHAIN, balanceOf: () => Promise.resolve(amount("100")) };
  const silent = {
    ...EMPTY_CHAIN,
    balanceOf: () => Promise.reject(new ChainUnavailable("timeout", "Cannot read as it is slow")),
  };
  await using api = await testApi({
    chains: new Map<Network, typeof EMPTY_CHAIN>([["TRX", held], ["TRX_SHASTA", silent]]),
  });
  const admin = await api.addKey(null, { permissions: ["admin:read"] });
  const { id, key } = await api.addMerchant("1000");
  for (const network of ["TRX", "TRX_SHASTA"] as const) {
    await addWallet(api.sql, network, HOT_WALLET);
  }
  const [first, second] = ["10", "95"].map((text) => reserveCommand({ amount: amount(text) }));
  for (const command of [first, second]) {
    if (command !== undefined) await api.journal.ask(id, command, 60_000);
  }
  const outgoingId = first?.outgoingId ?? "";
  const expiresAt = Date.now() + 60_000;
  await commitSigned(api.sql, [
    { outgoingId, merchantId: id, network: "TRX", txid: "ab".repeat(32), bytes: "{}", expiresAt },
  ]);
  await api.sql`
    UPDATE book.outgoing SET reason = 'waiting for funds' WHERE id = ${second?.outgoingId ?? ""}`;
  await api.sql`
    INSERT INTO book.sweep_address (network, address, currency, merchant_id, reason, detail, amount)
    VALUES ('TRX', ${HOT_WALLET}, 'USDT', ${id}, 'below_economics', '3 is not more than 5', 3)`;
  const { status, body } = await api.call("GET", "/api/admin/treasury", { key: admin });
  assertEquals(status, 200);
  const [trx, shasta] = body.networks;
  assertEquals([trx.network, trx.hotWallet, trx.payoutsOpen], ["TRX", HOT_WALLET, true]);
  assertEquals(trx.balances, [{
    currency: "USDT",
    balance: "100",
    queued: "95",
    inFlight: "10",
    liquidity: "-5",
    ceiling: null,
    target: null,
  }]);
  assertEquals(
    trx.waiting.map((group: Record<string, unknown>) => [group.status, group.reason, group.amount])
      .sort(),
    [["queued", "waiting for funds", "95"], ["signed", null, "10"]],
  );
  assertEquals(typeof trx.oldestQueuedSeconds, "number");
  assertEquals([trx.lowBelow, trx.coldAddress, trx.secondNodes], [null, null, null]);
  assertEquals(trx.inFlight.length, 1);
  assertEquals(trx.inFlight[0].txid, "ab".repeat(32));
  assertEquals(
    trx.queued.map((row: { amount: string; reason: string }) => [row.amount, row.reason]),
    [
      ["95", "waiting for funds"],
    ],
  );
  assertEquals(trx.sweeps.counts, [{ reason: "below_economics", addresses: 1 }]);
  const [{ address, reason, amount: waiting }] = trx.sweeps.addresses;
  assertEquals([address, reason, waiting], [HOT_WALLET, "below_economics", "3"]);
  assertEquals(shasta.sweeps, { counts: [], addresses: [] });
  assertEquals(shasta.balances[0].balance, null);
  assertEquals(shasta.native, null);
  assertEquals((await api.call("GET", "/api/admin/treasury", { key })).status, 403);
});
