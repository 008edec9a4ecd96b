/**
 * Endpoints as values. Each resource file declares its routes; the table of all of them is what the
 * application, the permission matrix, the limits and the API reference are made from.
 *
 * @module
 */

import type { z } from "zod";
import type { Answer } from "./answer.ts";
import type { ApiContext } from "./context.ts";
import type { ErrorCode } from "./error_table.ts";
import type { Caller, KeyRole, Permission } from "./permission.ts";
import type { RateCategory } from "./rate_limits.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Access to a route. `own`: a key of a merchant, acting for that merchant. `named`: the merchant in the
 * path, by its own key or an administrator's. `acting`: a key of a merchant for that merchant, or an
 * administrator for the merchant that the body names. `reseller`: an administrator, or the account
 * of the reseller in the path (the handler compares). `admin`: an administrator. `public`: anybody.
 */
export type Access =
  | { readonly scope: "public" }
  | { readonly scope: "own"; readonly anyOf: readonly Permission[] }
  | {
    readonly scope: "named";
    readonly anyOf: readonly Permission[];
    readonly adminAnyOf: readonly Permission[];
  }
  | {
    readonly scope: "acting";
    readonly anyOf: readonly Permission[];
    readonly adminAnyOf: readonly Permission[];
  }
  | {
    readonly scope: "reseller";
    readonly anyOf: readonly Permission[];
    readonly adminAnyOf: readonly Permission[];
  }
  | { readonly scope: "admin"; readonly anyOf: readonly Permission[] };

type AdminAccess = Extract<Access, { readonly scope: "admin" }>;

/** The shape of one answer, for the API reference. */
export interface ResponseDoc {
  readonly description: string;
  /** Of a JSON body; null where the body is something else or empty. */
  readonly schema: z.ZodType | null;
  /** A body as it may be, where it is not the schema's own example. */
  readonly example?: unknown;
  /** Several bodies, by name. */
  readonly examples?: Readonly<Record<string, unknown>>;
  /** Media type where it is not JSON. */
  readonly contentType?: string;
}

/** Errors of a key that may not do this. */
type Forbidden = Extract<ErrorCode, "forbidden" | "withdrawal_forbidden">;

export type Responses = Readonly<Record<number, ResponseDoc>>;

/** A header that a route reads. */
export interface HeaderDoc {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  readonly schema: z.ZodType;
}

/** The request as every handler gets it; `Q` and `B` are what the schemas made of query and body. */
export interface PublicRequest<Q, B> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly headers: Headers;
  /** Arrival of the request, Unix milliseconds. */
  readonly now: number;
  /** As the response shows it in `X-Request-Id`. */
  readonly requestId: string;
  /** The answer that refuses the caller by now, as after a wait for something outside; null where it may still ask. */
  readonly refusalByNow: () => Promise<Answer | null>;
}

/** The request as a handler of a route with a key gets it. */
export interface ApiRequest<Q, B> extends PublicRequest<Q, B> {
  readonly caller: Caller;
  /** The merchant that is acted for. */
  readonly merchantId: string;
}

/** The request as a handler of administrators and resellers gets it. */
export interface StaffRequest<Q, B> extends PublicRequest<Q, B> {
  readonly caller: Caller;
  /** The caller's own account; null: an administrator, who has none. */
  readonly merchantId: string | null;
}

/** A request before its route has said what it needs. */
export interface AnyRequest extends PublicRequest<unknown, unknown> {
  readonly caller: Caller | null;
  readonly merchantId: string | null;
}

/** Makes a page of an error where the request asks for one; otherwise answers it as it is. */
export type ProblemPage = (answer: Answer, request: { readonly headers: Headers }) => Answer;

/** The parts by which a route judges a body as it was sent. */
export interface SignedRequest {
  /** As it was sent, before its schema. */
  readonly body: unknown;
  readonly headers: Headers;
  /** Arrival of the request, Unix milliseconds. */
  readonly now: number;
}

/** The answer that refuses a body as it was sent, otherwise null. */
export type RouteVerify = (request: SignedRequest, context: ApiContext) => Answer | null;

/** Names of the parts of a path: `withdrawalId` of `/api/withdrawals/{withdrawalId}`. */
type PartsOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PartsOf<Rest>
  : never;

/** A request as the handler of a route gets it, by who may call the route. */
type RequestOf<A extends Access, P extends string, Q, B> =
  & (A["scope"] extends "public" ? PublicRequest<Q, B>
    : A["scope"] extends "own" | "named" ? ApiRequest<Q, B>
    : StaffRequest<Q, B>)
  & { readonly params: Readonly<Record<PartsOf<P>, string>> };

