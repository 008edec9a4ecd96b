/**
 * Page-based lists.
 *
 * @module
 */

import { z } from "zod";
import type { Page, PageRequest } from "../../ledger/lists/list_page.ts";
import { type Answer, ok } from "./answer.ts";
import { eg } from "./example.ts";
import * as f from "./fields.ts";

/** The `pagination` object: `pages` is 0 when there is nothing. */
export function pagination(request: PageRequest, total: number) {
  const { page, limit } = request;
  return { total, page, limit, pages: Math.ceil(total / limit) };
}

const paginationSchema = z.object({
  total: z.int().min(0).meta({ description: "Rows that match" }),
  page: z.int().min(1),
  limit: z.int().min(1),
  pages: z.int().min(0).meta({ description: "0 when there is nothing" }),
}).meta({ id: "Pagination" });

/**
 * The parameters by which a list is read.
 *
 * @param rows of a page where the request names no limit
 */
export function pages(rows = 20) {
  return { page: f.page.default(1), limit: f.limit.default(rows) };
}

/** The parameters that narrow to one currency, one network, or both. */
export const ofPair = {
  currency: f.currency.optional().meta({ description: "This token alone" }),
  network: f.network.optional().meta({ description: "This network alone" }),
};

/** The parameter that narrows a list to one of some statuses, as rows have it at the moment of reading. */
export function ofStatus<const S extends readonly string[]>(statuses: S) {
  return z.enum(statuses).optional().meta({ description: "Rows that have this status now" });
}

/** The parameters that bound a list in time. */
export const dates = { startDate: f.startDate.optional(), endDate: f.endDate.optional() };

/** The `pagination` of an answer; its example has one row. */
export function paged(rows = 20) {
  return eg(paginationSchema, { total: 1, page: 1, limit: rows, pages: 1 });
}

/** One page of rows under a name. */
export function pageOf<N extends string, S extends z.ZodType>(name: N, row: S, rows = 20) {
  const list = { [name]: z.array(row) } as { readonly [K in N]: z.ZodArray<S> };
  return z.object({ ...list, pagination: paged(rows) });
}

/** The answer with one page. */
export function listed<R>(
  name: string,
  found: Page<R>,
  request: PageRequest,
  view: (row: R) => object,
): Answer {
  return ok({
    [name]: found.rows.map((row) => view(row)),
    pagination: pagination(request, found.total),
  });
}
