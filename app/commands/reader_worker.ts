/**
 * Composition root of the thread that reads blocks while the service catches up.
 *
 * @module
 */

import { serveReading } from "../../chains/tron/serve_reading.ts";

serveReading();
