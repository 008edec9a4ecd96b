import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { addressToLogHex } from "../../chains/tron/address.ts";
import { fullBlockSchema, receiptsSchema } from "../../chains/tron/read/answers.ts";
import { parseBlock, type Token } from "../../chains/tron/read/parse_block.ts";
import { type Block, type BlockAnswer, ChainUnavailable } from "../../chains/chain.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import {
  approvalLog,
  block,
  BLOCK_TIME,
  blockId,
  contractCall,
  EXPIRATION,
  FAKE,
  HEIGHT,
  type Json,
  log,
  nativeTransfer,
  OURS,
  type Pair,
  PAYER,
  receipts,
  STRANGER,
  transferLog,
  txid,
  USDT,
  word,
} from "./support/block_fixture.ts";

const TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** Parses as the adapter does: through the schemas. */
function parse(
  blockJson: Json,
  receiptsJson: unknown,
): BlockAnswer {
  const token: Token = { currency: "USDT", unit: amountOf("0.000001") };
  return parseBlock(fullBlockSchema.parse(blockJson), receiptsSchema.parse(receiptsJson), {
    tokens: new Map([[addressToLogHex(USDT), token]]),
  });
}

/** Parses a block that must be whole. */
function parseWhole(pairs: readonly Pair[]): Block {
  const answer = parse(block(pairs), receipts(pairs));
  if (answer.kind !== "block") throw new Error(`Cannot go on as the block is ${answer.kind}`);
  return answer.block;
}

Deno.test("a USDT transfer is credited although transfer() returned false", () => {
  const found = parseWhole([contractCall(1, [transferLog(USDT, PAYER, OURS, 12_345_678)])]);
  assertEquals(found.transfers, [{
    txid: txid(1),
    logIndex: 0,
    currency: "USDT",
    eventFrom: addressToLogHex(PAYER),
    eventTo: addressToLogHex(OURS),
    amount: amountOf("12.345678"),
    diesAfter: EXPIRATION,
    expiresAt: EXPIRATION,
  }]);
  assertEquals(found.transactions, [
    { txid: txid(1), success: true, failure: null, fee: amountOf("13.845") },
  ]);
});

Deno.test("a block names its place: height, hash, parent, time, and the tick, which is its time", () => {
  const { transactions: _, transfers: __, ...place } = parseWhole([]);
  assertEquals(
    place,
    {
      height: HEIGHT,
      parentHeight: HEIGHT - 1,
      hash: blockId(HEIGHT),
      parentHash: blockId(HEIGHT - 1),
      time: BLOCK_TIME,
      tick: BLOCK_TIME,
    },
  );
});

Deno.test("the sender is topic 1, never the transaction's owner", () => {
  // The owner in the fixture is STRANGER: an exchange's bot moved PAYER's money.
  const { transfers } = parseWhole([contractCall(1, [transferLog(USDT, PAYER, OURS, 1)])]);
  assertEquals(transfers[0]?.eventFrom, addressToLogHex(PAYER));
});

Deno.test("several transfers of one transaction keep the index of their log", () => {
  const logs = [
    approvalLog(USDT, PAYER, STRANGER, 5),
    transferLog(USDT, PAYER, OURS, 1),
    transferLog(FAKE, PAYER, OURS, 2),
    transferLog(USDT, PAYER, STRANGER, 3),
    transferLog(USDT, PAYER, OURS, 4),
  ];
  const { transfers } = parseWhole([contractCall(1, logs)]);
  assertEquals(transfers.map(({ logIndex, eventTo }) => [logIndex, eventTo]), [
    [1, addressToLogHex(OURS)],
    [3, addressToLogHex(STRANGER)],
    [4, addressToLogHex(OURS)],
  ]);
});

Deno.test("a transfer made by another contract counts like any other", () => {
  const call = contractCall(1, [transferLog(USDT, PAYER, OURS, 1_000_000)], {
    receipt: { contract_address: `41${addressToLogHex(FAKE)}` },
  });
  assertEquals(parseWhole([call]).transfers[0]?.amount, amountOf("1"));
});

Deno.test("the event's amount counts, not the call's", () => {
  // The fixture's call data says 1 unit; the contract kept a fee or was called by another one.
  const { transfers } = parseWhole([contractCall(1, [transferLog(USDT, PAYER, OURS, 999_000)])]);
  assertEquals(transfers[0]?.amount, amountOf("0.999"));
});

Deno.test("a fake token with the same event is no money", () => {
  const call = contractCall(1, [transferLog(FAKE, PAYER, OURS, 1_000_000)]);
  assertEquals(parseWhole([call]).transfers, []);
});

Deno.test("a transfer of value 0 is no money", () => {
  const call = contractCall(1, [transferLog(USDT, OURS, STRANGER, 0)]);
  assertEquals(parseWhole([call]).transfers, []);
});

Deno.test("an event with four topics is another event", () => {
  const topics = [TRANSFER, word(addressToLogHex(PAYER)), word(addressToLogHex(OURS)), word(1)];
  assertEquals(parseWhole([contractCall(1, [log(USDT, topics, word(1))])]).transfers, []);
});

Deno.test("a log without topics or data is passed over", () => {
  const bare = { address: addressToLogHex(USDT) };
  const call = contractCall(1, [bare, transferLog(USDT, PAYER, OURS, 1)]);
  assertEquals(parseWhole([call]).transfers.map((transfer) => transfer.logIndex), [1]);
});

