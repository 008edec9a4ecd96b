import { assert, assertEquals } from "@std/assert";
import { record, table } from "../../app/commands/table.ts";

Deno.test("texts of others tell a terminal nothing", () => {
  const label = "a\u001b[2Jb\u009bc\nd\u202ee\u2028f";
  assertEquals(record({ label }), "label  a\ufffd[2Jb\ufffdc\ufffdd\ufffde\ufffdf");
  const text = table([{ label, list: [label], nested: { label } }]);
  assertEquals(text.split("\n").length, 2);
  assert(!/[\p{Cc}\u2028-\u202e]/u.test(text.replace("\n", "")));
});
