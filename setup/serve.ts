import type { Hono } from "hono";
import type { Bindings } from "../api/app.ts";
import type { Config } from "../config.ts";

/** A listening server. */
export interface Server {
  /** Base address that merchants use, without a slash at its end. */
  readonly baseUrl: string;
  /** Stops accepting and waits for requests under way, at most `boundMs`. */
  stop(boundMs: number): Promise<void>;
}

/**
 * Serves the interface.
 *
 * @param make the application for the base address that merchants use; the port may be chosen by
 *   the system, so it is known only once the server listens
 */
export function serve(
  config: Config,
  make: (baseUrl: string) => Hono<{ Bindings: Bindings }>,
): Server {
  let app: Hono<{ Bindings: Bindings }> | null = null;
  const server = Deno.serve({
    hostname: config.host,
    port: config.port,
    onListen: () => {},
  }, (request, info) => {
    if (app === null) return new Response(null, { status: 503, headers: { "retry-after": "1" } });
    return app.fetch(request, { remoteAddr: info.remoteAddr });
  });
  const host = config.host === "0.0.0.0" ? "127.0.0.1" : config.host;
  const baseUrl = config.publicUrl ?? `http://${host}:${server.addr.port}`;
  app = make(baseUrl);
  return {
    baseUrl,
    async stop(boundMs) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const bound = new Promise<void>((resolve) => timer = setTimeout(resolve, boundMs));
      await Promise.race([server.shutdown(), bound]);
      clearTimeout(timer);
    },
  };
}
