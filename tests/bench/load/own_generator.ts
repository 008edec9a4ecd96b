/**
 * The bench's own load generator, for machines without wrk. Run as a program it is the process that
 * sends; it speaks just enough HTTP/1.1 to cost little beside what it measures.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import type { Load, LoadResult } from "./load.ts";

/** Longest wait for one answer. */
const ANSWER_MS = 10_000;

/** Runs this file as a process. */
export async function runOwnGenerator(load: Load): Promise<LoadResult> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--allow-net=127.0.0.1",
      "--allow-read",
      fileURLToPath(import.meta.url),
      JSON.stringify(load),
    ],
  }).output();
  if (!success) {
    throw new Error(
      `Cannot measure as the load generator failed: ${new TextDecoder().decode(stderr)}`,
    );
  }
  const result: LoadResult = JSON.parse(new TextDecoder().decode(stdout));
  return result;
}

interface Tally {
  readonly latencies: number[];
  refused: number;
  broken: number;
}

async function readLines(path: string): Promise<string[]> {
  return (await Deno.readTextFile(path)).split("\n").filter((line) => line !== "");
}

async function send(load: Load): Promise<LoadResult> {
  const { hostname, port } = new URL(load.url);
  const [keys, destinations] = [
    await readLines(load.keysFile),
    await readLines(load.destinationsFile),
  ];
  let count = 0;
  const next = (): string => {
    count++;
    const body = JSON.stringify({
      amount: "10.25",
      currency: "USDT",
      network: "TRX",
      destination: destinations[count % destinations.length],
      referenceId: `${load.name}-${count}`,
    });
    return `POST /api/withdrawals HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${
      keys[count % keys.length]
    }\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const tally: Tally = { latencies: [], refused: 0, broken: 0 };
  const started = performance.now();
  const end = started + load.seconds * 1_000;
  await Promise.all(
    Array.from(
      { length: load.connections },
      () => converse({ hostname, port: Number(port) }, next, end, tally),
    ),
  );
  const seconds = (performance.now() - started) / 1_000;
  const sorted = tally.latencies.sort((a, b) => a - b);
  const percentile = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return {
    answers: sorted.length,
    refused: tally.refused,
    broken: tally.broken,
    seconds,
    p50: percentile(0.5),
    p99: percentile(0.99),
    max: percentile(1),
  };
}

/** One connection: request, answer, request, until the time is over. */
async function converse(
  address: { readonly hostname: string; readonly port: number },
  next: () => string,
  end: number,
  tally: Tally,
): Promise<void> {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(16_384);
  try {
    using connection = await Deno.connect(address);
    connection.setNoDelay(true);
    while (performance.now() < end) {
      const sent = performance.now();
      await writeAll(connection, encoder.encode(next()));
      const bound = setTimeout(() => connection.close(), ANSWER_MS);
      try {
        let answer = "";
        while (!isWhole(answer)) {
          const read = await connection.read(buffer);
          if (read === null) throw new Deno.errors.UnexpectedEof("the server hung up");
          answer += decoder.decode(buffer.subarray(0, read));
        }
        if (!answer.startsWith("HTTP/1.1 2")) tally.refused++;
        tally.latencies.push(performance.now() - sent);
      } finally {
        clearTimeout(bound);
      }
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    tally.broken++;
  }
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

function isWhole(answer: string): boolean {
  const head = answer.indexOf("\r\n\r\n");
  if (head === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, head))?.[1];
  if (length === undefined) {
    throw new TypeError("Cannot read an answer as its length is not announced");
  }
  return answer.length >= head + 4 + Number(length);
}

if (import.meta.main) {
  const load: Load = JSON.parse(Deno.args[0] ?? "null");
  // deno-lint-ignore no-console -- the bench reads it
  console.log(JSON.stringify(await send(load)));
}
