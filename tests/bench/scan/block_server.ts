/**
 * A node that has busy blocks without end, for measuring who reads them: what it costs to make one
 * is next to nothing, so that the processor is the reader's. It answers what scanning asks and
 * nothing else. Its newest block is what it was last told.
 *
 *     deno run --allow-net block_server.ts '{"transfers":300,"owned":3,"addresses":10000}'
 *
 * @module
 */

import { BlockMaker, FIRST_HEIGHT, headText } from "./block_template.ts";

/** What the server is told, as JSON in its only argument. */
export interface BlockServerArgs {
  /** Transfers per block. */
  readonly transfers: number;
  /** How many of a block's transfers go to issued addresses. */
  readonly owned: number;
  /** Issued addresses: those of the numbers from 1 on. */
  readonly addresses: number;
}

/** The token of the chain. */
export const BENCH_USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

function serve(args: BlockServerArgs): void {
  const { transfers, owned, addresses } = args;
  let newest = FIRST_HEIGHT;
  const stranger = "5".repeat(16);
  const maker = new BlockMaker(transfers, BENCH_USDT, (height, n) => {
    const place = (height - FIRST_HEIGHT) * transfers + n;
    // spread over the issued addresses, and over all others
    return n < owned
      ? (1 + (place * 7_919) % addresses).toString(16).padStart(40, "0")
      : stranger + (place * 2_654_435_761 % 2 ** 48).toString(16).padStart(24, "0");
  });
  const json = { headers: { "content-type": "application/json; charset=utf-8" } };
  const comma = new TextEncoder().encode(",");
  const range = (first: number, last: number) => {
    const parts: Uint8Array<ArrayBuffer>[] = [new TextEncoder().encode('{"block":[')];
    for (let height = first; height <= Math.min(last, newest); height++) {
      if (height > first) parts.push(comma);
      parts.push(maker.body(height));
    }
    parts.push(new TextEncoder().encode("]}"));
    return new Blob(parts);
  };
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const path = new URL(request.url).pathname.replace(/^\/wallet(solidity)?/, "");
      const body: Record<string, number> = JSON.parse(await request.text() || "{}");
      switch (path) {
        case "/newest":
          newest = body["num"] ?? newest;
          return new Response("{}", json);
        case "/getblock":
          return new Response(headText(newest), json);
        case "/getblockbylimitnext":
          return new Response(range(body["startNum"] ?? 0, (body["endNum"] ?? 0) - 1), json);
        case "/gettransactioninfobyblocknum":
          return new Response(maker.receipts(body["num"] ?? 0), json);
        default:
          return new Response("not found", { status: 404 });
      }
    },
  );
  // deno-lint-ignore no-console -- the bench reads it
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.addr.port}` }));
}

if (import.meta.main) serve(JSON.parse(Deno.args[0] ?? "null"));
