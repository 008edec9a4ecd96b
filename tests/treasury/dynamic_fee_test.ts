import { assertEquals } from "@std/assert";
import { configure, type LogRecord, reset } from "@logtape/logtape";
import { FeeBoard, type FeeBoardOptions } from "../../actors/treasury/fee_board.ts";
import { type Chain, ChainUnavailable } from "../../chains/chain.ts";
import { formatAmount, ZERO } from "../../ledger/money/amount.ts";
import { dynamicFeeOf, networkFeeOf } from "../../ledger/money/fees.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { coinRate } from "../../rates/coin_rate.ts";
import { fixedRates } from "../../rates/fixed_rates.ts";
import { testApi } from "../support/api.ts";
import {
  addMerchant,
  amount,
  fund,
  openJournal,
  reserveCommand,
  SOMEWHERE,
} from "../support/books.ts";
import { testDatabase } from "../support/database.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

/** A chain whose transfers cost 6 to a holder and 12 to anybody else, until told otherwise. */
class PricedChain {
  holder = "6";
  newHolder = "12";
  failure: ChainUnavailable | null = null;
  /** Above this a transfer is not estimated. */
  cap: string | null = null;
  readonly asked: string[] = [];
  readonly chain: Chain = paperChain("TRX", {
    capabilities: {
      currencies: ["USDT"],
      life: { kind: "expires", ticks: 60_000, ms: 60_000 },
      sweepsAtOnce: 1,
      blockMs: 3_000,
    },
    estimateFee: ([movement]) => {
      const { from, to } = movement ?? {};
      this.asked.push(`${from} -> ${to}`);
      if (this.failure !== null) return Promise.reject(this.failure);
      const fee = amount(to === "hot-wallet" ? this.holder : this.newHolder);
      if (this.cap !== null && fee > amount(this.cap)) {
        return Promise.reject(
          new ChainUnavailable("above-cap", "Cannot estimate as it is too dear"),
        );
      }
      return Promise.resolve({ fee, limit: fee });
    },
  });
}

function board(priced: PricedChain, options: Partial<FeeBoardOptions> = {}): FeeBoard {
  return new FeeBoard({
    chains: new Map<Network, Chain>([["TRX", priced.chain]]),
    coinRate: () => ({ rate: "0.3", at: 0 }),
    terms: () => ({ receiver: "new", margin: "0.1", floor: amount("0.5"), cap: amount("150") }),
    now: () => Date.now(),
    ...options,
  });
}

Deno.test("a dynamic fee covers cost and margin, rounded up to hundredths", () => {
  const fee = (cost: string, rate: string, margin: string) =>
    formatAmount(dynamicFeeOf(amount(cost), rate, margin));
  assertEquals(fee("13.3785", "0.3", "0.1"), "4.42"); // 4.414905
  assertEquals(fee("10", "0.3", "0"), "3");
  assertEquals(fee("10", "0.3000000000000001", "0"), "3.01");
  assertEquals(fee("0.000001", "0.000001", "0"), "0.01");
});

Deno.test("a dynamic pair never charges less than the floor, a fixed one what it says", () => {
  const floor = amount("0.5");
  const dynamic = { networkFeeMode: "dynamic", networkFee: ZERO } as const;
  assertEquals(networkFeeOf(dynamic, { estimate: null, floor }), floor);
  assertEquals(networkFeeOf(dynamic, { estimate: amount("0.2"), floor }), floor);
  assertEquals(networkFeeOf(dynamic, { estimate: amount("3"), floor }), amount("3"));
  const fixed = { networkFeeMode: "fixed", networkFee: ZERO } as const;
  assertEquals(networkFeeOf(fixed, { estimate: amount("3"), floor }), ZERO);
});

Deno.test("costs are estimated for both kinds of receivers, and count while they are fresh", async () => {
  const priced = new PricedChain();
  let now = 1_000;
  const fees = board(priced, { now: () => now, maxAgeMs: 60_000 });
  assertEquals(fees.dynamicFee("TRX", "USDT").estimate, null);
  await fees.refresh();
  assertEquals(priced.asked, ["hot-wallet -> hot-wallet", "hot-wallet -> address-2147483647"]);
  now += 2_000;
  assertEquals(fees.dynamicFee("TRX", "USDT").estimate, amount("3.96")); // 12 x 0.3 x 1.1
  const holder = board(priced, {
    terms: () => ({ receiver: "holder", margin: "0.1", floor: ZERO, cap: amount("150") }),
  });
  await holder.refresh();
  assertEquals(holder.dynamicFee("TRX", "USDT").estimate, amount("1.98"));
  now += 60_001;
  assertEquals(fees.dynamicFee("TRX", "USDT").estimate, null);
  assertEquals(fees.basis("TRX", "USDT").missing, "the estimate of a transfer's cost is too old");
});

