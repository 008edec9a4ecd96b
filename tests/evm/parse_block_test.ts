import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { type BlockAnswer, ChainUnavailable } from "../../chains/chain.ts";
import { headSchema, receiptsSchema, receiptsShape } from "../../chains/evm/read/answers.ts";
import { parseBlock, type ParseContext } from "../../chains/evm/read/parse_block.ts";
import { withReadLogs } from "../../chains/evm/read/receipt_logs.ts";
import { formatAmount, fromTokenUnits } from "../../ledger/money/amount.ts";
import { changed, ODD, places } from "../tron/support/changed_json.ts";
import {
  addressOf,
  type BlockFixture,
  composeBlock,
  FAKE,
  hashOf,
  HOT,
  type LogSpec,
  plainReceipt,
  plainRoot,
  transferLog,
  USDT,
  word,
} from "./support/block_fixture.ts";

function contextOf(): ParseContext {
  return {
    tokens: new Map([[USDT, { currency: "USDT", unit: fromTokenUnits(1n, 6) }]]),
    hotWallet: HOT,
  };
}

/** A block with a receipt of a type, the root of which is not that of the usual layout. */
function withAnotherLayout(type: number): BlockFixture {
  const logs = [transferLog(addressOf(1), addressOf(2), 1n), {
    ...transferLog(addressOf(1), addressOf(2), 1n),
    address: FAKE,
  }];
  const block = composeBlock(5, [{ type, logs: logs.toReversed() }]);
  return { ...block, head: { ...block.head, receiptsRoot: word(77n) } };
}

/** The answer to JSON as a node gives it; `malformed` where a shape is wrong. */
function parse({ head, receipts }: BlockFixture, context = contextOf()): BlockAnswer | "malformed" {
  const shapedHead = headSchema.safeParse(head);
  const shaped = receiptsShape.safeParse(receipts);
  if (!shapedHead.success || !shaped.success || shaped.data === null) return "malformed";
  const found = shaped.data.map((receipt) => withReadLogs(receipt, context.tokens));
  return parseBlock(shapedHead.data, found, context);
}

/** Transfers of a block as `from to amount` by the last digits of their addresses. */
function transfersOf(answer: BlockAnswer | "malformed"): readonly string[] | string {
  if (answer === "malformed") return answer;
  if (answer.kind !== "block") return answer.kind;
  return answer.block.transfers.map(({ eventFrom, eventTo, amount, logIndex }) =>
    `${eventFrom.slice(-4)} ${eventTo.slice(-4)} ${formatAmount(amount)} #${logIndex}`
  );
}

const A = addressOf(1);
const B = addressOf(2);
const C = addressOf(3);

const CREDITED: readonly {
  readonly name: string;
  readonly logs: readonly LogSpec[];
  readonly status?: 0 | 1;
  readonly transfers: readonly string[];
}[] = [
  { name: "one transfer", logs: [transferLog(A, B, 5_000_000n)], transfers: ["1001 1002 5 #0"] },
  {
    name: "several transfers in one transaction, each by its own log",
    logs: [
      transferLog(A, B, 1n),
      transferLog(A, B, 1n),
      { address: USDT, topics: [word(1n)], data: "0x" },
      transferLog(A, C, 2_000_000n),
    ],
    transfers: ["1001 1002 0.000001 #0", "1001 1002 0.000001 #1", "1001 1003 2 #3"],
  },
  {
    name: "a token that keeps a fee: what arrives, and the fee as a transfer of its own",
    logs: [transferLog(A, B, 9_990_000n), transferLog(A, C, 10_000n)],
    transfers: ["1001 1002 9.99 #0", "1001 1003 0.01 #1"],
  },
  {
    name: "nothing of a transaction that failed",
    logs: [],
    status: 0,
    transfers: [],
  },
  { name: "nothing of a transfer of nothing", logs: [transferLog(A, B, 0n)], transfers: [] },
  {
    name: "nothing of another contract",
    logs: [transferLog(A, B, 7_000_000n, FAKE)],
    transfers: [],
  },
  {
    name: "nothing of an event with a fourth topic, as tokens that are no money have it",
    logs: [{
      ...transferLog(A, B, 1n),
      topics: [...transferLog(A, B, 1n).topics, word(9n)],
      data: "0x",
    }],
    transfers: [],
  },
  {
    name: "nothing of an approval",
    logs: [{
      address: USDT,
      topics: [
        "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925",
        word(A),
        word(B),
      ],
      data: word(5n),
    }],
    transfers: [],
  },
  {
    name: "an address whose padding is not zero, as the machine does not look at it",
    logs: [{
      address: USDT,
      topics: [transferLog(A, B, 1n).topics[0] ?? "", `0x${"ff".repeat(12)}${A.slice(2)}`, word(B)],
      data: word(1_000_000n),
    }],
    transfers: ["1001 1002 1 #0"],
  },
  {
    name: "a contract's address in capital digits",
    logs: [transferLog(A, B, 1_000_000n, `0x${USDT.slice(2).toUpperCase()}`)],
    transfers: ["1001 1002 1 #0"],
  },
];

