import { assert, assertEquals, assertLess, assertThrows } from "@std/assert";
import fc from "fast-check";
import { Buffer } from "node:buffer";
import { type Answer, AnswerParser, MalformedAnswer } from "../../webhooks/answer_parser.ts";

const OK = '{"ok":true}';

/** Reads a text cut at some places. */
function read(text: string, cuts: readonly number[] = []): Answer | null {
  const bytes = Buffer.from(text, "latin1");
  const parser = new AnswerParser();
  const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
  for (const [i, from] of places.slice(0, -1).entries()) {
    const answer = parser.push(bytes.subarray(from, places[i + 1]));
    // what is cut off behind the end is another piece: it arrives on an idle connection
    if (answer !== null) return answer;
  }
  return parser.end();
}

function bodyOf(answer: Answer | null): string {
  assert(answer !== null);
  return Buffer.from(answer.body).toString("latin1");
}

const answers: readonly (readonly [string, string, number, string, number])[] = [
  ["by its length", `HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n${OK}`, 200, OK, 15_000],
  ["without a reason", `HTTP/1.1 200\r\ncontent-length:11\r\n\r\n${OK}`, 200, OK, 15_000],
  ["empty", "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n", 500, "", 15_000],
  ["without a body", "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n", 204, "", 15_000],
  [
    "that announces a body and has none",
    "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n",
    204,
    "",
    0,
  ],
  ["not modified", "HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n", 304, "", 0],
  [
    "in chunks",
    `HTTP/1.1 201 OK\r\nTransfer-Encoding: Chunked\r\n\r\n4\r\n{"ok\r\n07;a="b"\r\n":true}\r\n0\r\n\r\n`,
    201,
    OK,
    15_000,
  ],
  [
    "in chunks, said twice",
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: Chunked\r\n\r\nB\r\n${OK}\r\n0\r\n\r\n`,
    200,
    OK,
    15_000,
  ],
  [
    "with a trailer",
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nB\r\n${OK}\r\n0\r\nDigest: x\r\n\r\n`,
    200,
    OK,
    15_000,
  ],
  ["to the end of the connection", `HTTP/1.1 200 OK\r\nX: y\r\n\r\n${OK}`, 200, OK, 0],
  [
    "after what is informational",
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </x>\r\n\r\n` +
    `HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n${OK}`,
    200,
    OK,
    15_000,
  ],
  [
    "to be closed",
    `HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 11\r\n\r\n${OK}`,
    200,
    OK,
    0,
  ],
  ["of 1.0", `HTTP/1.0 200 OK\r\nContent-Length: 11\r\n\r\n${OK}`, 200, OK, 0],
  [
    "of 1.0, kept",
    `HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 11\r\n\r\n${OK}`,
    200,
    OK,
    15_000,
  ],
  [
    "kept for less",
    `HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=9\r\nContent-Length: 11\r\n\r\n${OK}`,
    200,
    OK,
    4_000,
  ],
  [
    "kept for too little",
    `HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 11\r\n\r\n${OK}`,
    200,
    OK,
    0,
  ],
];

Deno.test("answers are read, however they are cut", async (t) => {
  for (const [name, text, status, body, idleMs] of answers) {
    await t.step(name, () => {
      const cuts = fc.uniqueArray(fc.integer({ min: 1, max: text.length - 1 }));
      const cut = (places: readonly number[]) => {
        const answer = read(text, places);
        assertEquals([answer?.status, bodyOf(answer), answer?.idleMs], [status, body, idleMs]);
        assertEquals(answer?.isTooLong, false);
      };
      cut([]);
      cut(Array.from({ length: text.length - 1 }, (_, i) => i + 1));
      fc.assert(fc.property(cuts, cut), { numRuns: 50 });
    });
  }
});

Deno.test("what is not exactly an answer is none", async (t) => {
  const bad: readonly (readonly [string, string])[] = [
    ["the greeting of another protocol", "SSH-2.0-OpenSSH_9.2\r\n"],
    ["a body alone", OK],
    ["another version", "HTTP/2.0 200 OK\r\n\r\n"],
    ["no status", "HTTP/1.1 OK\r\n\r\n"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
    ["another protocol", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"],
    ["a field without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
    ["a space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\n{}"],
    ["a folded line", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n"],
    ["a line feed alone", "HTTP/1.1 200 OK\r\nX: a\nContent-Length: 2\r\n\r\n{}"],
    ["a NUL", "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}"],
    ["a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\n{}"],
    ["a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}"],
    ["a length with a sign", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n{}"],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
    [
      "coded twice",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["chunks of 1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["no size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"],
    ["a huge size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000000\r\n"],
    ["a size as 0x", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n"],
    ["a chunk that goes on", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n"],
    ["a chunk's line feed", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\n{}\r\n"],
    ["a bad trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx\r\n\r\n"],
    ["a head without end", `HTTP/1.1 200 OK\r\nX: ${"a".repeat(17_000)}`],
    ["a long head", `HTTP/1.1 200 OK\r\nX: ${"a".repeat(17_000)}\r\n\r\n`],
    ["hints without end", "HTTP/1.1 103 Hints\r\n\r\n".repeat(1_000)],
    [
      "a size without end",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"0".repeat(2_000)}`,
    ],
    [
      "extensions without end",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
      `1;${"x".repeat(1_000)}\r\na\r\n`.repeat(20),
    ],
    [
      "trailers without end",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" +
      `X: ${"x".repeat(1_000)}\r\n`.repeat(20),
    ],
  ];
  for (const [name, text] of bad) {
    await t.step(name, () => {
      assertThrows(() => read(text), MalformedAnswer);
      assertThrows(() => read(text, Array.from(text, (_, i) => i).slice(1)), MalformedAnswer);
    });
  }
});

