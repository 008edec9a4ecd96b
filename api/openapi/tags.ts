/**
 * The groups of the API reference.
 *
 * @module
 */

export interface Tag {
  readonly name: string;
  readonly description: string;
  /** Paths that belong to it; the first group that matches counts. */
  readonly paths: RegExp;
}

/** Every group, in the order of the reference. */
export const TAGS: readonly Tag[] = [
  {
    name: "Withdrawals",
    description: "Payouts on chain, idempotent by `referenceId`",
    paths: /^\/api\/withdrawals/,
  },
  {
    name: "Deposit addresses",
    description: "One lasting address per end customer",
    paths: /^\/api\/deposit-address/,
  },
  {
    name: "Deposit URLs",
    description: "Hosted payment pages, valid for 15 minutes",
    paths: /^\/api\/deposit-url/,
  },
  {
    name: "Hosted page",
    description:
      "Endpoints that the customer's browser calls, with the session token and without a key",
    paths: /^\/(api\/deposit-page|deposit\/)/,
  },
  {
    name: "Deposits",
    description: "Money that came in",
    paths: /^\/api\/deposits/,
  },
  {
    name: "Balances and statement",
    description: "Balances of an account per (currency, network), and the entries behind them",
    paths: /^\/api\/(balance|transactions|exchange-rates)/,
  },
  {
    name: "Settlements",
    description: "Payouts to whitelisted addresses of the merchant's own",
    paths: /^\/api\/settlement/,
  },
  {
    name: "API keys",
    description:
      "Keys are shown once and stored as hashes. `read` reads, `deposit` makes deposit " +
      "addresses and payment pages and nothing else, `payout` pays out, `write` does everything but " +
      "reading. A key makes, replaces and ends only keys that it could have made",
    paths: /^\/api\/merchants\/\{merchantId\}\/api-keys/,
  },
  {
    name: "Webhook management",
    description: "Secrets, tests and deliveries of outbound events",
    paths: /^\/api\/(webhook-deliveries|merchants\/\{merchantId\}\/webhook)/,
  },
  {
    name: "Merchants",
    description: "Profiles, earnings and charges",
    paths: /^\/api\/(admin\/)?merchants/,
  },
  {
    name: "Resellers",
    description: "Reseller lines; for administrators and the reseller itself",
    paths: /^\/api\/resellers/,
  },
  {
    name: "Ingestion",
    description: "For trusted upstream systems; operator-only",
    paths: /^\/api\/webhook\//,
  },
  {
    name: "Administration",
    description: "For administrators' keys",
    paths: /^\/api\/admin/,
  },
  {
    name: "Reference",
    description: "This document",
    paths: /^\/api\/(docs|openapi)/,
  },
  {
    name: "Operation",
    description: "Health and measurements",
    paths: /^\/(healthz|readyz|metrics)$/,
  },
];

/**
 * The group of a path.
 *
 * @throws {TypeError} when no group wants it
 */
export function tagOf(path: string): string {
  const tag = TAGS.find(({ paths }) => paths.test(path));
  if (tag === undefined) throw new TypeError(`Cannot document a path as no group has it: ${path}`);
  return tag.name;
}
