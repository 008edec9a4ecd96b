import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync } from "@scure/bip39";
import { type BlockAnswer, ChainUnavailable, type SignedTransaction } from "../../chains/chain.ts";
import { addressToHex, addressToLogHex } from "../../chains/tron/address.ts";
import { createTronChain, type TronChainOptions } from "../../chains/tron/tron_chain.ts";
import { publicAddresses } from "../../chains/wallet/network_keys.ts";
import type { OpenChain } from "../../chains/family.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import {
  block,
  BLOCK_TIME,
  blockId,
  contractCall,
  HEIGHT,
  type Json,
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
import { needs } from "../support/permissions.ts";
import { until } from "../support/until.ts";
import { never, type Script, startScriptedNode } from "./support/scripted_node.ts";

const MNEMONIC =
  "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
const BRANCH = HDKey.fromMasterSeed(mnemonicToSeedSync(MNEMONIC)).derive("m/44'/195'/0'/0");

const ignore = needs({ net: true });

/** Registers a test that talks to nodes on this machine. */
function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

/** An adapter over the given nodes. */
function chainOver(
  nodes: readonly (string | { readonly url: string })[],
  changes: Partial<TronChainOptions> = {},
): OpenChain {
  return createTronChain({
    network: "TRX",
    nodeUrls: nodes.map((node) => (typeof node === "string" ? node : node.url)),
    contracts: { USDT },
    deposits: publicAddresses("TRX", { depositXpub: BRANCH.publicExtendedKey }),
    hotWallet: PAYER,
    requestTimeoutMs: 60_000,
    ...changes,
  });
}

/** Waits for the failure of a read. */
async function unavailable(read: Promise<unknown>): Promise<ChainUnavailable> {
  return await assertRejects(() => read, ChainUnavailable);
}

const PARAMETERS = {
  chainParameter: [
    { key: "getMaintenanceTimeInterval", value: 21_600_000 },
    { key: "getTransactionFee", value: 1_000 },
    { key: "getEnergyFee", value: 100 },
    { key: "getCreateNewAccountFeeInSystemContract", value: 1_000_000 },
    { key: "getCreateAccountFee", value: 100_000 },
    { key: "getAllowCreationOfContracts" },
  ],
};
const parameters: Script = () => PARAMETERS;
const pairs = [1, 2].map((n) => contractCall(n, [transferLog(USDT, PAYER, OURS, n)]));
const wholeBlock: Record<string, Script> = {
  "/wallet/getblockbynum": () => block(pairs),
  "/wallet/gettransactioninfobyblocknum": () => receipts(pairs),
};

// ---------------------------------------------------------------- addresses

test("deposit addresses come from the public key alone and match the known vector", () => {
  const chain = chainOver(["http://127.0.0.1:1"]);
  assertEquals(chain.deriveAddress(0), OURS);
  const last = chain.deriveAddress(2 ** 31 - 1);
  assertEquals(chain.address(last), last);
  assertThrows(() => chain.deriveAddress(-1), RangeError);
  assertThrows(() => chain.deriveAddress(2 ** 31), RangeError);
  assertThrows(() => chain.deriveAddress(0.5), RangeError);
});

test("a private key is refused where a public one belongs", () => {
  const depositXpub = BRANCH.privateExtendedKey;
  assertThrows(() => publicAddresses("TRX", { depositXpub }), TypeError, "private");
});

// ---------------------------------------------------------------- blocks

test("a block is read from the view that was asked", async () => {
  await using node = startScriptedNode({
    ...wholeBlock,
    "/walletsolidity/getblockbynum": () => block([]),
  });
  const chain = chainOver([node]);
  const head = await chain.block(HEIGHT, "head");
  const solid = await chain.block(HEIGHT, "solid");
  assert(head.kind === "block" && solid.kind === "block");
  assertEquals(head.block.transfers.length, 2);
  assertEquals(solid.block.transfers.length, 0);
  assertEquals(node.requests.map(({ path, body }) => [path, JSON.parse(body)]), [
    ["/wallet/getblockbynum", { num: HEIGHT }],
    ["/wallet/gettransactioninfobyblocknum", { num: HEIGHT }],
    ["/walletsolidity/getblockbynum", { num: HEIGHT }],
  ]);
});

