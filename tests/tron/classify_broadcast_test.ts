import { assertEquals } from "@std/assert";
import { ChainNode } from "../../chains/nodes/node.ts";
import { combineOutcomes } from "../../chains/nodes/offers.ts";
import { classifyBroadcast } from "../../chains/tron/pay/broadcast.ts";
import type { BroadcastOutcome } from "../../chains/chain.ts";

/** A node whose URL has nothing secret. */
const PLAIN = new ChainNode({ url: "http://node", requestTimeoutMs: 1 });

const TXID = "ab".repeat(32);

/** The category of a JSON answer. */
function classify(body: unknown, status = 200): BroadcastOutcome {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return classifyBroadcast(PLAIN, { status, retryAfterMs: null, text }, TXID);
}

/** "hello" as nodes write texts. */
const HELLO = "68656c6c6f";

const CODES: Record<string, readonly [BroadcastOutcome["category"], boolean]> = {
  DUP_TRANSACTION_ERROR: ["known", true],
  TRANSACTION_EXPIRATION_ERROR: ["unclear", true],
  SERVER_BUSY: ["unclear", true],
  NO_CONNECTION: ["unclear", true],
  NOT_ENOUGH_EFFECTIVE_CONNECTION: ["unclear", true],
  CONTRACT_EXE_ERROR: ["unclear", true],
  OTHER_ERROR: ["unclear", true],
  A_CODE_OF_A_LATER_VERSION: ["unclear", true],
  CONTRACT_VALIDATE_ERROR: ["rejected", true],
  BANDWITH_ERROR: ["rejected", true],
  TAPOS_ERROR: ["rejected", true],
  BLOCK_UNSOLIDIFIED: ["rejected", true],
  SIGERROR: ["rejected", false],
  TOO_BIG_TRANSACTION_ERROR: ["rejected", false],
};
for (const [code, [category, retryable]] of Object.entries(CODES)) {
  Deno.test(`a broadcast answered ${code} is ${category}`, () => {
    const outcome = classify({ code, txid: TXID, message: HELLO });
    assertEquals([outcome.category, outcome.retryable], [category, retryable]);
  });
}

Deno.test("a broadcast that answers DUP is never taken as failure", () => {
  assertEquals(classify({ code: "DUP_TRANSACTION_ERROR", message: HELLO }).category, "known");
});

Deno.test("only result true of this very transaction is an acceptance", () => {
  assertEquals(classify({ result: true, txid: TXID }).category, "accepted");
  assertEquals(classify({ result: true, code: "SUCCESS", txid: TXID }).category, "accepted");
  assertEquals(classify({ result: true }).category, "accepted");
  assertEquals(classify({ result: true, txid: "cd".repeat(32) }).category, "unclear");
  assertEquals(classify({ result: true, code: "SERVER_BUSY", txid: TXID }).category, "unclear");
  assertEquals(classify({ result: "true", txid: TXID }).category, "unclear");
  assertEquals(classify({ txid: TXID }).category, "unclear");
  assertEquals(classify({ code: "SUCCESS", txid: TXID }).category, "unclear");
});

Deno.test("whatever HTTP says besides 200 proves nothing, also with a clear body", () => {
  for (const status of [302, 400, 403, 429, 500, 502, 503, 504]) {
    assertEquals(classify({ result: true, txid: TXID }, status).category, "unclear");
    assertEquals(classify({ code: "SIGERROR" }, status).category, "unclear");
  }
});

Deno.test("an answer that cannot be read proves nothing", () => {
  for (const text of ["", "<html>", "null", "[]", '"SIGERROR"', '{"code":7}', "{"]) {
    assertEquals(classify(text).category, "unclear");
  }
});

Deno.test("a rejection carries the node's text, readable and without control characters", () => {
  const message = "56616c69646174650a0d1b5b33316d206572726f72"; // "Validate\n\r\x1b[31m error"
  const outcome = classify({ code: "CONTRACT_VALIDATE_ERROR", message });
  assertEquals(outcome.category === "rejected" && outcome.message, "Validate [31m error");
});

Deno.test("whatever a node says in words is kept, of a refusal as of what proves nothing", () => {
  const words = (body: unknown, status = 200) => {
    const outcome = classify(body, status);
    return "message" in outcome ? outcome.message : undefined;
  };
  for (const code of ["SIGERROR", "OTHER_ERROR", "DUP_TRANSACTION_ERROR", "A_LATER_CODE"]) {
    assertEquals(words({ code, message: HELLO }), "hello", code);
  }
  assertEquals(
    words({ Error: "class java.lang.Exception : hello" }),
    "class java.lang.Exception : hello",
  );
  assertEquals(words("the node is away\n", 502), "the node is away");
  assertEquals(words("x".repeat(5_000), 502)?.length, 300);
  assertEquals(words({ code: "SERVER_BUSY" }), undefined);
});

const accepted: BroadcastOutcome = { category: "accepted", retryable: true };
const known: BroadcastOutcome = { category: "known", retryable: true, code: "DUP" };
const unclear: BroadcastOutcome = { category: "unclear", retryable: true, code: "TIMEOUT" };
const mending: BroadcastOutcome = {
  category: "rejected",
  retryable: true,
  code: "TAPOS_ERROR",
  message: "",
};
const final: BroadcastOutcome = { ...mending, retryable: false, code: "SIGERROR" };

Deno.test("of several nodes' answers the best news counts, and a doubt outweighs a rejection", () => {
  assertEquals(combineOutcomes([final, unclear, known, accepted]), accepted);
  assertEquals(combineOutcomes([final, unclear, known]), known);
  assertEquals(combineOutcomes([final, unclear, mending]), unclear);
  assertEquals(combineOutcomes([final, mending]), mending);
  assertEquals(combineOutcomes([final]), final);
});
