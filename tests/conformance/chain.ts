/**
 * Duties of every adapter of the Chain port, whatever its chain. An adapter is done when it
 * passes: `chainConformance(name, factory)`.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertFalse,
  assertGreater,
  assertGreaterOrEqual,
  assertLessOrEqual,
  assertNotEquals,
  assertRejects,
  assertThrows,
} from "@std/assert";
import {
  type Asset,
  type Block,
  type BroadcastOutcome,
  type Chain,
  ChainUnavailable,
  type Checkpoint,
  type Envelope,
  type Finality,
  type Life,
  NotOurChain,
  type SignedTransaction,
  type Transfer,
} from "../../chains/chain.ts";
import type { FeeEstimate } from "../../chains/fees.ts";
import { add, type Amount, amountOf, subtract, ZERO } from "../../ledger/money/amount.ts";
import type { Currency } from "../../ledger/money/pair.ts";

/** A payment to be signed. */
export interface Payment {
  readonly to: string;
  readonly asset: Asset;
  readonly amount: Amount;
}

/** Troubles a harness can make, for the next `times` requests that they concern. */
export type Trouble =
  /** A broadcast is taken, but its answer says it was not. */
  | "accepted-silently"
  /** A broadcast is answered with success and forgotten. */
  | "forgotten"
  /** A broadcast is taken and its answer is lost: an error of the transport. */
  | "answer-lost"
  /** A broadcast is taken and never answered. */
  | "answer-missing"
  /** A payment is included as failed. */
  | "fails-on-chain"
  /** A block's receipts are not there yet. */
  | "receipts-late"
  /** Reads are refused for asking too often. */
  | "rate-limited"
  /** Reads fail with an error of the server. */
  | "server-error";

/** A chain under test with the levers that move it. Blocks are made on demand only. */
export interface ChainHarness extends AsyncDisposable {
  readonly chain: Chain;
  /** A token that the chain has. */
  readonly currency: Currency;
  /** Milliseconds of block time between two blocks. */
  readonly spacingMs: number;
  /** A valid address that no other caller uses. */
  freshAddress(): string;
  /** Texts that look like addresses and are none. */
  readonly notAddresses: readonly string[];
  /** Pays from another party's address, by a transaction that waits for a block. */
  pay(payment: Payment): Promise<string>;
  /** Pays several times from another party's address in one transaction, in the order given. */
  payTogether(payments: readonly Payment[]): Promise<string>;
  /** Moves nothing, and emits the events of a token that is not configured. */
  poison(to: string): Promise<string>;
  /** Makes blocks. */
  mine(blocks: number): Promise<void>;
  /** Drops the newest blocks for good and makes others in their place. */
  reorganise(depth: number): Promise<void>;
  /** Signs a payment of the hot wallet. */
  sign(payment: Payment, envelope: Envelope): Promise<SignedTransaction>;
  /** Makes trouble. */
  trouble(trouble: Trouble, times: number): Promise<void>;
}

/** Expectations of a chain's kind. Rules that do not concern it are left out, not passed by. */
export interface Kind {
  /** The way in which a transaction ends that is in no block, see `Life` of the port. */
  readonly life: Life["kind"];
  /** True where heights may have no block: a block's parent may be more than one below it. */
  readonly skips: boolean;
  /** Amounts of coin that can be sent to an address without any, largest first. */
  readonly coin: readonly string[];
}

/** Parts of the suite. A chain on paper is held to those that it can keep, an adapter to all. */
export type Part =
  | "addresses"
  | "blocks"
  | "transfers"
  | "fees"
  | "broadcasts"
  | "lanes"
  | "balances"
  | "lookups";

/** Blocks after which everything that was pending is solid; far less than a lifetime. */
const ENOUGH = 12;

/** A block that must be whole. */
async function wholeBlock(chain: Chain, height: number, finality: Finality): Promise<Block> {
  const answer = await chain.block(height, finality);
  if (answer.kind === "block") return answer.block;
  throw new Error(`Cannot go on as block ${height} is ${answer.kind}`);
}

