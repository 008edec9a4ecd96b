/**
 * Entry of the signer's worker in development: see `app/open/open_signer.ts`. What was spent and what
 * was signed is kept in memory, because the worker may write nothing.
 *
 * @module
 */

import { serveSigner } from "../workers/worker_signer.ts";
import { openSigner } from "../open/open_signer.ts";

serveSigner((settings) => openSigner(settings, { isPaused: () => false }));