Deno.test("an answer that is broken off is none", () => {
  for (
    const [name, text] of answers.filter(([name]) => name !== "to the end of the connection")
  ) {
    for (let end = 0; end < text.length; end++) {
      assertEquals(read(text.slice(0, end)), null, `${name}, ${end}`);
    }
  }
});

Deno.test("what follows an answer is never taken for another, and closes the connection", () => {
  const more = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  for (const [name, text, status, body] of answers) {
    if (name === "to the end of the connection") continue;
    const answer = read(text + more);
    assertEquals([answer?.status, bodyOf(answer), answer?.idleMs], [status, body, 0], name);
  }
});

Deno.test("of a long body 64 kB are read, however it is framed", () => {
  const long = "x".repeat(70_000);
  const framed = [
    `HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n${long}`,
    `HTTP/1.1 200 OK\r\n\r\n${long}`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11170\r\n${long}`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(70_000)}`,
  ];
  for (const text of framed) {
    const answer = read(text);
    assertEquals([answer?.isTooLong, answer?.idleMs], [true, 0]);
  }
  const most = "x".repeat(65_536);
  const answer = read(`HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n${most}`);
  assertEquals([answer?.isTooLong, bodyOf(answer)], [false, most]);
});

Deno.test("a body in very many pieces takes no more memory than its size", () => {
  const size = 60_000;
  // so many that what other tests have left to be collected does not count
  const parsers = Array.from({ length: 40 }, () => new AnswerParser());
  const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${size + 1}\r\n\r\n`);
  const piece = Buffer.from("x");
  const before = Deno.memoryUsage().heapUsed;
  for (const parser of parsers) {
    parser.push(head);
    for (let i = 0; i < size; i++) assertEquals(parser.push(piece), null);
  }
  // kept one by one they would take 6 MB each
  assertLess(Deno.memoryUsage().heapUsed - before, 120_000_000);
  const last = parsers.map((parser) => parser.push(piece));
  assertEquals(last.map((answer) => answer?.body.length), parsers.map(() => size + 1));
});

Deno.test("of a body in more chunks than are read the rest is not looked at", () => {
  const head = "HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n";
  const chunks = (count: number) => "1\r\nx\r\n".repeat(count);
  const whole = read(`${head}${chunks(1_024)}0\r\n\r\n`);
  assertEquals([whole?.isTooLong, bodyOf(whole)], [false, "x".repeat(1_024)]);
  const tooMany = read(`${head}${chunks(1_025)}0\r\n\r\n`);
  assertEquals([tooMany?.isTooLong, tooMany?.idleMs, tooMany?.status], [true, 0, 503]);
  assertEquals(bodyOf(tooMany), "x".repeat(1_024));
});

Deno.test("whatever arrives is an answer, none yet, or malformed", () => {
  const noise = fc.array(
    fc.oneof(
      fc.constantFrom(
        "HTTP/1.1 200 OK",
        "HTTP/1.1 100 Continue",
        "\r\n",
        "\n",
        "Content-Length: 3",
        "Transfer-Encoding: chunked",
        "3",
        "0",
        "abc",
        ":",
      ),
      fc.string(),
    ),
  );
  fc.assert(
    fc.property(noise, (parts) => {
      try {
        const answer = read(parts.join(""));
        assert(answer === null || answer.status >= 200);
      } catch (error) {
        assert(error instanceof MalformedAnswer);
      }
    }),
    { numRuns: 1_000 },
  );
});
