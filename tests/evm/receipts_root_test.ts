import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { receiptsShape } from "../../chains/evm/read/answers.ts";
import {
  EMPTY_ROOT,
  orderedRoot,
  orderedRootInSlices,
} from "../../chains/evm/read/ordered_trie.ts";
import { withReadLogs } from "../../chains/evm/read/receipt_logs.ts";
import { receiptsRoot } from "../../chains/evm/read/receipts_root.ts";
import { Slices } from "../../chains/nodes/slices.ts";
import { addressOf, composeBlock, plainRoot, transferLog, word } from "./support/block_fixture.ts";

// deno-lint-ignore no-explicit-any -- JSON
function rootOf(receipts: any[]) {
  const parsed = receiptsShape.safeParse(receipts);
  if (!parsed.success || parsed.data === null) throw new Error("Cannot read the receipts");
  const found = parsed.data.map((receipt) => withReadLogs(receipt, new Map()));
  return receiptsRoot(found);
}

Deno.test("a list has the root that its definition gives, at every length at which keys grow", () => {
  for (const count of [0, 1, 2, 3, 15, 16, 17, 127, 128, 129, 255, 256, 257, 300]) {
    const values = Array.from({ length: count }, (_, i) => `0x${"5c".repeat(1 + i % 70)}` as const);
    const bytes = values.map((value) => Uint8Array.fromHex(value.slice(2)));
    assertEquals(orderedRoot(bytes), plainRoot(values), String(count));
  }
  assertEquals(orderedRoot([]), EMPTY_ROOT);
});

Deno.test("a list that is hashed in slices has the same root, also where its members are long", async () => {
  for (const count of [0, 1, 2, 16, 17, 127, 128, 129, 257, 1_000]) {
    const values = Array.from(
      { length: count },
      (_, i) => new Uint8Array(i === count - 1 ? 700_000 : 1 + i % 70).fill(i),
    );
    assertEquals(
      await orderedRootInSlices(values, new Slices()),
      orderedRoot(values),
      String(count),
    );
  }
});

const hexBytes = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((bytes) => `0x${bytes.toHex()}`);
const logs = fc.array(
  fc.record({
    address: fc.nat().map(addressOf),
    topics: fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(word), { maxLength: 4 }),
    data: hexBytes(400),
  }),
  { maxLength: 4 },
);
const transactions = fc.array(
  fc.record({
    type: fc.nat({ max: 4 }),
    status: fc.constantFrom(0 as const, 1 as const),
    gasUsed: fc.integer({ min: 21_000, max: 30_000_000 }),
    logs,
  }),
  { maxLength: 40 },
);

Deno.test("receipts of every type have the root that the definition gives", () => {
  fc.assert(
    fc.property(transactions, (specs) => {
      const { head, receipts } = composeBlock(7, specs);
      assertEquals(rootOf(receipts), head.receiptsRoot);
    }),
    { numRuns: 200, seed: 20_261_126 },
  );
});

Deno.test("a receipt of a type that is not known yet has its root where its layout is the usual one", () => {
  const { head, receipts } = composeBlock(7, [{ type: 4 }, {
    type: 5,
    logs: [transferLog(addressOf(1), addressOf(2), 1n)],
  }]);
  assertEquals(rootOf(receipts), head.receiptsRoot);
});
