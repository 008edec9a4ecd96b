import { assert, assertEquals, assertRejects } from "@std/assert";
import { Refused } from "../../app/commands/command.ts";
import { verifyCommand } from "../../app/commands/verify.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { testNeeding } from "../support/permissions.ts";
import { composeBlock, transferLog, USDT, word } from "./support/block_fixture.ts";
import { RpcFailure, type Script, startScriptedRpc } from "./support/scripted_rpc.ts";

const test = testNeeding({ net: true });

const FIRST = composeBlock(0, [], { hash: PROFILES.ETH.identity as `0x${string}` });
const FINAL = composeBlock(90, [{ logs: [transferLog(USDT, USDT, 5n)] }, {}]);

const EMPTY = composeBlock(90, []);

const SYMBOL = `0x${"20".padStart(64, "0")}${"4".padStart(64, "0")}${"55534454".padEnd(64, "0")}`;

/** A node with all that is needed. */
function complete(): Record<string, Script> {
  return {
    web3_clientVersion: () => "scripted/v1",
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: ([name]) =>
      name === "0x0" ? FIRST.head : { ...FINAL.head, number: name === "0x59" ? "0x59" : "0x5a" },
    eth_getBlockReceipts: () => FINAL.receipts,
    eth_getTransactionReceipt: ([txid]) =>
      FINAL.receipts.find((one) => one.transactionHash === txid),
    eth_getBalance: () => "0x0",
    eth_call: ([call]) => {
      const { data } = call as { data: string };
      if (data.startsWith("0x313ce567")) return word(6n);
      if (data.startsWith("0x95d89b41")) return SYMBOL;
      return new RpcFailure(3, "execution reverted");
    },
    eth_feeHistory: () => ({ baseFeePerGas: ["0x3b9aca00"], reward: [["0x5f5e100"]] }),
    eth_gasPrice: () => "0x3b9aca00",
    eth_estimateGas: () => "0xb3b0",
    eth_getCode: () => "0x6000",
  };
}

/** Runs the command on a node; lines as `verdict what`. */
async function verify(scripts: Record<string, Script>) {
  await using node = startScriptedRpc(scripts);
  const printed: string[] = [];
  const out = { log: (text: string) => printed.push(text), error: () => {} };
  const code = await verifyCommand({ ETH_USDT_CONTRACT: USDT }, ["ETH", node.url], out);
  return { code, text: printed.join("\n") };
}

test("a node that serves all that is needed is told line by line, and the exit code is 0", async () => {
  const { code, text } = await verify(complete());
  assertEquals(code, 0, text);
  for (
    const line of [
      /^ok +number of the chain +1$/m,
      /^ok +receipts of a block by its hash +2 receipts have the root of block 90$/m,
      /^ok +USDT 0xdAC1\S+ +USDT, 6 decimals$/m,
      /^ok +estimates with authorisations/m,
    ]
  ) assert(line.test(text), `${line}\n${text}`);
});

const LACKS: readonly (readonly [string, Record<string, Script>, 0 | 1, RegExp])[] = [
  ["the number of another chain", { eth_chainId: () => "0x38" }, 1, /MISSING +number of the chain/],
  [
    "another first block",
    {
      eth_getBlockByNumber: ([name]) =>
        name === "0x0" ? { ...FINAL.head, number: "0x0" } : FINAL.head,
    },
    1,
    /MISSING +first block/,
  ],
  [
    "no first block any more",
    { eth_getBlockByNumber: ([name]) => name === "0x0" ? null : FINAL.head },
    0,
    /- +first block +the node has forgotten it/,
  ],
  [
    "no word for what is final",
    {
      eth_getBlockByNumber: ([name]) =>
        name === "finalized" ? new RpcFailure(-32602, "no tag") : FINAL.head,
    },
    1,
    /MISSING +newest final block/,
  ],
  [
    "receipts that lack a log",
    { eth_getBlockReceipts: () => FINAL.receipts.map((one) => ({ ...one, logs: [] })) },
    1,
    /MISSING +receipts of a block by its hash +its receipts have the root/,
  ],
  [
    "an empty block, which proves nothing",
    { eth_getBlockByNumber: ([name]) => name === "0x0" ? FIRST.head : EMPTY.head },
    0,
    /- +receipts of a block by its hash +block 90 is empty/,
  ],
  [
    "receipts one by one only",
    { eth_getBlockReceipts: () => new RpcFailure(-32601, "method not found") },
    0,
    /- +receipts of a block by its hash +2 receipts have the root of block 90, each asked/,
  ],
  [
    "a token of other decimals",
    { eth_call: () => word(18n) },
    1,
    /MISSING +USDT .*18 decimals, not 6/,
  ],
  ["no estimate with authorisations", { eth_estimateGas: () => "0x5208" }, 0, /- +estimates/],
  [
    "no state of a block",
    { eth_getBalance: () => new RpcFailure(-32602, "no such parameter") },
    1,
    /MISSING +state/,
  ],
];

for (const [name, scripts, expected, line] of LACKS) {
  test(`of a node is told: ${name}`, async () => {
    const { code, text } = await verify({ ...complete(), ...scripts });
    assert(line.test(text), text);
    assertEquals(code, expected, text);
  });
}

test("a line that is not understood is refused before any node is asked", async () => {
  const out = { log: () => {}, error: () => {} };
  for (const line of [[], ["XYZ", "http://127.0.0.1:1"], ["ETH"], ["ETH", "nonsense"]]) {
    await assertRejects(() => verifyCommand({}, line, out), Refused, undefined, line.join(" "));
  }
});

test("a node that does not answer is a fact, not an end", async () => {
  const printed: string[] = [];
  const out = { log: (text: string) => printed.push(text), error: () => {} };
  assertEquals(await verifyCommand({}, ["ETH", "http://127.0.0.1:1"], out), 1);
  assert(printed.join("\n").includes("connection failed"));
});

test("a candidate that is named on the command line is not handed the key of the configured nodes", async () => {
  await using node = startScriptedRpc(complete());
  const out = { log: () => {}, error: () => {} };
  const keys = () => new Set(node.headers.map((headers) => headers.get("authorization")));
  const env = { ETH_USDT_CONTRACT: USDT, ETH_NODE_API_KEY: "secret", ETH_NODE_URLS: node.url };
  await verifyCommand(env, ["ETH", node.url], out);
  assertEquals(keys(), new Set([null]));
  node.headers.length = 0;
  await verifyCommand(env, ["ETH"], out);
  assertEquals(keys(), new Set(["Bearer secret"]));
});
