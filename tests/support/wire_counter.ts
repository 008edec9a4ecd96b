/**
 * A proxy in front of PostgreSQL that counts what its clients ask for: statements, round trips and
 * bytes, whatever the client library does to send them.
 *
 * @module
 */

/** Counts since the proxy was opened. */
export interface WireCounts {
  /** Statements that were run: simple queries, and executions of prepared ones. */
  readonly statements: number;
  /** Times that a client sent something after it had been answered. */
  readonly roundTrips: number;
  /** Bytes that clients sent. */
  readonly bytesSent: number;
}

/** A counting proxy that runs. */
export interface WireCounter extends AsyncDisposable {
  /** The server's connection string, through the proxy. */
  readonly url: string;
  /** Counts so far. */
  counts(): WireCounts;
}

const QUERY = "Q".charCodeAt(0);
const EXECUTE = "E".charCodeAt(0);
/** Bytes of a message's type and of its length. */
const TYPE = 1;
const LENGTH = 4;

/** Starts a proxy: `await using counter = openWireCounter(url);` */
export function openWireCounter(serverUrl: string): WireCounter {
  const target = new URL(serverUrl);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = Object.assign(new URL(serverUrl), { host: `127.0.0.1:${listener.addr.port}` });
  const ends = new Set<Deno.Conn>();
  const pipes: Promise<void>[] = [];
  const counts = { statements: 0, roundTrips: 0, bytesSent: 0 };

  async function accept(): Promise<void> {
    for await (const client of listener) {
      const server = await Deno.connect({
        hostname: target.hostname,
        port: Number(target.port),
      });
      ends.add(client).add(server);
      const messages = new MessageTypes();
      let isAnswered = true;
      const sent = (bytes: Uint8Array) => {
        counts.bytesSent += bytes.length;
        if (isAnswered) counts.roundTrips++;
        isAnswered = false;
        for (const type of messages.read(bytes)) {
          if (type === QUERY || type === EXECUTE) counts.statements++;
        }
      };
      pipes.push(pass(client, server, sent), pass(server, client, () => isAnswered = true));
    }
  }

  async function pass(
    from: Deno.Conn,
    to: Deno.Conn,
    seen: (bytes: Uint8Array) => void,
  ): Promise<void> {
    const buffer = new Uint8Array(65_536);
    try {
      for (;;) {
        const length = await from.read(buffer);
        if (length === null) break;
        seen(buffer.subarray(0, length));
        let written = 0;
        while (written < length) written += await to.write(buffer.subarray(written, length));
      }
    } catch {
      // one of the ends was closed, and the other one is below
    }
    for (const end of [from, to]) if (ends.delete(end)) end.close();
  }

  const accepting = accept();
  return {
    url: url.href,
    counts: () => ({ ...counts }),
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await accepting;
      for (const end of ends) end.close();
      ends.clear();
      await Promise.all(pipes);
    },
  };
}

/** Types of a client's messages, read from its bytes in whatever pieces they come. */
class MessageTypes {
  /** Bytes of the message at hand that are still to come and tell nothing. */
  #skip = 0;
  /** Beginning of a message, until its length is known. */
  #head: number[] = [];
  /** The first message of a connection has a length and no type. */
  #isFirst = true;

  *read(bytes: Uint8Array): Iterable<number> {
    let at = 0;
    while (at < bytes.length) {
      if (this.#skip > 0) {
        const passed = Math.min(this.#skip, bytes.length - at);
        this.#skip -= passed;
        at += passed;
        continue;
      }
      this.#head.push(bytes[at++] ?? 0);
      const before = this.#isFirst ? 0 : TYPE;
      if (this.#head.length < before + LENGTH) continue;
      const length = this.#head.slice(before).reduce((sum, byte) => sum * 256 + byte, 0);
      this.#skip = length - LENGTH;
      if (!this.#isFirst) yield this.#head[0] ?? 0;
      this.#isFirst = false;
      this.#head = [];
    }
  }
}