Deno.test("an estimate that fails keeps the last one, and says why there is none", async () => {
  const priced = new PricedChain();
  priced.failure = new ChainUnavailable("reverted", "Cannot estimate as it would fail");
  const fees = board(priced);
  await fees.refresh();
  assertEquals(
    fees.basis("TRX", "USDT").missing,
    "a transfer from the hot wallet would fail now",
  );
  priced.failure = null;
  await fees.refresh();
  assertEquals(fees.basis("TRX", "USDT").missing, null);
  priced.failure = new ChainUnavailable("timeout", "Cannot ask as it is slow");
  await fees.refresh();
  assertEquals(fees.basis("TRX", "USDT").fee.estimate, amount("3.96"));
  assertEquals(board(priced, { coinRate: () => null }).basis("TRX", "USDT").rate, null);
});

Deno.test("while transfers cost more than the cap its worth is charged, however long, never the fixed fee", async () => {
  const priced = new PricedChain();
  let now = 1_000;
  const terms = { networkFeeMode: "dynamic", networkFee: amount("1") } as const;
  const fees = board(priced, { now: () => now });
  const charged = () => formatAmount(networkFeeOf(terms, fees.dynamicFee("TRX", "USDT")));
  await fees.refresh();
  assertEquals(charged(), "3.96");
  priced.cap = "150";
  priced.newHolder = "150.000001";
  for (let hour = 0; hour < 3; hour++) {
    now += 3_600_000;
    await fees.refresh();
    assertEquals(charged(), "49.5"); // 150 x 0.3 x 1.1
  }
  const { cost, missing } = fees.basis("TRX", "USDT");
  assertEquals(cost, { holder: amount("6"), newHolder: amount("150"), at: now });
  assertEquals(missing, null);
  // a new process has no earlier estimate
  const anew = board(priced, { now: () => now });
  await anew.refresh();
  assertEquals(anew.dynamicFee("TRX", "USDT").estimate, amount("49.5"));
  priced.newHolder = "150";
  priced.holder = "12";
  now += 2_000;
  await fees.refresh();
  assertEquals(charged(), "49.5");
  priced.newHolder = "12";
  now += 2_000;
  await fees.refresh();
  assertEquals(charged(), "3.96");
});

