import { assert, assertEquals, assertRejects } from "@std/assert";
import { ChainUnavailable } from "../../chains/chain.ts";
import { creationData, delegateOf, DEPLOYER } from "../../chains/evm/pay/sweep_delegate.ts";
import type { Movement } from "../../chains/fees.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import type { AnvilReceipt } from "./support/bare_anvil.ts";
import type { Rig } from "./support/rig.ts";

const test = testNeeding({ net: true, run: true, read: true, env: true });

test("the delegate's code is that of its source, and its address follows from it", async () => {
  const { compile } = await import("./support/tokens.ts");
  const { getCreate2Address, keccak256 } = await import("ethers");
  const source = await Deno.readTextFile(
    new URL("../../chains/evm/pay/sweep_delegate.sol", import.meta.url),
  );
  const settings = { metadata: { appendCBOR: false, bytecodeHash: "none" } };
  const code = compile(source, settings)["SweepDelegate"] ?? "";
  const hot = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
  const argument = hot.slice(2).toLowerCase().padStart(64, "0");
  const salt = `0x${new TextEncoder().encode("engine-sweep-1").toHex().padEnd(64, "0")}`;
  assertEquals(creationData(hot), `${salt}${code.slice(2)}${argument}`);
  assertEquals(
    delegateOf(hot),
    getCreate2Address(DEPLOYER, salt, keccak256(`${code}${argument}`)),
  );
  assert(delegateOf(hot) !== delegateOf(DEPLOYER), "each hot wallet has its own");
});

/** Runs a rule on a rig of its own, with the delegate's adapter. */
function rule(name: string, run: (rig: Rig) => Promise<void>): void {
  test(name, async () => {
    const { startRig } = await import("./support/rig.ts");
    await using rig = await startRig("--hardfork", "prague");
    await run(rig);
  });
}

async function createDelegate({ anvil, faucet, hot }: Rig): Promise<void> {
  const transaction = {
    from: faucet,
    to: DEPLOYER,
    data: creationData(hot.address),
    gas: "0x100000",
  };
  await anvil.rpc("eth_sendTransaction", transaction);
  await anvil.mine();
}

/** Pays each of the addresses, and makes the movements that collect 9.5 of it. */
async function paid(rig: Rig, from: number, count: number, units: bigint): Promise<Movement[]> {
  const movements: Movement[] = [];
  for (let index = from; index < from + count; index++) {
    const address = rig.chain.deriveAddress(index);
    await rig.pay(address, units);
    movements.push({ from: address, to: rig.hot.address, asset: "USDT", amount: amountOf("9.5") });
  }
  await rig.anvil.mine(3);
  return movements;
}

rule(
  "sweeps of 20 addresses cost at most 34,000 gas each at first, and 19,000 later",
  async (rig) => {
    const chain = rig.open([rig.anvil.url], "delegate");
    assertEquals([chain.capabilities.sweepsAtOnce, chain.gas], [20, undefined]);
    await createDelegate(rig);
    const gasOf = async (nonce: number, movements: readonly Movement[]) => {
      const fee = await chain.estimateFee(movements);
      const signed = rig.signSweeps(movements, fee, nonce);
      assertEquals((await chain.broadcast(signed)).category, "accepted");
      await rig.anvil.mine(3);
      const receipt = await rig.anvil.rpc<AnvilReceipt>("eth_getTransactionReceipt", signed.txid);
      assertEquals([receipt.status, receipt.logs.length], ["0x1", movements.length]);
      const found = await chain.transaction(signed.txid, "solid");
      assert(found.kind === "found" && found.transaction.byHotWallet === true);
      assertEquals(
        found.transaction.transfers.map(({ eventFrom, eventTo, amount }) => [
          chain.addressOf(eventFrom),
          chain.addressOf(eventTo),
          amount,
        ]),
        movements.map(({ from, to, amount }) => [from, to, amount]),
      );
      return { type: receipt.type, each: Number(receipt.gasUsed) / movements.length };
    };
    const first = await gasOf(0, await paid(rig, 0, 20, 10_000_000n));
    const later = await gasOf(1, await paid(rig, 0, 20, 10_000_000n));
    assertEquals([first.type, later.type], ["0x4", "0x2"]);
    assert(first.each <= 34_000, `first: ${first.each}`);
    assert(later.each <= 19_000, `later: ${later.each}`);
    // addresses that were authorised before and such that were not, in one transaction
    const mixed = await gasOf(2, await paid(rig, 15, 10, 10_000_000n));
    assertEquals(mixed.type, "0x4");
  },
);