/** The blocks from a height to the newest of a view. */
async function blocksSince(chain: Chain, from: number, finality: Finality): Promise<Block[]> {
  const newest = await chain[finality === "solid" ? "solid" : "head"]();
  const blocks: Block[] = [];
  // from the newest one back by its own word: what lies between a block and its parent is nothing
  for (let height = newest.height; height >= Math.max(from, 1);) {
    const block = await wholeBlock(chain, height, finality);
    blocks.unshift(block);
    height = block.parentHeight;
  }
  return blocks;
}

/** A transaction with its block and transfers; null where no block has it. */
function findIn(blocks: readonly Block[], txid: string) {
  for (const block of blocks) {
    const transaction = block.transactions.find((included) => included.txid === txid);
    const transfers = block.transfers.filter((transfer) => transfer.txid === txid);
    if (transaction !== undefined) return { block, transaction, transfers };
  }
  return null;
}

/** A transfer without the times that a test cannot know. */
function essence(chain: Chain, { eventFrom, eventTo, currency, amount, logIndex }: Transfer) {
  const [from, to] = [chain.addressOf(eventFrom), chain.addressOf(eventTo)];
  return { from, to, currency, amount, logIndex };
}

/** The life of a chain's transactions, where they expire. */
function expiring({ capabilities: { life } }: Chain) {
  if (life.kind === "expires") return life;
  throw new Error("Cannot wait for an end as no transaction of this chain expires");
}

/** A payout of the hot wallet, signed on the solid block. */
async function signPayout(
  harness: ChainHarness,
  changes: Partial<Payment> = {},
): Promise<{ readonly payment: Payment; readonly signed: SignedTransaction }> {
  const { chain, currency } = harness;
  const payment: Payment = {
    to: harness.freshAddress(),
    asset: currency,
    amount: amountOf("2.5"),
    ...changes,
  };
  const fee = await chain.estimateFee([{ from: chain.hotWallet, ...payment }]);
  const signed = await harness.sign(payment, await envelopeOf(chain, fee));
  return { payment, signed };
}

/** The terms of the hot wallet's next transaction, numbered where its chain numbers them. */
async function envelopeOf(chain: Chain, fee: FeeEstimate): Promise<Envelope> {
  const { life } = chain.capabilities;
  const nonce = life.kind === "nonce" ? await life.lane.next(chain.hotWallet, "head") : null;
  return chain.envelope(await chain.solid(), fee, nonce);
}

/** True when an outcome says that the node has the transaction. */
function isTaken(outcome: BroadcastOutcome): boolean {
  return outcome.category === "accepted" || outcome.category === "known";
}

/** Registers the suite for an adapter; every test gets a chain of its own. */
export function chainConformance(
  name: string,
  factory: () => Promise<ChainHarness>,
  kind: Kind,
  options: Pick<Deno.TestDefinition, "ignore" | "permissions"> = {},
  parts: readonly Part[] = Object.keys(PARTS) as Part[],
): void {
  const rule = (what: string, run: (harness: ChainHarness) => Promise<void>) =>
    Deno.test({
      name: `${name}: ${what}`,
      ...options,
      fn: async () => {
        await using harness = await factory();
        assertEquals(harness.chain.capabilities.life.kind, kind.life);
        await run(harness);
      },
    });
  for (const part of parts) PARTS[part](rule, kind);
}

/** The rules of each part. */
const PARTS: Readonly<Record<Part, (rule: Rule, kind: Kind) => void>> = {
  addresses: addressRules,
  blocks: blockRules,
  transfers: transferRules,
  fees: feeRules,
  broadcasts: broadcastRules,
  lanes: laneRules,
  balances: balanceRules,
  lookups: lookupRules,
};

type Rule = (what: string, run: (harness: ChainHarness) => Promise<void>) => void;

