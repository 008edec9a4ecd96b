/**
 * Entry of the worker that runs a development chain beside the service, so that checking signatures
 * does not hold up the service's own event loop.
 *
 * @module
 */

import { serveDevChain } from "../workers/worker_dev_chain.ts";

serveDevChain();
