// deno-lint-ignore-file no-console -- a command prints
/**
 * Prints the table of metrics: `deno task metrics` writes `docs/metrics.md`.
 *
 * @module
 */

import { metricsDocument } from "../../api/http/metric_table.ts";

if (import.meta.main) console.log(metricsDocument().trimEnd());
