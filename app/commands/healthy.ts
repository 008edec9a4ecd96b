// deno-lint-ignore-file no-console -- a command speaks to its operator on the terminal
/**
 * Asks the service on this machine whether it lives: `deno task healthy`, the health check of a container.
 * Exit code 1: it does not. Whether it is ready is another question, and no reason to start it anew.
 *
 * @module
 */

// a container asks every few seconds: nothing else is loaded
import { DEFAULT_OPS_PORT } from "../config/ops_port.ts";

/** Bound of the question. */
const BOUND_MS = 3_000;

const { OPS_HOST, OPS_PORT } = Deno.env.toObject();
const host = OPS_HOST || "127.0.0.1";
// an IPv6 address stands in brackets
const url = `http://${host.includes(":") ? `[${host}]` : host}:${
  OPS_PORT || DEFAULT_OPS_PORT
}/healthz`;
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(BOUND_MS) });
  console.log(`${response.status} ${await response.text()}`);
  Deno.exit(response.ok ? 0 : 1);
} catch (error) {
  console.error(`Cannot ask ${url}: ${error instanceof Error ? error.message : error}`);
  Deno.exit(1);
}