Deno.test("a fee that is made of the cap is logged once with its cause, and its end as well", async () => {
  const priced = new PricedChain();
  const fees = board(priced);
  const records: LogRecord[] = [];
  await configure({
    sinks: { kept: (record) => void records.push(record) },
    loggers: [
      { category: ["engine"], lowestLevel: "debug", sinks: ["kept"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["kept"] },
    ],
  });
  try {
    priced.cap = "3";
    await fees.refresh();
    await fees.refresh();
    priced.cap = null;
    await fees.refresh();
  } finally {
    await reset();
  }
  const lines = records.map((
    { level, properties },
  ) => [level, properties.event, properties.reason]);
  assertEquals(lines, [
    ["warning", "fee.capped", "Cannot estimate as it is too dear"],
    ["info", "fee.known", undefined],
  ]);
});

Deno.test("a coin is priced by way of the dollar; test networks' coins as the real one", () => {
  const rates = fixedRates(() => 7);
  assertEquals(coinRate(rates, "TRX", "USDT"), { rate: "0.3", at: 7 });
  assertEquals(coinRate(rates, "TRX_SHASTA", "USDT")?.rate, "0.3");
  assertEquals(coinRate(rates, "ETH", "USDT"), { rate: "3000", at: 7 });
  assertEquals(coinRate(rates, "SEP", "USDT")?.rate, "3000");
  const depegged = {
    find: (priced: string) => ({ rate: priced === "TRX" ? "0.3" : "0.9", at: 7 }),
  };
  assertEquals(coinRate(depegged, "TRX", "USDT")?.rate, "0.333333333333333333");
  assertEquals(coinRate({ find: () => null }, "TRX", "USDT"), null);
});

test("a dynamic fee is quoted the same everywhere, locked at submission, and falls back in sight", async () => {
  const priced = new PricedChain();
  let now = Date.now();
  const fees = board(priced, { now: () => now });
  await fees.refresh();
  await using api = await testApi({ fees });
  const admin = await api.addKey(null, { permissions: ["admin:read", "admin:write"] });
  const { key } = await api.addMerchant("1000");
  const put = async (body: Record<string, unknown>) => {
    const answer = await api.call("PUT", "/api/admin/pairs", {
      key: admin,
      body: { currency: "USDT", network: "TRX", ...body },
    });
    assertEquals(answer.status, 200);
    return answer.body;
  };
  const shown = await put({ networkFeeMode: "dynamic", networkFee: "2" });
  assertEquals(
    [shown.networkFeeMode, shown.networkFee, shown.quotedNetworkFee, shown.estimate.networkFee],
    ["dynamic", "2", "3.96", "3.96"],
  );
  assertEquals(
    [shown.estimate.costToHolder, shown.estimate.costToNewHolder, shown.estimate.missing],
    ["6", "12", null],
  );
  /** The quotes of every place: the balance, what is left of it, the calculator, a withdrawal. */
  const quotes = async () => {
    const { body } = await api.call("GET", "/api/balance?currency=USDT", { key });
    const row = body.balances.find(({ network }: { network: string }) => network === "TRX");
    const tried = await api.call("PUT", "/api/admin/withdrawal-fees", {
      key: admin,
      body: { amount: "10", currency: "USDT", network: "TRX" },
    });
    const made = await api.call("POST", "/api/withdrawals", {
      key,
      body: { amount: "10", currency: "USDT", network: "TRX", destination: SOMEWHERE },
    });
    assertEquals(made.body.feeInfo, tried.body.feeInfo);
    const left = amount(row.available) - amount(row.maxWithdrawable);
    assertEquals(left, amount(row.networkFee));
    return [
      row.networkFee,
      made.body.feeInfo.feeBreakdown.networkFee,
      made.body.feeInfo.grossAmount,
    ];
  };
  assertEquals(await quotes(), ["3.96", "3.96", "14.96"]);
  priced.newHolder = "24";
  await fees.refresh();
  now += 2_000;
  assertEquals(await quotes(), ["7.92", "7.92", "18.92"]);
  now += 3_600_000;
  assertEquals(await quotes(), ["2", "2", "13"]);
  const { body } = await api.call("GET", "/api/admin/pairs", { key: admin });
  assertEquals(
    [body.pairs[0].quotedNetworkFee, body.pairs[0].estimate.missing],
    ["2", "the estimate of a transfer's cost is too old"],
  );
  await put({ networkFee: "0" });
  assertEquals((await quotes())[0], "0.5", "never nothing by accident");
  await put({ networkFeeMode: "fixed" });
  assertEquals((await quotes())[0], "0");
  const { body: list } = await api.call("GET", "/api/withdrawals", { key });
  const charged = list.withdrawals.map(({ fee }: { fee: string }) => fee);
  assertEquals(charged, ["0", "0.5", "2", "7.92", "3.96"], "what was quoted stays");
  const { body: audit } = await api.call("GET", "/api/admin/audit?action=pair.set", { key: admin });
  assertEquals(audit.audit.at(-1).after.networkFeeMode, "dynamic");
});

test("a decision uses the estimate that its request was made with", async () => {
  await using database = await testDatabase();
  const { sql } = database;
  const journal = openJournal(sql);
  const merchantId = await addMerchant(sql);
  await fund(sql, journal, merchantId, "100");
  await sql`UPDATE book.pair SET network_fee_mode = 'dynamic', network_fee = 9`;
  const floor = amount("0.1");
  for (const [estimate, expected] of [["3.25", "3.25"], [null, "9"]] as const) {
    const dynamicFee = { estimate: estimate === null ? null : amount(estimate), floor };
    const outcome = await journal.ask(merchantId, reserveCommand({ dynamicFee }), 60_000);
    if (outcome.kind !== "done") throw new Error(outcome.kind);
    assertEquals(outcome.value.fees.networkFee, amount(expected));
  }
  const rows = await sql<{ fee: string }[]>`
    SELECT trim_scale(network_fee)::text AS fee FROM book.withdrawal ORDER BY id`;
  assertEquals(rows.map(({ fee }) => fee), ["3.25", "9"]);
  await journal.stop(1_000);
});
