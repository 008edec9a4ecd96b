import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type BlockAnswer, ChainUnavailable } from "../../chains/chain.ts";
import { FieldPicker, Objects } from "../../chains/nodes/field_picker.ts";
import type { AnswerShape } from "../../chains/nodes/json_rpc.ts";
import { addressToLogHex } from "../../chains/tron/address.ts";
import { createTronChain } from "../../chains/tron/tron_chain.ts";
import { longBlock, longBlockList, longReceipts } from "../../chains/tron/read/long_answers.ts";
import { LongRead, type LongShape } from "../../chains/tron/read/long_read.ts";
import { parseBlock } from "../../chains/tron/read/parse_block.ts";
import type { OpenChain } from "../../chains/family.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import {
  approvalLog,
  block,
  contractCall,
  FAKE,
  HEIGHT,
  type Json,
  nativeTransfer,
  OURS,
  type Pair,
  PAYER,
  receipts,
  STRANGER,
  transferLog,
  txid,
  USDT,
} from "./support/block_fixture.ts";
import { type Script, startScriptedNode } from "./support/scripted_node.ts";

const test = testNeeding({ net: true });
const TOKENS = new Map([
  [addressToLogHex(USDT), { currency: "USDT" as const, unit: amountOf("0.000001") }],
]);
const encoder = new TextEncoder();

/** A number of transactions of all kinds. */
const PAIRS: readonly Pair[] = [
  nativeTransfer(1),
  contractCall(2, [transferLog(USDT, PAYER, OURS, 5)]),
  contractCall(3, [
    approvalLog(USDT, PAYER, OURS, 1),
    transferLog(FAKE, PAYER, OURS, 7),
    transferLog(USDT, STRANGER, OURS, 8),
  ]),
  contractCall(4, [], { result: "OUT_OF_ENERGY", transaction: { odd: '\\"}]{[ é' } }),
];

/** An answer as one text. */
function asOne<T>(shape: AnswerShape<T>, json: unknown): T {
  const parsed = shape.safeParse(json);
  if (!parsed.success) throw new Error("Cannot go on as the answer has another shape");
  return parsed.data;
}

/** An answer read in pieces of some bytes. */
async function inPieces<T>(shape: LongShape<T>, json: unknown, size: number, indent = 0) {
  const bytes = encoder.encode(JSON.stringify(json, null, indent));
  const read = new LongRead(shape, bytes.length);
  await read.begin();
  for (let at = 0; at < bytes.length; at += size) await read.take(bytes.subarray(at, at + size));
  return asOne(read.shape, JSON.parse(read.end()));
}

for (const size of [1, 7, 100, 4_000, 1_000_000]) {
  Deno.test(`a long answer in pieces of ${size} bytes is what it is as one text`, async () => {
    const list = { block: [block(PAIRS), block([], HEIGHT + 1)], odd: [[{}], null, 1.5e3, "]"] };
    assertEquals(await inPieces(longBlockList, list, size), asOne(longBlockList, list));
    assertEquals(
      await inPieces(longBlock, block(PAIRS), size, 2),
      asOne(longBlock, block(PAIRS)),
    );
    assertEquals(await inPieces(longBlock, {}, size), null);
    const context = { tokens: TOKENS };
    const shape = longReceipts(TOKENS);
    const read = asOne(longBlock, block(PAIRS));
    const expected = asOne(shape, receipts(PAIRS));
    const found = await inPieces(shape, receipts(PAIRS), size);
    assert(read !== null);
    assertEquals(parseBlock(read, found, context), parseBlock(read, expected, context));
    assertEquals(await inPieces(shape, {}, size), []);
  });
}

Deno.test("of a long text nothing but the fields that are read is kept", () => {
  const picker = new FieldPicker(
    new Objects({ a: "value", b: new Objects({ c: "value" }) }),
    () => {},
  );
  const text =
    '{"x":{"a":1},"a":"\\"","b":[{"c":[1,[2],{"a":3}],"d":4},{"c":true}],"":5,"aa":[[6]]}';
  for (const byte of encoder.encode(text)) picker.push(Uint8Array.of(byte));
  assertEquals(JSON.parse(picker.end()), { a: '"', b: [{ c: [1, null, null] }, { c: true }] });
});