function addressRules(rule: Rule): void {
  rule("derived addresses are valid, distinct and the same every time", ({ chain }) => {
    const addresses = Array.from({ length: 50 }, (_, index) => chain.deriveAddress(index));
    assertEquals(new Set(addresses).size, addresses.length);
    for (const [index, address] of addresses.entries()) {
      assertEquals(chain.address(address), address);
      assertEquals(chain.deriveAddress(index), address);
    }
    assertEquals(chain.address(chain.hotWallet), chain.hotWallet);
    assertFalse(addresses.includes(chain.hotWallet));
    return Promise.resolve();
  });

  rule("an index outside its range is refused", ({ chain }) => {
    for (const index of [-1, 0.5, Number.NaN, 2 ** 31]) {
      assertThrows(() => chain.deriveAddress(index), RangeError);
    }
    return Promise.resolve();
  });

  rule("what is no address is not taken for one", ({ chain, notAddresses }) => {
    for (const text of ["", " ", "0", ...notAddresses]) {
      assertEquals(chain.address(text), null, text);
    }
    return Promise.resolve();
  });
}

function blockRules(rule: Rule, kind: Kind): void {
  rule("solid is at or behind head, and both grow with new blocks", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const [head, solid] = [await chain.head(), await chain.solid()];
    assertGreater(head.height, solid.height);
    await harness.mine(2);
    for (
      const [now, before] of [[await chain.head(), head], [await chain.solid(), solid]] as const
    ) {
      if (kind.skips) assertGreaterOrEqual(now.height, before.height + 2);
      else assertEquals(now.height, before.height + 2);
    }
  });

  rule("blocks link to their parents, and time never runs back", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const blocks = await blocksSince(chain, 1, "head");
    for (let i = 1; i < blocks.length; i++) {
      const [parent, block] = [blocks[i - 1], blocks[i]];
      assertEquals(block?.parentHash, parent?.hash);
      assertEquals(block?.parentHeight, parent?.height);
      assertGreater(block?.height ?? 0, parent?.height ?? Infinity);
      if (!kind.skips) assertEquals(block?.height, (parent?.height ?? 0) + 1);
      assertGreaterOrEqual(block?.time ?? 0, parent?.time ?? 0);
    }
    const head = await chain.head();
    assertEquals(blocks.at(-1)?.hash, head.hash);
    assertEquals(blocks.at(-1)?.time, head.time);
    const isSparse = blocks.some(({ height, parentHeight }) => height > parentHeight + 1);
    assertEquals(isSparse, kind.skips, "a chain that is said to skip heights has to show it");
  });

  rule("a block is missing from a view that has not reached it", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const [head, solid] = [await chain.head(), await chain.solid()];
    assertEquals(await chain.block(head.height + 1, "head"), {
      kind: "missing",
      height: head.height + 1,
    });
    assertEquals(await chain.block(solid.height + 1, "solid"), {
      kind: "missing",
      height: solid.height + 1,
    });
    const above = (await blocksSince(chain, solid.height + 1, "head"))[0]?.height ?? 0;
    assertGreater(above, solid.height);
    assertEquals((await chain.block(above, "solid")).kind, "missing");
    assertEquals((await chain.block(above, "head")).kind, "block");
  });

  rule("a range reads what single reads read, and ends at the view's end", async (harness) => {
    const { chain, currency } = harness;
    for (let i = 0; i < 5; i++) {
      await harness.pay({ to: chain.deriveAddress(i), asset: currency, amount: amountOf("1") });
      await harness.mine(1);
    }
    await harness.mine(25);
    const solid = await chain.solid();
    const range = await Array.fromAsync(chain.blocks(1, solid.height + 5, "solid"));
    assertEquals(range.at(-1), { kind: "missing", height: solid.height + 1 });
    const single = await blocksSince(chain, 1, "solid");
    assertEquals(
      range.slice(0, -1).map((answer) => answer.kind === "block" && answer.block),
      single,
    );
    assertEquals(await Array.fromAsync(chain.blocks(5, 4, "solid")), []);
  });

  rule("a block without its receipts is incomplete, and whole later", async (harness) => {
    const { chain, currency } = harness;
    await harness.pay({ to: chain.deriveAddress(0), asset: currency, amount: amountOf("1") });
    await harness.mine(1);
    const { height } = await chain.head();
    await harness.trouble("receipts-late", 1);
    assertEquals((await chain.block(height, "head")).kind, "incomplete");
    assertEquals((await wholeBlock(chain, height, "head")).transfers.length, 1);
  });

  rule("solid blocks outlive a reorganisation, the others are replaced", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    await harness.pay({ to: chain.deriveAddress(0), asset: currency, amount: amountOf("1") });
    await harness.mine(1);
    const solid = await blocksSince(chain, 1, "solid");
    const seen = await wholeBlock(chain, (await chain.head()).height, "head");
    assertEquals(seen.transfers.length, 1);
    await harness.reorganise(1);
    await harness.mine(ENOUGH);
    const after = await blocksSince(chain, 1, "solid");
    assertEquals(after.slice(0, solid.length), solid);
    const replaced = after.find((block) => block.height === seen.height);
    assertNotEquals(replaced?.hash, seen.hash);
    assertEquals(
      after.flatMap((block) => block.transfers).map((t) => chain.addressOf(t.eventTo)).includes(
        chain.deriveAddress(0),
      ),
      false,
    );
  });

  rule("a node in trouble makes reads fail by category, and recovers", async (harness) => {
    const { chain } = harness;
    for (
      const [trouble, category] of [
        ["rate-limited", "rate-limit"],
        ["server-error", "server-error"],
      ] as const
    ) {
      await harness.trouble(trouble, 1);
      const error = await assertRejects(() => chain.solid(), ChainUnavailable);
      assertEquals(error.category, category);
      await eventually(() => chain.solid());
    }
  });
}

