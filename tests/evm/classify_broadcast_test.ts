import { assertEquals, assertRejects } from "@std/assert";
import { broadcastToAll, classifyBroadcast } from "../../chains/evm/pay/broadcast.ts";
import { ChainNode } from "../../chains/nodes/node.ts";
import { Offers } from "../../chains/nodes/offers.ts";

/** A node whose URL has nothing secret. */
const PLAIN = new ChainNode({ url: "http://node", requestTimeoutMs: 1 });

const TXID = `0x${"ab".repeat(32)}`;

function answerOf(text: string, status = 200) {
  return { status, retryAfterMs: null, text };
}

function errorOf(message: string, status = 200, code = -32000) {
  return answerOf(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message } }), status);
}

/** Words of nodes, and what follows from them: the category, and whether the same bytes may pass later. */
const WORDS: readonly (readonly [string, string])[] = [
  // go-ethereum and BNB Smart Chain
  ["already known", "known"],
  ["nonce too low: next nonce 5, tx nonce 4", "unclear"],
  ["replacement transaction underpriced", "unclear"],
  ["future transaction tries to replace pending", "unclear"],
  ["max fee per gas less than block base fee: address 0xab, maxFeePerGas: 1, baseFee: 2", "again"],
  ["transaction underpriced: tip needed 1, tip permitted 0", "again"],
  ["max priority fee per gas higher than max fee per gas", "again"],
  ["insufficient funds for gas * price + value: balance 1, tx cost 2, overshot 1", "again"],
  ["txpool is full", "again"],
  ["in-flight transaction limit reached for delegated accounts", "again"],
  ["gapped-nonce tx from delegated accounts", "again"],
  ["authority already reserved", "again"],
  ["tx fee (1.10 ether) exceeds the configured cap (1.00 ether)", "again"],
  ["intrinsic gas too low: gas 20000, minimum needed 21000", "never"],
  ["exceeds block gas limit", "never"],
  ["invalid sender", "never"],
  ["invalid chain id for signer: have 1 want 56", "never"],
  ["only replay-protected (EIP-155) transactions allowed over RPC", "never"],
  ["transaction type not supported", "never"],
  // anvil
  ["transaction already imported", "known"],
  ["nonce too low", "unclear"],
  // erigon, nethermind, reth, besu
  ["AlreadyKnown", "known"],
  ["known transaction: 0xabab", "known"],
  ["OldNonce, Current nonce: 5, nonce of rejected tx: 4", "unclear"],
  ["ReplacementNotAllowed", "unclear"],
  ["FeeTooLow, MaxFeePerGas too low", "again"],
  ["InsufficientFunds, Balance is 0 less than sending value", "again"],
  ["Nonce too low", "unclear"],
  ["Upfront cost exceeds account balance", "again"],
  // nothing follows from unknown words
  ["unknown transaction", "unclear"],
  ["header not found", "unclear"],
  ["internal error", "unclear"],
  ["", "unclear"],
];

Deno.test("a node's words about a broadcast: a transaction is never dead by them, and unknown ones say nothing", () => {
  const seen = WORDS.map(([words]) => {
    const outcome = classifyBroadcast(PLAIN, errorOf(words), TXID);
    if (outcome.category !== "rejected") return [words, outcome.category];
    return [words, outcome.retryable ? "again" : "never"];
  });
  assertEquals(seen, WORDS.map((row) => [...row]));
});

Deno.test("an error of the call counts whatever the status of HTTP, a gateway's page does not", () => {
  assertEquals(classifyBroadcast(PLAIN, errorOf("already known", 400), TXID).category, "known");
  const page = classifyBroadcast(PLAIN, answerOf("<html>Bad gateway</html>", 502), TXID);
  assertEquals(page, {
    category: "unclear",
    retryable: true,
    code: "HTTP_502",
    message: "<html>Bad gateway</html>",
  });
});

Deno.test("an acceptance counts only for the transaction that was offered", () => {
  const accepting = (result: unknown) =>
    classifyBroadcast(PLAIN, answerOf(JSON.stringify({ jsonrpc: "2.0", id: 1, result })), TXID);
  assertEquals(accepting(TXID), { category: "accepted", retryable: true });
  assertEquals(accepting(TXID.toUpperCase().replace("0X", "0x")).category, "accepted");
  for (const other of [`0x${"cd".repeat(32)}`, "", null, true, undefined]) {
    assertEquals(accepting(other).category, "unclear");
  }
  for (const text of ["", "[]", "null", "{", '{"result":1,"error":{}}']) {
    assertEquals(classifyBroadcast(PLAIN, answerOf(text), TXID).category, "unclear");
  }
});

Deno.test("an answer with an error is no acceptance, even with the right id beside it", () => {
  const both = { jsonrpc: "2.0", id: 1, result: TXID, error: { code: -32000, message: "?" } };
  assertEquals(classifyBroadcast(PLAIN, answerOf(JSON.stringify(both)), TXID).category, "unclear");
});

Deno.test("bytes of another transaction are offered to no node", async () => {
  await assertRejects(
    () =>
      broadcastToAll(new Offers([], () => false), { txid: TXID, bytes: "0x02", expiresAt: null }),
    Error,
    "its bytes are of another",
  );
});