test("a height that the node does not have is missing, not an error", async () => {
  await using node = startScriptedNode({ "/wallet/getblockbynum": () => ({}) });
  assertEquals(await chainOver([node]).block(7, "head"), { kind: "missing", height: 7 });
});

test("a node that lags is passed over when another one has the whole block", async () => {
  await using lagging = startScriptedNode({
    ...wholeBlock,
    "/wallet/gettransactioninfobyblocknum": () => [],
  });
  await using behind = startScriptedNode({ "/wallet/getblockbynum": () => ({}) });
  await using good = startScriptedNode(wholeBlock);
  assertEquals((await chainOver([lagging, behind, good]).block(HEIGHT, "head")).kind, "block");
  const answer = await chainOver([lagging, behind]).block(HEIGHT, "head");
  assertEquals(answer.kind, "incomplete");
});

test("transactions and receipts of one answer come from one node", async () => {
  const other = [3, 4].map((n) => contractCall(n, []));
  await using first = startScriptedNode({ "/wallet/getblockbynum": () => block(pairs) });
  await using second = startScriptedNode({
    "/wallet/getblockbynum": () => block(other),
    "/wallet/gettransactioninfobyblocknum": () => receipts(other),
  });
  const answer = await chainOver([first, second]).block(HEIGHT, "head");
  assert(answer.kind === "block");
  assertEquals(answer.block.transactions.map((transaction) => transaction.txid), [3, 4].map(txid));
});

test("a node that answers another block than asked is not believed", async () => {
  await using node = startScriptedNode(wholeBlock);
  const error = await unavailable(chainOver([node]).block(HEIGHT + 1, "head"));
  assertEquals(error.category, "malformed");
});

const lies: Record<string, Json> = {
  "a height that is text": { ...block([]), block_header: { raw_data: { number: "7" } } },
  "an id that is no hash": { ...block([]), blockID: "xyz" },
  "transactions that are no list": { ...block([]), transactions: {} },
  "a number that JSON cannot carry": {
    ...block([]),
    block_header: {
      raw_data: { number: HEIGHT, parentHash: blockId(HEIGHT - 1), timestamp: 2 ** 60 },
    },
  },
};
for (const [what, answer] of Object.entries(lies)) {
  test(`an answer of another shape is malformed: ${what}`, async () => {
    await using node = startScriptedNode({ "/wallet/getblockbynum": () => answer });
    const error = await unavailable(chainOver([node]).block(HEIGHT, "head"));
    assertEquals(error.category, "malformed");
  });
}

/** A node with empty blocks `1..last` that answers ranges. */
function rangeNode(last: number, withheld?: number) {
  const at = (height: number): Json => ({
    ...block([], height),
    ...(height === withheld ? { transactions: [pairs[0]?.transaction] } : {}),
  });
  return startScriptedNode({
    "/walletsolidity/getblockbylimitnext": ({ startNum, endNum }) => {
      const found: Json[] = [];
      for (let h = Number(startNum); h < Math.min(Number(endNum), last + 1); h++) found.push(at(h));
      return found.length === 0 ? {} : { block: found };
    },
    "/walletsolidity/gettransactioninfobyblocknum": () => [],
  });
}

/** Collects an iterable. */
async function collect(answers: AsyncIterable<BlockAnswer>): Promise<string[]> {
  const found: string[] = [];
  for await (const answer of answers) {
    found.push(`${answer.kind} ${answer.kind === "block" ? answer.block.height : answer.height}`);
  }
  return found;
}

test("a range is read in order, many blocks to a call", async () => {
  await using node = rangeNode(1_000);
  const found = await collect(chainOver([node]).blocks(101, 165, "solid"));
  assertEquals(found, Array.from({ length: 65 }, (_, i) => `block ${101 + i}`));
  assertEquals(node.requests.length, 7);
});