/** Tries a read until the adapter's pause after a failure is over; bounded. */
async function eventually<T>(read: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 60_000;
  while (true) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function transferRules(rule: Rule): void {
  rule("a payment is seen at the head and is the same once solid", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const to = chain.deriveAddress(7);
    const txid = await harness.pay({ to, asset: currency, amount: amountOf("12.345678") });
    assertEquals(findIn(await blocksSince(chain, height, "head"), txid), null);
    await harness.mine(1);
    const seen = findIn(await blocksSince(chain, height, "head"), txid);
    assertEquals(findIn(await blocksSince(chain, height, "solid"), txid), null);
    await harness.mine(ENOUGH);
    const solid = findIn(await blocksSince(chain, height, "solid"), txid);
    assertEquals(solid, seen);
    assertEquals(seen?.transaction.success, true);
    assertEquals(seen?.transaction.failure, null);
    const [transfer, ...more] = seen?.transfers ?? [];
    assert(transfer !== undefined && more.length === 0);
    assertEquals(chain.addressOf(transfer.eventTo), to);
    assertEquals(transfer.currency, currency);
    assertEquals(transfer.amount, amountOf("12.345678"));
    const from = chain.addressOf(transfer.eventFrom);
    assertEquals(chain.address(from), from);
    assertGreater(transfer.expiresAt, seen?.block.time ?? Infinity);
  });

  rule("several transfers of one transaction are told apart by their index", async (harness) => {
    const { chain, currency } = harness;
    const { height } = await chain.head();
    const payments = [3, 4, 3].map((index, i) => ({
      to: chain.deriveAddress(index),
      asset: currency,
      amount: amountOf(`${i + 1}`),
    }));
    const txid = await harness.payTogether(payments);
    await harness.mine(1);
    const found = findIn(await blocksSince(chain, height, "head"), txid);
    assertEquals(
      found?.transfers.map(({ eventTo, currency: asset, amount }) => ({
        to: chain.addressOf(eventTo),
        asset,
        amount,
      })),
      payments,
    );
    const indexes = found?.transfers.map((transfer) => transfer.logIndex) ?? [];
    assertEquals(new Set(indexes).size, payments.length);
    assertEquals(indexes, indexes.toSorted((a, b) => a - b));
  });

  rule("worthless look-alikes are no transfers", async (harness) => {
    const { chain } = harness;
    const { height } = await chain.head();
    const txid = await harness.poison(chain.deriveAddress(0));
    await harness.mine(1);
    const found = findIn(await blocksSince(chain, height, "head"), txid);
    assertEquals(found?.transaction.success, true);
    assertEquals(found?.transfers, []);
  });

  rule("a failed transaction is there, failed, paid for, and moved nothing", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { payment, signed } = await signPayout(harness);
    await harness.trouble("fails-on-chain", 1);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(ENOUGH);
    const found = findIn(await blocksSince(chain, height, "solid"), signed.txid);
    assert(found !== null, "a failed transaction must not be missing");
    assertEquals(found.transaction.success, false);
    assert(found.transaction.failure !== null && found.transaction.failure !== "");
    assertGreater(found.transaction.fee, ZERO);
    assertEquals(found.transfers, []);
    assertEquals(await chain.balanceOf(payment.to, currency), ZERO);
  });
}

