/**
 * tronweb as the independent witness: what we build by hand must be what it builds.
 *
 * @module
 */

import { TronWeb } from "tronweb";

/** A tronweb that reaches no node: port 1 answers nothing. */
export const tronweb = new TronWeb({ fullHost: "http://127.0.0.1:1" });