rule(
  "the part of one sweep is less than it costs alone, and covers its part of a full transaction",
  async (rig) => {
    const chain = rig.open([rig.anvil.url], "delegate");
    await createDelegate(rig);
    // the first tokens of a wallet cost more
    await rig.pay(rig.hot.address, 1n);
    const movements = await paid(rig, 0, 20, 10_000_000n);
    const alone = await chain.estimateFee(movements.slice(0, 1));
    const full = await chain.estimateFee(movements);
    assert(alone.share !== undefined && full.share === undefined);
    const [share, each, fee] = [Number(alone.share), Number(full.fee) / 20, Number(alone.fee)];
    const words = `${share} of ${fee}, ${each} each of twenty`;
    assert(share < fee * 0.75 && share >= each && share < each * 1.25, words);
  },
);

rule(
  "the contract is missing until a final block has it, and its creation is priced",
  async (rig) => {
    const chain = rig.open([rig.anvil.url], "delegate");
    const delegate = delegateOf(rig.hot.address);
    const missing = async () => await chain.missingSetup?.();
    assertEquals(await missing(), [delegate]);
    const { fee } = await chain.estimateFee([
      {
        from: rig.hot.address,
        to: delegate,
        asset: "native",
        amount: amountOf("0"),
      },
    ]);
    assert(fee > amountOf("0.0002"), `${fee}`);
    await createDelegate(rig);
    assertEquals(await missing(), [delegate], "in the newest block, which may vanish");
    await rig.anvil.mine(2);
    assertEquals(await missing(), []);
    assertEquals(rig.chain.missingSetup, undefined, "addresses that pay for themselves need none");
  },
);

test("a chain without the contract that creates others is told so, and pays for nothing", async () => {
  const { startRig } = await import("./support/rig.ts");
  await using rig = await startRig("--disable-default-create2-deployer");
  const chain = rig.open([rig.anvil.url], "delegate");
  const to = delegateOf(rig.hot.address);
  const creation = { from: rig.hot.address, to, asset: "native", amount: amountOf("0") } as const;
  const error = await assertRejects(
    () => chain.estimateFee([creation]),
    ChainUnavailable,
    "no deployer",
  );
  assertEquals(error.category, "reverted");
});

rule("an address that has authorised a contract is given no coin any more", async (rig) => {
  const chain = rig.open([rig.anvil.url], "delegate");
  await createDelegate(rig);
  const movements = await paid(rig, 0, 1, 10_000_000n);
  const signed = rig.signSweeps(movements, await chain.estimateFee(movements), 0);
  await chain.broadcast(signed);
  await rig.anvil.mine(3);
  const sweep = (index: number) => ({
    from: chain.deriveAddress(index),
    to: rig.hot.address,
    currency: "USDT" as const,
    amount: amountOf("0.5"),
  });
  const byCoin = rig.open([rig.anvil.url]);
  const error = await assertRejects(
    () => byCoin.gas?.sweepCosts(sweep(0)) ?? Promise.resolve(),
    ChainUnavailable,
    "has authorised a contract",
  );
  assertEquals(error.category, "reverted");
  await paid(rig, 1, 1, 10_000_000n);
  assert(((await byCoin.gas?.sweepCosts(sweep(1)))?.cost ?? 0n) > 0n);
});

rule(
  "one sweep that would fail fails all of them, and is told before any is signed",
  async (rig) => {
    const chain = rig.open([rig.anvil.url], "delegate");
    const movements = await paid(rig, 0, 2, 9_000_000n);
    const refused = async () =>
      (await assertRejects(() => chain.estimateFee(movements), ChainUnavailable)).category;
    assertEquals(await refused(), "reverted", "the delegate is not there");
    await createDelegate(rig);
    assertEquals(await refused(), "reverted", "9.5 of 9");
    await rig.pay(chain.deriveAddress(0), 1_000_000n);
    await rig.pay(chain.deriveAddress(1), 1_000_000n);
    await rig.anvil.mine();
    assert((await chain.estimateFee(movements)).fee > 0n);
  },
);

rule("a sweep that is in no block is replaced with the same authorisations", async (rig) => {
  const chain = rig.open([rig.anvil.url], "delegate");
  await createDelegate(rig);
  const movements = await paid(rig, 0, 3, 10_000_000n);
  const fee = await chain.estimateFee(movements);
  assertEquals(fee.terms?.["authorize"], "0:0,1:0,2:0");
  const signed = rig.signSweeps(movements, fee, 0);
  const { life } = chain.capabilities;
  assert(life.kind === "nonce");
  const higher = (await life.lane.asks()).replacing([signed.bytes]);
  assert(higher !== null);
  assertEquals(higher.terms?.["authorize"], "0:0,1:0,2:0");
  await chain.broadcast(signed);
  const second = rig.signSweeps(movements, higher, 0);
  assertEquals((await chain.broadcast(second)).category, "accepted");
  await rig.anvil.mine(3);
  assertEquals((await chain.transaction(second.txid, "solid")).kind, "found");
  assertEquals((await chain.transaction(signed.txid, "solid")).kind, "missing");
});