for (const result of ["REVERT", "OUT_OF_ENERGY", "OUT_OF_TIME", "TRANSFER_FAILED"]) {
  Deno.test(`a transaction that ended in ${result} is there as failed and moves nothing`, () => {
    const call = contractCall(1, [transferLog(USDT, PAYER, OURS, 1)], { result });
    const { transactions, transfers } = parseWhole([call]);
    assertEquals(transfers, []);
    assertEquals(transactions, [
      { txid: txid(1), success: false, failure: result, fee: amountOf("13.845") },
    ]);
  });
}

Deno.test("a transfer of TRX has no result in its receipt and is a success by its block", () => {
  assertEquals(parseWhole([nativeTransfer(1)]).transactions, [
    { txid: txid(1), success: true, failure: null, fee: amountOf("0") },
  ]);
});

Deno.test("receipts in another order than the transactions are the same set", () => {
  const pairs = [1, 2, 3].map((n) => contractCall(n, [transferLog(USDT, PAYER, OURS, n)]));
  const answer = parse(block(pairs), receipts(pairs.toReversed()));
  assert(answer.kind === "block");
  assertEquals(answer.block.transfers.map((transfer) => transfer.txid), [1, 2, 3].map(txid));
});

const two = [1, 2].map((n) => contractCall(n, [transferLog(USDT, PAYER, OURS, n)])) as [Pair, Pair];
const incomplete: Record<string, [Json, unknown]> = {
  "no receipts at all": [block(two), []],
  "an empty object for receipts": [block(two), {}],
  "one receipt of two": [block(two), [two[0].receipt]],
  "as many receipts, one of them foreign": [
    block(two),
    [two[0].receipt, contractCall(3, []).receipt],
  ],
  "one receipt twice": [block(two), [two[0].receipt, two[0].receipt]],
  "one transaction twice": [block([two[0], two[0]]), receipts(two)],
  "one transaction and its receipt twice": [
    block([two[0], two[0]]),
    [two[0].receipt, two[0].receipt],
  ],
  "receipts although the block is empty": [block([]), receipts(two)],
  "a receipt of another height": [
    block(two),
    [two[0].receipt, { ...two[1].receipt, blockNumber: HEIGHT + 1 }],
  ],
  "a receipt of another block of that height": [
    block(two),
    [two[0].receipt, { ...two[1].receipt, blockTimeStamp: BLOCK_TIME + 3_000 }],
  ],
};
for (const [what, [blockJson, receiptsJson]] of Object.entries(incomplete)) {
  Deno.test(`a block is not whole with ${what}`, () => {
    assertEquals(parse(blockJson, receiptsJson).kind, "incomplete");
  });
}

const contradictions: Record<string, Pair> = {
  "block says SUCCESS, receipt REVERT": contractCall(1, [], {
    result: "REVERT",
    transaction: { ret: [{ contractRet: "SUCCESS" }] },
  }),
  "receipt says SUCCESS and FAILED": contractCall(1, [], { receipt: { result: "FAILED" } }),
  "nothing says how it ended": contractCall(1, [], {
    transaction: { ret: [{}] },
    receipt: { receipt: {} },
  }),
  "a Transfer without an amount": contractCall(1, [
    log(USDT, [TRANSFER, word(1), word(2)], ""),
  ]),
  "a Transfer with a malformed topic": contractCall(1, [
    log(USDT, [TRANSFER, "zz", word(2)], word(1)),
  ]),
  ...Object.fromEntries(
    [" ", "\t", "\n", "\u00a0"].map((blank) => [
      `a Transfer whose amount ends in ${JSON.stringify(blank)}`,
      contractCall(1, [log(USDT, [TRANSFER, word(1), word(2)], word(0x12).slice(1) + blank)]),
    ]),
  ),
};
for (const [what, pair] of Object.entries(contradictions)) {
  Deno.test(`a contradiction stops the scan instead of being guessed: ${what}`, () => {
    const error = assertThrows(() => parse(block([pair]), [pair.receipt]), ChainUnavailable);
    assertEquals(error.category, "malformed");
  });
}

Deno.test("a block whose id is not of its height is refused", () => {
  const lying = { ...block([]), blockID: blockId(HEIGHT + 1) };
  const error = assertThrows(() => parse(lying, []), ChainUnavailable);
  assertStringIncludes(error.message, "id is not of its height");
});

Deno.test("an amount beyond any supply is told as it is: it must hold no other transfer of its block", () => {
  const pairs = [
    contractCall(1, [transferLog(USDT, PAYER, OURS, 2n ** 255n)]),
    contractCall(2, [transferLog(USDT, PAYER, OURS, 5)]),
  ];
  const answer = parse(block(pairs), receipts(pairs));
  assert(answer.kind === "block");
  assertEquals(answer.block.transfers.map(({ amount }) => amount), [
    2n ** 255n * 10n ** 12n,
    5n * 10n ** 12n,
  ]);
});

Deno.test("amounts beyond 2^53 keep every digit", () => {
  const units = 12_345_678_901_234_567_890n;
  const { transfers } = parseWhole([contractCall(1, [transferLog(USDT, PAYER, OURS, units)])]);
  assertEquals(transfers[0]?.amount, amountOf("12345678901234.56789"));
});
