import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ChainUnavailable } from "../../chains/chain.ts";
import { LogLists } from "../../chains/evm/read/receipt_logs.ts";
import { ListCutter } from "../../chains/nodes/list_cutter.ts";

/** A text cut with pieces of a size: what is left of it, and the lists that were taken out. */
function cut(text: string, size: number) {
  const lists: unknown[][] = [];
  let present: unknown[] = [];
  const cutter = new ListCutter("logs", {
    member: (json) => present.push(json),
    end: () => {
      lists.push(present);
      present = [];
      return lists.length - 1;
    },
  });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) cutter.push(bytes.subarray(at, at + size));
  return { rest: JSON.parse(cutter.end()), lists };
}

/** The same of the value, without looking at its text. */
function takenOut(value: unknown, lists: unknown[][]): unknown {
  if (Array.isArray(value)) return value.map((one) => takenOut(one, lists));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (name !== "logs" || !Array.isArray(member)) return [name, takenOut(member, lists)];
      return [name, [lists.push(member) - 1]];
    }),
  );
}

const plain = fc.oneof(
  fc.integer(),
  fc.constantFrom("logs", '"logs":[', "\\", 'a"b', "\\\\", "é", "[", "{", null, true),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const log = fc.dictionary(
  fc.constantFrom("logs", "data", 'q"', "a"),
  fc.oneof(plain, fc.array(plain)),
);
const receipt = fc.record({
  a: plain,
  logs: fc.oneof(fc.array(log, { maxLength: 4 }), fc.constant(null)),
  blocks: fc.array(plain, { maxLength: 3 }),
  b: fc.option(plain),
});

Deno.test("lists are taken out of a text wherever its pieces end", () => {
  fc.assert(
    fc.property(
      fc.record({
        id: plain,
        result: fc.oneof(fc.array(receipt, { maxLength: 4 }), plain, receipt),
      }),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(0, 2),
      (value, size, indent) => {
        const lists: unknown[][] = [];
        const rest = takenOut(JSON.parse(JSON.stringify(value)), lists);
        assertEquals(cut(JSON.stringify(value, null, indent), size), { rest, lists });
      },
    ),
    { numRuns: 2_000, seed: 20_261_126 },
  );
});

Deno.test("a list of anything but objects is no list of logs", () => {
  for (const member of ["1", '"a"', "[{}]", "null", "{,}"]) {
    assertThrows(() => cut(`{"logs":[${member}]}`, 3), ChainUnavailable);
  }
});

Deno.test("a member of a list that does not end is given up at 32 MB", () => {
  const cutter = new ListCutter("logs", { member: () => {}, end: () => 0 });
  cutter.push(new TextEncoder().encode('{"logs":[{"data":"0x'));
  const megabyte = new Uint8Array(1024 * 1024).fill(48);
  for (let i = 0; i < 31; i++) cutter.push(megabyte);
  const failure = assertThrows(() => cutter.push(megabyte), ChainUnavailable);
  assertEquals(
    failure.message,
    "Cannot read a long answer as a member of a list has more than 33554432 bytes",
  );
  assertEquals(failure.category, "malformed");
});

Deno.test("lists of logs take memory for what is in them", () => {
  const lists = new LogLists(new Map());
  const log = { address: `0x${"1".repeat(40)}`, topics: [], logIndex: "0x0" };
  const fill = (digits: number) => {
    lists.member({ ...log, data: `0x${"5c".repeat(digits)}` });
    return lists.end();
  };
  for (const bytes of [100, 6_000, 200]) fill(bytes);
  for (let i = 0; i < 1_000; i++) lists.end();
  const [short, long, later] = lists.lists.map(({ encoded }) => encoded);
  assertEquals([short, long, later].map((encoded) => encoded?.at(-1)), [0x5c, 0x5c, 0x5c]);
  assertEquals(short?.buffer.byteLength, short?.length);
  assertEquals(later?.buffer.byteLength, later?.length);
  const held = new Set(lists.lists.map(({ encoded }) => encoded.buffer));
  const bytes = [...held].reduce((sum, { byteLength }) => sum + byteLength, 0);
  assertEquals(bytes < 16_384, true, `${bytes} bytes`);
});
