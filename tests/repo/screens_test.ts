import { assert, assertEquals } from "@std/assert";
import { testNeeding } from "../support/permissions.ts";

/** Lines that a screen shows, with a little room. */
const SCREEN = 50;
const GUIDE = new URL("../../docs/operations.md", import.meta.url);

/** Headings of a page whose text, up to the next heading of any rank, has more lines than a screen. */
function tooLong(text: string): readonly string[] {
  const long: string[] = [];
  let [heading, lines, isCode] = ["", 0, false];
  for (const line of [...text.trimEnd().split("\n"), "# end"]) {
    if (line.trimStart().startsWith("```")) isCode = !isCode;
    if (!isCode && /^#+ /.test(line)) {
      if (lines > SCREEN) long.push(`${heading}: ${lines}`);
      [heading, lines] = [line, 0];
    }
    lines++;
  }
  return long;
}

Deno.test("a task of more than a screen is found, and lines of code are no headings", () => {
  const code = ["```sh", ...Array.from({ length: SCREEN }, () => "# a comment"), "```"];
  assertEquals(tooLong(["# A", ...code, "## B", "x", ""].join("\n")), ["# A: 53"]);
  assertEquals(tooLong(["# A", ...code.slice(4), "# B"].join("\n")), []);
});

testNeeding({ read: true })("each task of the operator's guide is a screen at most", async () => {
  const text = await Deno.readTextFile(GUIDE);
  assertEquals(tooLong(text), []);
  assert((text.match(/^##+ /gm) ?? []).length > 20, "the guide has its tasks");
});
