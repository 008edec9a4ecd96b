import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ChainUnavailable } from "../../chains/chain.ts";
import { readBody } from "../../chains/nodes/read_body.ts";
import { needs } from "../support/permissions.ts";

const ignore = needs({ net: true });

type Body = (request: Request) => BodyInit | null;

/** Registers a test that reads the bodies of a server on this machine. */
function test(
  name: string,
  body: Body,
  fn: (get: (path: string) => Promise<Response>) => Promise<void>,
): void {
  Deno.test({
    name,
    ignore,
    fn: async () => {
      await using server = Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen: () => {} },
        (request) => new Response(body(request), { headers: { "content-type": "text/plain" } }),
      );
      const { port } = server.addr;
      await fn((path) =>
        fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(30_000) })
      );
    },
  });
}

/** The text that belongs to a path `/length/letter`. */
function textOf(path: string): string {
  const [, length = "0", letter = ""] = decodeURI(path).split("/");
  return letter.repeat(Number(length));
}

function chunked(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(text);
  const size = 10_007;
  return ReadableStream.from(
    Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, i) => bytes.slice(i * size, (i + 1) * size),
    ),
  );
}

const KIB = 1024;
/** Terms of an answer that may be long. */
const LONG = { mostBytes: 8 * KIB * KIB };
const LENGTHS = [0, 1, 192 * KIB - 1, 192 * KIB, 192 * KIB + 1, 256 * KIB, 3_000_001];

test(
  "bodies read at once, one after the other and in chunks hold nothing of each other",
  ({ url }) => {
    const { pathname, search } = new URL(url);
    return search === "" ? textOf(pathname) : chunked(textOf(pathname));
  },
  async (get) => {
    const letters = ["a", "b", "é", "d"];
    for (const round of [LENGTHS, LENGTHS.toReversed()]) {
      const paths = round.flatMap((length) => letters.map((letter) => `/${length}/${letter}`));
      const read = await Promise.all(
        paths.map(async (path, i) =>
          await readBody(await get(path + (i % 2 ? "?c" : "")), path, LONG)
        ),
      );
      read.forEach((text, i) => {
        const path = paths[i] ?? "";
        // not by assertEquals, which would show megabytes
        assertEquals(text === textOf(path), true, path);
      });
    }
  },
);

test(
  "what is shorter than the answer before ends where it ends",
  ({ url }) => textOf(new URL(url).pathname),
  async (get) => {
    assertEquals((await readBody(await get("/300000/x"), "", LONG)).length, 300_000);
    assertEquals(await readBody(await get("/3/y"), ""), "yyy");
    assertEquals(await readBody(await get("/0/y"), ""), "");
    assertEquals(await readBody(new Response(null), ""), "");
  },
);

test(
  "a body without end is given up at the bound, and the next one is read",
  ({ url }) => {
    if (url.endsWith("/short")) return "short";
    return new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(KIB * KIB)),
    });
  },
  async (get) => {
    const error = await assertRejects(
      async () => await readBody(await get("/long"), "node:1/wallet"),
      ChainUnavailable,
    );
    assertEquals(error.category, "malformed");
    assertStringIncludes(error.message, "node:1/wallet");
    assertEquals(await readBody(await get("/short"), ""), "short");
  },
);
