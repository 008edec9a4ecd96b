/** Sweeps that the hot wallet sends by the contract that addresses authorise, on the chains of ETH and BNB. */

import { assert, assertEquals } from "@std/assert";
import { amount } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import type { EvmHouse, EvmHouseOptions } from "./support/evm_house.ts";

const test = testNeeding(DATABASE);
/** Gas of one address among twenty: with its authorisation, and once it has given it. */
const FIRST_GAS = 34_000;
const LATER_GAS = 19_000;

async function open(options: Omit<EvmHouseOptions, "sweepBy">): Promise<EvmHouse> {
  const { openEvmHouse } = await import("./support/evm_house.ts");
  return await openEvmHouse({ sweepBy: "delegate", ...options });
}

const checks = () => import("./support/evm_checks.ts");

/** Issues addresses, each of another customer. */
async function addressesOf(house: EvmHouse, count: number): Promise<readonly string[]> {
  const addresses: string[] = [];
  for (let n = 0; n < count; n++) addresses.push(await house.address("issued", `customer ${n}`));
  return addresses;
}

/** Has the contract created, by a first deposit. */
async function setUp(house: EvmHouse, first: string): Promise<void> {
  await house.pay(first, "1");
  await house.until("the set-up", async () => (await house.told()).includes("setup final"));
  await (await checks()).untilSwept(house, [first]);
}

/** Pays each of the addresses, and has nothing signed until each sweep is planned. */
async function payAll(
  house: EvmHouse,
  addresses: readonly string[],
  text: string,
  planned = () => Promise.resolve(),
): Promise<void> {
  await house.holdSigning(true);
  for (const address of addresses) await house.pay(address, text);
  await house.until("the plans", async () => {
    await house.lookNow();
    const queued = (await house.told()).filter((line) => line === "sweep queued");
    return queued.length === addresses.length;
  });
  await planned();
  await house.holdSigning(false);
}

interface Batch {
  readonly txid: string;
  readonly sweeps: number;
  readonly fee: string;
  readonly outcome: string;
}

/** Transactions of sweeps by their nonces, each with its transfers and the sum of their shares. */
async function batches(house: EvmHouse): Promise<readonly Batch[]> {
  return await house.sql<Batch[]>`
    SELECT a.txid, count(*)::int AS sweeps, trim_scale(sum(a.fee))::text AS fee, min(a.outcome) AS outcome
    FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id
    WHERE o.kind = 'sweep' AND a.outcome IN ('paid', 'failed') GROUP BY a.txid, a.nonce ORDER BY a.nonce`;
}

for (const network of ["ETH", "BNB"] as const) {
  test(`${network}: the contract is created once, and twenty addresses share a transaction and its fee`, async () => {
    await using house = await open({ network });
    const { assertCosted, assertReconciled, assertSwept, untilSwept } = await checks();
    const { chain } = house;
    const addresses = await addressesOf(house, 20);
    await assertReconciled(house);
    const before = await chain.balanceOf(chain.hotWallet, "USDT");
    await setUp(house, addresses[0] ?? "");
    for (let round = 0; round < 2; round++) {
      await payAll(house, addresses, "50");
      await untilSwept(house, addresses);
    }
    const [alone, first, later, ...more] = await batches(house);
    assert(alone !== undefined && first !== undefined && later !== undefined && more.length === 0);
    assertEquals([alone.sweeps, first.sweeps, later.sweeps], [1, 20, 20]);
    const [gasOfFirst, gasOfLater] = [
      await house.receipt(first.txid),
      await house.receipt(later.txid),
    ];
    // one address had authorised the contract when it was swept alone
    assertEquals([gasOfFirst.authorised, gasOfLater.authorised], [19, 0]);
    assert(gasOfFirst.gas / 20 <= FIRST_GAS, `${gasOfFirst.gas}`);
    assert(gasOfLater.gas / 20 <= LATER_GAS, `${gasOfLater.gas}`);
    assertEquals([first.fee, later.fee], [gasOfFirst.fee, gasOfLater.fee]);
    const told = await house.told();
    assertEquals(told.filter((line) => !line.startsWith("sweep")), ["setup final"]);
    assertEquals(told.filter((line) => line === "sweep final").length, 41);
    await assertSwept(house, addresses, before, amount("2001"));
    for (const address of addresses) {
      assertEquals(await chain.balanceOf(address, "native"), 0n);
    }
    await assertCosted(house);
    await assertReconciled(house);
  });
}