for (const { name, logs, status = 1, transfers } of CREDITED) {
  Deno.test(`of a block is credited: ${name}`, () => {
    for (const type of [0, 1, 2, 3, 4]) {
      assertEquals(transfersOf(parse(composeBlock(5, [{ type, status, logs }, {}]))), transfers);
    }
  });
}

Deno.test("logs of a failed transaction bring nothing, whatever they say", () => {
  const block = composeBlock(5, [{ status: 0, logs: [transferLog(A, B, 5_000_000n)] }]);
  assertEquals(transfersOf(parse(block)), []);
});

Deno.test("a block's place, its transactions, their fees and the hand of the hot wallet are read", () => {
  const answer = parse(composeBlock(5, [{ from: HOT, status: 0, gasUsed: 50_000 }, {}]));
  if (answer === "malformed" || answer.kind !== "block") throw new Error(JSON.stringify(answer));
  const { block } = answer;
  assertEquals(
    [block.height, block.parentHeight, block.time, block.tick],
    [5, 4, 1_700_000_060_000, 1_700_000_060_000],
  );
  assertEquals(
    block.transactions.map(({ success, failure, fee, byHotWallet }) => [
      success,
      failure,
      formatAmount(fee),
      byHotWallet,
    ]),
    [[false, "REVERTED", "0.0001", true], [true, null, "0.000082002", undefined]],
  );
});

Deno.test("a block from before Byzantium is whole, and nothing is credited from it: it does not say what failed", () => {
  const root = hashOf("state");
  const block = composeBlock(5, [{ type: 0, root, logs: [transferLog(A, B, 5_000_000n)] }]);
  const answer = parse(block);
  if (answer === "malformed" || answer.kind !== "block") throw new Error(JSON.stringify(answer));
  assertEquals(answer.block.transfers, []);
  assertEquals(
    answer.block.transactions.map(({ success, failure }) => [success, failure]),
    [[false, "UNTOLD_BEFORE_BYZANTIUM"]],
  );
  const kind = () => {
    const found = parse(block);
    return found === "malformed" ? found : found.kind;
  };
  block.receipts[0].root = hashOf("another state");
  assertEquals(kind(), "incomplete", "the state is under the root of the receipts");
  delete block.receipts[0].root;
  assertEquals(kind(), "incomplete", "it has neither a state nor a status");
});

Deno.test("a transaction that pays far more than others for its place stops no block", () => {
  const block = composeBlock(5, [{ gasUsed: 21_000 }]);
  block.receipts[0].effectiveGasPrice = `0x${(10n ** 9n * 10n ** 8n).toString(16)}`;
  const answer = parse(block);
  if (answer === "malformed" || answer.kind !== "block") throw new Error(JSON.stringify(answer));
  assertEquals(answer.block.transactions.map(({ fee }) => formatAmount(fee)), ["2100"]);
});

Deno.test("a block from before base fees, whose head names none, is read", () => {
  const { head: { baseFeePerGas: _, ...head }, receipts } = composeBlock(5, [{}]);
  assertEquals(transfersOf(parse({ head, receipts })), []);
});

Deno.test("poisoning by nothing and tokens of other contracts are no transfers", () => {
  const logs = [transferLog(A, B, 0n), transferLog(A, B, 1n, FAKE)];
  assertEquals(transfersOf(parse(composeBlock(5, [{ logs }]))), []);
});

const WHOLE = composeBlock(5, [
  { type: 0, logs: [transferLog(A, B, 1_000_000n)] },
  { status: 0 },
  { logs: [transferLog(B, C, 2_000_000n), transferLog(A, C, 3_000_000n)] },
]);

