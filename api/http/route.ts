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

/** Methods that are used. */
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

/** The shape of one answer, for the API reference. */
export interface ResponseDoc {
  readonly description: string;
  /** Of a JSON body; null where the body is something else or empty. */
  readonly schema: z.ZodType | null;
  /** A body as it may be. */
  readonly example?: unknown;
  /** Several bodies, by name. */
  readonly examples?: Readonly<Record<string, unknown>>;
  /** Media type where it is not JSON. */
  readonly contentType?: string;
}

/** Errors of a key that may not do this. */
type Forbidden = Extract<ErrorCode, "forbidden" | "withdrawal_forbidden">;

/** The shapes of the answers, by status. */
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
  /** When the request arrived, Unix milliseconds. */
  readonly now: number;
  /** As the response shows it in `X-Request-Id`. */
  readonly requestId: string;
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
  /** When the request arrived, Unix milliseconds. */
  readonly now: number;
}

/** The answer that refuses a body as it was sent, otherwise null. */
export type RouteVerify = (request: SignedRequest, context: ApiContext) => Answer | null;

/** Everything about a route but its handler. */
interface RouteFacts<Q extends z.ZodType, B extends z.ZodType> {
  readonly method: Method;
  /** Template with `{name}` parts. */
  readonly path: string;
  readonly summary: string;
  /** Notes for callers; Markdown. */
  readonly description?: string;
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
}

/** A route that needs a key. */
export interface KeyedDefinition<Q extends z.ZodType, B extends z.ZodType>
  extends RouteFacts<Q, B> {
  readonly access: Extract<Access, { readonly scope: "own" | "named" }>;
  /** The 403 where the key lacks the permission; absent: `forbidden`. */
  readonly forbidden?: Forbidden;
  /** True where the account must be active. */
  readonly needsActiveMerchant?: boolean;
  /** Roles that are turned away whatever the key may do otherwise. */
  readonly closedTo?: readonly KeyRole[];
  readonly handler: (
    request: ApiRequest<z.output<Q>, z.output<B>>,
    context: ApiContext,
  ) => Answer | Promise<Answer>;
}

/** A route of administrators, or of them and others. */
export interface StaffDefinition<Q extends z.ZodType, B extends z.ZodType>
  extends RouteFacts<Q, B> {
  readonly access: Extract<Access, { readonly scope: "admin" | "reseller" | "acting" }>;
  /** True where a merchant's own account must be active. */
  readonly needsActiveMerchant?: boolean;
  /** Roles that are turned away whatever the key may do otherwise. */
  readonly closedTo?: readonly KeyRole[];
  readonly handler: (
    request: StaffRequest<z.output<Q>, z.output<B>>,
    context: ApiContext,
  ) => Answer | Promise<Answer>;
}

/** A route that anybody may call. */
export interface PublicDefinition<Q extends z.ZodType, B extends z.ZodType>
  extends RouteFacts<Q, B> {
  readonly handler: (
    request: PublicRequest<z.output<Q>, z.output<B>>,
    context: ApiContext,
  ) => Answer | Promise<Answer>;
}

/** A route of the table. */
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

function facts<Q extends z.ZodType, B extends z.ZodType>(definition: RouteFacts<Q, B>) {
  return {
    method: definition.method,
    path: definition.path,
    summary: definition.summary,
    description: definition.description ?? null,
    rateCategory: definition.rateCategory,
    query: definition.query ?? null,
    body: definition.body ?? null,
    verify: definition.verify ?? null,
    headers: definition.headers ?? [],
    responses: definition.responses,
    errors: definition.errors ?? [],
    problemPage: definition.problemPage ?? null,
    anyOrigin: definition.anyOrigin ?? false,
  };
}

/** Declares a route that needs a key. */
export function keyedRoute<Q extends z.ZodType, B extends z.ZodType>(
  definition: KeyedDefinition<Q, B>,
): Route {
  return {
    ...facts(definition),
    access: definition.access,
    forbidden: definition.forbidden ?? "forbidden",
    needsActiveMerchant: definition.needsActiveMerchant ?? false,
    closedTo: definition.closedTo ?? [],
    handler: (request, context) => {
      if (request.caller === null || request.merchantId === null) {
        throw new TypeError(`Cannot serve a route as nobody is known: ${definition.path}`);
      }
      // The application parsed query and body with this very definition's schemas.
      return definition.handler(request as ApiRequest<z.output<Q>, z.output<B>>, context);
    },
  };
}

/** Declares a route of administrators, or of them and others. */
export function staffRoute<Q extends z.ZodType, B extends z.ZodType>(
  definition: StaffDefinition<Q, B>,
): Route {
  return {
    ...facts(definition),
    access: definition.access,
    forbidden: "forbidden",
    needsActiveMerchant: definition.needsActiveMerchant ?? false,
    closedTo: definition.closedTo ?? [],
    handler: (request, context) => {
      if (request.caller === null) {
        throw new TypeError(`Cannot serve a route as nobody is known: ${definition.path}`);
      }
      return definition.handler(request as StaffRequest<z.output<Q>, z.output<B>>, context);
    },
  };
}

/** Declares a route that anybody may call. */
export function publicRoute<Q extends z.ZodType, B extends z.ZodType>(
  definition: PublicDefinition<Q, B>,
): Route {
  return {
    ...facts(definition),
    access: { scope: "public" },
    forbidden: "forbidden",
    needsActiveMerchant: false,
    closedTo: [],
    handler: (request, context) =>
      definition.handler(request as PublicRequest<z.output<Q>, z.output<B>>, context),
  };
}
