// deno-lint-ignore-file no-console -- a command prints
/**
 * Prints the table of spans: `deno task traces` writes `docs/traces.md`.
 *
 * @module
 */

import { tracesDocument } from "../../log/span_table.ts";

if (import.meta.main) console.log(tracesDocument().trimEnd());
