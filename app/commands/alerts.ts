// deno-lint-ignore-file no-console -- a command prints
/**
 * Prints the rules of Prometheus: `deno task alerts` writes `docs/alerts.yml`.
 *
 * @module
 */

import { alertsDocument } from "../health/alert_table.ts";

if (import.meta.main) console.log(alertsDocument().trimEnd());
