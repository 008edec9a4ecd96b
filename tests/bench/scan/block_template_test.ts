import { assert, assertEquals, assertThrows } from "@std/assert";
import { addressFromLogHex } from "../../../chains/tron/address.ts";
import { blockListShape, receiptsShape } from "../../../chains/tron/read/answers.ts";
import { parseBlock } from "../../../chains/tron/read/parse_block.ts";
import { createTronChain } from "../../../chains/tron/tron_chain.ts";
import { publicAddresses } from "../../../chains/wallet/network_keys.ts";
import { fromTokenUnits } from "../../../ledger/money/amount.ts";
import { testNeeding } from "../../support/permissions.ts";
import { BENCH_USDT } from "./block_server.ts";
import { blockId, BlockMaker, FIRST_HEIGHT, issuedAddress, timeOf } from "./block_template.ts";

const CHAIN = { transfers: 30, owned: 3, addresses: 10_000, usdt: BENCH_USDT };
const HIGHEST = FIRST_HEIGHT + 2 ** 31 - 1;

function maker(chain = CHAIN): BlockMaker {
  return BlockMaker.of(chain, () => ['{"block":[', "]}"], () => ["", ""]);
}

function json(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** A block of a maker as the adapter reads it. */
function parsed(from: BlockMaker, height: number) {
  const blocks = blockListShape.safeParse(json(from.body(height)));
  const receipts = receiptsShape.safeParse(json(from.receipts(height)));
  assert(blocks.success && receipts.success);
  const [block] = blocks.data.block;
  assert(block !== undefined);
  const answer = parseBlock(block, receipts.data, {
    tokens: new Map([["a614f803b6fd780986a42c78ec9c7f77e6ded13c", {
      currency: "USDT" as const,
      unit: fromTokenUnits(1n, 6),
    }]]),
  });
  assert(answer.kind === "block");
  return answer.block;
}

/** The receiver of a transfer, said as text and not as digits put into bytes. */
function receiverOf(height: number, n: number, { transfers, owned, addresses } = CHAIN): string {
  const place = (height - FIRST_HEIGHT) * transfers + n;
  return n < owned
    ? issuedAddress(1 + (place * 7_919) % addresses)
    : issuedAddress(place * 2_654_435_761 % 2 ** 48).replace(/0{28}$/, "5".repeat(28));
}

for (
  const [name, height] of [
    ["first", FIRST_HEIGHT],
    ["usual", FIRST_HEIGHT + 12_345],
    ["highest", HIGHEST],
  ] as const
) {
  Deno.test(`the bench's ${name} block is one to the adapter, with a transfer per transaction`, () => {
    const blocks = maker();
    const block = parsed(blocks, height);
    assertEquals([block.height, block.hash, block.parentHash, block.time], [
      height,
      blockId(height),
      blockId(height - 1),
      timeOf(height),
    ]);
    assertEquals(
      block.transfers.map(({ eventTo }) => eventTo),
      Array.from({ length: CHAIN.transfers }, (_, n) => receiverOf(height, n)),
    );
    assertEquals(new Set(block.transactions.map(({ txid }) => txid)).size, CHAIN.transfers);
  });
}

Deno.test("nothing of the bench's block before is left in the next, in either direction", () => {
  const one = maker();
  for (const height of [HIGHEST, FIRST_HEIGHT, FIRST_HEIGHT + 99, FIRST_HEIGHT + 1]) {
    assertEquals(json(one.body(height)), json(maker().body(height)));
    assertEquals(json(one.receipts(height)), json(maker().receipts(height)));
  }
});

Deno.test("another maker of the bench's blocks does not write over those of the first", () => {
  const one = maker();
  const [body, receipts] = [one.body(FIRST_HEIGHT), one.receipts(FIRST_HEIGHT)];
  const before = [body.slice(), receipts.slice()];
  const other = one.another();
  other.body(HIGHEST);
  other.receipts(HIGHEST);
  assertEquals([body, receipts], before);
});

Deno.test("all receivers of the bench's blocks are issued addresses where deposits are measured", () => {
  const chain = { ...CHAIN, owned: CHAIN.transfers, addresses: 7 };
  const issued = new Set(
    [1, 2, 3, 4, 5, 6, 7].map((i) => `${i}`.padEnd(40, "0")),
  );
  const { transfers } = parsed(maker(chain), FIRST_HEIGHT + 8);
  assertEquals(new Set(transfers.map(({ eventTo }) => eventTo)), issued);
});

Deno.test("a height that the bench's templates cannot carry is refused", () => {
  for (const height of [FIRST_HEIGHT - 1, HIGHEST + 1, FIRST_HEIGHT + 0.5, NaN]) {
    assertThrows(() => maker().body(height), RangeError, "out of range");
    assertThrows(() => maker().receipts(height), RangeError, "out of range");
  }
});

testNeeding({ net: true, run: true, read: true })(
  "the bench's node answers the adapter, many questions at once, and no block past its newest",
  async () => {
    const { usdt: _, ...chain } = CHAIN;
    await using node = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--allow-net=127.0.0.1",
        new URL("./block_server.ts", import.meta.url).pathname,
        JSON.stringify(chain),
      ],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    let text = "";
    for await (const piece of node.stdout.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.endsWith("\n")) break;
    }
    const { url } = JSON.parse(text);
    const adapter = createTronChain({
      network: "TRX",
      nodeUrls: [url],
      contracts: { USDT: BENCH_USDT },
      deposits: publicAddresses("TRX", {
        depositXpub:
          "xpub6EuK4CZWW5urEHdwAVDdDw327danAtccFcrXYvgf1DHrPXRwErt36xStQ2PNhn4hpwzPbzJ8pJVpewgChRnSs59q5Ay61GCfQZKUe71gbLq",
      }),
      hotWallet: addressFromLogHex("f".repeat(40)),
    });
    const newest = FIRST_HEIGHT + 25;
    const told = await fetch(`${url}/newest`, {
      method: "POST",
      body: JSON.stringify({ num: newest }),
    });
    assertEquals(await told.text(), "{}");
    const read = async (from: number) => {
      const heights: number[] = [];
      for await (const answer of adapter.blocks(from, newest + 1, "solid")) {
        if (answer.kind !== "block") {
          assertEquals(answer, { kind: "missing", height: newest + 1 });
          break;
        }
        const { height, transfers } = answer.block;
        heights.push(height);
        assertEquals(
          transfers.map(({ eventTo }) => eventTo),
          transfers.map((_, n) => receiverOf(height, n)),
        );
        assertEquals(transfers.length, CHAIN.transfers);
      }
      assertEquals(heights, Array.from({ length: newest - from + 1 }, (_, i) => from + i));
    };
    await Promise.all([0, 1, 2, 3].map((i) => read(FIRST_HEIGHT + i)));
    const unknown = await fetch(`${url}/wallet/other`, { method: "POST" });
    assertEquals([unknown.status, await unknown.text()], [404, "not found"]);
  },
);
