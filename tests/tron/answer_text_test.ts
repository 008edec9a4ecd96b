import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import fc from "fast-check";
import {
  blockListShape,
  readBlockList,
  readReceipts,
  receiptsShape,
} from "../../chains/tron/answer_text.ts";
import { blockListSchema, receiptsSchema } from "../../chains/tron/answers.ts";
import {
  block,
  contractCall,
  type Json,
  nativeTransfer,
  OURS,
  type Pair,
  PAYER,
  receipts,
  transferLog,
  USDT,
} from "./support/block_fixture.ts";
import { changed, ODD, places } from "./support/changed_json.ts";

/** A transfer in the form of nearly all others. */
const usual = [1, 2, 3].map((n) => contractCall(n, [transferLog(USDT, PAYER, OURS, n)]));
const mixed: readonly Pair[] = [
  contractCall(1, [transferLog(USDT, PAYER, OURS, 5), { address: "ab" }]),
  contractCall(2, [], { result: "REVERT" }),
  nativeTransfer(3),
  contractCall(4, [], {
    transaction: { signature: ["aa", "bb"] },
    receipt: { internal_transactions: [{ hash: "aa", callValueInfo: [{}], log: [{ id: "x" }] }] },
  }),
];

const reads = {
  blocks: {
    json: (pairs: readonly Pair[]): unknown => ({ block: [block(pairs), block([])] }),
    text: readBlockList,
    schema: blockListSchema,
  },
  receipts: {
    json: receipts as (pairs: readonly Pair[]) => unknown,
    text: readReceipts,
    schema: receiptsSchema,
  },
};

/** How often the text is given to the platform's parser. */
function parses(work: () => unknown): number {
  const parse = JSON.parse;
  let times = 0;
  JSON.parse = (...args: Parameters<typeof parse>) => {
    times++;
    return parse(...args);
  };
  try {
    work();
  } finally {
    JSON.parse = parse;
  }
  return times;
}

