import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Block, BlockAnswer } from "../../chains/chain.ts";
import { packAnswers, unpackAnswers } from "../../chains/tron/packed_blocks.ts";
import { fromUnits } from "../../ledger/money/amount.ts";
import { blockId, EXPIRATION, txid } from "./support/block_fixture.ts";

const amounts = fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }).map(fromUnits);
const addresses = fc.integer({ min: 0 }).map((n) => n.toString(16).padStart(40, "0"));

const blocks: fc.Arbitrary<Block> = fc
  .record({
    height: fc.nat(),
    time: fc.nat(),
    included: fc.array(fc.record({
      failure: fc.constantFrom(null, null, "", "OUT_OF_ENERGY"),
      fee: amounts,
      transfers: fc.array(
        fc.record({
          logIndex: fc.nat(300),
          currency: fc.constantFrom("USDT" as const, "USDC" as const),
          eventFrom: addresses,
          eventTo: addresses,
          amount: amounts,
          expiresAt: fc.nat().map((n) => EXPIRATION + n),
        }),
        { maxLength: 3 },
      ),
    })),
  })
  .map(({ height, time, included }) => ({
    height,
    hash: blockId(height),
    parentHash: blockId(height - 1),
    time,
    transactions: included.map(({ failure, fee }, i) => ({
      txid: txid(i),
      success: failure === null,
      failure,
      fee,
    })),
    transfers: included.flatMap(({ transfers }, i) =>
      transfers.map((transfer) => ({ txid: txid(i), ...transfer }))
    ),
  }));

const answers: fc.Arbitrary<BlockAnswer> = fc.oneof(
  blocks.map((block) => ({ kind: "block" as const, block })),
  fc.nat().map((height) => ({ kind: "missing" as const, height })),
  fc.nat().map((height) => ({ kind: "incomplete" as const, height, reason: "a, b" })),
);

Deno.test("blocks are the same on the other thread, to the last digit of each amount", () => {
  fc.assert(fc.property(fc.array(answers, { maxLength: 4 }), (told) => {
    assertEquals(unpackAnswers(structuredClone(packAnswers(told))), told);
  }));
});