test("a range ends at the first block that is not whole, without a gap", async () => {
  await using node = rangeNode(1_000, 130);
  const found = await collect(chainOver([node]).blocks(101, 165, "solid"));
  assertEquals(found.length, 30);
  assertEquals(found.at(-1), "incomplete 130");
});

test("a range past the view's end says which block is missing", async () => {
  await using node = rangeNode(110);
  assertEquals(await collect(chainOver([node]).blocks(109, 300, "solid")), [
    "block 109",
    "block 110",
    "missing 111",
  ]);
});

test("an empty range reads nothing", async () => {
  await using node = rangeNode(110);
  assertEquals(await collect(chainOver([node]).blocks(5, 4, "solid")), []);
  assertEquals(node.requests.length, 0);
});

test("a range that skips a height is refused", async () => {
  await using node = startScriptedNode({
    "/wallet/getblockbylimitnext": () => ({ block: [block([], 1), block([], 3)] }),
  });
  const error = await unavailable(collect(chainOver([node]).blocks(1, 3, "head")));
  assertEquals(error.category, "malformed");
});

// ---------------------------------------------------------------- heads

test("the newest block is asked without its transactions, and from nodes that cannot, with", async () => {
  await using modern = startScriptedNode({ "/wallet/getblock": () => block([]) });
  assertEquals((await chainOver([modern]).head()).height, HEIGHT);
  await using old = startScriptedNode({ "/walletsolidity/getnowblock": () => block([]) });
  const chain = chainOver([old]);
  assertEquals((await chain.solid()).height, HEIGHT);
  assertEquals((await chain.solid()).time, BLOCK_TIME);
  assertEquals(old.requests.map(({ path }) => path), [
    "/walletsolidity/getblock",
    "/walletsolidity/getnowblock",
    "/walletsolidity/getnowblock",
  ]);
});

/** A block of a time. */
function at(height: number, time: number): Json {
  const answer = block([], height);
  const header = {
    raw_data: { number: height, parentHash: blockId(height - 1), timestamp: time },
  };
  return { ...answer, block_header: header };
}

test("a node that is stuck in the past is passed over when another one is in step", async () => {
  const now = Date.now();
  await using stuck = startScriptedNode({ "/wallet/getblock": () => at(100, now - 3_600_000) });
  await using slower = startScriptedNode({ "/wallet/getblock": () => at(200, now - 1_800_000) });
  await using good = startScriptedNode({ "/wallet/getblock": () => at(300, now - 3_000) });
  assertEquals((await chainOver([stuck, slower, good]).head()).height, 300);
  assertEquals((await chainOver([stuck, slower]).head()).height, 200);
  assertEquals((await chainOver([slower, stuck]).head()).height, 200);
});

test("the furthest block is the newest of all nodes that answer, and says by how much it is behind the clock", async () => {
  const now = Date.now();
  await using slow = startScriptedNode({ "/wallet/getblock": () => at(287, now - 40_000) });
  await using good = startScriptedNode({ "/wallet/getblock": () => at(300, now - 1_000) });
  const bounds = { mostAheadMs: 120_000 };
  const both = await chainOver([slow, good], bounds).furthest();
  assertEquals([both.height, both.behindMs, both.nonce], [300, 0, null]);
  const { height, behindMs } = await chainOver([slow, "http://127.0.0.1:1"], bounds).furthest();
  assertEquals(height, 287);
  assert(behindMs >= 40_000 && behindMs < 100_000, `${behindMs}`);
  // the time of a development chain leaps
  assertEquals((await chainOver([slow]).furthest()).behindMs, 0);
});

test("the newest block of a node that takes three seconds is the furthest within five, although another node says nothing", async () => {
  const ended = new AbortController();
  await using silent = startScriptedNode({ "/wallet/getblock": () => never(ended.signal) });
  await using slow = startScriptedNode({
    "/wallet/getblock": async () => {
      await new Promise((resolve) => setTimeout(resolve, 3_300));
      return at(300, Date.now());
    },
  });
  try {
    const caller = AbortSignal.timeout(5_000);
    const { height } = await chainOver([silent, slow]).furthest(caller);
    assertEquals([height, caller.aborted], [300, false]);
  } finally {
    ended.abort();
  }
});

