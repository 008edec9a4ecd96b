import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { blockListSchema, receiptsSchema } from "../../chains/tron/answers.ts";
import { readBlockList } from "../../chains/tron/block_text.ts";
import { blockListShape, receiptsShape } from "../../chains/tron/busy_answers.ts";
import {
  block,
  contractCall,
  nativeTransfer,
  OURS,
  PAYER,
  receipts,
  transferLog,
  USDT,
} from "./support/block_fixture.ts";

const pairs = [
  contractCall(1, [transferLog(USDT, PAYER, OURS, 5), { address: "ab" }]),
  contractCall(2, [], { result: "REVERT" }),
  nativeTransfer(3),
];

/** Every place of a JSON value, as keys from its root. */
function places(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => places(inner, [...path, key]))];
}

/** A copy in which one place is gone, or something else. */
function changed(value: unknown, [key, ...rest]: readonly string[], put: unknown): unknown {
  if (key === undefined) return put;
  if (Array.isArray(value)) {
    return value.flatMap((inner, i) => {
      if (String(i) !== key) return [inner];
      const next = changed(inner, rest, put);
      return next === undefined ? [] : [next];
    });
  }
  const entries = Object.entries(value ?? {}).map(([name, inner]) => [
    name,
    name === key ? changed(inner, rest, put) : inner,
  ]);
  return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined));
}

const odd = [undefined, null, 0, -1, 1.5, 2 ** 60, "", "zz", "a".repeat(65), {}, [], [null], true];
const answers = {
  blocks: {
    json: { block: [block(pairs), block([])] },
    shape: blockListShape,
    schema: blockListSchema,
  },
  receipts: { json: receipts(pairs), shape: receiptsShape, schema: receiptsSchema },
};

for (const [name, { json, shape, schema }] of Object.entries(answers)) {
  Deno.test(`the fast reading of ${name} says what the schema says, whatever the answer`, () => {
    assertEquals(shape.safeParse(json).success, true);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...places(json)), fc.constantFrom(...odd)), {
          minLength: 0,
          maxLength: 3,
        }),
        (changes) => {
          const answer = changes.reduce<unknown>((was, [at, put]) => changed(was, at, put), json);
          const fast = shape.safeParse(structuredClone(answer));
          const exact = schema.safeParse(structuredClone(answer));
          assertEquals(fast.success, exact.success);
          if (fast.success && exact.success) assertEquals<unknown>(fast.data, exact.data);
        },
      ),
      { numRuns: 3_000 },
    );
  });
}

const usual = JSON.stringify(answers.blocks.json);

Deno.test("the text of blocks in their usual form is read without the schema, and says the same", () => {
  const exact = blockListSchema.parse(answers.blocks.json);
  for (const text of [usual, `${usual}\n`]) assertEquals<unknown>(readBlockList(text), exact);
  const many = { block: [block([]), block(pairs), block(pairs), block([])] };
  assertEquals<unknown>(readBlockList(JSON.stringify(many)), blockListSchema.parse(many));
  assertEquals(readBlockList('{"block":[]}'), { block: [] });
});

Deno.test("a text of blocks in another form is left to the schema", () => {
  const [first = "", ...rest] = usual.split('"txID":');
  const forms = [
    "",
    "{}",
    "[]",
    JSON.stringify(answers.blocks.json, null, 2),
    usual.slice(0, -1),
    usual.slice(0, -3),
    `${usual}x`,
    usual.replace('"block":', '"Error":"busy","block":'),
    usual.replace("triggersmartcontract", "\\u0074").replace("Trigger", "\\u0054rigger"),
    usual.replace('"contractRet"', '"code"'),
    usual.replace('"expiration"', '"timestamp2"'),
    first + rest.join('"id":'),
    // two of one transaction and none of the next
    usual.replace('"contractRet":"REVERT"', '"code":1').replace(
      '"ret":[{',
      '"ret":[{"contractRet":"SUCCESS"},{',
    ),
  ];
  for (const text of forms) assertEquals(readBlockList(text), null, text.slice(0, 200));
});

Deno.test("the reading of a text says what the schema says, or leaves it to the schema", () => {
  const lengths = (json: unknown) =>
    (json as typeof answers.blocks.json).block.map((one) => {
      const list = (one as { readonly transactions?: unknown })?.transactions;
      return Array.isArray(list) ? list.length : 0;
    });
  let read = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...places(answers.blocks.json)), fc.constantFrom(...odd)), {
        minLength: 0,
        maxLength: 3,
      }),
      (changes) => {
        const answer = changes.reduce<unknown>(
          (was, [at, put]) => changed(was, at, put),
          answers.blocks.json,
        );
        const fast = readBlockList(JSON.stringify(answer) ?? "");
        if (fast === null) return;
        read++;
        const exact = blockListSchema.safeParse(answer);
        if (exact.success) return assertEquals<unknown>(fast, exact.data);
        // what is no transaction is passed over, and missed when the receipts are counted
        const found = fast.block.map(({ transactions }) => transactions.length);
        assertEquals(found.some((n, i) => n < (lengths(answer)[i] ?? 0)), true);
      },
    ),
    { numRuns: 3_000 },
  );
  assertEquals(read > 300, true);
});
