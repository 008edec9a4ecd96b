import { assertEquals } from "@std/assert";
import { canonicalJson } from "../../api/upstream/webhook_event.ts";

Deno.test("what is signed has its members in the order of their code units, in no language's order", () => {
  const signed = canonicalJson({
    b: 1,
    Z: { y: [1, { d: null, C: true }], _: "é" },
    a: 2,
    B: 3,
    é: 4,
  });
  assertEquals(
    signed,
    '{"B":3,"Z":{"_":"é","y":[1,{"C":true,"d":null}]},"a":2,"b":1,"é":4}',
  );
});