// ---------------------------------------------------------------- failures of nodes

const failures: Record<string, readonly [Script, ChainUnavailable["category"]]> = {
  "HTTP 429": [() => new Response(null, { status: 429 }), "rate-limit"],
  "HTTP 403": [() => new Response(null, { status: 403 }), "rate-limit"],
  "HTTP 503": [() => new Response(null, { status: 503 }), "rate-limit"],
  "HTTP 500": [() => new Response(null, { status: 500 }), "server-error"],
  "HTTP 400": [() => new Response(null, { status: 400 }), "malformed"],
  "a redirect": [() => Response.redirect("http://127.0.0.1:1/"), "malformed"],
  "no JSON": [() => new Response("<html>"), "malformed"],
  "an error of java-tron": [
    () => ({ Error: "class java.lang.NullPointerException" }),
    "server-error",
  ],
  "java-tron's own rate limit": [
    () => ({ Error: "class java.lang.IllegalAccessException : lack of computing resources" }),
    "rate-limit",
  ],
};
for (const [what, [script, category]] of Object.entries(failures)) {
  test(`a read that meets ${what} fails as ${category}, or goes to the next node`, async () => {
    await using bad = startScriptedNode({ "/wallet/getblock": script });
    await using good = startScriptedNode({ "/wallet/getblock": () => block([]) });
    assertEquals((await unavailable(chainOver([bad]).head())).category, category);
    assertEquals((await chainOver([bad, good]).head()).height, HEIGHT);
  });
}

test("a node that does not answer in time is left for the next one", async () => {
  const over = new AbortController();
  await using slow = startScriptedNode({ "/wallet/getblock": () => never(over.signal) });
  await using good = startScriptedNode({ "/wallet/getblock": () => block([]) });
  const bounds = { requestTimeoutMs: 100 };
  assertEquals((await unavailable(chainOver([slow], bounds).head())).category, "timeout");
  // a busy machine may use up the little time that the good one has as well
  const chain = chainOver([slow, good], bounds);
  await until(() =>
    chain.head().then(({ height }) => height === HEIGHT, (error) => {
      assertInstanceOf(error, ChainUnavailable);
      return false;
    })
  );
  over.abort();
});

test("all nodes together are bounded as well", async () => {
  const over = new AbortController();
  await using slow = startScriptedNode({ "/wallet/getblock": () => never(over.signal) });
  const bounds = { requestTimeoutMs: 60_000, totalTimeoutMs: 100 };
  assertEquals((await unavailable(chainOver([slow, slow], bounds).head())).category, "timeout");
  over.abort();
});

test("a caller that gives up is obeyed, and the node is not blamed", async () => {
  const over = new AbortController();
  let slow = true;
  await using node = startScriptedNode({
    "/wallet/getblock": () => (slow ? never(over.signal) : block([])),
  });
  const chain = chainOver([node]);
  assertEquals((await unavailable(chain.head(AbortSignal.timeout(50)))).category, "timeout");
  over.abort();
  slow = false;
  assertEquals((await chain.head()).height, HEIGHT);
});

test("a node that refused is left alone for a while", async () => {
  await using busy = startScriptedNode({
    "/wallet/getblock": () => new Response(null, { status: 429, headers: { "retry-after": "60" } }),
  });
  await using good = startScriptedNode({ "/wallet/getblock": () => block([]) });
  const chain = chainOver([busy, good]);
  for (let i = 0; i < 5; i++) await chain.head();
  assertEquals(busy.requests.length, 1);
  const alone = chainOver([busy]);
  await unavailable(alone.head());
  const error = await unavailable(alone.head());
  assertEquals(error.category, "rate-limit");
  assertStringIncludes(error.message, "cooling down");
  assertEquals(busy.requests.length, 2);
});

