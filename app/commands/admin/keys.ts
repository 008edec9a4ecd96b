import { z } from "zod";
import { Fields } from "./client.ts";
import { record, table } from "./table.ts";
import { given, type Verb } from "./verb.ts";

/** Where the keys of an account are; `admin` stands for the administrators. */
function pathOf(account: string | undefined): string {
  return account === "admin" ? "/api/admin/api-keys" : `/api/merchants/${account}/api-keys`;
}

const ONCE = "\n\nThe key is shown this once.";

/** What can be done with keys. */
export const KEY_VERBS: readonly Verb[] = [
  {
    name: "keys list",
    args: ["merchant-id|admin"],
    options: {},
    help: "the keys of a merchant, or of the administrators",
    run: async (client, [account]) => {
      const answer = await client.send("GET", pathOf(account));
      return table(
        z.array(Fields).parse(answer.apiKeys).map((key) => ({
          id: key.id,
          label: key.label,
          role: key.role,
          permissions: key.permissions,
          needsApproval: key.needsApproval,
          expires: key.expiresAt,
          used: key.lastUsedAt,
        })),
      );
    },
  },
  {
    name: "keys create",
    args: ["merchant-id|admin"],
    options: {
      label: { type: "string" },
      permissions: { type: "string" },
      role: { type: "string" },
      expires: { type: "string" },
      ip: { type: "string" },
    },
    help: "--label NAME --permissions read,write,payout [--role RESELLER] " +
      "[--expires 2027-01-01T00:00:00Z] [--ip 203.0.113.0/24,...]",
    run: async (client, [account], options) => {
      const { permissions, ip } = options;
      const list = (text: string | boolean | undefined) =>
        typeof text === "string" ? text.split(",").map((part) => part.trim()) : undefined;
      const made = await client.send("POST", pathOf(account), {
        ...given(options, { label: "label", role: "role", expiresAt: "expires" }),
        permissions: list(permissions) ?? [],
        ...(ip === undefined ? {} : { ipAllowlist: list(ip) }),
      });
      return record(made) + ONCE;
    },
  },
  {
    name: "keys rotate",
    args: ["merchant-id|admin", "key-id"],
    options: { "overlap-hours": { type: "string" } },
    help: "a new key in the place of one, which ends after --overlap-hours (default 24)",
    run: async (client, [account, keyId], options) => {
      const hours = options["overlap-hours"];
      const made = await client.send(
        "POST",
        `${pathOf(account)}/${keyId}/rotate`,
        typeof hours === "string" ? { overlapHours: Number(hours) } : {},
      );
      return record(made) + ONCE;
    },
  },
  {
    name: "keys approve",
    args: ["merchant-id", "key-id"],
    options: {},
    help: "gives a key that needs approval its payout right; another administrator does it",
    run: async (client, [account, keyId]) =>
      record(await client.send("POST", `${pathOf(account)}/${keyId}/approve`)),
  },
  {
    name: "keys revoke",
    args: ["merchant-id|admin", "key-id"],
    options: {},
    help: "ends a key at once",
    run: async (client, [account, keyId]) =>
      record(await client.send("DELETE", `${pathOf(account)}/${keyId}`)),
  },
];
