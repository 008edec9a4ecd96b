import { assert, assertEquals } from "@std/assert";
import {
  ok,
  PORTION,
  sizeOf,
  toResponse,
  writeBody,
  type Written,
  WrittenRows,
} from "../../api/http/answer.ts";

const ROW = {
  id: "dep_1",
  amount: "10.5",
  metadata: { a: [1, null, { b: '\u2028"' }] },
  gone: undefined,
};

Deno.test("a body reads as JSON.stringify writes it, in portions or not", async () => {
  const bodies: readonly object[] = [
    {},
    [],
    { a: 1, b: undefined, c: null },
    { rows: [], pagination: { total: 0 } },
    { rows: Array(9).fill(ROW) },
    { before: "x", rows: Array(100).fill(ROW), gone: undefined, after: { deep: [1, 2] } },
    { rows: Array(1_000).fill(ROW), others: Array(1_000).fill(ROW) },
    { rows: [undefined, ...Array(20).fill(null)] },
    Array(50).fill(ROW),
  ];
  for (const body of bodies) {
    assertEquals(await textOf(await writeBody(body)), JSON.stringify(body));
  }
});

Deno.test("rows that are written as they are read make the same body, and its length is announced", async () => {
  for (const count of [0, 1, 9, 2_000]) {
    const list = Array<object>(count).fill({ ...ROW, text: "é𝄞" });
    const rows = new WrittenRows();
    for (const row of list) rows.add(row);
    const written = await writeBody({ before: 1, rows, pagination: { total: count } });
    const expected = JSON.stringify({ before: 1, rows: list, pagination: { total: count } });
    const response = toResponse(ok({}), written, "req_1");
    const length = response.headers.get("content-length");
    assertEquals(await response.text(), expected);
    if (count === 2_000) assertEquals(Number(length), new TextEncoder().encode(expected).length);
  }
});

Deno.test("no piece of a large answer is longer than a portion and the row that completes it", async () => {
  const row = { text: "x".repeat(58_000) };
  const list = Array<object>(100).fill(row);
  const rows = new WrittenRows();
  for (const one of list) rows.add(one);
  for (const body of [{ rows }, { rows: list }]) {
    const written = await writeBody(body);
    assert(typeof written === "object" && written !== null && "pieces" in written);
    const longest = Math.max(...written.pieces.map(({ byteLength }) => byteLength));
    assert(longest <= PORTION + JSON.stringify(row).length + 1, `a piece of ${longest} bytes`);
    assertEquals(sizeOf(written), new TextEncoder().encode(JSON.stringify({ rows: list })).length);
  }
});

Deno.test("the next piece of an answer is made ready only when the client took the one before", async () => {
  const written = await writeBody({ rows: Array(100).fill({ text: "x".repeat(60_000) }) });
  const reader = toResponse(ok({}), written, "req_1").body?.getReader();
  const first = await reader?.read();
  assert(first?.value !== undefined && first.value.byteLength < 2 * PORTION);
  await reader?.cancel();
});

async function textOf(written: Written): Promise<string> {
  return await toResponse(ok({}), written, "req_1").text();
}

Deno.test("texts and bytes are sent as they are, nothing as nothing", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  assertEquals([writeBody("as it is"), writeBody(bytes), writeBody(null)], [
    "as it is",
    bytes,
    null,
  ]);
  assertEquals([sizeOf("four"), sizeOf(bytes), sizeOf(null)], [4, 3, 0]);
});

Deno.test("between the portions of a large list others have their turn", async () => {
  let turns = 0;
  const ticker = setInterval(() => turns++, 0);
  const large = { rows: Array(100).fill({ text: "x".repeat(60_000) }) };
  const writing = writeBody(large);
  assert(writing instanceof Promise);
  const text = await writing;
  clearInterval(ticker);
  assertEquals(await textOf(text), JSON.stringify(large));
  assert(turns >= 10, `${turns} turns`);
});
