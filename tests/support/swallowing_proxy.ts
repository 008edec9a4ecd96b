/**
 * A proxy in front of a server that can stop passing bytes, as a network does that lost its way:
 * connections stay open, and nothing arrives any more.
 *
 * @module
 */

/** A proxy that runs. */
export interface SwallowingProxy extends AsyncDisposable {
  /** The server's connection string, through the proxy. */
  readonly url: string;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** From now on nothing passes, in either direction. */
  swallow(): void;
  /** Lets every later connection pass only so many answers (reads from the server). */
  swallowAfter(answers: number): void;
  /** New connections pass again; those whose bytes were swallowed stay silent. */
  restore(): void;
  /** Closes every connection. */
  cut(): void;
  /** Closes every connection, and takes no new one. */
  kill(): void;
}

/**
 * Starts a proxy: `await using proxy = openSwallowingProxy(url);`
 *
 * @param socketFolder where a Unix socket is made to listen on instead of a loopback port
 */
export function openSwallowingProxy(serverUrl: string, socketFolder?: string): SwallowingProxy {
  const target = new URL(serverUrl);
  const url = new URL(serverUrl);
  let listener: Deno.Listener;
  if (socketFolder === undefined) {
    const tcp = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    url.host = `127.0.0.1:${tcp.addr.port}`;
    listener = tcp;
  } else {
    listener = Deno.listen({ transport: "unix", path: `${socketFolder}/.s.PGSQL.5432` });
  }
  const ends = new Set<Deno.Conn>();
  const pipes: Promise<unknown>[] = [];
  let accepted = 0;
  let isDead = false;
  let limit = Infinity;
  let silenced: { silent: boolean }[] = [];
  const accept = async () => {
    for await (const client of listener) {
      accepted++;
      let server: Deno.Conn;
      try {
        server = await Deno.connect({ hostname: target.hostname, port: Number(target.port) });
      } catch {
        // as a network does whose server is gone
        client.close();
        continue;
      }
      if (isDead) {
        client.close();
        server.close();
        continue;
      }
      ends.add(client).add(server);
      const state = { silent: limit <= 0, answers: limit };
      silenced.push(state);
      const pass = async (from: Deno.Conn, to: Deno.Conn, counts: boolean) => {
        const buffer = new Uint8Array(65_536);
        try {
          for (;;) {
            const length = await from.read(buffer);
            if (length === null) break;
            if (state.silent) continue;
            let sent = 0;
            while (sent < length) sent += await to.write(buffer.subarray(sent, length));
            if (counts && --state.answers <= 0) state.silent = true;
          }
        } catch {
          // one of the ends was closed
        }
        // a swallowed connection tells neither end that the other is gone
        if (state.silent) return;
        for (const end of [from, to]) {
          if (ends.delete(end)) end.close();
        }
      };
      pipes.push(pass(client, server, false), pass(server, client, true));
    }
  };
  const accepting = accept();
  const cut = () => {
    for (const end of ends) end.close();
    ends.clear();
  };
  const kill = () => {
    if (!isDead) listener.close();
    isDead = true;
    cut();
  };
  return {
    url: socketFolder === undefined
      ? url.href
      : url.href.replace(url.host, encodeURIComponent(socketFolder)),
    get accepted() {
      return accepted;
    },
    swallow: () => {
      limit = 0;
      for (const state of silenced) state.silent = true;
    },
    swallowAfter: (answers) => limit = answers,
    restore: () => {
      limit = Infinity;
      silenced = [];
    },
    cut,
    kill,
    [Symbol.asyncDispose]: async () => {
      kill();
      await accepting;
      await Promise.all(pipes);
    },
  };
}
