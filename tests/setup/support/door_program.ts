/**
 * A door in a process of its own, whose limit of descriptors is the test's to choose:
 * `deno run door_program.ts '{"total":1000,...}'`. Prints its port, then answers every request.
 *
 * @module
 */

import type { ConnectionBounds } from "../../../app/http/connection_bounds.ts";
import { Door } from "../../../app/http/door.ts";
import { findServeConnection } from "../../../app/http/serve_connection.ts";

// as the service does before it listens: Deno panics where it first needs a descriptor for signals
// when none is left
Deno.addSignalListener("SIGTERM", () => Deno.exit(0));

const bounds: ConnectionBounds = JSON.parse(Deno.args[0] ?? "null");
const serveConnection = findServeConnection();
if (serveConnection === null) throw new Error("Cannot serve connections with this Deno");
const door: Door = new Door({
  hostname: "127.0.0.1",
  port: 0,
  bounds,
  trustedProxies: [],
  serveConnection,
  failed: () => new Response(null, { status: 500 }),
  tooLate: () => new Response(null, { status: 503 }),
  fetch: () => new Response(`open ${door.connections.open}, failed ${door.acceptFailures}`),
});
// deno-lint-ignore no-console -- the test reads it
console.log(door.port);