Deno.test("a long text that is no JSON, or has no end, is no answer", () => {
  const read = (text: string) => {
    const picker = new FieldPicker(new Objects({ a: "value", l: new Objects({}, "l") }), () => {});
    picker.push(encoder.encode(text));
    return picker.end();
  };
  for (
    const text of ['{"a":1', '{"a":"1', '{"a":[1}', "{} {}", '{"l":[1]}', '{"l":[[]]}', '{"x":[']
  ) {
    assertThrows(() => read(text), ChainUnavailable, "long answer", text);
  }
  assertThrows(() => read(`{"a":[${"0,".repeat(2_000)}0]}`), ChainUnavailable, "values");
});

Deno.test("a long text with a wrong byte anywhere is malformed, so that no transfer is passed over", async () => {
  const receipt = `{"id":"${txid(1)}","blockNumber":1`;
  const log = '"log":[{"address":"b","topics":[]}]';
  const whole: unknown = JSON.parse(`[${receipt},"x":1,${log}}]`);
  assertEquals((await inPieces(longReceipts(TOKENS), whole, 50))[0]?.log.length, 1);
  for (
    const text of [
      `[${receipt},"x":1 a${log}}]`,
      `[${receipt};${log}}]`,
      `[${receipt},,${log}}]`,
      `[${receipt},"x":[1 2],${log}}]`,
      `[${receipt},"x":[01],${log}}]`,
      `[${receipt},"x":nul,${log}}]`,
      `[${receipt},"x":{"y" 1},${log}}]`,
      `[${receipt},"x":[},${log}}]`,
      `[${receipt},"x":"\u0001",${log}}]`,
      `[${receipt},"x":"\\x",${log}}]`,
      // a field that is read from one of two names would be another than the last
      `[${receipt},${log},${log}}]`,
      `[${receipt},"lo\\u0067":[]}]`,
      `[${receipt},"x":${"[".repeat(2_000)}${"]".repeat(2_000)},${log}}]`,
    ]
  ) {
    for (const size of [1, 50]) {
      const read = new LongRead(longReceipts(TOKENS), 10_000);
      const error = await assertRejects(
        async () => {
          const bytes = encoder.encode(text);
          for (let i = 0; i < bytes.length; i += size) await read.take(bytes.subarray(i, i + size));
          read.end();
        },
        ChainUnavailable,
        "long answer",
        text,
      );
      assertEquals(error.category, "malformed");
    }
  }
});

Deno.test("a long text with none of its fields does not say that a node has no such block", async () => {
  await assertRejects(() => inPieces(longBlock, { odd: 1 }, 50), ChainUnavailable, "none");
});

/** Two megabytes of fields, of which each has another name. */
const MANY_NAMES = Array.from({ length: 120_000 }, (_, i) => `"odd-${i}":${i}`).join();

/** An object with them. */
function crowded(json: Json): string {
  return `${JSON.stringify(json).slice(0, -1)},${MANY_NAMES}}`;
}

/** A contract whose description is half a megabyte of nothing; as JSON it has a member for every third byte. */
function emptyDescription(n: number): Pair {
  const abi = { entrys: Array(250_000).fill({}) };
  const contract = [{
    parameter: { value: { new_contract: { abi } } },
    type: "CreateSmartContract",
  }];
  return contractCall(n, [], { transaction: { raw_data: { contract, expiration: 1 } } });
}

function chainOver(...urls: readonly string[]): OpenChain {
  return createTronChain({
    network: "TRX",
    nodeUrls: urls,
    contracts: { USDT },
    deposits: { address: () => OURS },
    hotWallet: PAYER,
    requestTimeoutMs: 60_000,
    totalTimeoutMs: 120_000,
  });
}

