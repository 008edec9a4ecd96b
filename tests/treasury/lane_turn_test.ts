import { assertEquals } from "@std/assert";
import {
  type LaneStep,
  laneTurn,
  type LaneView,
  type OpenNonce,
} from "../../actors/treasury/lane_turn.ts";
import type { FeeEstimate } from "../../chains/fees.ts";
import type { LaneAsk } from "../../chains/lane.ts";
import type { LivingAttempt, PromisedIntent } from "../../ledger/lanes/open_nonces.ts";
import { amountOf } from "../../ledger/money/amount.ts";

const FEE: FeeEstimate = { fee: amountOf("1"), limit: amountOf("2") };

/** A chain that asks for a price, bytes that offer one, and a cap of 200, or of what transfers may offer under it. */
function asking(price: number, most = 200): LaneAsk {
  const above = (bytes: readonly string[]) =>
    Math.max(price, ...bytes.map((one) => Math.ceil(Number(one) * 1.125)));
  const within = (bytes: readonly string[], most: number) =>
    above(bytes) > most ? null : { ...FEE, terms: { price: above(bytes) } };
  return {
    isPassedOver: (bytes: string) => Number(bytes) < price,
    replacing: (bytes) => within(bytes, most),
    // a transfer of nothing uses less
    cancelling: (bytes) => within(bytes, 200),
    within: () => asking(price, most),
  };
}

const intent = (id: string, fields: Partial<PromisedIntent> = {}): PromisedIntent => ({
  outgoingId: id,
  merchantId: "mer_1",
  status: "queued",
  isActive: true,
  ...fields,
});

/** An attempt of a minute ago whose bytes offer a price. */
const attempt = (price: number, fields: Partial<LivingAttempt> = {}): LivingAttempt => ({
  txid: `t${price}`,
  purpose: "pay",
  bytes: String(price),
  isSeen: false,
  ageMs: 60_000,
  ...fields,
});

const open = (nonce: number, fields: Partial<OpenNonce> = {}): OpenNonce => ({
  nonce,
  ageMs: 1_000,
  intents: [intent(`o${nonce}`)],
  attempts: [],
  isCancelAsked: false,
  isRefused: false,
  ...fields,
});

/** Nonces as words: what is done with each, in order. */
function shown(step: LaneStep): string {
  switch (step.do) {
    case "sign":
    case "fill":
      return `${step.do} ${step.nonce.nonce}`;
    case "replace":
      return `${step.purpose} ${step.nonce.nonce} for ${step.fee.terms?.price}`;
    default:
      return step satisfies never;
  }
}

function decided(open: readonly OpenNonce[], fields: Partial<LaneView> = {}) {
  const { steps, room, waits } = laneTurn({
    open,
    ask: asking(10),
    bumpAfterMs: 48_000,
    suspendedMs: 30_000,
    mostUnseen: 12,
    isHeadRead: true,
    ...fields,
  });
  return { steps: steps.map(shown), room, waits: Object.fromEntries(waits) };
}

const CAPPED = "waiting: fees are above the cap";
const signed = [intent("o7", { status: "signed" })];
const TWO = [intent("a", { status: "signed" }), intent("b", { status: "signed" })];

interface TurnRule {
  readonly rule: string;
  readonly open: readonly OpenNonce[];
  readonly view?: Partial<LaneView>;
  readonly steps: readonly string[];
  readonly room?: number;
  readonly waits?: Readonly<Record<string, string>>;
}

/** Of sweeps with nonce 7 that cannot be replaced below the cap. */
function makesNoWay(why: string, open: readonly OpenNonce[], price = 50): TurnRule {
  return {
    rule: `sweeps that share a transaction make no way where ${why}`,
    open,
    view: { ask: asking(price, 49) },
    steps: [],
    room: 12 - open.length,
    waits: { 7: CAPPED },
  };
}

