import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { json, orNull, table, text, texts } from "../../ledger/table.ts";

const rows = table("book.sample", {
  name: text(),
  tags: texts(),
  payload: json<unknown>(),
  note: orNull(text()),
});

/** Quoting by PostgreSQL's rules, one level at a time: an element, a record of them, an array of records. */
function quoted(text: string): string {
  return text === "" || /["\\(),\s]/.test(text) ? `"${escaped(text)}"` : text;
}

function escaped(text: string): string {
  return text.replace(/["\\]/g, (character) => `\\${character}`);
}

Deno.test("rows of any text are what quoting level by level makes of them", () => {
  const anyText = fc.string({
    unit: fc.constantFrom('"', "\\", "a", ",", "(", ")", " ", "é", "$", "$&", "{", "}", "\n"),
  });
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          name: anyText,
          tags: fc.array(anyText),
          payload: fc.dictionary(anyText, fc.oneof(anyText, fc.constant(null))),
          note: fc.option(anyText),
        }),
        { maxLength: 3 },
      ),
      (given) => {
        const records = given.map(({ name, tags, payload, note }) => [
          quoted(name),
          quoted(`{${tags.map((tag) => `"${escaped(tag)}"`).join(",")}}`),
          quoted(JSON.stringify(payload)),
          note === null ? "" : quoted(note),
        ]);
        const literal = records.map((record) => `"${escaped(`(${record.join(",")})`)}"`).join(",");
        assertEquals(rows.encode(given), `{${literal}}`);
      },
    ),
    { numRuns: 1_000 },
  );
});
