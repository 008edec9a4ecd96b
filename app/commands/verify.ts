// deno-lint-ignore-file no-console -- a command speaks to its operator on the terminal
/**
 * `deno task verify ETH [URL...]`: whether a network's nodes serve what the service needs of them. Asks
 * only; a network need not be served yet, so that its nodes can be chosen before.
 *
 * @module
 */

import { knownFamilyOf } from "../../chains/families.ts";
import type { NodeFinding } from "../../chains/family.ts";
import { labelOf } from "../../chains/nodes/node.ts";
import { PROFILES, type TokenContracts } from "../../chains/profiles.ts";
import { CURRENCIES, NETWORKS } from "../../ledger/money/pair.ts";
import { type Env, type Output, Refused } from "./command.ts";
import { table } from "./table.ts";

const USAGE = `Usage: deno task verify <network> [URL...]
  Without URLs, the nodes of <network>_NODE_URLS with the key of <network>_NODE_API_KEY.
  Contracts are those of <network>_USDT_CONTRACT and <network>_USDC_CONTRACT, else the published ones.`;
/** Bound of one request, and of the look at one node. */
const REQUEST_MS = 5_000;
const NODE_MS = 30_000;

/** Words for the verdicts. */
const SHOWN: Readonly<Record<NodeFinding["verdict"], string>> = {
  good: "ok",
  note: "-",
  bad: "MISSING",
};

/**
 * Looks at the nodes of a network.
 *
 * @returns the exit code: 0 all have what is needed, 1 one of them lacks something
 * @throws {Refused} when the line is not understood
 */
export async function verifyCommand(
  env: Env,
  [name = "", ...urls]: readonly string[],
  out: Output,
): Promise<number> {
  const network = NETWORKS.find((one) => one === name);
  if (network === undefined) throw new Refused(USAGE, 2);
  const inspect = knownFamilyOf(network)?.inspect;
  if (inspect === undefined) {
    throw new Refused(
      `Cannot look at nodes of ${network} as its kind of chain has no such look yet`,
    );
  }
  const nodes = urls.length > 0
    ? urls
    : (env[`${network}_NODE_URLS`] ?? "").split(",").map((url) => url.trim()).filter(Boolean);
  if (nodes.length === 0) throw new Refused(USAGE, 2);
  const contracts: TokenContracts = Object.fromEntries(CURRENCIES.flatMap((currency) => {
    const contract = env[`${network}_${currency}_CONTRACT`] ||
      PROFILES[network].contracts[currency];
    return contract === undefined ? [] : [[currency, contract]];
  }));
  let isGood = true;
  for (const url of nodes) {
    if (!URL.canParse(url)) throw new Refused("Cannot look at a node as its URL is malformed", 2);
    // the key is for the configured nodes: a candidate's owner is not to have it
    const apiKey = urls.length > 0 ? undefined : env[`${network}_NODE_API_KEY`];
    const node = { url, apiKey, requestTimeoutMs: REQUEST_MS };
    const findings = await inspect(node, { network, contracts }, AbortSignal.timeout(NODE_MS));
    // a path or credentials in a URL may be secret
    out.log(`${network} ${labelOf(new URL(url))}`);
    out.log(table(findings.map(({ what, verdict, found }) => ({
      "": SHOWN[verdict],
      what,
      found,
    }))));
    isGood &&= findings.every(({ verdict }) => verdict !== "bad");
  }
  return isGood ? 0 : 1;
}

if (import.meta.main) {
  try {
    Deno.exit(await verifyCommand(Deno.env.toObject(), Deno.args, console));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.error(error.message);
    Deno.exit(error.code);
  }
}