/** The same with its receipts changed. */
// deno-lint-ignore no-explicit-any -- JSON
function withReceipts(change: (receipts: any[]) => any[]): BlockFixture {
  return { head: WHOLE.head, receipts: change(structuredClone(WHOLE.receipts)) };
}

const INCOMPLETE: Readonly<Record<string, { readonly block: BlockFixture; readonly why: string }>> =
  {
    "no receipts at all": { block: withReceipts(() => []), why: "0 receipts for 3 transactions" },
    "the last receipt is not there": {
      block: withReceipts((all) => all.slice(0, 2)),
      why: "2 receipts for 3 transactions",
    },
    "a receipt is there twice": {
      block: withReceipts(([a, b]) => [a, b, b]),
      why: "a receipt is not of transaction",
    },
    "two receipts have changed places": {
      block: withReceipts(([a, b, c]) => [b, a, c]),
      why: "a receipt is not of transaction",
    },
    "a receipt has a price that all coin there is could not pay": {
      block: withReceipts((
        [a, b, c],
      ) => [a, { ...b, effectiveGasPrice: `0x${"f".repeat(64)}` }, c]),
      why: "a price cannot have been paid",
    },
    "a receipt has a price below the one that all of its block paid": {
      block: withReceipts(([a, b, c]) => [a, b, { ...c, effectiveGasPrice: "0x3b9ac9ff" }]),
      why: "a price cannot have been paid",
    },
    "a receipt is of another block": {
      block: withReceipts(([a, b, c]) => [a, b, { ...c, blockHash: word(1n) }]),
      why: "a receipt is of another block",
    },
    "a log in the middle is missing": {
      block: withReceipts(([a, b, c]) => [a, b, { ...c, logs: c.logs.slice(1) }]),
      why: "log 1 is missing",
    },
    "the last log is missing": {
      block: withReceipts(([a, b, c]) => [a, b, { ...c, logs: c.logs.slice(0, 1) }]),
      why: "its receipts have the root",
    },
    "a failed transaction is said to have succeeded": {
      block: withReceipts(([a, b, c]) => [a, { ...b, status: "0x1" }, c]),
      why: "its receipts have the root",
    },
    "an amount is another": {
      block: withReceipts(([a, b, c]) => [
        { ...a, logs: [{ ...a.logs[0], data: word(9_000_000n) }] },
        b,
        c,
      ]),
      why: "its receipts have the root",
    },
    "gas of a transaction is missing": {
      block: withReceipts(([a, b, c]) => [a, b, { ...c, gasUsed: "0x1" }]),
      why: "gas is missing before",
    },
    "the head used more gas": {
      block: { head: { ...WHOLE.head, gasUsed: "0xfffff" }, receipts: WHOLE.receipts },
      why: "gas of 1048575",
    },
    "its transactions are left out of the head together with their receipts": {
      block: { head: { ...WHOLE.head, transactions: [], gasUsed: "0x0" }, receipts: [] },
      why: "its receipts have the root",
    },
    "a node names a type that is not known for a receipt of another one": {
      block: withReceipts(([a, b, c]) => [a, b, { ...c, type: "0x7e" }]),
      why: "it has transactions of type 126, whose receipts are not known here (RECEIPT_TYPES)",
    },
    "a receipt of a type that is not known has another layout": {
      block: withAnotherLayout(126),
      why: "it has transactions of type 126, whose receipts are not known here (RECEIPT_TYPES)",
    },
  };

Deno.test("a block with a transaction of a type that is not known yet is whole where its root proves it", () => {
  const block = composeBlock(5, [{ type: 126, logs: [transferLog(A, B, 1_000_000n)] }]);
  assertEquals(transfersOf(parse(block))?.length, 1);
});

Deno.test("receipts of a type that an operator names are believed without their root, those of others are not", () => {
  const believing = (...types: readonly number[]) => ({ ...contextOf(), believed: new Set(types) });
  assertEquals(transfersOf(parse(withAnotherLayout(126), believing(5, 126)))?.length, 1);
  assertEquals(transfersOf(parse(withAnotherLayout(126), believing(5))), "incomplete");
  const known = composeBlock(5, [{ type: 2, logs: [transferLog(A, B, 1n)] }]);
  const wrong = { ...known, head: { ...known.head, receiptsRoot: word(1n) } };
  assertEquals(transfersOf(parse(wrong, believing(2, 5, 126))), "incomplete");
  const fewer = withAnotherLayout(126);
  fewer.receipts[0].logs.shift();
  assertEquals(transfersOf(parse(fewer, believing(126))), "incomplete");
});

