import { assertEquals, assertRejects } from "@std/assert";
import { privateKeyToAccount } from "viem/accounts";
import { keccak256, parseTransaction } from "viem/utils";
import { createEvmChain } from "../../chains/evm/evm_chain.ts";
import { NotServed } from "../../chains/nodes/node_failures.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";
import { HOT, plainRoot, USDT } from "./support/block_fixture.ts";
import { headerOf } from "./support/header_fixture.ts";
import { chainOn } from "./support/scripted_chain.ts";
import { RpcFailure, type Script, startScriptedRpc } from "./support/scripted_rpc.ts";

const test = testNeeding({ net: true });
type Hex = `0x${string}`;

const TO: Hex = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const key = privateKeyToAccount(`0x${"7".repeat(64)}`);
const priced = { chainId: 1, gas: 21_000n, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, to: TO };
const authorization = await key.signAuthorization({ chainId: 1, address: TO, nonce: 3 });
/** One of each type, and one as from before EIP-155. */
const SIGNED: readonly Hex[] = await Promise.all([
  key.signTransaction({ chainId: 1, gas: 21_000n, gasPrice: 7n, to: TO, value: 5n, nonce: 0 }),
  key.signTransaction({ gas: 21_000n, gasPrice: 7n, to: TO, nonce: 300, type: "legacy" }),
  key.signTransaction({
    chainId: 1,
    gas: 30_000n,
    gasPrice: 7n,
    to: TO,
    nonce: 1,
    type: "eip2930",
    accessList: [{ address: TO, storageKeys: [`0x${"0".repeat(64)}`] }],
  }),
  key.signTransaction({ ...priced, nonce: 2, data: `0x${"ab".repeat(70)}` }),
  key.signTransaction({ ...priced, to: null, nonce: 3, data: "0x6001" }),
  key.signTransaction({
    ...priced,
    nonce: 4,
    type: "eip4844",
    maxFeePerBlobGas: 8n,
    blobVersionedHashes: [`0x01${"2".repeat(62)}`],
  }),
  key.signTransaction({ ...priced, nonce: 5, authorizationList: [authorization] }),
  ...Array.from({ length: 150 }, (_, i) => key.signTransaction({ ...priced, nonce: 6 + i })),
]);
const TYPES: Readonly<Record<string, Hex>> = {
  legacy: "0x0",
  eip2930: "0x1",
  eip1559: "0x2",
  eip4844: "0x3",
  eip7702: "0x4",
};

/** Numbers as nodes write them. */
// deno-lint-ignore no-explicit-any -- JSON
function shown(value: any): any {
  if (typeof value === "bigint" || typeof value === "number") return `0x${value.toString(16)}`;
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shown(one)]));
}

/** A transaction as a node shows it. */
function fieldsOf(bytes: Hex) {
  const { data = "0x", type = "legacy", to = null, ...fields } = parseTransaction(bytes);
  const defaults = { nonce: 0, value: 0n, ...(type === "legacy" ? {} : { accessList: [] }) };
  const all = { ...defaults, ...fields, to, input: data, from: key.address };
  return { ...shown(all), type: TYPES[type], hash: keccak256(bytes) };
}

const IDS = SIGNED.map((bytes) => keccak256(bytes));
const HEADER = headerOf({ transactionsRoot: plainRoot(SIGNED) });
const HASH = HEADER["hash"] ?? "";
const BLOCK = { ...HEADER, transactions: SIGNED.map(fieldsOf) };

/** Ids that a node proves which answers a block, and bytes where it has any. */
async function provenBy(block: unknown, raw?: Script) {
  await using node = startScriptedRpc({
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: () => ({ ...HEADER, transactions: [] }),
    eth_getBlockByHash: ([hash, isFilled]) => hash === HASH && isFilled === true ? block : null,
    ...(raw === undefined ? {} : { eth_getRawTransactionByBlockHashAndIndex: raw }),
  });
  return await chainOn(node).provenIds?.(HASH);
}

test("the ids of a block are those of the transactions that its hash proves, of every type", async () => {
  assertEquals(await provenBy(BLOCK), IDS);
});

