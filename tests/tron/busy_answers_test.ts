import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { blockListSchema, receiptsSchema } from "../../chains/tron/answers.ts";
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
