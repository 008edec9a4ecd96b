import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { table } from "../../ledger/table.ts";

interface Row {
  readonly name: string;
  readonly tags: readonly string[];
  readonly payload: unknown;
  readonly note: string | null;
}

const rows = table<Row>("book.sample", {
  name: "text",
  tags: "texts",
  payload: "json",
  note: "text",
});

/** Quoting by PostgreSQL's rules, one level at a time: an element, a record of them, an array of records. */
function quoted(text: string): string {
  return text === "" || /["\\(),\s]/.test(text) ? `"${escaped(text)}"` : text;
}

function escaped(text: string): string {
  return text.replace(/["\\]/g, (character) => `\\${character}`);
}

Deno.test("rows of any text are what quoting level by level makes of them", () => {
  const text = fc.string({
    unit: fc.constantFrom('"', "\\", "a", ",", "(", ")", " ", "é", "$", "$&", "{", "}", "\n"),
  });
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          name: text,
          tags: fc.array(text),
          payload: fc.dictionary(text, fc.oneof(text, fc.constant(null))),
          note: fc.option(text),
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