test("a batch that is replaced is authorised by the same addresses, whichever sweep was queued first", async () => {
  await using house = await open({ network: "ETH" });
  const { assertReconciled, assertSwept, untilSwept } = await checks();
  const { chain, sql } = house;
  const addresses = await addressesOf(house, 3);
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  await setUp(house, addresses[0] ?? "");
  await payAll(house, addresses, "50", async () => {
    // the newest id was queued first, as where several are planned at once
    await sql`
      WITH place AS (
        SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM book.outgoing WHERE status = 'queued')
      UPDATE book.outgoing o SET created_at = now() - interval '1 minute' + p.n * interval '1 second'
      FROM place p WHERE p.id = o.id`;
  });
  // no block is made until there is a second transaction
  await house.when("the replacement", async () => {
    const rows = await sql`
      SELECT FROM book.attempt a JOIN book.outgoing o ON o.id = a.outgoing_id
      WHERE o.kind = 'sweep' AND a.number = 2`;
    return rows.length === 3;
  });
  await untilSwept(house, addresses);
  const found = await batches(house);
  assertEquals(found.map(({ sweeps, outcome }) => `${sweeps} ${outcome}`), ["1 paid", "3 paid"]);
  await assertSwept(house, addresses, before, amount("151"));
  await assertReconciled(house);
});

test("a batch that fails fails whole, and each of its addresses is swept once by a transaction of its own", async () => {
  await using house = await open({ network: "ETH" });
  const { assertCosted, assertReconciled, assertSwept, untilSwept } = await checks();
  const { chain } = house;
  const addresses = await addressesOf(house, 3);
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  await assertReconciled(house);
  await setUp(house, addresses[0] ?? "");
  await house.control("config", {
    faults: [{ path: "eth_sendRawTransaction", kind: "revert", probability: 1, times: 1 }],
  });
  await payAll(house, addresses, "50");
  await untilSwept(house, addresses);
  const found = await batches(house);
  assertEquals(found.map(({ sweeps, outcome }) => `${sweeps} ${outcome}`), [
    "1 paid",
    "3 failed",
    "1 paid",
    "1 paid",
    "1 paid",
  ]);
  await assertSwept(house, addresses, before, amount("151"));
  await assertCosted(house);
  await assertReconciled(house);
});

test("an authorisation that another program has made stale is asked for anew", async () => {
  await using house = await open({ network: "ETH" });
  const { assertReconciled, assertSwept, untilSwept } = await checks();
  const { chain } = house;
  const addresses = await addressesOf(house, 3);
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  await setUp(house, addresses[0] ?? "");
  const [, stale = ""] = addresses;
  // coin for the other program's transaction, which pays more than the batch and stands before it in the block
  await house.pay(stale, "0.01", "coin");
  await house.mine(1);
  await payAll(house, addresses, "50");
  await house.until(
    "the batch",
    async () => (await house.told()).filter((line) => line === "sweep signed").length === 3,
  );
  await house.control("use-nonce", { key: await house.keyOf(stale) });
  await untilSwept(house, addresses);
  const found = await batches(house);
  assertEquals(found.filter(({ outcome }) => outcome === "failed").length <= 1, true);
  assertEquals(found.at(-1)?.outcome, "paid");
  await assertSwept(house, addresses, before, amount("151"));
  await assertReconciled(house);
});