for (const [name, { block, why }] of Object.entries(INCOMPLETE)) {
  Deno.test(`a block is not whole where ${name}`, () => {
    const answer = parse(block);
    if (answer === "malformed" || answer.kind !== "incomplete") {
      throw new Error(JSON.stringify(answer === "malformed" ? answer : answer.kind));
    }
    assertEquals(answer.reason.includes(why), true, answer.reason);
  });
}

Deno.test("an event of a configured contract that cannot be read stops its block", () => {
  const short = { ...transferLog(A, B, 1n), data: "0x01" };
  const failure = assertThrows(
    () => parse(composeBlock(5, [{ logs: [short] }])),
    ChainUnavailable,
  );
  assertEquals(failure.category, "malformed");
});

const TRANSFERS = transfersOf(parse(WHOLE));

/** True where nothing was lost and nothing invented: the same transfers, or none believed at all. */
function isHarmless(block: BlockFixture): boolean {
  try {
    const found = transfersOf(parse(block));
    return found === "malformed" || found === "incomplete" ||
      JSON.stringify(found) === JSON.stringify(TRANSFERS);
  } catch (error) {
    if (error instanceof ChainUnavailable && error.category === "malformed") return true;
    throw error;
  }
}

Deno.test("an answer in which any one place is odd never loses a transfer and never invents one", () => {
  let tried = 0;
  for (const path of places(WHOLE)) {
    for (const odd of ODD) {
      const block = changed(WHOLE, path, odd) as BlockFixture;
      if (typeof block !== "object" || block === null) continue;
      assertEquals(isHarmless(block), true, `${path.join(".")} ${JSON.stringify(odd)}`);
      tried++;
    }
  }
  assertEquals(tried > 1_000, true, String(tried));
});

Deno.test("an answer in which digits differ never loses a transfer and never invents one", () => {
  const text = JSON.stringify(WHOLE.receipts);
  const digits = [...text.matchAll(/(?<=0x[0-9a-f]*)[0-9a-f]/g)].map(({ index }) => index);
  fc.assert(
    fc.property(
      fc.constantFrom(...digits),
      fc.constantFrom(..."0123456789abcdefg "),
      (at, digit) => {
        const receipts = JSON.parse(text.slice(0, at) + digit + text.slice(at + 1));
        return isHarmless({ head: WHOLE.head, receipts });
      },
    ),
    { numRuns: 2_000, seed: 20_261_126 },
  );
});

Deno.test("a text that stands for the same bytes and is none of them never loses a transfer", () => {
  const text = JSON.stringify(WHOLE.receipts.map(({ logs }) => logs));
  const places = [...text.matchAll(/(?<=0x[0-9a-f]*)[0-9a-f]/g)];
  for (const { index, 0: digit } of places) {
    const others = digit === "0" ? ["g", "O", " "] : [digit.toUpperCase()];
    for (const other of others) {
      const logs = JSON.parse(text.slice(0, index) + other + text.slice(index + 1));
      const receipts = WHOLE.receipts.map((one, i) => ({ ...one, logs: logs[i] }));
      assertEquals(
        isHarmless({ head: WHOLE.head, receipts }),
        true,
        `${text.slice(index - 20, index)}[${other}]`,
      );
    }
  }
});

Deno.test("receipts that are dropped, doubled, moved or mixed are never believed as they are", () => {
  const other = composeBlock(5, [{ logs: [transferLog(C, B, 8_000_000n)] }]);
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...WHOLE.receipts, ...other.receipts), { maxLength: 5 }),
      (receipts) => isHarmless({ head: WHOLE.head, receipts }),
    ),
    { numRuns: 1_000, seed: 20_261_126 },
  );
});

Deno.test("receipts are read by hand as their schema reads them", () => {
  for (const path of places(WHOLE.receipts)) {
    for (const odd of ODD) {
      const json = changed(WHOLE.receipts, path, odd);
      const [byHand, bySchema] = [receiptsShape.safeParse(json), receiptsSchema.safeParse(json)];
      assertEquals(byHand.success, bySchema.success, path.join("."));
      if (byHand.success) assertEquals(byHand.data, bySchema.data);
    }
  }
});

Deno.test("the fixtures' own roots are of what their receipts say", () => {
  assertEquals(WHOLE.head.receiptsRoot, plainRoot(WHOLE.receipts.map(plainReceipt)));
});
