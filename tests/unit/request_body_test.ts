import { assert, assertEquals } from "@std/assert";
import { LARGEST_BODY, MOST_PIECES, readBody } from "../../api/http/read_input.ts";

/** A body without an announced length, and how many of its pieces were taken. */
function inPieces(count: number, size: number) {
  let taken = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (taken++ < count) controller.enqueue(new TextEncoder().encode("x".repeat(size)));
      else controller.close();
    },
  }, { highWaterMark: 0 });
  const request = new Request("http://localhost/", { method: "POST", body });
  return { read: () => readBody(request), taken: () => taken };
}

Deno.test("a body is read to its end in any sizes, up to its bounds", async () => {
  const rows: readonly [number, number, number | string][] = [
    [0, 0, 0],
    [1, 1, 1],
    [MOST_PIECES, 1, MOST_PIECES],
    [MOST_PIECES, LARGEST_BODY / MOST_PIECES, LARGEST_BODY],
    [3, 1_500, 4_500],
    [1, LARGEST_BODY, LARGEST_BODY],
    [1, LARGEST_BODY + 1, "too_large"],
    [2, LARGEST_BODY, "too_large"],
    [MOST_PIECES + 1, 1, "fragmented"],
  ];
  for (const [count, size, expected] of rows) {
    const read = await inPieces(count, size).read();
    assertEquals(read.kind === "text" ? read.text.length : read.kind, expected);
  }
});

Deno.test("of a body in tiny pieces no more is read than what one thread can spare", async () => {
  const sent = inPieces(65_000, 1);
  assertEquals((await sent.read()).kind, "fragmented");
  assert(sent.taken() <= MOST_PIECES + 2, `${sent.taken()} pieces were read`);
});

Deno.test("a body is text where all of its bytes are UTF-8, a replacement character of its own included", async () => {
  const read = async (bytes: Uint8Array<ArrayBuffer>) => {
    const headers = { "content-length": String(bytes.byteLength) };
    return await readBody(
      new Request("http://localhost/", { method: "POST", body: bytes, headers }),
    );
  };
  for (const text of ["", "{}", "\u20ac \ud83d\ude00", "\ufffd", "a \ufffd b", "\ufeff{}"]) {
    assertEquals(await read(new TextEncoder().encode(text)), { kind: "text", text });
  }
  // a stray byte, a cut sequence, an overlong one, a lone surrogate
  for (const bytes of [[0xff], [0x22, 0xe2, 0x82], [0xc0, 0xaf], [0xed, 0xa0, 0x80]]) {
    assertEquals((await read(Uint8Array.from(bytes))).kind, "unreadable", String(bytes));
  }
});