function feeRules(rule: Rule, kind: Kind): void {
  rule(
    "an estimate covers what the transfer then costs, for new and known receivers",
    async (harness) => {
      const { chain, currency } = harness;
      await harness.mine(ENOUGH);
      const to = harness.freshAddress();
      for (const amount of ["1", "123456.654321"]) {
        const { height } = await chain.head();
        const payment = { to, asset: currency, amount: amountOf(amount) };
        const estimate = await chain.estimateFee([{ from: chain.hotWallet, ...payment }]);
        assertGreater(estimate.fee, ZERO);
        const envelope = await envelopeOf(chain, estimate);
        const signed = await harness.sign(payment, envelope);
        assert(isTaken(await chain.broadcast(signed)));
        await harness.mine(1);
        const found = findIn(await blocksSince(chain, height, "head"), signed.txid);
        assertEquals(found?.transaction.success, true);
        assertLessOrEqual(found?.transaction.fee ?? ZERO, estimate.fee);
      }
    },
  );

  rule("the chain's own coin can be sent, and its cost estimated", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const to = harness.freshAddress();
    for (const amount of kind.coin) {
      const before = await chain.balanceOf(to, "native");
      const { payment, signed } = await signPayout(harness, {
        to,
        asset: "native",
        amount: amountOf(amount),
      });
      const { fee } = await chain.estimateFee([{ from: chain.hotWallet, ...payment }]);
      const { height } = await chain.head();
      assert(isTaken(await chain.broadcast(signed)));
      await harness.mine(ENOUGH);
      const found = findIn(await blocksSince(chain, height, "solid"), signed.txid);
      assertEquals(found?.transaction.success, true);
      assertLessOrEqual(found?.transaction.fee ?? ZERO, fee);
      assertEquals(await chain.balanceOf(to, "native"), add(before, payment.amount));
    }
  });

  rule("a transfer that would fail now has no estimate", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const from = harness.freshAddress();
    const error = await assertRejects(
      () =>
        chain.estimateFee([
          { from, to: chain.hotWallet, asset: currency, amount: amountOf("1") },
        ]),
      ChainUnavailable,
    );
    assertEquals(error.category, "reverted");
  });

  if (kind.life !== "expires") return;
  rule("an envelope dies after the chain's lifetime, by block time", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const solid = await chain.solid();
    const envelope = chain.envelope(solid, { fee: amountOf("1"), limit: amountOf("1") }, null);
    assertEquals(envelope.network, chain.network);
    const { ticks, ms } = expiring(chain);
    assertEquals(envelope.expiresAt, solid.time + ms);
    assertEquals(envelope.diesAfter, solid.tick + ticks);
    assertEquals(JSON.parse(JSON.stringify(envelope)), envelope);
  });
}

