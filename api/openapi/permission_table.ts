/**
 * The permission table of the documentation, made from the routes.
 *
 * @module
 */

import { DEFAULT_LIMITS } from "../http/rate_limits.ts";
import type { Access, Route } from "../http/route.ts";
import { tagOf, TAGS } from "./tags.ts";

const HEADER = `# Who may call what

Every route, made from the code by \`deno task permissions\`. A key needs one of the permissions that its
column names; an empty cell closes the route to such keys. Anybody calls a route whose two cells say \`no key\`.
\`admin:write\` includes every other \`admin:\` permission but \`admin:read\`; \`write\` includes \`deposit\`.

- **Merchant**: keys of a merchant's account (role MERCHANT or RESELLER), for that account alone.
- **Administrator**: keys of the role ADMIN. Without an account of their own they act for the merchant that the
  path or the body names.
- **Scope**: whose data a key reaches. \`own\`: its account's. \`path\`: its account's, which the path must name, or
  for an administrator any account's. \`body\`: its account's, or the one that an administrator's body names.
  \`line\`: that of the reseller in the path, which its account must be. \`all\`: everybody's.
- **Active**: whether the account must be ACTIVE; others answer 403 \`Merchant account is not active\`.
- **Closed to**: roles that are turned away, whatever their permissions.
- **Limit**: the category whose requests per minute count, and what they are counted for.

A request without a key answers 401 \`Authentication required\`, one with a key that is unknown, expired, revoked,
or used from elsewhere than its allow-list 401 \`Unauthorized\`, everything else that the table does not allow 403.
`;

const COLUMNS = [
  "Route",
  "Merchant",
  "Administrator",
  "Scope",
  "Active",
  "Closed to",
  "Limit",
] as const;

/** The Markdown of the table, a section per group of the API reference. */
export function permissionTable(routes: readonly Route[]): string {
  const sections = TAGS.flatMap(({ name }) => {
    const own = routes.filter(({ path }) => tagOf(path) === name);
    if (own.length === 0) return [];
    const head = [rowOf(COLUMNS), rowOf(COLUMNS.map(() => "---"))];
    return [`## ${name}\n\n${[...head, ...own.map(lineOf)].join("\n")}\n`];
  });
  return [HEADER, ...sections].join("\n");
}

function lineOf(route: Route): string {
  const { merchant, administrator, scope } = cellsOf(route.access);
  return rowOf([
    `\`${route.method} ${route.path}\``,
    merchant,
    administrator,
    scope,
    route.needsActiveMerchant ? "yes" : "",
    route.closedTo.join(", "),
    limitOf(route),
  ]);
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

interface AccessCells {
  readonly merchant: string;
  readonly administrator: string;
  readonly scope: string;
}

function cellsOf(access: Access): AccessCells {
  switch (access.scope) {
    case "public":
      return { merchant: "no key", administrator: "no key", scope: "" };
    case "own":
      return { merchant: codes(access.anyOf), administrator: "", scope: "own" };
    case "named":
      return { ...both(access), scope: "path" };
    case "acting":
      return { ...both(access), scope: "body" };
    case "reseller":
      return { ...both(access), scope: "line" };
    case "admin":
      return { merchant: "", administrator: codes(access.anyOf), scope: "all" };
    default: {
      const never: never = access;
      return never;
    }
  }
}

function both(
  { anyOf, adminAnyOf }: {
    readonly anyOf: readonly string[];
    readonly adminAnyOf: readonly string[];
  },
): Pick<AccessCells, "merchant" | "administrator"> {
  return { merchant: codes(anyOf), administrator: codes(adminAnyOf) };
}

function codes(permissions: readonly string[]): string {
  return permissions.map((permission) => `\`${permission}\``).join(" or ");
}

function limitOf({ rateCategory }: Route): string {
  if (rateCategory === "none") return "";
  const counted = rateCategory === "hosted"
    ? "session"
    : rateCategory === "public" || rateCategory === "health"
    ? "client address"
    : "key";
  return `${rateCategory}, ${DEFAULT_LIMITS[rateCategory]} per ${counted}`;
}
