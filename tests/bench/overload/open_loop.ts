/**
 * Open-loop load: requests leave at a fixed rate, whatever becomes of the earlier ones, as those of
 * many clients that know nothing of each other. Run as a program it is the process that sends.
 *
 * @module
 */

import process from "node:process";

/** Requests to send. */
export interface OpenLoad {
  readonly hostname: string;
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** Connections that are opened at most; a request that finds none free is counted as not sent. */
  readonly connections: number;
  /** Begins every reference. */
  readonly name: string;
  readonly keysFile: string;
  readonly destinationsFile: string;
  /** The references that were acknowledged are written here, one per line. */
  readonly acknowledgedFile: string;
}

/** Figures of the answers. Times in milliseconds, from the moment a request was written. */
export interface OpenResult {
  readonly sent: number;
  /** Due while every connection waited for an answer. */
  readonly unsent: number;
  readonly accepted: number;
  /** 503 in all, and those of them with Retry-After. */
  readonly refused: number;
  readonly withRetryAfter: number;
  readonly otherStatus: number;
  /** Requests whose connection broke, or that were not answered in time. */
  readonly broken: number;
  readonly acceptedP50: number;
  readonly acceptedP99: number;
  readonly refusedP50: number;
  readonly refusedP99: number;
  /** Lateness of the generator itself, 99th percentile over the requests that it sent. */
  readonly lateP99: number;
  /** From the first request to the last answer that was waited for. */
  readonly seconds: number;
  /** Processor time of the generator as a share of one core. */
  readonly core: number;
}

/** Longest wait for answers after the last request. */
const REST_MS = 5_000;
const TICK_MS = 2;
/** Requests that one tick catches up at most: a burst after a pause would be another load. */
const MOST_PER_TICK = 200;

/** A keep-alive connection that sends one request at a time. */
class Client {
  readonly #buffer = new Uint8Array(8_192);
  readonly #connection: Deno.TcpConn;

  constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
    connection.setNoDelay(true);
  }

  /** Status of the answer, and whether it says when to come back. */
  async ask(bytes: Uint8Array): Promise<{ readonly status: number; readonly retry: boolean }> {
    for (let sent = 0; sent < bytes.length;) {
      sent += await this.#connection.write(bytes.subarray(sent));
    }
    let answer = "";
    while (!isWhole(answer)) {
      const read = await this.#connection.read(this.#buffer);
      if (read === null) throw new Deno.errors.UnexpectedEof("the server hung up");
      answer += latin1.decode(this.#buffer.subarray(0, read));
    }
    return { status: Number(answer.slice(9, 12)), retry: /\r\nretry-after: \d/i.test(answer) };
  }

  close(): void {
    try {
      this.#connection.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }
}

const latin1 = new TextDecoder("latin1");

function isWhole(answer: string): boolean {
  const head = answer.indexOf("\r\n\r\n");
  if (head === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, head + 2))?.[1] ?? "0";
  return answer.length >= head + 4 + Number(length);
}

async function send(load: OpenLoad): Promise<OpenResult> {
  const { hostname, port, connections: most } = load;
  const lines = async (path: string) =>
    (await Deno.readTextFile(path)).split("\n").filter((line) => line !== "");
  const [keys, destinations] = [await lines(load.keysFile), await lines(load.destinationsFile)];
  const encoder = new TextEncoder();
  let count = 0;
  const next = (reference: string): Uint8Array => {
    const body = `{"amount":"10.25","currency":"USDT","network":"TRX","destination":"${
      destinations[count % destinations.length]
    }","referenceId":"${reference}"}`;
    return encoder.encode(
      `POST /api/withdrawals HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${
        keys[count % keys.length]
      }\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  };
  const idle: Client[] = [];
  const all = new Set<Client>();
  const acknowledged: string[] = [];
  const accepted: number[] = [];
  const refused: number[] = [];
  const late: number[] = [];
  const tally = { unsent: 0, withRetryAfter: 0, otherStatus: 0, broken: 0 };
  let [open, underWay, lastAnswer] = [0, 0, 0];
  const connect = async (): Promise<Client> => {
    const client = new Client(await Deno.connect({ hostname, port }));
    all.add(client);
    return client;
  };
  // the connections of those who are there already
  for (let n = 0; n < most / 2; n++) idle.push(await connect());
  open = idle.length;
  const sendOne = async () => {
    const reference = `${load.name}-${++count}`;
    const bytes = next(reference);
    underWay++;
    let client = idle.pop() ?? null;
    try {
      if (client === null) {
        open++;
        client = await connect();
      }
      const sent = performance.now();
      const { status, retry } = await client.ask(bytes);
      lastAnswer = performance.now();
      const took = lastAnswer - sent;
      if (status === 201) {
        accepted.push(took);
        acknowledged.push(reference);
      } else if (status === 503) {
        refused.push(took);
        if (retry) tally.withRetryAfter++;
      } else tally.otherStatus++;
      idle.push(client);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      tally.broken++;
      open--;
      if (client !== null) all.delete(client);
      client?.close();
    } finally {
      underWay--;
    }
  };
  const started = performance.now();
  let due = 0;
  const total = load.perSecond * load.seconds;
  await new Promise<void>((resolve) => {
    const ticker = setInterval(() => {
      const now = performance.now();
      const upTo = Math.min(total, Math.floor((now - started) / 1_000 * load.perSecond));
      for (let n = 0; due < upTo && n < MOST_PER_TICK; n++) {
        late.push(now - started - due / load.perSecond * 1_000);
        due++;
        if (idle.length === 0 && open >= most) tally.unsent++;
        else void sendOne();
      }
      if (due < total) return;
      clearInterval(ticker);
      resolve();
    }, TICK_MS);
  });
  const end = performance.now() + REST_MS;
  while (underWay > 0 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  tally.broken += underWay;
  const { user, system } = process.cpuUsage();
  for (const client of all) client.close();
  await Deno.writeTextFile(load.acknowledgedFile, acknowledged.join("\n"));
  const at = (times: number[], share: number) => {
    times.sort((a, b) => a - b);
    return times[Math.floor((times.length - 1) * share)] ?? NaN;
  };
  const seconds = (lastAnswer - started) / 1_000;
  return {
    sent: count,
    ...tally,
    accepted: accepted.length,
    refused: refused.length,
    acceptedP50: at(accepted, 0.5),
    acceptedP99: at(accepted, 0.99),
    refusedP50: at(refused, 0.5),
    refusedP99: at(refused, 0.99),
    lateP99: at(late, 0.99),
    seconds,
    core: (user + system) / 1e6 / seconds,
  };
}

if (import.meta.main) {
  const load: OpenLoad = JSON.parse(Deno.args[0] ?? "null");
  // deno-lint-ignore no-console -- the bench reads it
  console.log(JSON.stringify(await send(load)));
}