test("a node that renames a transaction, or shows another in its place, proves none of them", async () => {
  const own = keccak256("0x01");
  const renamed = BLOCK.transactions.map((one, i) => i === 3 ? { ...one, hash: own } : one);
  const failing = () => new RpcFailure(-32601, "the method does not exist");
  assertEquals(await provenBy({ ...BLOCK, transactions: renamed }, failing), null);
  // with the true bytes the name is no matter
  const place = ([, at]: readonly unknown[]) => SIGNED[Number(at)];
  assertEquals(await provenBy({ ...BLOCK, transactions: renamed }, place), IDS);
  const other = SIGNED.with(3, SIGNED[4] as Hex);
  assertEquals(await provenBy({ ...BLOCK, transactions: other.map(fieldsOf) }), null);
  assertEquals(
    await provenBy({
      ...BLOCK,
      transactions: other.map(fieldsOf),
      transactionsRoot: plainRoot(other),
    }),
    null,
  );
  assertEquals(await provenBy({ ...BLOCK, transactions: BLOCK.transactions.slice(1) }), null);
  const elsewhere = headerOf({ transactionsRoot: plainRoot(other) });
  assertEquals(await provenBy({ ...elsewhere, transactions: other.map(fieldsOf) }), null);
  assertEquals(await provenBy(null), null);
});

test("a transaction of a type that is not known here is proven by its bytes, where the node serves them", async () => {
  const odd: Hex = `0x7e${"c0".repeat(40)}`;
  const bytes = [...SIGNED.slice(0, 5), odd];
  const header = headerOf({ transactionsRoot: plainRoot(bytes) });
  const hash = header["hash"] ?? "";
  const strange = { hash: keccak256(odd), type: "0x7e", input: "0x", nonce: "0x0" };
  const transactions = [...SIGNED.slice(0, 5).map(fieldsOf), strange];
  const scripts: Record<string, Script> = {
    eth_chainId: () => "0x1",
    eth_getBlockByNumber: () => ({ ...HEADER, transactions: [] }),
    eth_getBlockByHash: () => ({ ...header, transactions }),
  };
  await using silent = startScriptedRpc(scripts);
  assertEquals(await chainOn(silent).provenIds?.(hash), null);
  await using second = startScriptedRpc({
    ...scripts,
    eth_getRawTransactionByBlockHashAndIndex: ([, at]) => bytes[Number(at)],
  });
  // the first one proves nothing, and the next is asked
  assertEquals(
    await chainOn(silent, second).provenIds?.(hash),
    bytes.map((one) => keccak256(one)),
  );
});

for (
  const [what, silence] of [
    ["never answered", () => new Response(new ReadableStream())],
    ["answered with a proxy's failure", () => new Response("", { status: 502 })],
  ] as const
) {
  test(`a node at which whole blocks alone are ${what} is left alone with that call, and asked everything else`, async () => {
    const now = headerOf({ timestamp: `0x${Math.floor(Date.now() / 1_000).toString(16)}` });
    await using node = startScriptedRpc({});
    node.whole = (body) => {
      const { id, method } = body as { id: number; method: string };
      if (method === "eth_getBlockByHash") return silence();
      const result = method === "eth_chainId" ? "0x1" : { ...now, transactions: [] };
      return Response.json({ jsonrpc: "2.0", id, result });
    };
    const chain = createEvmChain({
      network: "ETH",
      nodeUrls: [node.url],
      contracts: { USDT },
      deposits: { address: () => HOT },
      hotWallet: HOT,
      callsPerSecond: 0,
      requestTimeoutMs: 500,
      feeCap: amountOf("0.02"),
    });
    assertEquals((await chain.head()).hash, now["hash"]);
    await assertRejects(async () => await chain.provenIds?.(HASH), NotServed);
    assertEquals(chain.nodes.states.map(({ state, unserved }) => [state, unserved]), [
      ["ready", ["eth_getBlockByHash with transactions"]],
    ]);
    assertEquals((await chain.head()).hash, now["hash"]);
  });
}