function scriptsOf(blocks: readonly Json[], list: () => unknown): Record<string, Script> {
  return {
    "/walletsolidity/getblockbylimitnext": () => ({ block: blocks }),
    "/walletsolidity/getblockbynum": () => blocks[0],
    "/walletsolidity/gettransactioninfobyblocknum": list,
  };
}

function kindsOf(answers: readonly BlockAnswer[]): readonly string[] {
  return answers.map((answer) =>
    answer.kind === "block" ? `block of ${answer.block.transactions.length}` : answer.kind
  );
}

/** The longest text of JSON that is read while something is done. */
async function longestText(work: () => Promise<unknown>): Promise<number> {
  const { parse } = JSON;
  let longest = 0;
  JSON.parse = (text, reviver) => {
    longest = Math.max(longest, text.length);
    return parse(text, reviver);
  };
  try {
    await work();
  } finally {
    JSON.parse = parse;
  }
  return longest;
}

test("no answer of a node is read as one long text, whatever names it has", async () => {
  const { transaction, receipt } = contractCall(1, [transferLog(USDT, PAYER, OURS, 5)]);
  const head = JSON.stringify(block([])).slice(0, -1);
  const answers: Record<string, string> = {
    getblockbylimitnext: `{"block":[${head},"transactions":[${
      crowded(transaction)
    }],${MANY_NAMES}}]}`,
    gettransactioninfobyblocknum: `[${crowded(receipt)}]`,
    getaccount: crowded({ address: "41", balance: 7_000_000 }),
    gettransactionbyid: crowded(transaction),
    gettransactioninfobyid: crowded(receipt),
  };
  await using node = startScriptedNode(Object.fromEntries(
    Object.entries(answers).map((
      [path, text],
    ) => [`/walletsolidity/${path}`, () => new Response(text)]),
  ));
  const chain = chainOver(node.url);
  const longest = await longestText(async () => {
    assertEquals(kindsOf(await Array.fromAsync(chain.blocks(HEIGHT, HEIGHT, "solid"))), [
      "block of 1",
    ]);
    assertEquals(await chain.balanceOf(OURS, "native"), amountOf("7"));
    const found = await chain.transaction(txid(1), "solid");
    assert(found.kind === "found");
    assertEquals(found.transaction.transfers.length, 1);
  });
  assert(longest < 600_000, `${longest} bytes`);
  assertEquals(chain.nodes.states[0]?.state, "ready");
});

test("a block with a contract whose description is empty throughout stops nothing", async () => {
  const pairs = [
    emptyDescription(1),
    emptyDescription(3),
    contractCall(2, [transferLog(USDT, PAYER, OURS, 5)]),
  ];
  await using node = startScriptedNode(scriptsOf([block(pairs)], () => receipts(pairs)));
  const chain = chainOver(node.url);
  assertEquals(kindsOf(await Array.fromAsync(chain.blocks(HEIGHT, HEIGHT, "solid"))), [
    "block of 3",
  ]);
  assertEquals(chain.nodes.states[0]?.state, "ready");
});

test("a node whose long answers are wrong rests, and another one is read", async () => {
  const pairs = [contractCall(1, [transferLog(USDT, PAYER, OURS, 5)])];
  const wrong = { ...block(pairs), transactions: Array(300_000).fill({}) };
  await using liar = startScriptedNode(scriptsOf([wrong], () => []));
  await using right = startScriptedNode(scriptsOf([block(pairs)], () => receipts(pairs)));
  const alone = chainOver(liar.url);
  const read = (chain: OpenChain) => Array.fromAsync(chain.blocks(HEIGHT, HEIGHT, "solid"));
  const error = await assertRejects(() => read(alone), ChainUnavailable, "txID is wrong");
  assertEquals(error.category, "malformed");
  assertEquals(alone.nodes.states[0]?.coolingCalls, 1);
  assertEquals(kindsOf(await read(chainOver(liar.url, right.url))), ["block of 1"]);
});
