// deno-lint-ignore-file no-console -- a command prints
/**
 * Prints the permission table: `deno task permissions` writes `docs/permissions.md`.
 *
 * @module
 */

import { permissionTable } from "../../api/openapi/permission_table.ts";
import { ROUTES } from "../../api/routes.ts";

if (import.meta.main) console.log(permissionTable(ROUTES).trimEnd());