test("a node that cannot be reached fails as network", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const error = await unavailable(chainOver([`http://127.0.0.1:${port}`]).head());
  assertEquals(error.category, "network");
});

test("no message shows a node's credentials or path", async () => {
  const secrets = "http://user:hunter2@127.0.0.1:1/v1/topsecret?key=alsosecret";
  const error = await unavailable(chainOver([secrets]).head());
  assertEquals(/hunter2|secret|user/.test(`${error.stack} ${error.message} ${error.cause}`), false);
  const malformed = assertThrows(() => chainOver(["http://user:hunter2@:::"]), TypeError);
  assertEquals(String(malformed).includes("hunter2"), false);
});

test("credentials of the URL and the API key travel as headers", async () => {
  await using node = startScriptedNode({ "/path/wallet/getblock": () => block([]) });
  const url = `${node.url.replace("http://", "http://me:p%40ss@")}/path/`;
  await chainOver([url], { apiKey: "key-1" }).head();
  const { headers } = node.requests[0] ?? {};
  assertEquals(headers?.get("authorization"), `Basic ${btoa("me:p@ss")}`);
  assertEquals(headers?.get("tron-pro-api-key"), "key-1");
});

// ---------------------------------------------------------------- fees

const TRANSFER = { from: PAYER, to: STRANGER, asset: "USDT", amount: amountOf("2.5") } as const;

test("a fee is estimated with the real sender, receiver and amount", async () => {
  await using node = startScriptedNode({
    "/wallet/getchainparameters": parameters,
    "/wallet/triggerconstantcontract": () => ({
      result: { result: true },
      energy_used: 64_285,
      energy_penalty: 49_675,
      constant_result: [word(0)],
      transaction: { ret: [{}] },
    }),
  });
  const estimate = await chainOver([node]).estimateFee([TRANSFER]);
  // 64,285 energy x 100 sun + 350 bytes x 1,000 sun; the limit is 1.2 x the energy's share.
  // At most the limit, the most that a salt adds to it, and the bytes.
  assertEquals(estimate, {
    fee: amountOf("6.7785"),
    limit: amountOf("7.7142"),
    atMost: amountOf("8.1642"),
  });
  const asked = JSON.parse(node.requests[1]?.body ?? "{}");
  assertEquals(asked.function_selector, "transfer(address,uint256)");
  assertEquals(asked.owner_address, addressToHex(PAYER));
  assertEquals(asked.contract_address, addressToHex(USDT));
  assertEquals(asked.parameter.slice(0, 64), word(addressToLogHex(STRANGER)));
  assertEquals(BigInt(`0x${asked.parameter.slice(64)}`), 2_500_000n);
});

test("a transfer that would fail now has no fee: reverted, on every node alike", async () => {
  await using node = startScriptedNode({
    "/wallet/getchainparameters": parameters,
    "/wallet/triggerconstantcontract": () => ({
      result: { result: true, message: "524556455254206f70636f6465206578656375746564" },
      energy_used: 500,
      transaction: { ret: [{ ret: "FAILED" }] },
    }),
  });
  const error = await unavailable(chainOver([node, node]).estimateFee([TRANSFER]));
  assertEquals(error.category, "reverted");
  assertStringIncludes(error.message, "REVERT opcode executed");
  assertEquals(node.requests.length, 2);
});

test("a node that cannot run a call says nothing about the call", async () => {
  await using unable = startScriptedNode({
    "/wallet/getchainparameters": parameters,
    "/wallet/triggerconstantcontract": () => ({
      result: { code: "CONTRACT_VALIDATE_ERROR", message: "6e6f20737570706f7274" },
    }),
  });
  const error = await unavailable(chainOver([unable]).estimateFee([TRANSFER]));
  assertEquals(error.category, "server-error");
  await using able = startScriptedNode({
    "/wallet/triggerconstantcontract": () => ({ result: { result: true }, energy_used: 1 }),
  });
  assertEquals((await chainOver([unable, able]).estimateFee([TRANSFER])).fee, amountOf("0.3501"));
});