function broadcastRules(rule: Rule, kind: Kind): void {
  rule("a broadcast pays once, however often the same bytes are sent", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { payment, signed } = await signPayout(harness);
    assertEquals((await chain.broadcast(signed)).category, "accepted");
    assert(isTaken(await chain.broadcast(signed)), "sending again is no failure");
    await harness.mine(1);
    assertNotEquals((await chain.broadcast(signed)).category, "rejected");
    await harness.mine(ENOUGH);
    assertNotEquals((await chain.broadcast(signed)).category, "rejected");
    const blocks = await blocksSince(chain, height, "solid");
    const found = findIn(blocks, signed.txid);
    assertEquals(found?.transfers.map((transfer) => essence(chain, transfer)), [{
      from: chain.hotWallet,
      to: payment.to,
      currency,
      amount: payment.amount,
      logIndex: found?.transfers[0]?.logIndex ?? -1,
    }]);
    const times = blocks.flatMap((block) => block.transactions)
      .filter((included) => included.txid === signed.txid).length;
    assertEquals(times, 1);
    assertEquals(await chain.balanceOf(payment.to, currency), payment.amount);
  });

  for (const trouble of ["accepted-silently", "answer-lost", "answer-missing"] as const) {
    rule(
      `a broadcast whose answer is bad (${trouble}) is unclear, and may have paid`,
      async (harness) => {
        const { chain } = harness;
        await harness.mine(ENOUGH);
        const { height } = await chain.head();
        const { signed } = await signPayout(harness);
        await harness.trouble(trouble, 1);
        const outcome = await chain.broadcast(signed);
        assertEquals(outcome.category, "unclear");
        assertEquals(outcome.retryable, true);
        await harness.mine(ENOUGH);
        const found = findIn(await blocksSince(chain, height, "solid"), signed.txid);
        assertEquals(found?.transaction.success, true);
      },
    );
  }

  rule("an accepted broadcast may be forgotten; the same bytes sent again pay", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { signed } = await signPayout(harness);
    await harness.trouble("forgotten", 1);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(2);
    assertEquals(findIn(await blocksSince(chain, height, "head"), signed.txid), null);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(1);
    assert(findIn(await blocksSince(chain, height, "head"), signed.txid) !== null);
  });

  rule("changed bytes are never taken", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { payment, signed } = await signPayout(harness);
    const other = await signPayout(harness);
    const mixed = { ...signed, bytes: other.signed.bytes };
    await assertRejects(() => chain.broadcast(mixed));
    await harness.mine(1);
    assertEquals(findIn(await blocksSince(chain, height, "head"), other.signed.txid), null);
    assertEquals(await chain.balanceOf(payment.to, harness.currency), ZERO);
  });

  if (kind.life !== "expires") return;
  rule("once expired, a transaction never lands", async (harness) => {
    const { chain, spacingMs } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { signed } = await signPayout(harness);
    await harness.mine(Math.ceil(expiring(chain).ms / spacingMs) + ENOUGH);
    assertGreater((await chain.solid()).time, signed.expiresAt ?? Infinity);
    const outcome = await chain.broadcast(signed);
    assertFalse(isTaken(outcome), "an expired transaction must not be taken");
    await harness.mine(ENOUGH);
    assertEquals(findIn(await blocksSince(chain, height, "solid"), signed.txid), null);
  });
}

/** The lane of a chain whose transactions are ended by their nonces. */
function laneOf({ capabilities: { life } }: Chain) {
  if (life.kind === "nonce") return life.lane;
  throw new Error("Cannot use a lane as transactions of this chain expire");
}

