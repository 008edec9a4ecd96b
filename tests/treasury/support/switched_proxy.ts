/** A port that leads to one server, and after a failover to another. @module */

/** A port in front of servers. */
export interface SwitchedProxy extends Disposable {
  readonly port: number;
  /** Ends every connection and leads new ones to another port; null: to none. */
  lead(port: number | null): void;
}

/** Opens a port that leads to another one of this machine. */
export function switchedProxy(port: number): SwitchedProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  let target: number | null = port;
  const end = (conn: Deno.Conn) => {
    if (!open.delete(conn)) return;
    try {
      conn.close();
    } catch {
      // its other end was faster
    }
  };
  const serve = async (client: Deno.Conn) => {
    open.add(client);
    if (target === null) return end(client);
    try {
      const server = await Deno.connect({ hostname: "127.0.0.1", port: target });
      open.add(server);
      const both = () => [client, server].forEach(end);
      client.readable.pipeTo(server.writable).then(both, both);
      server.readable.pipeTo(client.writable).then(both, both);
    } catch {
      end(client);
    }
  };
  const accepting = (async () => {
    for await (const client of listener) serve(client);
  })();
  return {
    port: listener.addr.port,
    lead(next) {
      target = next;
      for (const conn of [...open]) end(conn);
    },
    [Symbol.dispose]: () => {
      listener.close();
      accepting.catch(() => {});
      for (const conn of [...open]) end(conn);
    },
  };
}