test("energy that costs more than one transaction may burn is refused, not clamped", async () => {
  await using node = startScriptedNode({
    "/wallet/getchainparameters": parameters,
    "/wallet/triggerconstantcontract": () => ({ result: { result: true }, energy_used: 5_000_000 }),
  });
  const error = await unavailable(chainOver([node]).estimateFee([TRANSFER]));
  assertEquals(error.category, "malformed");
});

test("the margin never lifts the limit above what one transaction may burn", async () => {
  await using node = startScriptedNode({
    "/wallet/getchainparameters": parameters,
    "/wallet/triggerconstantcontract": () => ({ result: { result: true }, energy_used: 100_000 }),
  });
  const chain = chainOver([node], { highestFeeLimitSun: 11_000_000 });
  assertEquals((await chain.estimateFee([TRANSFER])).limit, amountOf("11"));
});

test("the first TRX of an address costs its activation", async () => {
  await using node = startScriptedNode({
    "/wallet/getchainparameters": parameters,
    "/wallet/getaccount": ({ address }) =>
      address === addressToHex(OURS) ? {} : { address, balance: 1 },
  });
  const chain = chainOver([node]);
  const gas = { from: PAYER, asset: "native", amount: amountOf("10") } as const;
  assertEquals((await chain.estimateFee([{ ...gas, to: STRANGER }])).fee, amountOf("0.275"));
  assertEquals((await chain.estimateFee([{ ...gas, to: OURS }])).fee, amountOf("1.1"));
  const loan = { ...gas, to: OURS, isDelegation: true };
  assertEquals((await chain.estimateFee([loan])).fee, amountOf("0.285"));
});

test("prices are read once a minute, and a missing one is not guessed", async () => {
  const answer = { ...PARAMETERS };
  await using node = startScriptedNode({
    "/wallet/getchainparameters": () => answer,
    "/wallet/triggerconstantcontract": () => ({ result: { result: true }, energy_used: 1 }),
  });
  const chain = chainOver([node]);
  await chain.estimateFee([TRANSFER]);
  await chain.estimateFee([TRANSFER]);
  const asked = node.requests.filter(({ path }) => path === "/wallet/getchainparameters");
  assertEquals(asked.length, 1);
  answer.chainParameter = PARAMETERS.chainParameter.filter(({ key }) => key !== "getEnergyFee");
  const error = await unavailable(chainOver([node]).estimateFee([TRANSFER]));
  assertStringIncludes(error.message, "getEnergyFee");
});

test("a currency without a contract is a fault of the caller", async () => {
  await using node = startScriptedNode({ "/wallet/getchainparameters": parameters });
  await assertRejects(
    () => chainOver([node]).estimateFee([{ ...TRANSFER, asset: "USDC" }]),
    TypeError,
    "no contract configured",
  );
});

// ---------------------------------------------------------------- envelope

test("an envelope stands on the solid block and dies by its clock", () => {
  const chain = chainOver(["http://127.0.0.1:1"], { lifetimeMs: 60_000 });
  const solid = {
    height: 0x1234_abcd,
    parentHeight: 0x1234_abcc,
    hash: `000000001234abcd0123456789abcdef${"ff".repeat(16)}`,
    parentHash: blockId(1),
    time: BLOCK_TIME,
    tick: BLOCK_TIME,
  };
  const envelope = chain.envelope(solid, { fee: amountOf("7"), limit: amountOf("7.7142") }, null);
  assertEquals(envelope, {
    network: "TRX",
    fields: {
      ref_block_bytes: "abcd",
      ref_block_hash: "0123456789abcdef",
      expiration: BLOCK_TIME + 60_000,
      timestamp: BLOCK_TIME,
      fee_limit: 7_714_200,
    },
    diesAfter: BLOCK_TIME + 60_000,
    nonce: null,
    expiresAt: BLOCK_TIME + 60_000,
  });
});

// ---------------------------------------------------------------- broadcast

const SIGNED: SignedTransaction = {
  txid: txid(9),
  bytes: JSON.stringify({ visible: false, txID: txid(9), signature: ["00"] }),
  expiresAt: BLOCK_TIME,
};
const BROADCAST = "/wallet/broadcasttransaction";