function laneRules(rule: Rule, { life }: Kind): void {
  if (life !== "nonce") return;
  rule("an envelope has its sender's nonce, and dies by that alone", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const movement = { from: chain.hotWallet, to: harness.freshAddress(), asset: currency };
    const fee = await chain.estimateFee([{ ...movement, amount: amountOf("1") }]);
    const envelope = chain.envelope(await chain.solid(), fee, 7);
    assertEquals([envelope.nonce, envelope.diesAfter, envelope.expiresAt], [7, null, null]);
    assertEquals(JSON.parse(JSON.stringify(envelope)), envelope);
    assertThrows(() => chain.envelope(NO_BLOCK, fee, null), RangeError);
  });

  rule(
    "a nonce is used once a block has its transaction, and counted when that is solid",
    async (harness) => {
      const { chain } = harness;
      await harness.mine(ENOUGH);
      const lane = laneOf(chain);
      const first = await lane.next(chain.hotWallet, "solid");
      const { signed } = await signPayout(harness);
      assertEquals(chain.termsOf(signed.bytes, 0).nonce, first);
      assertEquals(await lane.sent(signed.txid), null);
      assert(isTaken(await chain.broadcast(signed)));
      assertEquals(await lane.next(chain.hotWallet, "head"), first);
      await harness.mine(1);
      assertEquals(await lane.next(chain.hotWallet, "head"), first + 1);
      assertEquals(await lane.next(chain.hotWallet, "solid"), first);
      const eventFrom = chain.eventAddress(chain.hotWallet);
      assertEquals(await lane.sent(signed.txid), { eventFrom, nonce: first });
      await harness.mine(ENOUGH);
      const checkpoint = await chain.solid();
      assertEquals(await lane.next(chain.hotWallet, "solid", undefined, checkpoint), first + 1);
      assertEquals(await lane.next(harness.freshAddress(), "solid"), 0);
    },
  );

  rule("a replacement is taken in place of the earlier bytes, and pays once", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { payment, signed } = await signPayout(harness);
    assert(isTaken(await chain.broadcast(signed)));
    const ask = await laneOf(chain).asks();
    assertFalse(ask.isPassedOver(signed.bytes));
    const fee = ask.replacing([signed.bytes]);
    assert(fee !== null);
    const { nonce } = chain.termsOf(signed.bytes, 0);
    const second = await harness.sign(payment, chain.envelope(await chain.solid(), fee, nonce));
    assert(isTaken(await chain.broadcast(second)));
    await harness.mine(ENOUGH);
    const blocks = await blocksSince(chain, height, "solid");
    assertEquals(findIn(blocks, signed.txid), null);
    assert(findIn(blocks, second.txid)?.transaction.success === true);
    assertEquals(await chain.balanceOf(payment.to, currency), payment.amount);
    // whose nonce is used pays no more, whatever a node says to it
    await chain.broadcast(signed);
    await harness.mine(ENOUGH);
    assertEquals(await chain.balanceOf(payment.to, currency), payment.amount);
  });

  rule("a transaction of the hot wallet is marked, another party's is not", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const { signed } = await signPayout(harness);
    assert(isTaken(await chain.broadcast(signed)));
    const other = await harness.pay({
      to: chain.deriveAddress(0),
      asset: currency,
      amount: amountOf("1"),
    });
    await harness.mine(1);
    const blocks = await blocksSince(chain, height, "head");
    assertEquals(findIn(blocks, signed.txid)?.transaction.byHotWallet, true);
    assertEquals(findIn(blocks, other)?.transaction.byHotWallet, undefined);
  });
}

const NO_BLOCK = { height: 0, parentHeight: 0, hash: "", parentHash: "", time: 0, tick: 0 };

function balanceRules(rule: Rule): void {
  rule("a balance counts money once it is solid, in and out", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const to = chain.deriveAddress(1);
    const before = await chain.balanceOf(chain.hotWallet, currency);
    assertEquals(await chain.balanceOf(to, currency), ZERO);
    await harness.pay({ to, asset: currency, amount: amountOf("5") });
    const { payment, signed } = await signPayout(harness);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(1);
    assertEquals(await chain.balanceOf(to, currency), ZERO);
    assertEquals(await chain.balanceOf(chain.hotWallet, currency), before);
    await harness.mine(ENOUGH);
    assertEquals(await chain.balanceOf(to, currency), amountOf("5"));
    assertEquals(
      await chain.balanceOf(chain.hotWallet, currency),
      subtract(before, payment.amount),
    );
  });

  rule(
    "every supported currency has a balance, an address without account has none",
    async (harness) => {
      const { chain } = harness;
      await harness.mine(ENOUGH);
      const nobody = harness.freshAddress();
      for (const asset of [...chain.capabilities.currencies, "native" as const]) {
        assertGreaterOrEqual(await chain.balanceOf(chain.hotWallet, asset), ZERO);
        assertEquals(await chain.balanceOf(nobody, asset), ZERO);
      }
    },
  );
}

