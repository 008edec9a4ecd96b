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

for (const [name, { json, shape, schema }] of Object.entries(answers)) {
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
