import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  blockListSchema,
  blockListShape,
  receiptsSchema,
  receiptsShape,
} from "../../chains/tron/read/answers.ts";
import {
  block,
  BLOCK_TIME,
  contractCall,
  nativeTransfer,
  OURS,
  PAYER,
  receipts,
  transferLog,
  USDT,
} from "./support/block_fixture.ts";
import { changed, ODD, places } from "./support/changed_json.ts";

const pairs = [
  contractCall(1, [transferLog(USDT, PAYER, OURS, 5), { address: "ab" }]),
  contractCall(2, [], { result: "REVERT" }),
  nativeTransfer(3),
];

const answers = {
  blocks: {
    json: { block: [block(pairs), block([])] },
    shape: blockListShape,
    schema: blockListSchema,
  },
  receipts: { json: receipts(pairs), shape: receiptsShape, schema: receiptsSchema },
};

/** The same values, with the keys of every object in another order. */
function reordered(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => reordered(one, order));
  if (typeof value !== "object" || value === null) return value;
  const fields = new Map(Object.entries(value));
  return Object.fromEntries(
    order([...fields.keys()]).map((key) => [key, reordered(fields.get(key), order)]),
  );
}

for (const [name, { json, shape, schema }] of Object.entries(answers)) {
  Deno.test(`${name} that end early or lack a bracket are no JSON`, () => {
    const whole = JSON.stringify(json);
    for (let end = 0; end < whole.length; end++) {
      assertThrows(() => JSON.parse(whole.slice(0, end)), SyntaxError);
    }
    for (const { index } of whole.matchAll(/[[\]{}]/g)) {
      assertThrows(() => JSON.parse(whole.slice(0, index) + whole.slice(index + 1)), SyntaxError);
    }
  });

  Deno.test(`numbers of ${name} beyond 2^53 are refused and not rounded`, () => {
    const whole = JSON.stringify(json);
    const used = /"(?:expiration|fee|number|timestamp|blockNumber|blockTimeStamp)":(?<digits>\d+)/g;
    // the time at which a transaction says it was made is not read
    const found = [...whole.matchAll(used)]
      .filter(({ groups }) => groups?.["digits"] !== String(BLOCK_TIME - 5_000));
    assert(found.length > 3);
    for (const { index, 0: field, groups } of found) {
      const put = (number: string) =>
        shape.safeParse(JSON.parse(
          whole.slice(0, index) + field.slice(0, -(groups?.["digits"] ?? "").length) + number +
            whole.slice(index + field.length),
        )).success;
      assert(put("9007199254740991"), field);
      for (
        const number of ["9007199254740992", "9007199254740993", "1e20", "-1", "1.5", '"1"', "null"]
      ) {
        assertEquals(put(number), false, `${field} ${number}`);
      }
    }
  });

  Deno.test(`keys of ${name} may come in any order, as it changes with the version of a node`, () => {
    for (
      const order of [
        (keys: string[]) => keys.toReversed(),
        (keys: string[]) => keys.toSorted(),
      ]
    ) {
      const other = shape.safeParse(reordered(json, order));
      assert(other.success);
      assertEquals<unknown>(other.data, schema.parse(json));
    }
  });

  Deno.test(`the fast reading of ${name} says what the schema says, whatever the answer`, () => {
    assertEquals(shape.safeParse(json).success, true);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...places(json)), fc.constantFrom(...ODD)), {
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

Deno.test("a result that is there twice is the last one", () => {
  const whole = JSON.stringify(receipts(pairs.slice(0, 1)));
  const twice = whole.replace('"result":"SUCCESS"', '"result":"SUCCESS","result":"REVERT"');
  const found = receiptsShape.safeParse(JSON.parse(twice));
  assert(found.success);
  assertEquals(found.data[0]?.receipt, { result: "REVERT" });
});
