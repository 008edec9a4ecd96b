/**
 * The HTTP server of a development chain.
 *
 * @module
 */

import { logEvent } from "../log/log_event.ts";

const STOP_MS = 2_000;

/** A server that listens. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Ends the server; requests under way have two seconds. */
  stop(): Promise<void>;
}

/** One request, with the path of its URL and the client's address. */
export type Answering = (request: Request, url: URL, peer: string) => Response | Promise<Response>;

/**
 * Listens on loopback.
 *
 * @param failed the node's own answer to a request that met a bug
 * @throws when the port is taken
 */
export function serveChain(
  { network, hostname, port }: { network: string; hostname: string; port: number },
  answer: Answering,
  failed: (error: unknown) => Response,
): Listening {
  const server = Deno.serve({
    hostname,
    port,
    onListen: () => {},
    onError: (error) => {
      logEvent("devchain.request_failed", { network, error });
      return failed(error);
    },
  }, (request, info) => answer(request, new URL(request.url), info.remoteAddr.hostname));
  return {
    url: `http://${hostname === "::1" ? "[::1]" : hostname}:${server.addr.port}`,
    port: server.addr.port,
    async stop() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const waited = new Promise<void>((resolve) => timer = setTimeout(resolve, STOP_MS));
      await Promise.race([server.shutdown(), waited]);
      clearTimeout(timer);
    },
  };
}
