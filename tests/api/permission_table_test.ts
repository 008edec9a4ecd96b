import { assert, assertEquals } from "@std/assert";
import { createHmac } from "node:crypto";
import { mintApiKey } from "../../api/http/key_ring.ts";
import { permissionTable } from "../../api/openapi/permission_table.ts";
import { type KeyRole, PERMISSIONS } from "../../api/http/permission.ts";
import { ROUTES } from "../../api/routes.ts";
import { INGEST_SECRET, testApi } from "../support/api.ts";
import { SOMEWHERE } from "../support/books.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const COMMITTED = new URL("../../docs/permissions.md", import.meta.url);

/** A kind of key; `account` says whose it is, seen from the merchant that the path names. */
interface Kind {
  readonly name: string;
  readonly role: KeyRole;
  readonly permissions: readonly string[];
  readonly account: "named" | "other" | "suspended" | "none";
}

/** A line of the documentation, read as a person reads it. */
interface Line {
  readonly route: string;
  readonly merchant: readonly string[];
  readonly administrator: readonly string[];
  readonly isPublic: boolean;
  readonly scope: string;
  readonly needsActive: boolean;
  readonly closedTo: string;
}

const KINDS: readonly Kind[] = [
  ...PERMISSIONS.map((permission): Kind => ({
    name: `merchant, ${permission}`,
    role: "MERCHANT",
    permissions: [permission],
    account: "named",
  })),
  ...PERMISSIONS.map((permission): Kind => ({
    name: `administrator, ${permission}`,
    role: "ADMIN",
    permissions: [permission],
    account: "none",
  })),
  { name: "merchant, no permission", role: "MERCHANT", permissions: [], account: "named" },
  { name: "administrator, all", role: "ADMIN", permissions: PERMISSIONS, account: "none" },
  { name: "another merchant, all", role: "MERCHANT", permissions: PERMISSIONS, account: "other" },
  { name: "suspended, all", role: "MERCHANT", permissions: PERMISSIONS, account: "suspended" },
  { name: "reseller, all", role: "RESELLER", permissions: PERMISSIONS, account: "named" },
];

function linesOf(markdown: string): Line[] {
  return markdown.split("\n").filter((line) => line.startsWith("| `")).map((line) => {
    const [route = "", merchant = "", administrator = "", scope = "", active = "", closedTo = ""] =
      line.split("|").slice(1).map((cell) => cell.trim());
    const named = (cell: string) => cell.match(/[\w:-]+(?=`)/g) ?? [];
    return {
      route: route.replaceAll("`", ""),
      merchant: named(merchant),
      administrator: named(administrator),
      isPublic: merchant === "no key" && administrator === "no key",
      scope,
      needsActive: active === "yes",
      closedTo,
    };
  });
}

/** The status of the refusal that the documentation says, or null where the key gets past. */
function refusalOf(line: Line, kind: Kind): 403 | null {
  if (line.isPublic) return null;
  // as the text above the table says it
  const includes = (held: string, wanted: string) =>
    held === wanted || (held === "write" && wanted === "deposit") ||
    (held === "admin:write" && wanted.startsWith("admin:") && wanted !== "admin:read");
  const holds = (permissions: readonly string[]) =>
    permissions.some((wanted) => kind.permissions.some((held) => includes(held, wanted)));
  if (line.closedTo.split(", ").includes(kind.role)) return 403;
  if (kind.role === "ADMIN") return holds(line.administrator) ? null : 403;
  if (!holds(line.merchant)) return 403;
  if ((line.scope === "path" || line.scope === "line") && kind.account === "other") return 403;
  if (line.scope === "line" && kind.account === "suspended") return 403;
  return line.needsActive && kind.account === "suspended" ? 403 : null;
}

test("the documented permission table is the one that the routes make", async () => {
  assert(
    await Deno.readTextFile(COMMITTED) === `${permissionTable(ROUTES).trimEnd()}\n`,
    "docs/permissions.md is not up to date: run `deno task permissions` and review the difference",
  );
});

test("every kind of key gets past the checks of exactly the routes that the documentation says", async () => {
  // a minute per route, so that no limit is what turns a key away
  let now = Date.now();
  await using api = await testApi({ clock: () => now });
  const [named, other, suspended] = [
    await api.addMerchant(),
    await api.addMerchant(),
    await api.addMerchant(),
  ];
  await api.sql`
    UPDATE book.merchant SET status = 'SUSPENDED' WHERE merchant_id = ${suspended.id}`;
  await api.sql`
    INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network)
    VALUES ('rsl_line', ${named.id}, 'Line', ${SOMEWHERE}, 'TRX')`;
  const idOf = { named: named.id, other: other.id, suspended: suspended.id, none: null };
  const signed = createHmac("sha256", INGEST_SECRET).update("{}").digest("hex");
  const lines = linesOf(await Deno.readTextFile(COMMITTED));
  assertEquals(
    lines.map(({ route }) => route).toSorted(),
    ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  const differences: string[] = [];
  const readers = new Map<Kind, string>();
  for (const line of lines) {
    now += 60_000;
    const [method = "", template = ""] = line.route.split(" ");
    if (method !== "GET") {
      // an account has so many living keys at most
      await api.sql`UPDATE hub.api_key SET revoked_at = now() WHERE revoked_at IS NULL`;
      readers.clear();
    }
    const call = (key: string | null, account: Kind["account"]) =>
      api.call(
        method,
        template
          .replace("{merchantId}", account === "suspended" ? suspended.id : named.id)
          .replace("{resellerId}", "rsl_line").replaceAll(/\{\w+\}/g, "unknown"),
        {
          ...(key === null ? {} : { key }),
          ...(method === "GET" || method === "DELETE" ? {} : { body: {} }),
          headers: { "x-signature": signed, "x-timestamp": String(now) },
        },
      );
    const compare = (name: string, status: number, expected: number | null) => {
      const isRefused = status === 401 || status === 403;
      if (expected === null ? isRefused || status >= 500 : status !== expected) {
        differences.push(`${line.route}, ${name}: ${status}, documented: ${expected ?? "past"}`);
      }
    };
    compare("no key", (await call(null, "named")).status, line.isPublic ? null : 401);
    const unknown = await call(mintApiKey("development"), "named");
    compare("unknown key", unknown.status, line.isPublic ? null : 401);
    for (const kind of KINDS) {
      // what only reads leaves a key as it is; the other routes may change or end it
      const kept = method === "GET" ? readers.get(kind) : undefined;
      const key = kept ?? await api.addKey(idOf[kind.account], {
        role: kind.role,
        permissions: [...kind.permissions],
      });
      if (method === "GET") readers.set(kind, key);
      compare(kind.name, (await call(key, kind.account)).status, refusalOf(line, kind));
    }
  }
  assertEquals(differences, []);
});
