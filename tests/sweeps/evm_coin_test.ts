/** Sweeps that deposit addresses send themselves, on the development chains of ETH and BNB. */

import { assert, assertEquals } from "@std/assert";
import { subtract } from "../../ledger/money/amount.ts";
import { amount } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import type { EvmHouse, EvmHouseOptions } from "./support/evm_house.ts";

const test = testNeeding(DATABASE);

async function open(options: Omit<EvmHouseOptions, "sweepBy">): Promise<EvmHouse> {
  const { openEvmHouse } = await import("./support/evm_house.ts");
  return await openEvmHouse({ sweepBy: "coin", ...options });
}

const checks = () => import("./support/evm_checks.ts");

/** Nonces of deposit addresses, each with what used it. */
async function lanes(house: EvmHouse): Promise<readonly string[]> {
  const rows = await house.sql<{ line: string }[]>`
    SELECT n.payer || '/' || n.nonce || ' ' || coalesce(a.outcome, 'open') AS line
    FROM book.lane_nonce n LEFT JOIN book.attempt a ON a.txid = n.used_by AND a.network = n.network
    WHERE n.payer <> 'hot' ORDER BY n.payer, n.nonce`;
  return rows.map(({ line }) => line);
}

/** Has an address's coin given, its sweep planned with it, and signed; the next block may take it. */
async function signSweep(house: EvmHouse): Promise<void> {
  await house.until("the coin", async () => {
    if ((await house.told())[0] !== "gas signed") return false;
    await house.holdSigning(true);
    return true;
  });
  await house.until("the plan", async () => (await house.told()).includes("sweep queued"));
  await house.holdSigning(false);
  await house.when("the signature", async () => (await house.told()).includes("sweep signed"));
}

for (
  const [network, second] of [
    // twice the base fee was given: what is left of that suffices, unless the fee has risen meanwhile
    ["ETH", [["sweep final"], ["gas final", "sweep final"]]],
    // no base fee: a little is missing
    ["BNB", [["gas final", "sweep final"]]],
  ] as const
) {
  test(`${network}: each deposit is swept once by its address, with coin that the hot wallet gave it`, async () => {
    await using house = await open({ network });
    const { assertCosted, assertReconciled, assertSwept, untilSwept } = await checks();
    const { chain } = house;
    const own = await house.address("issued");
    await assertReconciled(house);
    const before = await chain.balanceOf(chain.hotWallet, "USDT");
    await house.pay(own, "60");
    await house.until("the sweep", async () => (await house.told()).includes("sweep final"));
    await untilSwept(house, [own]);
    const [first, sweep] = await house.steps();
    assert(first !== undefined && sweep !== undefined);
    // what was given and not burned stays with the address, to the last wei
    const left = subtract(amount(first.amount), amount(sweep.fees[0] ?? ""));
    assertEquals(await chain.balanceOf(own, "native"), left);
    await house.pay(own, "40");
    const ways = second.map((steps) => ["gas final", "sweep final", ...steps].join());
    await house.until(
      "the second sweep",
      async () => (await house.told()).filter((line) => line === "sweep final").length === 2,
    );
    await untilSwept(house, [own]);
    const told = (await house.told()).join();
    assert(ways.some((way) => way === told), told);
    const given = (await house.steps()).filter(({ kind }) => kind === "gas");
    assert(given.slice(1).every((gas) => amount(gas.amount) < amount(first.amount)));
    assertEquals(await lanes(house), ["0/0 paid", "0/1 paid"]);
    await assertSwept(house, [own], before, amount("100"));
    await assertCosted(house);
    await assertReconciled(house);
  });
}

test("an address is swept when that pays, by the same rule as everywhere", async () => {
  await using house = await open({ network: "ETH" });
  const [rich, poor] = [
    await house.address("issued", "rich"),
    await house.address("issued", "poor"),
  ];
  // some 78,000 gas at 1 gwei and 2,450 dollars are 19 cents
  await house.pay(rich, "0.5");
  await house.pay(poor, "0.2");
  await house.until("the sweep", async () => (await house.told()).includes("sweep final"));
  await house.until("the reason", async () => await house.reason(poor) === "below_economics");
  assertEquals([await house.held(rich), await house.held(poor)], [0n, amount("0.2")]);
  assertEquals(await house.told(), ["gas final", "sweep final"]);
});

test("a node that dies at any point of a sweep gives its coin once and sweeps once", async () => {
  await using house = await open({ network: "ETH" });
  const { assertReconciled, assertSwept, untilSwept } = await checks();
  const { chain } = house;
  await assertReconciled(house);
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  // each is passed for the coin first and then for the sweep
  const deaths = [
    "sweeper.before-step@2",
    "sweeper.after-step@2",
    "treasury.after-promise@2",
    "treasury.after-sign@2",
    "treasury.after-commit@2",
    "treasury.after-broadcast@2",
  ];
  const addresses: string[] = [];
  for (const point of deaths) {
    const own = await house.address("issued", `of ${point}`);
    addresses.push(own);
    house.dieAt(point);
    await house.pay(own, "50");
    await house.until(`the death ${point}`, () => Promise.resolve(house.isDead));
    await house.restart();
    await untilSwept(house, [own]);
  }
  await assertSwept(house, addresses, before, amount(String(50 * deaths.length)));
  assertEquals(await house.told(), deaths.flatMap(() => ["gas final", "sweep final"]));
  const nonces = (await lanes(house)).map((line) => line.slice(line.indexOf("/")));
  assertEquals(nonces, deaths.map(() => "/0 paid"));
  await assertReconciled(house);
});

