// deno-lint-ignore-file no-console -- a command prints
/**
 * Prints the OpenAPI document: `deno task openapi` writes `docs/openapi.json`.
 *
 * @module
 */

import { openApiDocument } from "../../api/openapi/document.ts";
import { printJson } from "../../api/openapi/json_schema.ts";
import { OPERATIONS } from "../../api/routes.ts";

if (import.meta.main) console.log(printJson(openApiDocument(OPERATIONS)));