test("the same bytes go to every node, once each", async () => {
  const accept: Script = () => ({ result: true, txid: txid(9) });
  await using a = startScriptedNode({ [BROADCAST]: accept });
  await using b = startScriptedNode({ [BROADCAST]: () => new Response(null, { status: 502 }) });
  await using c = startScriptedNode({ [BROADCAST]: () => ({ code: "DUP_TRANSACTION_ERROR" }) });
  const outcome = await chainOver([b, c, a]).broadcast(SIGNED);
  assertEquals(outcome.category, "accepted");
  // The acceptance is reported at once; the other nodes are offered the bytes all the same.
  for (const node of [a, b, c]) {
    await until(() => node.requests.length > 0);
    assertEquals(node.requests.map(({ body }) => body), [SIGNED.bytes]);
  }
});

test("a lost answer is unclear, never a failure, and is not sent again by the transport", async () => {
  const over = new AbortController();
  await using node = startScriptedNode({ [BROADCAST]: () => never(over.signal) });
  const outcome = await chainOver([node], { requestTimeoutMs: 2_000 }).broadcast(SIGNED);
  assertEquals(outcome, { category: "unclear", retryable: true, code: "TIMEOUT" });
  assertEquals(node.requests.length, 1);
  over.abort();
});

test("an acceptance is reported without waiting for a node that hangs", async () => {
  const over = new AbortController();
  await using hanging = startScriptedNode({ [BROADCAST]: () => never(over.signal) });
  await using good = startScriptedNode({ [BROADCAST]: () => ({ result: true, txid: txid(9) }) });
  const outcome = await chainOver([hanging, good], { requestTimeoutMs: 60_000 }).broadcast(SIGNED);
  assertEquals(outcome.category, "accepted");
  over.abort();
});

test("one node's rejection beside another one's silence is unclear", async () => {
  await using node = startScriptedNode({ [BROADCAST]: () => ({ code: "TAPOS_ERROR" }) });
  const outcome = await chainOver([node, "http://127.0.0.1:1"]).broadcast(SIGNED);
  assertEquals(outcome.category, "unclear");
});

test("a node that is cooling down is offered the bytes all the same", async () => {
  await using node = startScriptedNode({
    "/wallet/getblock": () => new Response(null, { status: 429 }),
    [BROADCAST]: () => ({ result: true, txid: txid(9) }),
  });
  const chain = chainOver([node]);
  await unavailable(chain.head());
  assertEquals((await chain.broadcast(SIGNED)).category, "accepted");
});

test("bytes of another transaction are never sent", async () => {
  await using node = startScriptedNode({});
  const mixed = { ...SIGNED, txid: txid(8) };
  await assertRejects(() => chainOver([node]).broadcast(mixed), Error, "bytes are of another");
  assertEquals(node.requests.length, 0);
});

// ---------------------------------------------------------------- balances and verification

test("balances are solid ones; an address without account has none", async () => {
  await using node = startScriptedNode({
    "/walletsolidity/getaccount": ({ address }) =>
      address === addressToHex(OURS) ? {} : { address, balance: 1_500_000 },
    "/walletsolidity/triggerconstantcontract": () => ({
      result: { result: true },
      constant_result: [word(7_250_000)],
    }),
  });
  const chain = chainOver([node]);
  assertEquals(await chain.balanceOf(PAYER, "native"), amountOf("1.5"));
  assertEquals(await chain.balanceOf(OURS, "native"), amountOf("0"));
  assertEquals(await chain.balanceOf(PAYER, "USDT"), amountOf("7.25"));
  const asked = JSON.parse(node.requests[2]?.body ?? "{}");
  assertEquals(asked.function_selector, "balanceOf(address)");
});

test("where a node has no solid calls, its head answers for token balances", async () => {
  await using node = startScriptedNode({
    "/wallet/triggerconstantcontract": () => ({
      result: { result: true },
      constant_result: [word(7_250_000)],
    }),
  });
  assertEquals(await chainOver([node]).balanceOf(PAYER, "USDT"), amountOf("7.25"));
});

