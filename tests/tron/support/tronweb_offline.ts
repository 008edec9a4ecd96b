/**
 * tronweb as the independent witness: what we build by hand must be what it builds.
 *
 * @module
 */

import { needs } from "../../support/permissions.ts";

/** tronweb reads the environment while it loads, so tests that use it need that permission. */
const ignore = needs({ env: true });

/**
 * Loads tronweb.
 *
 * @returns the class, and an instance that reaches no node: port 1 answers nothing
 */
export async function loadTronweb() {
  const { TronWeb } = await import("tronweb");
  return { TronWeb, tronweb: new TronWeb({ fullHost: "http://127.0.0.1:1" }) };
}

/** Registers a test that has tronweb as its witness. */
export function testWithTronweb(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore, fn });
}