function lookupRules(rule: Rule): void {
  rule("a transaction reads the same by its id as in its block", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const { height } = await chain.head();
    const payments = [3, 4].map((index) => ({
      to: chain.deriveAddress(index),
      asset: currency,
      amount: amountOf(`${index}.5`),
    }));
    const txid = await harness.payTogether(payments);
    assertNotEquals((await chain.transaction(txid, "head")).kind, "found");
    await harness.mine(1);
    assertEquals(await chain.transaction(txid, "solid"), { kind: "missing", txid });
    const seen = await chain.transaction(txid, "head");
    const inBlock = findIn(await blocksSince(chain, height, "head"), txid);
    assert(inBlock !== null);
    const { block, transaction, transfers } = inBlock;
    assertEquals(seen, {
      kind: "found",
      transaction: { ...transaction, height: block.height, time: block.time, transfers },
    });
    assertEquals(transfers.length, 2);
    await harness.mine(ENOUGH);
    assertEquals(await chain.transaction(txid, "solid"), seen);
  });

  rule("a failed transaction is found by its id, failed and without transfers", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const { signed } = await signPayout(harness);
    await harness.trouble("fails-on-chain", 1);
    assert(isTaken(await chain.broadcast(signed)));
    await harness.mine(ENOUGH);
    const found = await chain.transaction(signed.txid, "solid");
    assert(found.kind === "found");
    assertEquals(found.transaction.success, false);
    assert(found.transaction.failure !== null);
    assertEquals(found.transaction.transfers, []);
  });

  rule("a transaction without its receipt is incomplete, and found later", async (harness) => {
    const { chain, currency } = harness;
    const txid = await harness.pay({
      to: chain.deriveAddress(0),
      asset: currency,
      amount: amountOf("1"),
    });
    await harness.mine(ENOUGH);
    await harness.trouble("receipts-late", 1);
    assertEquals((await chain.transaction(txid, "solid")).kind, "incomplete");
    assertEquals((await chain.transaction(txid, "solid")).kind, "found");
  });

  rule("what has to come from a chain with a checkpoint comes from no other", async (harness) => {
    const { chain, currency } = harness;
    await harness.mine(ENOUGH);
    const txid = await harness.pay({
      to: chain.deriveAddress(0),
      asset: currency,
      amount: amountOf("1"),
    });
    await harness.mine(ENOUGH);
    const checkpoint = await chain.solid();
    const { height } = checkpoint;
    const transaction = (mark: Checkpoint) => chain.transaction(txid, "solid", undefined, mark);
    const blocks = async (mark: Checkpoint) => {
      const answers = chain.blocks(height - 2, height, "solid", undefined, mark);
      return (await Array.fromAsync(answers)).map(({ kind }) => kind);
    };
    assertEquals(await transaction(checkpoint), await chain.transaction(txid, "solid"));
    assertEquals(await blocks(checkpoint), ["block", "block", "block"]);
    const later = { height: height + 1, hash: checkpoint.hash };
    await assertRejects(() => transaction(later), NotOurChain);
    await assertRejects(() => blocks(later), NotOurChain);
    assertEquals(await blocks(checkpoint), ["block", "block", "block"], "behind is not wrong");
    await assertRejects(() => transaction({ height, hash: checkpoint.parentHash }), NotOurChain);
  });

  rule("what names no transaction is missing", async ({ chain }) => {
    for (const txid of ["", "0", "x".repeat(64), "../getnowblock"]) {
      assertEquals(await chain.transaction(txid, "solid"), { kind: "missing", txid });
    }
  });

  rule("what never happened is missing", async (harness) => {
    const { chain } = harness;
    await harness.mine(ENOUGH);
    const { signed } = await signPayout(harness);
    for (const view of ["head", "solid"] as const) {
      assertEquals(await chain.transaction(signed.txid, view), {
        kind: "missing",
        txid: signed.txid,
      });
    }
  });
}