/** Rules, each with its open nonces, and what is done, how many may follow, and what waits. */
const TABLE: readonly TurnRule[] = [
  { rule: "an empty lane has room for all", open: [], steps: [], room: 12 },
  {
    rule: "a promise that nothing was signed for is signed with its own nonce",
    open: [open(7)],
    steps: ["sign 7"],
    room: 11,
  },
  {
    rule: "a nonce whose transfer was given up is filled",
    open: [open(7, { intents: [intent("o7", { status: "void" })] })],
    steps: ["fill 7"],
    room: 11,
  },
  {
    rule: "one of two transfers that is given up takes the nonce from both",
    open: [open(7, { intents: [intent("a"), intent("b", { status: "void" })] })],
    steps: ["fill 7"],
    room: 11,
  },
  {
    rule: "what is to be filled goes before what is signed behind it",
    open: [open(7), open(8, { intents: [intent("o8", { status: "void" })] }), open(9)],
    steps: ["fill 8", "sign 7", "sign 9"],
    room: 9,
  },
  {
    rule: "a suspended merchant's nonce waits for a moment",
    open: [open(7, { intents: [intent("o7", { isActive: false })] })],
    steps: [],
    room: 11,
    waits: { 7: "waiting: its merchant is suspended" },
  },
  {
    rule: "a suspended merchant's nonce is filled after half a minute: nothing behind it may wait",
    open: [open(7, { ageMs: 30_000, intents: [intent("o7", { isActive: false })] })],
    steps: ["fill 7"],
    room: 11,
  },
  {
    rule: "a nonce that cannot be filled under the cap is told",
    open: [open(7, { intents: [intent("o7", { status: "void" })] })],
    view: { ask: asking(201) },
    steps: [],
    room: 11,
    waits: { 7: CAPPED },
  },
  {
    rule: "what the signer refused is asked for again while nothing stands behind it",
    open: [open(7, { isRefused: true }), open(8, { isRefused: true })],
    steps: ["sign 7", "sign 8"],
    room: 10,
  },
  {
    rule:
      "what the signer refused is filled for what is signed behind it, and not what follows that",
    open: [
      open(7, { isRefused: true }),
      open(8, { attempts: [attempt(10, { ageMs: 0 })] }),
      open(9, { isRefused: true }),
    ],
    steps: ["fill 7", "sign 9"],
    room: 9,
  },
  {
    rule: "what the signer refused is filled for what will be signed behind it",
    open: [open(7, { isRefused: true }), open(8)],
    steps: ["fill 7", "sign 8"],
    room: 10,
  },
  {
    rule: "a lane that the signer's refusals have taken up has room for one more",
    open: [open(7, { isRefused: true }), open(8, { isRefused: true })],
    view: { mostUnseen: 2 },
    steps: ["sign 7", "sign 8"],
    room: 1,
  },
  {
    rule:
      "what the signer refused is filled once one more stands behind it, signed or refused as well",
    open: [7, 8, 9].map((nonce) => open(nonce, { isRefused: true })),
    view: { mostUnseen: 2 },
    steps: ["fill 7", "fill 8", "sign 9"],
    room: 0,
  },
  {
    rule: "a lane that is taken up by what comes to its end has no room for more",
    open: [
      open(7, { attempts: [attempt(10, { ageMs: 0 })] }),
      open(8, { isRefused: true }),
    ],
    view: { mostUnseen: 2 },
    steps: ["sign 8"],
    room: 0,
  },
  {
    rule:
      "a lane has room for as many as a node's newest block has used, which are replaced as before",
    open: [
      open(7, { attempts: [attempt(10)] }),
      open(8, { attempts: [attempt(10, { ageMs: 0 })] }),
      open(9, { attempts: [attempt(10, { ageMs: 0 })] }),
    ],
    view: { mostUnseen: 3, usedBelow: 9 },
    steps: ["pay 7 for 12"],
    room: 2,
  },
  {
    rule:
      "a node that says that all is used has no more promised than sixteen times what may be unseen",
    open: Array.from(
      { length: 47 },
      (_, n) => open(n, { attempts: [attempt(10, { ageMs: 0 })] }),
    ),
    view: { mostUnseen: 3, usedBelow: 1_000 },
    steps: [],
    room: 1,
  },
  {
    rule: "where nothing may be signed, there is nothing to do",
    open: [open(7), open(8, { attempts: [attempt(10)] })],
    view: { ask: null },
    steps: [],
    room: 10,
  },
  {
    rule: "an administrator's wish fills a nonce that is not signed",
    open: [open(7, { isCancelAsked: true })],
    steps: ["fill 7"],
    room: 11,
  },
  {
    rule: "an administrator's wish replaces what is signed at once",
    open: [
      open(7, { intents: signed, attempts: [attempt(10, { ageMs: 0 })], isCancelAsked: true }),
    ],
    steps: ["cancel 7 for 12"],
    room: 11,
  },
  {
    rule: "what is believed to be in a block is not replaced, the lowest one beside it is",
    open: [
      open(7, { attempts: [attempt(5)] }),
      open(8, { attempts: [attempt(5)], isCancelAsked: true }),
      open(9, { attempts: [attempt(10)] }),
      open(10, { attempts: [attempt(10)] }),
    ],
    view: { believedBelow: 9 },
    steps: ["cancel 8 for 10", "pay 9 for 12"],
    room: 8,
  },
  {
    rule: "where payments are stopped, an administrator's wishes are carried out and nothing else",
    open: [
      open(5, { intents: [intent("o5", { status: "void" })] }),
      open(6, { intents: signed, attempts: [attempt(10)] }),
      open(7, { intents: signed, attempts: [attempt(10)], isCancelAsked: true }),
      open(8, { isCancelAsked: true }),
      open(9),
    ],
    view: { cancelsOnly: true },
    steps: ["fill 8", "cancel 7 for 12"],
    room: 7,
  },
  {
    rule: "what a block shows is left alone, whatever is wished",
    open: [
      open(7, { intents: signed, attempts: [attempt(10, { isSeen: true })], isCancelAsked: true }),
    ],
    steps: [],
    room: 12,
  },
  {
    rule: "an original that a block shows keeps its replacement from being replaced",
    open: [open(7, { intents: signed, attempts: [attempt(12), attempt(10, { isSeen: true })] })],
    view: { ask: asking(50) },
    steps: [],
    room: 12,
  },
  {
    rule: "the lowest unseen one is replaced after its time, by both fees' bump",
    open: [open(7, { intents: signed, attempts: [attempt(100)] })],
    steps: ["pay 7 for 113"],
    room: 11,
  },
  {
    rule: "while the newest blocks are not read nothing is replaced that they may show",
    open: [open(7, { intents: signed, attempts: [attempt(100)] })],
    view: { isHeadRead: false },
    steps: [],
    room: 11,
  },
  {
    rule: "an administrator's wish does not wait for the newest blocks",
    open: [open(7, { intents: signed, attempts: [attempt(10)], isCancelAsked: true })],
    view: { isHeadRead: false },
    steps: ["cancel 7 for 12"],
    room: 11,
  },
  {
    rule: "the newest signature's time counts, not the first one's",
    open: [open(7, { intents: signed, attempts: [attempt(12, { ageMs: 47_999 }), attempt(10)] })],
    steps: [],
    room: 11,
  },
  {
    rule: "one behind the lowest is replaced only where blocks pass it over",
    open: [
      open(7, { attempts: [attempt(10)] }),
      open(8, { attempts: [attempt(30)] }),
      open(9, { attempts: [attempt(19)] }),
    ],
    view: { ask: asking(20) },
    steps: ["pay 7 for 20", "pay 9 for 22"],
    room: 9,
  },
  {
    rule: "the lowest unseen one counts, not the lowest open one",
    open: [
      open(7, { attempts: [attempt(10, { isSeen: true })] }),
      open(8, { attempts: [attempt(11)] }),
    ],
    steps: ["pay 8 for 13"],
    room: 11,
  },
  {
    rule: "five are replaced in a turn",
    open: [7, 8, 9, 10, 11, 12, 13].map((nonce) => open(nonce, { attempts: [attempt(nonce)] })),
    view: { ask: asking(20) },
    steps: [7, 8, 9, 10, 11].map((nonce) => `pay ${nonce} for 20`),
    room: 5,
  },
  {
    rule: "what the cap keeps from being replaced is told",
    open: [open(7, { attempts: [attempt(190)] })],
    steps: [],
    room: 11,
    waits: { 7: CAPPED },
  },
  {
    rule: "those that the cap holds use up no replacement",
    open: [
      ...[7, 8, 9, 10, 11].map((nonce) =>
        open(nonce, { attempts: [attempt(190, { txid: `c${nonce}` })] })
      ),
      open(12, { attempts: [attempt(100)] }),
    ],
    view: { ask: { ...asking(10), isPassedOver: () => true } },
    steps: ["pay 12 for 113"],
    room: 6,
    waits: { 7: CAPPED, 8: CAPPED, 9: CAPPED, 10: CAPPED, 11: CAPPED },
  },
  {
    rule:
      "sweeps that share a transaction and cannot be replaced below the cap make way for what stands behind them",
    open: [
      open(7, { intents: TWO, attempts: [attempt(40)] }),
      open(8, { attempts: [attempt(60, { ageMs: 0 })] }),
    ],
    view: { ask: asking(50, 49) },
    steps: ["cancel 7 for 50"],
    room: 10,
  },
  makesNoWay("nothing stands behind them", [open(7, { intents: TWO, attempts: [attempt(40)] })]),
  makesNoWay("blocks may still take them", [
    open(7, { intents: TWO, attempts: [attempt(50)] }),
    open(8, { attempts: [attempt(60, { ageMs: 0 })] }),
  ]),
  makesNoWay("it is one that goes alone", [
    open(7, { intents: signed, attempts: [attempt(40)] }),
    open(8, { attempts: [attempt(60, { ageMs: 0 })] }),
  ]),
  makesNoWay("that is above the cap as well", [
    open(7, { intents: TWO, attempts: [attempt(190)] }),
    open(8, { attempts: [attempt(200, { ageMs: 0 })] }),
  ], 201),
  {
    rule: "a cancel is replaced by a cancel",
    open: [open(7, { attempts: [attempt(20, { purpose: "cancel" }), attempt(10)] })],
    steps: ["cancel 7 for 23"],
    room: 11,
  },
  {
    rule: "a replacement is above every earlier one",
    open: [open(7, { attempts: [attempt(10), attempt(40, { txid: "dear" })] })],
    steps: ["pay 7 for 45"],
    room: 11,
  },
  {
    rule: "nodes hold no more of one sender than so many, signed or not",
    open: [open(7, { attempts: [attempt(10, { ageMs: 0 })] }), open(8), open(9)],
    view: { mostUnseen: 2 },
    steps: ["sign 8", "sign 9"],
    room: 0,
  },
];

for (const { rule, open, view = {}, steps, room = 12, waits = {} } of TABLE) {
  Deno.test(`a turn of a lane: ${rule}`, () => {
    assertEquals(decided(open, view), { steps: [...steps], room, waits: { ...waits } });
  });
}
