import { assertEquals } from "@std/assert";
import { saysNotServed, suspensionIn } from "../../chains/tron/read/refusal_texts.ts";

const TOLD: readonly (readonly [string, number, number | null])[] = [
  [
    '{"Success":false,"Error":"The key exceeds the frequency limit(15), and the query server is ' +
    'suspended for 30s","StatusCode":403}',
    30_000,
    15,
  ],
  [
    "Exceed the user's frequency limit (5), the query server is suspended for 30 s",
    30_000,
    5,
  ],
  ["suspended for 2 minutes", 120_000, null],
  ["you are suspended for 250 ms", 250, null],
  ["suspended for 999999 seconds", 120_000, null],
  ["suspended for 0 s", 0, null],
];

Deno.test("a suspension is read from the words of any body, and bounded", () => {
  for (const [body, ms, perSecond] of TOLD) {
    assertEquals(suspensionIn(body), { ms, perSecond }, body);
  }
  for (const body of ["", "{}", "suspended", "suspended for long", '{"blockID":"00"}']) {
    assertEquals(suspensionIn(body), null, body);
  }
  assertEquals(
    suspensionIn("x".repeat(5_000) + " suspended for 30 s"),
    null,
    "no block is searched",
  );
});

Deno.test("a call that a node does not serve is told from an answer", () => {
  for (
    const body of [
      "this API is closed because this node is a lite fullnode\n",
      '{"Error":"this API is unavailable due to config"}',
      '{"Error":"This API is closed"}',
      "API is not supported",
    ]
  ) assertEquals(saysNotServed(body), true, body);
  for (const body of ["{}", '{"Error":"class java.lang.NullPointerException : null"}', "closed"]) {
    assertEquals(saysNotServed(body), false, body);
  }
});
