// deno-lint-ignore-file no-console -- a command prints
/**
 * Prints the table of events: `deno task logs` writes `docs/logs.md`.
 *
 * @module
 */

import { logsDocument } from "../../log/logs_document.ts";

if (import.meta.main) console.log(logsDocument().trimEnd());
