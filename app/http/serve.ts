import { within } from "../../actors/runtime/within.ts";
import { logEvent } from "../../log/log_event.ts";
import type { Bindings } from "../../api/http/serve.ts";
import type { Config } from "../config/config.ts";
import { type ConnectionBounds, merchantBounds, operatorBounds } from "./connection_bounds.ts";
import { Door } from "./door.ts";
import { findServeConnection } from "./serve_connection.ts";

/** An application that answers requests. */
export interface App {
  fetch(request: Request, bindings: Bindings): Response | Promise<Response>;
}

/** The applications by their listener. */
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
  /** Address for operators' tools; `null` where that is the merchants' address. */
  readonly opsUrl: string | null;
  /** Stops accepting and waits for requests under way, at most `boundMs`. */
  stop(boundMs: number): Promise<void>;
}

/** The listeners of a server. */
export interface Doors {
  readonly merchants: Door;
  /** `null` where operators have no address of their own. */
  readonly ops: Door | null;
}

/** Options of {@linkcode serve}: settings, and a limit of the process. */
export type ServeOptions =
  & Pick<Config, "host" | "port" | "publicUrl" | "ops" | "trustedProxies" | "connections">
  & {
    /** Descriptors that the process can have. */
    readonly descriptors: number;
  };

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
  config: ServeOptions,
  make: (baseUrl: string, doors: Doors) => Apps | Promise<Apps>,
): Promise<Serving> {
  let apps: Apps | null = null;
  const { host, port, ops, trustedProxies } = config;
  const merchants = listen(
    { host, port, trustedProxies, bounds: merchantBounds(config, config.descriptors) },
    "HOST and PORT",
    () => apps?.merchants ?? null,
  );
  if (!merchants.ok) return merchants;
  const operators = ops === null ? null : listen(
    { ...ops, trustedProxies, bounds: operatorBounds() },
    "OPS_HOST and OPS_PORT",
    () => apps?.ops ?? null,
  );
  if (operators?.ok === false) {
    await merchants.door.shutdown();
    return operators;
  }
  const doors: Doors = { merchants: merchants.door, ops: operators?.door ?? null };
  const open = doors.ops === null ? [doors.merchants] : [doors.merchants, doors.ops];
  const baseUrl = config.publicUrl ?? urlOf(host, doors.merchants);
  try {
    apps = await make(baseUrl, doors);
  } catch (error) {
    await Promise.all(open.map((door) => door.shutdown()));
    throw error;
  }
  const server: Server = {
    baseUrl,
    opsUrl: ops === null || doors.ops === null ? null : urlOf(ops.host, doors.ops),
    async stop(boundMs) {
      await within(boundMs, Promise.all(open.map((door) => door.shutdown())));
    },
  };
  return { ok: true, server };
}

type Listening =
  | { readonly ok: true; readonly door: Door }
  | { readonly ok: false; readonly fault: string };

/** One address and how it is served. */
interface Address {
  readonly host: string;
  readonly port: number;
  readonly trustedProxies: readonly string[];
  readonly bounds: ConnectionBounds;
}

/**
 * Listens on one address.
 *
 * @param variables which variables name the address
 * @param appOf the application; null before it is made
 */
function listen(address: Address, variables: string, appOf: () => App | null): Listening {
  const { host, port, trustedProxies, bounds } = address;
  const serveConnection = findServeConnection();
  if (serveConnection === null) {
    return { ok: false, fault: "this version of Deno cannot serve a connection; use Deno 2.9" };
  }
  try {
    const fetch = (request: Request, bindings: Bindings): Response | Promise<Response> => {
      const app = appOf();
      if (app === null) return new Response(null, { status: 503, headers: { "retry-after": "1" } });
      return app.fetch(request, bindings);
    };
    const door = new Door({
      hostname: host,
      port,
      bounds,
      trustedProxies,
      serveConnection,
      fetch,
      failed,
      tooLate: () => new Response(null, { status: 503 }),
    });
    return { ok: true, door };
  } catch (error) {
    const why = whyNot(error);
    if (why === null) throw error;
    return { ok: false, fault: `the address of ${variables} ${why}: ${host}:${port}` };
  }
}

function failed(error: unknown): Response {
  logEvent("http.request_escaped", { error });
  return new Response(null, { status: 500 });
}

/** Names the fault of an address; `null` where the error is of another kind. */
function whyNot(error: unknown): string | null {
  if (error instanceof Deno.errors.AddrInUse) return "is taken";
  if (error instanceof Deno.errors.AddrNotAvailable) return "is none of this machine's";
  if (error instanceof Deno.errors.PermissionDenied) return "may not be listened on";
  return null;
}

function urlOf(host: string, { port }: Door): string {
  return `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}`;
}
