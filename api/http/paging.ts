/**
 * How page-based lists describe themselves.
 *
 * @module
 */

import type { PageRequest } from "../../ledger/lists/list_page.ts";

/** The `pagination` object: `pages` is 0 when there is nothing. */
export function pagination(request: PageRequest, total: number) {
  const { page, limit } = request;
  return { total, page, limit, pages: Math.ceil(total / limit) };
}