test("fees above the cap hold an address up by their name, and it is swept once they are back", async () => {
  await using house = await open({ network: "ETH" });
  const { assertSwept, untilSwept } = await checks();
  const { chain } = house;
  const own = await house.address("issued");
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  await house.control("basefee", { gwei: "1000" });
  await house.pay(own, "60");
  await house.until("the reason", async () => await house.reason(own) === "above_cap");
  assertEquals(await house.told(), []);
  await house.control("basefee", { gwei: "1" });
  await house.mine(1);
  await house.lookNow();
  await house.until("the sweep", async () => (await house.told()).includes("sweep final"));
  await untilSwept(house, [own]);
  assertEquals(await house.told(), ["gas final", "sweep final"]);
  await assertSwept(house, [own], before, amount("60"));
});

test("coin for an address waits for the hot wallet's, and is given once that has some", async () => {
  await using house = await open({ network: "ETH", isPoor: true });
  const { assertSwept, untilSwept } = await checks();
  const { chain } = house;
  const own = await house.address("issued");
  await house.pay(own, "60");
  await house.until("the wait", async () => {
    const [gas] = await house.steps();
    return gas?.reason === "waiting for the chain's coin";
  });
  await house.mine(5);
  assertEquals(await house.told(), ["gas queued"]);
  await house.pay(chain.hotWallet, "1", "coin");
  await house.until("the sweep", async () => (await house.told()).includes("sweep final"));
  await untilSwept(house, [own]);
  assertEquals(await house.told(), ["gas final", "sweep final"]);
  await assertSwept(house, [own], 0n, amount("60"));
});

test("coin that was taken from an address is given again, and its sweep has the next nonce", async () => {
  // after that long what the books gave and no block shows is taken to be gone
  await using house = await open({ network: "ETH", staleMs: 20_000 });
  const { assertSwept, untilSwept } = await checks();
  const { Wallet } = await import("ethers");
  const { chain } = house;
  const own = await house.address("issued");
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  await house.pay(own, "60");
  await house.until("the coin", async () => {
    if ((await house.told())[0] !== "gas signed") return false;
    await house.holdSigning(true);
    return true;
  });
  await house.until("the plan", async () => (await house.told()).includes("sweep queued"));
  const coin = await chain.balanceOf(own, "native");
  const thief = new Wallet(await house.keyOf(own));
  const gasPrice = 2_000_000_000n;
  const taken = await thief.signTransaction({
    to: `0x${"77".repeat(20)}`,
    value: coin - 21_000n * gasPrice,
    gasLimit: 21_000n,
    gasPrice,
    nonce: 0,
    chainId: 1_337_001n,
    type: 0,
  });
  await house.rpc("eth_sendRawTransaction", taken);
  await house.mine(4);
  assertEquals(await chain.balanceOf(own, "native"), 0n);
  await house.holdSigning(false);
  await house.until("the sweep", async () => {
    await house.lookNow();
    return (await house.told()).includes("sweep final");
  });
  await untilSwept(house, [own]);
  assertEquals(await lanes(house), ["0/1 paid"]);
  await assertSwept(house, [own], before, amount("60"));
});

test("a sweep that offers all the coin of its address gets more when fees rise, and is replaced", async () => {
  await using house = await open({ network: "ETH" });
  const { assertReconciled, assertSwept, untilSwept } = await checks();
  const { chain } = house;
  const own = await house.address("issued");
  await assertReconciled(house);
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  await house.pay(own, "60");
  await signSweep(house);
  // no block takes it at eight times the price, and the address has coin for twice
  await house.control("basefee", { gwei: "8" });
  await house.until("the sweep", async () => (await house.told()).includes("sweep final"));
  await untilSwept(house, [own]);
  assertEquals(await house.told(), ["gas final", "sweep final", "gas final"]);
  assertEquals(await lanes(house), ["0/0 paid"]);
  const [, sweep] = await house.steps();
  assert(sweep !== undefined && sweep.attempts > 1);
  await assertSwept(house, [own], before, amount("60"));
  await assertReconciled(house);
});

test("a sweep that offers all the coin of its address gets no more where that does not pay, and goes on when fees are back", async () => {
  await using house = await open({ network: "ETH" });
  const { assertSwept, untilSwept } = await checks();
  const { chain } = house;
  const own = await house.address("issued");
  const before = await chain.balanceOf(chain.hotWallet, "USDT");
  // worth it at 1 gwei, and not at eight
  await house.pay(own, "0.5");
  await signSweep(house);
  await house.control("basefee", { gwei: "8" });
  await house.until("the reason", async () => {
    await house.lookNow();
    const [row] = await house.sql<{ detail: string }[]>`
      SELECT coalesce(detail, '') AS detail FROM book.sweep_address WHERE address = ${own}`;
    return row?.detail.includes("more coin for it does not pay") === true;
  });
  assertEquals((await house.told()).filter((line) => line.startsWith("gas")), ["gas final"]);
  await house.control("basefee", { gwei: "1" });
  await house.until("the sweep", async () => (await house.told()).includes("sweep final"));
  await untilSwept(house, [own]);
  assertEquals(await house.told(), ["gas final", "sweep final"]);
  await assertSwept(house, [own], before, amount("0.5"));
});