for (const [name, { json, text, schema }] of Object.entries(reads)) {
  Deno.test(`the text of ${name} says what its JSON says, whatever is in it`, () => {
    for (const pairs of [usual, mixed, mixed.toReversed()]) {
      const answer = json(pairs);
      for (const end of ["", "\n", "\r\n"]) {
        assertEquals<unknown>(text(JSON.stringify(answer) + end), schema.parse(answer));
      }
    }
  });

  Deno.test(`the text of ${name} is never read as anything but what the schema says`, () => {
    let known = 0;
    const answer = json(mixed);
    const all = places(answer);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...all), fc.constantFrom<unknown>(...ODD)), {
          maxLength: 3,
        }),
        (changes) => {
          const other = changes.reduce<unknown>((was, [at, put]) => changed(was, at, put), answer);
          const found = text(JSON.stringify(other) ?? "");
          if (found === null) return;
          known++;
          assertEquals<unknown>(found, schema.parse(other));
        },
      ),
      { numRuns: 5_000 },
    );
    assertGreater(known, 500);
  });

  Deno.test(`a piece of text anywhere in ${name} changes what is read as it changes the JSON`, () => {
    const whole = JSON.stringify(json(mixed));
    const pieces = ['"', ",", "{", "}", "[", "]", ":", "0", "1", "e5", ".5", "-", " ", "\\u0041"]
      .concat("true", "null", "\0", "\n", "\r\n1f40\r\n")
      .concat('"result":"FAILED",', '"expiration":7,', '"id":"7",', '"log":[],', '},{"id":"a"')
      .concat('"result" :"FAILED",', '"expiration" :7,', '"x":"}",', '"x":"}}",', '"x":"}}]",');
    let known = 0;
    fc.assert(
      fc.property(
        fc.nat(whole.length),
        fc.nat(3),
        fc.constantFrom("", ...pieces),
        (at, gone, piece) => {
          const other = whole.slice(0, at) + piece + whole.slice(at + gone);
          const found = text(other);
          if (found === null) return;
          known++;
          assertEquals<unknown>(found, schema.parse(JSON.parse(other)));
        },
      ),
      { numRuns: 20_000 },
    );
    assertGreater(known, 1_000);
  });

  Deno.test(`a field more anywhere in ${name} is read as JSON reads it`, () => {
    const fields = ["result", "expiration", "id", "txID", "contractRet", "fee", "log", "x"]
      .flatMap((key) =>
        ['"FAILED"', "7", "[]", "{}", '{"a":{}}', '"}"', '"}}"'].map((put) => [key, put])
      )
      .flatMap(([key, put]) => [`"${key}":${put}`, `"${key}" :${put}`]);
    let known = 0;
    for (const pairs of [usual.slice(0, 1), [nativeTransfer(1)]]) {
      const whole = JSON.stringify(json(pairs));
      for (const { index } of whole.matchAll(/(?<=[{,])"\w+":/g)) {
        for (const field of fields) {
          const other = `${whole.slice(0, index)}${field},${whole.slice(index)}`;
          const found = text(other);
          if (found === null) continue;
          known++;
          assertEquals<unknown>(found, schema.parse(JSON.parse(other)), other);
        }
      }
    }
    assertGreater(known, 500);
  });

  Deno.test(`numbers of ${name} are read as JSON and the schema read them`, () => {
    const whole = JSON.stringify(json(usual));
    const odd = [
      "-0",
      "-1",
      "1.0",
      "1e1",
      "999999999999999",
      "9007199254740991",
      "9007199254740993",
    ];
    for (const { index, 0: key, 1: digits = "" } of whole.matchAll(/"\w+":(\d+)/g)) {
      const put = (number: string) =>
        whole.slice(0, index) + key.slice(0, -digits.length) + number +
        whole.slice(index + key.length);
      for (const number of odd) {
        const found = text(put(number));
        const right = schema.safeParse(JSON.parse(put(number)));
        const isLeft = found === null && !/^\d{1,15}$/.test(number);
        assertEquals<unknown>(found, right.success && !isLeft ? right.data : null, key + number);
      }
      if (!/"(expiration|fee|number|blockNumber|blockTimeStamp)"/.test(key)) continue;
      for (const number of ["01", "", "7x", "7,1"]) {
        assertEquals(text(put(number)), null, key + number);
      }
    }
  });

  Deno.test(`${name} that end early, lack a bracket or have zeros in them are not read`, () => {
    const whole = JSON.stringify(json(usual));
    for (let end = 0; end < whole.length; end++) assertEquals(text(whole.slice(0, end)), null);
    for (const { index } of whole.matchAll(/[[\]{}]/g)) {
      assertEquals(text(whole.slice(0, index) + whole.slice(index + 1)), null, `without ${index}`);
    }
    assertEquals(text(whole.replace(/(?<=")a/, "\0")), null);
  });

  Deno.test(`${name} with spaces, escapes or a broken end are left to the schema`, () => {
    const whole = JSON.stringify(json(usual));
    const forms = [
      "",
      "{}",
      "null",
      JSON.stringify(json(usual), null, 1),
      `${whole}x`,
      `${whole}${" ".repeat(20)}`,
      `${whole}\u00a0`,
      `${whole}\ufeff`,
      whole.replace("a", "\\u0061"),
      `{"Error":"class java.lang.Exception : lack of computing resources"}`,
    ];
    for (const form of forms) assertEquals(text(form), null, form.slice(0, 200));
  });
}

Deno.test("what is passed over is read past just when it is JSON", () => {
  const whole = JSON.stringify(receipts(usual));
  const put = (value: string) => whole.replace('"fee"', `"x":${value},"fee"`);
  const found = readReceipts(whole);
  const passed = [
    "[]",
    "{}",
    '""',
    '[[],{},[[]],""]',
    '{"a":[],"b":{"c":{}}}',
    "0",
    "-0",
    "-7",
    "1000000000000000",
    "9223372036854775807",
    "true",
    "false",
    "null",
  ];
  for (const value of passed) assertEquals(readReceipts(put(value)), found, value);
  const left = ["1.5", "-1.5", "1e3", "1E-3"];
  const refused = ["", "-", "--1", "01", "-01", "+1", ".5", "1.", "1e", "0x1", "7x", "tru", "tr12"]
    .concat("truefalse", "nul", "nan", "NaN", "Infinity", "undefined", "7-", "1 2");
  for (const value of [...left, ...refused]) assertEquals(readReceipts(put(value)), null, value);
});

Deno.test("an answer into which a line was broken is left to the schema, wherever it is", () => {
  for (const { json, text } of Object.values(reads)) {
    const whole = JSON.stringify(json(usual.slice(0, 1)));
    for (let at = 0; at < whole.length; at++) {
      for (const piece of ["\n", "\r\n", "\r\n1f40\r\n"]) {
        assertEquals(text(whole.slice(0, at) + piece + whole.slice(at)), null, `${at}`);
      }
    }
    assertEquals(text(`${whole}\n\n`), null);
  }
});

Deno.test("a block is read whatever more it says of itself, before and after what is used", () => {
  const more = { x: 1, y: [], z: "z" };
  for (const head of [block([]), block(usual)]) {
    const answer = { block: [{ ...more, ...head }, { ...head, ...more }] };
    assertEquals<unknown>(readBlockList(JSON.stringify(answer)), blockListSchema.parse(answer));
  }
});

Deno.test("a block with a head that is no JSON, or an id that is none, is left to the schema", () => {
  const whole = JSON.stringify({ block: [block(usual)] });
  const { blockID } = block(usual);
  for (const put of ["\t", `${blockID}\t`, "\u0001"]) {
    assertEquals(readBlockList(whole.replace(`${blockID}`, put)), null);
  }
  const id = `${usual[0]?.transaction["txID"]}`;
  for (const digit of ["g", "G", "A", "/", ":", "`", "\t"]) {
    assertEquals(readBlockList(whole.replace(id, id.slice(1) + digit)), null, digit);
  }
  for (const put of [id.slice(1), `${id}0`, ""]) {
    assertEquals(readBlockList(whole.replace(id, put)), null, put);
  }
});

Deno.test("a receipt with more topics than there are is refused, one with a nested object is read", () => {
  const topics = Array<string>(5).fill("ab");
  const more = (receipt: Json) => JSON.stringify(receipts([contractCall(1, [], { receipt })]));
  assertEquals(readReceipts(more({ log: [{ address: "ab", topics }] })), null);
  assertEquals(
    readReceipts(more({ log: [{ address: "ab", topics: topics.slice(1) }] }))?.length,
    1,
  );
  const found = readReceipts(more({ receipt: { result: "SUCCESS", more: {} } }));
  assertEquals(found?.[0]?.receipt, { result: "SUCCESS" });
});

Deno.test("what is read from the text costs no object, but for the head of a block", () => {
  const range = JSON.stringify({ block: [block(usual)] });
  assertEquals([blockListShape.readText, receiptsShape.readText], [readBlockList, readReceipts]);
  assertEquals(parses(() => readBlockList(range)), 1, "the head");
  assertEquals(parses(() => readReceipts(JSON.stringify(receipts(usual)))), 0);
  assertEquals(parses(() => readBlockList(JSON.stringify({ block: [block(mixed)] }))), 1);
  assertEquals(parses(() => readReceipts(JSON.stringify(receipts(mixed)))), 0);
});

Deno.test("blocks with and without transactions are told apart in any order", () => {
  const [full, empty] = [block(usual), block([])];
  const none: Json = { ...empty, transactions: [] };
  for (
    const blocks of [[empty], [empty, full], [full, empty, empty, full], [full, full], [none, full]]
  ) {
    const answer = { block: blocks };
    assertEquals<unknown>(readBlockList(JSON.stringify(answer)), blockListSchema.parse(answer));
  }
});

/** The same values, with the keys of every object in another order. */
function reordered(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => reordered(one, order));
  if (typeof value !== "object" || value === null) return value;
  const fields = new Map(Object.entries(value));
  return Object.fromEntries(
    order([...fields.keys()]).map((key) => [key, reordered(fields.get(key), order)]),
  );
}

Deno.test("keys may come in any order, as it changes with the version of a node", () => {
  const orders = [
    (keys: string[]) => keys.toReversed(),
    (keys: string[]) => keys.toSorted(),
    (keys: string[]) => [...keys.slice(1), ...keys.slice(0, 1)],
  ];
  for (const { json, text, schema } of Object.values(reads)) {
    const answer = json(mixed);
    for (const order of orders) {
      const other = JSON.stringify(reordered(answer, order));
      assertEquals<unknown>(text(other), schema.parse(answer), other);
    }
  }
});

Deno.test("an answer that is nested too deeply is left to the schema, whatever its depth", () => {
  for (const [open, close] of [["[", "]"], ['{"a":', "}"]] as const) {
    const nested = (depth: number) =>
      JSON.stringify(receipts(usual)).replace(
        '"fee"',
        `"x":${open.repeat(depth)}1${close.repeat(depth)},"fee"`,
      );
    assertEquals(readReceipts(nested(20))?.length, 3);
    for (const depth of [100, 100_000]) assertEquals(readReceipts(nested(depth)), null);
  }
});

Deno.test("a result that is there twice is the last one, or left to the schema", () => {
  const text = JSON.stringify(receipts(usual));
  for (
    const more of ['"result":"REVERT"', '"result" :"REVERT"', '"x":"result","result" : "REVERT"']
  ) {
    for (const at of ['"result":"SUCCESS"', '"energy_fee":13500000']) {
      const other = text.replace(at, `${at},${more}`);
      const found = more.includes(" ") ? null : receiptsSchema.parse(JSON.parse(other));
      assertEquals(readReceipts(other), found, more);
    }
  }
});

/** How many characters are searched, and what is found in them. */
function searched<T>(work: () => T): { readonly found: T; readonly passed: number } {
  const { indexOf, lastIndexOf } = String.prototype;
  let passed = 0;
  String.prototype.indexOf = function (piece, from = 0) {
    const at = indexOf.call(this, piece, from);
    passed += (at < 0 ? this.length : at + 1) - from;
    return at;
  };
  String.prototype.lastIndexOf = function (piece, from = Infinity) {
    const at = lastIndexOf.call(this, piece, from);
    passed += Math.min(from, this.length) - at;
    return at;
  };
  try {
    return { found: work(), passed };
  } finally {
    Object.assign(String.prototype, { indexOf, lastIndexOf });
  }
}

Deno.test("a text is gone through a few times only, however many blocks and odd members it has", () => {
  const odd = contractCall(1, [], { transaction: { visible: false } });
  for (const pairs of [[], [odd], [odd, odd], [...usual, odd], [odd, ...usual]]) {
    const one = JSON.stringify(block(pairs));
    for (const [form, isRead] of [[one, true], [one.replace("{", '{"x":1,'), false]] as const) {
      for (const end of ["]}", " ]}"]) {
        const text = `{"block":[${Array(1_000).fill(form).join(",")}${end}`;
        const { found, passed } = searched(() => readBlockList(text));
        if (isRead && end === "]}") assertEquals(found?.block.length, 1_000);
        assert(passed > 0);
        assertLess(passed, 10 * text.length);
      }
    }
  }
  const odds = Array<Pair>(1_000).fill(contractCall(1, [{ address: "ab", topics: [] }], {
    transaction: { visible: false },
  }));
  for (const { json, text: read } of [reads.blocks, reads.receipts]) {
    const text = JSON.stringify(json(odds)).replace(/\]\}?$/, " $&");
    assertLess(searched(() => read(text)).passed, 10 * text.length);
  }
});