/** A route as it is declared. */
interface Definition<
  A extends Access,
  P extends string,
  Q extends z.ZodType,
  B extends z.ZodType,
> {
  /** Method and path; the path's parts in braces: `GET /api/resellers/{resellerId}`. */
  readonly at: `${Method} ${P}`;
  readonly summary: string;
  /** Notes for callers; Markdown. */
  readonly description?: string;
  readonly access: A;
  /** The 403 where the key lacks the permission; absent: `forbidden`. */
  readonly forbidden?: Forbidden;
  /** True where a merchant's own account must be active. */
  readonly needsActiveMerchant?: boolean;
  /** Roles that are turned away whatever the key may do otherwise. */
  readonly closedTo?: readonly KeyRole[];
  readonly rateCategory: RateCategory;
  readonly query?: Q;
  readonly body?: B;
  /** The check of the body itself, such as its signature: after authentication, before its schema. */
  readonly verify?: RouteVerify;
  /** Headers it reads besides the common ones. */
  readonly headers?: readonly HeaderDoc[];
  readonly responses: Responses;
  /** Errors of its own; those that every route of its kind has are added by the reference. */
  readonly errors?: readonly ErrorCode[];
  /**
   * Shows an error to people, where a route's answers are read by them. They come by links, of whose
   * query what cannot be read is passed over.
   */
  readonly problemPage?: ProblemPage;
  /**
   * True where pages of any origin may read the answers: only where no key is needed, and as nothing
   * that browsers add by themselves is asked for.
   */
  readonly anyOrigin?: boolean;
  readonly handler: (
    request: RequestOf<A, P, z.output<Q>, z.output<B>>,
    context: ApiContext,
  ) => Answer | Promise<Answer>;
}

export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly description: string | null;
  readonly access: Access;
  readonly forbidden: Forbidden;
  readonly needsActiveMerchant: boolean;
  readonly closedTo: readonly KeyRole[];
  readonly rateCategory: RateCategory;
  readonly query: z.ZodType | null;
  readonly body: z.ZodType | null;
  readonly verify: RouteVerify | null;
  readonly headers: readonly HeaderDoc[];
  readonly responses: Responses;
  readonly errors: readonly ErrorCode[];
  readonly problemPage: ProblemPage | null;
  readonly anyOrigin: boolean;
  /** Query and body have gone through their schemas, or are undefined where there is none. */
  readonly handler: (request: AnyRequest, context: ApiContext) => Answer | Promise<Answer>;
}

export function route<
  A extends Access,
  P extends string,
  Q extends z.ZodType,
  B extends z.ZodType,
>(definition: Definition<A, P, Q, B>): Route {
  const { at, access } = definition;
  const [method = "", path = ""] = at.split(" ");
  const handler = definition.handler as Route["handler"];
  const isKeyed = access.scope !== "public";
  const isOfMerchant = access.scope === "own" || access.scope === "named";
  return {
    method: method as Method,
    path,
    summary: definition.summary,
    description: definition.description ?? null,
    access,
    forbidden: definition.forbidden ?? "forbidden",
    needsActiveMerchant: definition.needsActiveMerchant ?? false,
    closedTo: definition.closedTo ?? [],
    rateCategory: definition.rateCategory,
    query: definition.query ?? null,
    body: definition.body ?? null,
    verify: definition.verify ?? null,
    headers: definition.headers ?? [],
    responses: definition.responses,
    errors: definition.errors ?? [],
    problemPage: definition.problemPage ?? null,
    anyOrigin: definition.anyOrigin ?? false,
    handler: (request, context) => {
      if ((isKeyed && request.caller === null) || (isOfMerchant && request.merchantId === null)) {
        throw new TypeError(`Cannot serve a route as its caller is not known: ${at}`);
      }
      // query and body were parsed with this very definition's schemas
      return handler(request, context);
    },
  };
}

/** Permissions of administrators who may look at everything. */
export const READERS = ["admin:read", "admin:write"] as const;

/** Declares a route of administrators, which counts against no limit. */
export function adminRoute<P extends string, Q extends z.ZodType, B extends z.ZodType>(
  { anyOf, ...definition }:
    & Omit<Definition<AdminAccess, P, Q, B>, "access" | "rateCategory">
    & { readonly anyOf: readonly Permission[] },
): Route {
  return route({ ...definition, access: { scope: "admin", anyOf }, rateCategory: "none" });
}
