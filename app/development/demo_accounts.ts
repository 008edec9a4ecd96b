/**
 * Accounts that a first start in development provides: an administrator, a merchant and a reseller, with
 * their keys in a file that only its owner can read.
 *
 * @module
 */

import { z } from "zod";
import { newId } from "../../actors/runtime/ids.ts";
import { mintApiKey } from "../../api/http/key_ring.ts";
import { VERSION } from "../../api/http/version.ts";
import { SERVED_NETWORKS } from "../../chains/families.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { type DemoAccount, ensureDemoAccounts } from "../../ledger/demo_accounts.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { readSettings } from "../../ledger/settings.ts";
import { newWebhookSecret } from "../../webhooks/signature.ts";
import type { SecretBox } from "../../webhooks/secret_box.ts";
import type { Config } from "../config/config.ts";
import { readStored, store, UnusableFolder } from "../open/data_folder.ts";
import type { DevNode } from "./dev_node.ts";

const Chain = z.object({
  url: z.string(),
  usdt: z.string(),
  usdc: z.string().optional(),
  faucetAddress: z.string(),
});
const Credentials = z.object({
  baseUrl: z.string(),
  admin: z.object({ apiKey: z.string(), ingestSecret: z.string() }),
  merchant: z.object({
    id: z.string(),
    apiKey: z.string(),
    readOnlyKey: z.string(),
    webhookSecret: z.string(),
  }),
  reseller: z.object({
    id: z.string(),
    merchantId: z.string(),
    apiKey: z.string(),
    withdrawalAddress: z.string(),
    network: z.string(),
  }),
  chains: z.record(z.string(), Chain),
});

/** Content of `dev-credentials.json`. */
export type DevCredentials = z.infer<typeof Credentials>;

/** Name of the file in the data folder. */
const FILE = "dev-credentials.json";

/**
 * Makes (first start) or finds the demo accounts. The file is written before the rows, and the rows
 * are made from the file, so that a crash in between leaves nothing half done.
 */
export async function ensureDemo(
  sql: Sql,
  config: Config,
  devNodes: ReadonlyMap<Network, DevNode>,
  baseUrl: string,
  ingestSecret: string,
  secrets: SecretBox,
): Promise<DevCredentials> {
  const path = `${config.dataDir}/${FILE}`;
  const text = await readStored(path);
  const kept = text === null ? null : parseCredentials(text, path);
  const chains = Object.fromEntries(devNodes);
  const made = kept ?? mint(config, baseUrl, chains, ingestSecret);
  const admin = { ...made.admin, ingestSecret };
  const credentials = { ...made, admin, baseUrl, chains };
  const next = JSON.stringify(credentials, null, 2) + "\n";
  if (next !== text) await store(path, next);
  const accounts = accountsOf(credentials).map(async (account) =>
    account.kind === "merchant"
      ? { ...account, webhookSecret: await secrets.seal(account.webhookSecret, account.merchantId) }
      : account
  );
  await ensureDemoAccounts(sql, await Promise.all(accounts));
  return credentials;
}

function mint(
  config: Config,
  baseUrl: string,
  chains: DevCredentials["chains"],
  ingestSecret: string,
): DevCredentials {
  const network = shownNetwork(chains);
  return {
    baseUrl,
    admin: {
      apiKey: mintApiKey(config.environment),
      ingestSecret,
    },
    merchant: {
      id: newId("mer"),
      apiKey: mintApiKey(config.environment),
      readOnlyKey: mintApiKey(config.environment),
      webhookSecret: newWebhookSecret(),
    },
    reseller: {
      id: newId("rsl"),
      merchantId: newId("mer"),
      apiKey: mintApiKey(config.environment),
      // the faucet is the one address of the chain that is surely no wallet's and no customer's
      withdrawalAddress: chains[network]?.faucetAddress ?? "",
      network,
    },
    chains,
  };
}

/** The network that demonstrations are made on: the first of the development chains; without one, of those served. */
function shownNetwork(chains: DevCredentials["chains"]): string {
  return Object.keys(chains)[0] ?? SERVED_NETWORKS[0] ?? "";
}

