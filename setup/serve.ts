import type { Bindings } from "../api/app.ts";
import type { Config } from "../config.ts";

/** What answers requests. */
export interface App {
  fetch(request: Request, bindings: Bindings): Response | Promise<Response>;
}

type HttpServer = Deno.HttpServer<Deno.NetAddr>;

/** What is served where. */
export interface Apps {
  /** On `HOST` and `PORT`. */
  readonly merchants: App;
  /** On `OPS_HOST` and `OPS_PORT`; `null` where those are not set and merchants' serves it all. */
  readonly ops: App | null;
}

/** A listening server. */
export interface Server {
  /** Base address that merchants use, without a slash at its end. */
  readonly baseUrl: string;
  /** Where operators' tools ask; `null` where that is the merchants' address. */
  readonly opsUrl: string | null;
  /** Stops accepting and waits for requests under way, at most `boundMs`. */
  stop(boundMs: number): Promise<void>;
}

/** A server, or why there is none; then nothing listens. */
export type Serving =
  | { readonly ok: true; readonly server: Server }
  | { readonly ok: false; readonly fault: string };

/**
 * Serves the interface, and health and metrics on an address of their own where one is set.
 *
 * @param make the applications for the base address that merchants use; the port may be chosen by
 *   the system, so it is known only once the server listens. Until they are made everybody is
 *   answered 503, readiness included
 */
export async function serve(
  config: Pick<Config, "host" | "port" | "publicUrl" | "ops">,
  make: (baseUrl: string) => Apps | Promise<Apps>,
): Promise<Serving> {
  let apps: Apps | null = null;
  const { host, port, ops } = config;
  const merchants = listen(host, port, "HOST and PORT", () => apps?.merchants ?? null);
  if (!merchants.ok) return merchants;
  const operators = ops === null
    ? null
    : listen(ops.host, ops.port, "OPS_HOST and OPS_PORT", () => apps?.ops ?? null);
  if (operators?.ok === false) {
    await merchants.server.shutdown();
    return operators;
  }
  const servers = [merchants, ...(operators === null ? [] : [operators])];
  const baseUrl = config.publicUrl ?? urlOf(host, merchants.server);
  try {
    apps = await make(baseUrl);
  } catch (error) {
    await Promise.all(servers.map(({ server }) => server.shutdown()));
    throw error;
  }
  const server: Server = {
    baseUrl,
    opsUrl: ops === null || operators === null ? null : urlOf(ops.host, operators.server),
    async stop(boundMs) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const bound = new Promise<void>((resolve) => timer = setTimeout(resolve, boundMs));
      const stopped = Promise.all(servers.map(({ server }) => server.shutdown()));
      await Promise.race([stopped, bound]);
      clearTimeout(timer);
    },
  };
  return { ok: true, server };
}

type Listening =
  | { readonly ok: true; readonly server: HttpServer }
  | { readonly ok: false; readonly fault: string };

/**
 * Listens on one address.
 *
 * @param variables which variables name the address
 * @param appOf the application; null before it is made
 */
function listen(
  hostname: string,
  port: number,
  variables: string,
  appOf: () => App | null,
): Listening {
  try {
    const server = Deno.serve({ hostname, port, onListen: () => {} }, (request, info) => {
      const app = appOf();
      if (app === null) return new Response(null, { status: 503, headers: { "retry-after": "1" } });
      return app.fetch(request, { remoteAddr: info.remoteAddr });
    });
    return { ok: true, server };
  } catch (error) {
    const why = whyNot(error);
    if (why === null) throw error;
    return { ok: false, fault: `the address of ${variables} ${why}: ${hostname}:${port}` };
  }
}

/** What is wrong with an address; `null` where the error is of another kind. */
function whyNot(error: unknown): string | null {
  if (error instanceof Deno.errors.AddrInUse) return "is taken";
  if (error instanceof Deno.errors.AddrNotAvailable) return "is none of this machine's";
  if (error instanceof Deno.errors.PermissionDenied) return "may not be listened on";
  return null;
}

function urlOf(host: string, { addr }: HttpServer): string {
  return `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${addr.port}`;
}