test("a balance that is no number is malformed", async () => {
  await using node = startScriptedNode({
    "/walletsolidity/triggerconstantcontract": () => ({
      result: { result: true },
      constant_result: [],
    }),
  });
  const error = await unavailable(chainOver([node]).balanceOf(PAYER, "USDT"));
  assertEquals(error.category, "malformed");
});

test("a token with other decimals than the service counts with must not start", async () => {
  let decimals = 18;
  await using node = startScriptedNode({
    "/wallet/triggerconstantcontract": () => ({
      result: { result: true },
      constant_result: [word(decimals)],
    }),
  });
  await assertRejects(() => chainOver([node]).verify(), Error, "18 decimals, not 6");
  decimals = 6;
  await chainOver([node]).verify();
});

test("a configuration that cannot work is refused at once", () => {
  assertThrows(() => chainOver([]), TypeError, "no node");
  assertThrows(() => chainOver(["ftp://host"]), TypeError, "not http");
  assertThrows(() => chainOver(["http://h"], { contracts: { USDT: "TX" } }), RangeError);
  assertThrows(() => chainOver(["http://h"], { hotWallet: "TX" }), RangeError);
});

// ---------------------------------------------------------------- transactions

const [payment] = pairs as [Pair, ...Pair[]];
const found: Record<string, Script> = {
  "/walletsolidity/gettransactionbyid": () => payment.transaction,
  "/walletsolidity/gettransactioninfobyid": () => payment.receipt,
};

test("a transaction is asked for by its canonical id in the view that was asked", async () => {
  await using node = startScriptedNode(found);
  const answer = await chainOver([node]).transaction(txid(1).toUpperCase(), "solid");
  assert(answer.kind === "found");
  assertEquals(answer.transaction.txid, txid(1));
  assertEquals(answer.transaction.height, HEIGHT);
  assertEquals(answer.transaction.transfers.map(({ eventTo }) => eventTo), [
    addressToLogHex(OURS),
  ]);
  assertEquals(node.requests.map(({ path, body }) => [path, JSON.parse(body)]), [
    ["/walletsolidity/gettransactionbyid", { value: txid(1) }],
    ["/walletsolidity/gettransactioninfobyid", { value: txid(1) }],
  ]);
});

test("a node that does not know a transaction is passed over for one that does", async () => {
  await using lagging = startScriptedNode({ "/walletsolidity/gettransactionbyid": () => ({}) });
  await using late = startScriptedNode({
    ...found,
    "/walletsolidity/gettransactioninfobyid": () => ({}),
  });
  await using good = startScriptedNode(found);
  assertEquals(
    (await chainOver([lagging, late, good]).transaction(txid(1), "solid")).kind,
    "found",
  );
  const poor = await chainOver([late, lagging]).transaction(txid(1), "solid");
  assertEquals(poor.kind, "incomplete");
});

test("another transaction's data is never taken for the one that was asked", async () => {
  await using other = startScriptedNode(found);
  assertEquals(
    (await unavailable(chainOver([other]).transaction(txid(2), "solid"))).category,
    "malformed",
  );
  await using mixed = startScriptedNode({
    ...found,
    "/walletsolidity/gettransactioninfobyid": () => pairs[1]?.receipt,
  });
  const error = await unavailable(chainOver([mixed]).transaction(txid(1), "solid"));
  assertEquals(error.category, "malformed");
});

test("a transaction that is looked up has no transfers of other contracts", async () => {
  const fake = contractCall(1, [transferLog(STRANGER, PAYER, OURS, 5)]);
  await using node = startScriptedNode({
    "/wallet/gettransactionbyid": () => fake.transaction,
    "/wallet/gettransactioninfobyid": () => fake.receipt,
  });
  const chain = chainOver([node]);
  const answer = await chain.transaction(txid(1), "head");
  assertEquals(answer.kind === "found" && answer.transaction.transfers, []);
});
