import { Refused } from "../command.ts";
import { record, select } from "../table.ts";
import { type AdminVerb, type Fields, segment, verb } from "./client.ts";

const SECRET_ONCE = "\n\nThe webhook secret is shown this once.";
const KEY_ONCE = "\n\nThe key is shown this once.";

/** `balance=0,withdrawals=500` as the interface takes it. */
function limits(text: string | undefined): Fields {
  if (text === undefined) return {};
  const pairs = text.split(",").map((pair) => {
    const [name = "", most = ""] = pair.split("=");
    if (!/^(\d+|default)$/.test(most)) {
      throw new Refused(`Cannot read a limit as it is not <category>=<number>: ${pair}`);
    }
    return [name.trim(), most === "default" ? null : parseInt(most, 10)];
  });
  return { rateLimits: Object.fromEntries(pairs) };
}

/** The fields of a merchant that options set. */
function profile(options: Readonly<Record<string, string | undefined>>): Fields {
  return {
    name: options.name,
    status: options.status,
    depositCommissionRate: options["deposit-commission-rate"],
    directDepositFee: options["direct-deposit-fee"],
    ...limits(options.limit),
  };
}

const listOf = (text: string | undefined) => text?.split(",").map((part) => part.trim());

/** Path of the keys of an account; `admin` stands for the administrators. */
function keysOf(account: string | undefined): string {
  return account === "admin"
    ? "/api/admin/api-keys"
    : `/api/merchants/${segment(account)}/api-keys`;
}

const PROFILE = "[--name NAME] [--status ACTIVE|SUSPENDED|INACTIVE] " +
  "[--deposit-commission-rate 0.01] [--direct-deposit-fee 1] [--limit withdrawals=500,balance=0]";

/** Verbs for merchants with their keys, resellers and settlement addresses. */
export const ACCOUNT_VERBS: readonly AdminVerb[] = [
  verb(
    "merchants list [--status ACTIVE|SUSPENDED|INACTIVE] [--name PART]",
    "every merchant",
    async ({ client }, _, { status, name }) =>
      select(
        await client.list("/api/admin/merchants", "merchants", { status, name }),
        "id name status commission=depositCommissionRate reseller=resellerId created=createdAt",
      ),
  ),
  verb(
    "merchants show <id>",
    "a merchant's profile",
    ({ client }, [id]) => client.send("GET", `/api/merchants/${segment(id)}`),
  ),
  verb(
    `merchants create ${PROFILE}`,
    "a new merchant; it needs a --name",
    async ({ client }, _, options) =>
      record(await client.post("/api/admin/merchants", profile(options))) + SECRET_ONCE,
  ),
  verb(
    "merchants rotate-secret <id> [--overlap HOURS]",
    "a new webhook secret; the old one signs beside it for --overlap HOURS (0 to 168), 24 " +
      "where it is not given, and not at all where it cannot be read any more",
    async ({ client }, [id], { overlap }) => {
      if (overlap !== undefined && !/^\d{1,3}$/.test(overlap)) {
        throw new Refused(`Cannot read --overlap as it is no number of hours: ${overlap}`);
      }
      const path = `/api/merchants/${segment(id)}/webhook/rotate-secret`;
      const body = overlap === undefined ? {} : { overlapHours: Number(overlap) };
      return record(await client.post(path, body)) + SECRET_ONCE;
    },
  ),
  verb(
    `merchants set <id> ${PROFILE}`,
    "changes a profile; limits are per minute, 0: unlimited",
    ({ client }, [id], options) =>
      client.send("PATCH", `/api/merchants/${segment(id)}`, profile(options)),
  ),
  verb(
    "keys list <merchant-id|admin>",
    "the keys of a merchant, or of the administrators",
    async ({ client }, [account]) =>
      select(
        await client.rows(keysOf(account), "apiKeys"),
        "id label role permissions needsApproval expires=expiresAt used=lastUsedAt",
      ),
  ),
  verb(
    "keys create <merchant-id|admin> [--label NAME] [--permissions read,write,payout] " +
      "[--role RESELLER] [--expires 2027-01-01T00:00:00Z] [--ip 203.0.113.0/24,...]",
    "a new key",
    async ({ client }, [account], { label, role, expires, permissions, ip }) =>
      record(
        await client.post(keysOf(account), {
          label,
          role,
          expiresAt: expires,
          permissions: listOf(permissions) ?? [],
          ipAllowlist: listOf(ip),
        }),
      ) + KEY_ONCE,
  ),
  verb(
    "keys rotate <merchant-id|admin> <key-id> [--overlap-hours 24]",
    "a new key in the place of one, which ends after --overlap-hours (default 24)",
    async ({ client }, [account, key], { "overlap-hours": hours }) => {
      const body = hours === undefined ? {} : { overlapHours: Number(hours) };
      return record(await client.post(`${keysOf(account)}/${segment(key)}/rotate`, body)) +
        KEY_ONCE;
    },
  ),
  verb(
    "keys approve <merchant-id> <key-id>",
    "gives a key that needs approval its payout right; another administrator does it",
    ({ client }, [account, key]) => client.post(`${keysOf(account)}/${segment(key)}/approve`),
  ),
  verb(
    "keys revoke <merchant-id|admin> <key-id>",
    "ends a key at once",
    ({ client }, [account, key]) => client.send("DELETE", `${keysOf(account)}/${segment(key)}`),
  ),
  verb(
    "addresses list [--inactive] [--merchant ID]",
    "settlement addresses of all merchants",
    async ({ client }, _, { inactive, merchant }) => {
      const query = { merchantId: merchant, active: inactive === undefined ? undefined : "false" };
      const rows = await client.list(
        "/api/admin/settlement-addresses",
        "settlementAddresses",
        query,
      );
      return select(
        rows.map((row) => ({ ...row, active: row.active === true ? "yes" : "no" })),
        "id merchant=merchantId network address label active",
      );
    },
  ),
  ...(["activate", "deactivate"] as const).map((change) =>
    verb(
      `addresses ${change} <id>`,
      change === "activate" ? "lets a merchant settle to an address" : "closes it again",
      ({ client }, [id]) => client.post(`/api/admin/settlement-addresses/${segment(id)}/${change}`),
    )
  ),
  verb(
    "resellers list",
    "every reseller",
    ({ client }) => client.list("/api/resellers", "resellers"),
  ),
  verb(
    "resellers create [--name NAME] [--address WITHDRAWAL-ADDRESS] [--network TRX] [--merchant ID]",
    "a new reseller; it needs --name, --address and --network",
    ({ client }, _, { name, address, network, merchant }) =>
      client.post("/api/resellers", {
        name,
        withdrawalAddress: address,
        network,
        merchantId: merchant,
      }),
  ),
  verb(
    "resellers attach <merchant-id> [--reseller ID] [--margin 0.2] [--beneficiary merchant|reseller]",
    "gives a merchant a reseller; no --reseller detaches",
    ({ client }, [id], { reseller, margin, beneficiary }) =>
      client.send("PUT", `/api/merchants/${segment(id)}/reseller`, {
        resellerId: reseller ?? null,
        marginRate: margin,
        beneficiary,
      }),
  ),
];
