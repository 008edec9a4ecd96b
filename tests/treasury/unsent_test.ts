import { assertEquals } from "@std/assert";
import { unsentOf } from "../../actors/treasury/lane_requests.ts";
import type { LivingAttempt, PromisedNonce } from "../../ledger/lanes/open_nonces.ts";

const attempt = (txid: string, isSeen = false): LivingAttempt => ({
  txid,
  purpose: "pay",
  bytes: txid,
  isSeen,
  ageMs: 1_000,
});

function promised(payer: string, nonce: number, ...attempts: LivingAttempt[]): PromisedNonce {
  const outgoingId = `out_${payer}_${nonce}`;
  const intent = { outgoingId, merchantId: "mer_1", status: "signed", isActive: true };
  return { payer, nonce, ageMs: 1_000, isCancelAsked: false, intents: [intent], attempts };
}

/** Rules, each with open nonces, what is known besides, and what is sent again. */
const TABLE: readonly {
  readonly rule: string;
  readonly open: readonly PromisedNonce[];
  readonly closed?: readonly string[];
  readonly signed?: readonly string[];
  readonly isDue?: (txid: string) => boolean;
  readonly believedBelow?: number;
  readonly sent: readonly string[];
}[] = [
  {
    rule: "the hot wallet's first, the lowest nonce first, the newest transaction of each first",
    open: [
      promised("12", 3, attempt("c")),
      promised("hot", 7, attempt("b"), attempt("a")),
      promised("hot", 8, attempt("d")),
    ],
    sent: ["b", "a", "d", "c"],
  },
  {
    rule: "not what a block shows, nor what would replace it",
    open: [promised("hot", 7, attempt("b"), attempt("a", true)), promised("hot", 8, attempt("c"))],
    sent: ["c"],
  },
  {
    rule: "not what was sent a moment ago",
    open: [promised("hot", 7, attempt("b"), attempt("a"))],
    isDue: (txid) => txid === "a",
    sent: ["a"],
  },
  {
    rule: "not what was replaced just now",
    open: [promised("hot", 7, attempt("a")), promised("hot", 8, attempt("b"))],
    signed: ["hot/7"],
    sent: ["b"],
  },
  {
    rule: "nothing of a closed lane",
    open: [promised("5", 7, attempt("a")), promised("hot", 7, attempt("b"))],
    closed: ["5"],
    sent: ["b"],
  },
  {
    rule: "of what is taken out of use what moves nothing, not what would pay it",
    open: [{
      ...promised("hot", 7, { ...attempt("b"), purpose: "cancel" }, attempt("a")),
      isCancelAsked: true,
    }],
    sent: ["b"],
  },
  {
    rule: "not what the hot wallet's nonces are believed to have in a block",
    open: [
      promised("hot", 7, attempt("a")),
      promised("hot", 8, attempt("b")),
      promised("5", 0, attempt("c")),
    ],
    believedBelow: 8,
    sent: ["b", "c"],
  },
  { rule: "nothing of what has no signature", open: [promised("hot", 7)], sent: [] },
];

for (
  const { rule, open, closed = [], signed = [], isDue = () => true, believedBelow = 0, sent }
    of TABLE
) {
  Deno.test(`sent again: ${rule}`, () => {
    const reasons = new Map(closed.map((payer) => [payer, "closed"]));
    const found = unsentOf(open, reasons, new Set(signed), isDue, believedBelow);
    assertEquals(found.map(({ txid }) => txid), [...sent]);
    assertEquals(found.every(({ outgoingId }) => outgoingId.startsWith("out_")), true);
  });
}
