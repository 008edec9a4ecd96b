import {
  assertEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import { ChainUnavailable } from "../../../chains/chain.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import type { Kind, Rule } from "../harness.ts";
import { blocksSince, ENOUGH, wholeBlock } from "../helpers.ts";

/** See the name of each. */
export function blockRules(rule: Rule, kind: Kind): void {
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

  rule(
    "the furthest block is the newest one, with the hot wallet's nonce where nonces are counted",
    async (harness) => {
      const { chain } = harness;
      await harness.mine(ENOUGH);
      const before = await chain.head();
      const { behindMs, nonce, ...furthest } = await chain.furthest();
      assertGreaterOrEqual(furthest.height, before.height);
      assertEquals(behindMs, 0);
      const { life } = chain.capabilities;
      assertEquals(
        nonce,
        life.kind === "nonce" ? await life.lane.next(chain.hotWallet, "head") : null,
      );
    },
  );

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

  rule(
    "where ids are proven apart, those of a block are the ones that its transactions have",
    async (harness) => {
      const { chain, currency } = harness;
      for (let i = 0; i < 3; i++) {
        await harness.pay({ to: chain.deriveAddress(i), asset: currency, amount: amountOf("1") });
      }
      await harness.mine(ENOUGH);
      const { provenIds } = chain;
      if (provenIds === undefined) return;
      const blocks = await blocksSince(chain, 1, "head");
      assertGreater(Math.max(...blocks.map(({ transactions }) => transactions.length)), 0);
      for (const { hash, transactions } of blocks) {
        assertEquals(await provenIds(hash), transactions.map(({ txid }) => txid));
      }
      assertEquals(await provenIds(`0x${"0".repeat(64)}`), null);
    },
  );

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
