/**
 * A node that has busy blocks without end, for measuring who reads them: what it costs to make one
 * is next to nothing, so that the processor is the reader's. It answers what scanning asks and
 * nothing else. Its newest block is what it was last told.
 *
 * It speaks HTTP itself, as a body given to `Deno.serve` is copied: that alone took longer than
 * making it. Here a block goes from where it was made to the connection, and is made in the same
 * place as the one before.
 *
 *     deno run --allow-net block_server.ts '{"transfers":300,"owned":3,"addresses":10000}'
 *
 * @module
 */

import { BlockMaker, type BusyChain, FIRST_HEIGHT, headText } from "./block_template.ts";

/** The token of the chain. */
export const BENCH_USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

/** A request: its path without `/wallet` or `/walletsolidity`, and the body's numbers. */
interface Question {
  readonly path: string;
  readonly body: { readonly [name: string]: number | undefined };
}

const JSON_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\n";
const LARGEST_READ = 16_384;
/** A chunk of its own between two blocks. */
const COMMA = "1\r\n,\r\n";

const encoder = new TextEncoder();
// chunks, as this answer's length is not announced: the reader takes in one that is another way
const rangeStart = encoder.encode(
  `${JSON_HEAD}transfer-encoding: chunked\r\n\r\na\r\n{"block":[\r\n`,
);
const rangeEnd = encoder.encode("2\r\n]}\r\n0\r\n\r\n");
const notFound = encoder.encode(
  "HTTP/1.1 404 Not Found\r\ncontent-type: text/plain;charset=UTF-8\r\ncontent-length: 9\r\n\r\nnot found",
);

function headOf(size: number): string {
  return `${JSON_HEAD}content-length: ${size}\r\n\r\n`;
}

function answerOf(text: string): Uint8Array {
  return encoder.encode(headOf(text.length) + text);
}

/**
 * The requests of a connection, one after another.
 *
 * @throws {Error} when the next one comes before the answer, or is no request
 */
async function* questions(connection: Deno.Conn): AsyncGenerator<Question> {
  const bytes = new Uint8Array(LARGEST_READ);
  const decoder = new TextDecoder();
  let text = "";
  for (
    let size = await connection.read(bytes);
    size !== null;
    size = await connection.read(bytes)
  ) {
    text += decoder.decode(bytes.subarray(0, size));
    const head = text.indexOf("\r\n\r\n");
    if (head < 0) continue;
    const start = head + 4;
    const length = /^content-length: *(\d+)\r$/im.exec(text.slice(0, start))?.[1] ?? "0";
    const end = start + Number(length);
    if (text.length < end) continue;
    const path = /^[A-Z]+ (?:\/wallet(?:solidity)?)?(\/\S*) HTTP\/1\.1\r\n/.exec(text)?.[1];
    if (path === undefined || text.length > end) {
      throw new Error(`Cannot answer as this is not one request: ${text}`);
    }
    yield { path, body: JSON.parse(text.slice(start, end) || "{}") };
    text = "";
  }
}

/** Sends bytes; they may be written over when it returns, as the connection has taken them. */
async function send(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

function isGone(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe;
}

async function serve(chain: BusyChain): Promise<void> {
  let newest = FIRST_HEIGHT;
  const maker = BlockMaker.of(
    chain,
    (size) => [`${COMMA}${size.toString(16)}\r\n`, "\r\n"],
    (size) => [headOf(size), ""],
  );

  async function sendRange(
    connection: Deno.Conn,
    blocks: BlockMaker,
    first: number,
    last: number,
  ): Promise<void> {
    const until = Math.min(last, newest);
    await send(connection, rangeStart);
    for (let height = first; height <= until; height++) {
      const block = blocks.body(height);
      await send(connection, height === first ? block.subarray(COMMA.length) : block);
    }
    await send(connection, rangeEnd);
  }

  async function answer(connection: Deno.TcpConn, blocks: BlockMaker): Promise<void> {
    // an answer in several pieces must not wait for the reader's acknowledgements
    connection.setNoDelay(true);
    for await (const { path, body } of questions(connection)) {
      switch (path) {
        case "/newest":
          newest = body["num"] ?? newest;
          await send(connection, answerOf("{}"));
          break;
        case "/getblock":
          await send(connection, answerOf(headText(newest)));
          break;
        case "/getblockbylimitnext":
          await sendRange(connection, blocks, body["startNum"] ?? 0, (body["endNum"] ?? 0) - 1);
          break;
        case "/gettransactioninfobyblocknum":
          await send(connection, blocks.receipts(body["num"] ?? 0));
          break;
        default:
          await send(connection, notFound);
      }
    }
  }

  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  // deno-lint-ignore no-console -- the bench reads it
  console.log(JSON.stringify({ url: `http://127.0.0.1:${listener.addr.port}` }));
  for await (const connection of listener) {
    answer(connection, maker.another())
      .catch((error) => {
        // a reader may end at any moment; all else ends the node
        if (!isGone(error)) throw error;
      })
      .finally(() => connection.close());
  }
}

if (import.meta.main) await serve({ ...JSON.parse(Deno.args[0] ?? "null"), usdt: BENCH_USDT });