test("a node that dies at any point creates one contract and sweeps each address once", async () => {
  await using house = await open({ network: "ETH" });
  const { assertReconciled, assertSwept, untilSwept } = await checks();
  const { chain } = house;
  const addresses = await addressesOf(house, 2);
  await assertReconciled(house);
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  const deaths = [
    // the set-up's own
    "treasury.after-promise@1",
    "treasury.after-sign@1",
    "treasury.after-commit@1",
    "sweeper.after-step@1",
    "treasury.after-promise@1",
    "treasury.after-sign@1",
    "treasury.after-commit@1",
    "treasury.after-broadcast@1",
  ];
  for (const point of deaths) {
    house.dieAt(point);
    for (const address of addresses) await house.pay(address, "50");
    await house.until(`the death ${point}`, () => Promise.resolve(house.isDead));
    await house.restart();
  }
  await house.lookNow();
  await untilSwept(house, addresses);
  await assertSwept(house, addresses, before, amount(String(100 * deaths.length)));
  const told = await house.told();
  assertEquals(told.filter((line) => line.startsWith("setup")), ["setup final"]);
  assertEquals(told.filter((line) => !line.endsWith(" final")), []);
  await assertReconciled(house);
});

test("sweeps wait for fees above the cap and for coin of the hot wallet, and then each happens once", async () => {
  await using house = await open({ network: "ETH", isPoor: true });
  const { assertSwept, untilSwept } = await checks();
  const { chain } = house;
  const addresses = await addressesOf(house, 2);
  for (const address of addresses) await house.pay(address, "50");
  await house.until("the wait", async () => {
    const [setup] = await house.steps();
    return setup?.reason === "waiting for the chain's coin";
  });
  await house.control("basefee", { gwei: "1000" });
  await house.pay(chain.hotWallet, "1", "coin");
  await house.until("the fees", async () => {
    const [setup] = await house.steps();
    return setup?.reason === "waiting: fees are above the cap";
  });
  assertEquals(await house.told(), ["setup queued"]);
  await house.control("basefee", { gwei: "1" });
  await untilSwept(house, addresses);
  assertEquals(await house.told(), ["setup final", "sweep final", "sweep final"]);
  await assertSwept(house, addresses, 0n, amount("100"));
});

test("an address is swept when that pays for its part of a transaction that it shares", async () => {
  await using house = await open({ network: "ETH" });
  const { assertSwept, untilSwept } = await checks();
  const { chain } = house;
  const [first = "", rich = "", poor = ""] = await addressesOf(house, 3);
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  await setUp(house, first);
  // at 1 gwei and 2,450 dollars one that goes alone costs 19 cents, and its part of a shared one 13, each twice
  await house.pay(rich, "0.32");
  await house.pay(poor, "0.2");
  await house.until(
    "the sweep",
    async () => (await house.told()).filter((line) => line === "sweep final").length === 2,
  );
  await untilSwept(house, [rich]);
  await house.until("the reason", async () => await house.reason(poor) === "below_economics");
  await assertSwept(house, [first, rich], before, amount("1.32"));
});

test("when fees are high fewer addresses share a transaction, so that it can still be replaced below the cap", async () => {
  await using house = await open({ network: "ETH" });
  const { assertSwept, untilSwept } = await checks();
  const { chain } = house;
  const addresses = await addressesOf(house, 8);
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  await setUp(house, addresses[0] ?? "");
  // 200,000 gas of four at twice 40 gwei are 0.016, of eight 0.029; the cap is 0.02
  await house.control("basefee", { gwei: "40" });
  await house.mine(1);
  await payAll(house, addresses, "50");
  await untilSwept(house, addresses);
  assertEquals((await batches(house)).map(({ sweeps, outcome }) => `${sweeps} ${outcome}`), [
    "1 paid",
    "4 paid",
    "4 paid",
  ]);
  await assertSwept(house, addresses, before, amount("401"));
});