function accountsOf(credentials: DevCredentials): readonly DemoAccount[] {
  const { admin, merchant, reseller } = credentials;
  return [
    {
      kind: "merchant",
      merchantId: merchant.id,
      name: "Demo Merchant",
      depositCommissionRate: "0.01",
      webhookSecret: merchant.webhookSecret,
    },
    {
      kind: "merchant",
      merchantId: reseller.merchantId,
      name: "Demo Reseller",
      depositCommissionRate: "0",
      webhookSecret: newWebhookSecret(),
    },
    {
      kind: "reseller",
      resellerId: reseller.id,
      merchantId: reseller.merchantId,
      name: "Demo Reseller",
      withdrawalAddress: reseller.withdrawalAddress,
      network: reseller.network,
    },
    {
      kind: "key",
      apiKey: admin.apiKey,
      merchantId: null,
      role: "ADMIN",
      permissions: ["read", "write", "payout", "admin:read", "admin:write"],
      label: "demo administrator",
    },
    {
      kind: "key",
      apiKey: merchant.apiKey,
      merchantId: merchant.id,
      role: "MERCHANT",
      permissions: ["read", "write", "payout"],
      label: "demo merchant",
    },
    {
      kind: "key",
      apiKey: merchant.readOnlyKey,
      merchantId: merchant.id,
      role: "MERCHANT",
      permissions: ["read"],
      label: "demo merchant, read only",
    },
    {
      kind: "key",
      apiKey: reseller.apiKey,
      merchantId: reseller.merchantId,
      role: "RESELLER",
      permissions: ["read", "write", "payout"],
      label: "demo reseller",
    },
  ];
}

/** Networks of which no pair takes deposits or pays out. */
export async function closedNetworks(
  sql: Sql,
  networks: Iterable<Network>,
): Promise<readonly Network[]> {
  const { pairs } = await readSettings(sql);
  const open = new Set(
    [...pairs.values()].filter((pair) => pair.depositsEnabled || pair.withdrawalsEnabled)
      .map(({ network }) => network),
  );
  return [...networks].filter((network) => !open.has(network));
}

/**
 * A text for first-time users: addresses of everything, and lines to paste.
 *
 * @param closed networks with a development chain on which nothing can be paid yet
 */
export function quickStart(
  credentials: DevCredentials,
  dataDir: string,
  closed: readonly string[],
): string {
  const { baseUrl, merchant, admin, chains } = credentials;
  const network = shownNetwork(chains);
  const chain = chains[network];
  const paying = chain === undefined
    ? `  # 2. pay it from a wallet of ${network}: there is no development chain`
    : `  # 2. pay it on the development chain (put the address in)
  curl -s ${chain.url}/dev/transfer -d '{"to":"<address>","amount":"100","currency":"USDT"}'`;
  const enabling = closed.map((name) =>
    `  # ${name} is not enabled yet\n` +
    `  deno task admin pairs set USDT/${name} --deposits on --withdrawals on\n`
  ).join("");
  const nodes = Object.entries(chains).map(([name, { url }]) => `  ${name.padEnd(12)}${url}`);
  return `
Ready: ${baseUrl}   (version ${VERSION}, development; credentials in ${dataDir}/dev-credentials.json)

  merchant    ${merchant.id}
  key         ${merchant.apiKey}
  read only   ${merchant.readOnlyKey}
  admin key   ${admin.apiKey}
${nodes.join("\n")}

Try it (needs curl):

${enabling === "" ? "" : `${enabling}\n`}  export KEY=${merchant.apiKey}

  # 1. a deposit address for your customer
  curl -s ${baseUrl}/api/deposit-address -H "Authorization: $KEY" -H 'Content-Type: application/json' \\
    -d '{"network":"${network}","identifier":"customer-1","referenceId":"order-1"}'

${paying}

  # 3. PENDING after about 1 s, CONFIRMED after about 4 s
  curl -s ${baseUrl}/api/deposits -H "Authorization: $KEY"
  curl -s "${baseUrl}/api/balance?currency=USDT&network=${network}" -H "Authorization: $KEY"

  # 4. pay 10 USDT out
  curl -s ${baseUrl}/api/withdrawals -H "Authorization: $KEY" -H 'Content-Type: application/json' \\
    -d '{"amount":"10","currency":"USDT","network":"${network}","destination":"${
    chain?.faucetAddress ?? "<address>"
  }","referenceId":"payout-1"}'
  curl -s ${baseUrl}/api/withdrawals -H "Authorization: $KEY"
`;
}

/**
 * The credentials that a first start in development wrote; `null` where there are none.
 *
 * @throws {UnusableFolder} where another version wrote them
 */
export async function readCredentials(dataDir: string): Promise<DevCredentials | null> {
  const path = `${dataDir}/${FILE}`;
  const text = await readStored(path);
  return text === null ? null : parseCredentials(text, path);
}

function parseCredentials(text: string, path: string): DevCredentials {
  try {
    return Credentials.parse(JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    throw new UnusableFolder(
      `Cannot use ${path} as it is not what this version writes; ` +
        "start the version that made the data folder, or another DATA_DIR",
      { cause: error },
    );
  }
}
