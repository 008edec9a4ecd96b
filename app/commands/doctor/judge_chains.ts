import { familyOf, SERVED_NETWORKS } from "../../../chains/families.ts";
import { PROFILES } from "../../../chains/profiles.ts";
import type { Config } from "../../config/config.ts";
import { CURRENCIES, type Network } from "../../../ledger/money/pair.ts";
import type { Facts, NodeFacts } from "./facts.ts";
import { rehearses } from "../../open/open_chains.ts";
import { byHand, type Finding, missing, ok, orWell, unknown } from "./finding.ts";

/** The networks that have nodes. */
export function openNetworks({ networks }: Pick<Config, "networks">): readonly Network[] {
  return SERVED_NETWORKS.filter((network) => networks[network].nodeUrls.length > 0);
}

/** Judges the nodes, and the address of the money that the hot wallet need not hold. */
export function judgeChains(
  facts: Pick<Facts, "nodes" | "wallet" | "database">,
  config: Config,
): readonly Finding[] {
  const networks = openNetworks(config);
  if (networks.length === 0) {
    return [
      missing("nodes", "no network has any", `${SERVED_NETWORKS[0]}_NODE_URLS=https://...`),
      unknown("contracts", "no network is open"),
      unknown("proof nodes", "no network is open"),
      unknown("cold wallet", "no network is open"),
    ];
  }
  const { genesis } = facts.database;
  const kept = genesis.ok ? genesis.value : new Map<Network, string>();
  const [own, proof] = [false, true].map((isProof) =>
    facts.nodes.filter(({ variable }) => variable.endsWith("PROOF_NODE_URLS") === isProof)
      .flatMap((node) => nodeFaults(node, kept, isProof, rehearses(config, node.network)))
  );
  const believed = networks.filter((network) =>
    config.networks[network].treasury.depositProofAbove === null
  );
  // where payouts are numbered none of them ever expires
  const unproven = networks.filter((network) =>
    config.networks[network].treasury.proof === null && PROFILES[network].defaults.attempts !== null
  );
  return [
    ...orWell(
      [...(own ?? []), ...networks.flatMap((one) => proofFaults(one, config))],
      "nodes",
      `all answer, of the right chain (${networks.join(", ")})`,
    ),
    ...orWell(
      networks.flatMap((network) => contractFaults(network, config)),
      "contracts",
      "those of the tokens' issuers",
    ),
    ...orWell(
      [
        ...(proof ?? []),
        ...unproven.map((network) =>
          byHand(
            "proof nodes",
            `${network}: its own nodes alone decide that a payout expired`,
            `${network}_PROOF_NODE_URLS=<nodes of another provider>`,
          )
        ),
        ...believed.map((network) =>
          byHand(
            "proof nodes",
            `${network}: the word of one node credits a deposit of any amount`,
            `${network}_DEPOSIT_PROOF_ABOVE=<amount>`,
          )
        ),
      ],
      "proof nodes",
      "all answer, of the right chain",
    ),
    ...orWell(
      networks.flatMap((network) => coldFaults(network, facts.wallet, config)),
      "cold wallet",
      "configured, with levels",
    ),
  ];
}

function nodeFaults(
  node: NodeFacts,
  kept: ReadonlyMap<Network, string>,
  isProof: boolean,
  isRehearsal: boolean,
): readonly Finding[] {
  const point = isProof ? "proof nodes" : "nodes";
  const { network, variable, label, genesis, isNumbered } = node;
  const found: Finding[] = [];
  if (!node.isEncrypted && !node.isThisMachine) {
    found.push(missing(
      point,
      `${label} is asked over plain http: anyone between can say what was paid`,
      `https:// in ${variable}`,
    ));
  }
  const unseen = [genesis, isNumbered].flatMap((one) => one.ok ? [] : [one.reason]);
  const [reason] = unseen;
  if (reason !== undefined || !genesis.ok || !isNumbered.ok) {
    found.push(missing(point, `${label}: ${reason}`, `start it, or take it out of ${variable}`));
  } else if (!isNumbered.value) {
    found.push(missing(
      point,
      `${label} is of another chain than ${network} (by its number)`,
      isRehearsal
        ? `a development chain of ${network}, or no REHEARSAL`
        : `a node of ${network} in ${variable}`,
    ));
  } else if (genesis.value === null) {
    found.push(byHand(point, `${label} does not serve the first block: its chain cannot be told`));
  } else if (!isRight(network, genesis.value, kept, isRehearsal)) {
    found.push(missing(
      point,
      `${label} is of another chain than ${network} (first block ${genesis.value})`,
      `a node of ${network} in ${variable}`,
    ));
  }
  return found;
}

function isRight(
  network: Network,
  found: string,
  kept: ReadonlyMap<Network, string>,
  isRehearsal: boolean,
): boolean {
  if (isRehearsal) return found === (kept.get(network) ?? found);
  return found === PROFILES[network].identity && found === (kept.get(network) ?? found);
}

/** Blocks that are believed without a proof are a way through a hard fork, for days. */
function proofFaults(network: Network, { networks }: Config): readonly Finding[] {
  const { receiptTypes } = networks[network];
  if (receiptTypes.length === 0) return [];
  const types = receiptTypes.join(", ");
  return [
    byHand(
      "nodes",
      `${network}: blocks with transactions of type ${types} are believed without a proof`,
      `a version that proves them, and ${network}_RECEIPT_TYPES taken out`,
    ),
  ];
}

/** An address in the one spelling that can be compared; a text that is none as it is. */
function spelt(network: Network, address: string): string {
  return familyOf(network).address(address) ?? address;
}

/** A token of another contract is credited as if it were the real one. */
function contractFaults(network: Network, config: Config): readonly Finding[] {
  const known = PROFILES[network].contracts;
  return CURRENCIES.flatMap((currency): readonly Finding[] => {
    const set = config.networks[network].contracts[currency];
    const issued = known[currency];
    const isIssued = set !== null && issued !== undefined &&
      spelt(network, set) === spelt(network, issued);
    if (set === null || isIssued) return [];
    const text = `${network}: ${currency} is ${set}`;
    if (rehearses(config, network)) {
      return [
        byHand("contracts", `${text}: in a rehearsal that of its chain, as dev-chain prints it`),
      ];
    }
    if (issued === undefined) {
      return [byHand("contracts", `${text}: compare it with what the issuer publishes`)];
    }
    const other = `${text}, not the issuer's contract`;
    const mend = `take ${network}_${currency}_CONTRACT out, of service and signer`;
    return config.environment === "production" && !PROFILES[network].names.isTest
      ? [missing("contracts", other, mend)]
      : [byHand("contracts", other, mend)];
  });
}

function coldFaults(
  network: Network,
  wallet: Facts["wallet"],
  config: Config,
): readonly Finding[] {
  const point = "cold wallet";
  const { coldAddress, treasury, contracts } = config.networks[network];
  const name = `${network}_COLD_ADDRESS`;
  const set = `${name}=<address>, for service and signer`;
  const fault = (text: string, mend = set) => [missing(point, text, mend)];
  if (coldAddress === null) {
    return fault(`${name} is not set: all money stays in the hot wallet`);
  }
  const cold = familyOf(network).address(coldAddress);
  if (cold === null) return fault(`${name} is no address of ${network}`);
  if (wallet.ok && wallet.value.wallet.networks[network]?.hotWallet === cold) {
    return fault(`${name} is the hot wallet`, "an address of keys that are not on these machines");
  }
  const known = PROFILES[network].contracts;
  const token = CURRENCIES.find((currency) => {
    const contract = contracts[currency] ?? known[currency];
    return contract !== undefined && cold === spelt(network, contract);
  });
  if (token !== undefined) {
    return fault(`${name} is the contract of ${token}: what is sent there is lost`);
  }
  // a token without a contract is not served
  const unlevelled = CURRENCIES.filter((currency) =>
    treasury.levels[currency] === null && (contracts[currency] ?? known[currency]) !== undefined
  );
  return unlevelled.flatMap((currency) =>
    fault(
      `${network}: no ${currency} is moved there, however much the hot wallet holds`,
      `${network}_${currency}_CEILING and ${network}_${currency}_TARGET`,
    )
  );
}

/** The points that a person confirms, as no program can see them. */
export function pointsByHand(): readonly Finding[] {
  return [
    byHand(
      "backups",
      "the words on paper in two places; the signer's file apart from its passphrase; the database with a restore that was tried; CALLBACK_SECRETS_KEY apart from the database",
    ),
    byHand(
      "signer's machine",
      "its clock is kept by NTP, its COLD_ADDRESS and contracts are those of the service, its state folder is kept over restarts",
    ),
    byHand(
      "alarms",
      "a person is woken when /readyz is not ok for five minutes, or answers nothing",
    ),
    byHand("audit", "deno task admin audit verify, and its head written down elsewhere"),
    byHand(
      "rehearsal",
      "a small deposit, its callback, a withdrawal and a settlement with two persons went through; payouts were paused and resumed",
    ),
  ];
}

/** Judges whether the service is ready. */
export function judgeService({ service }: Pick<Facts, "service">): readonly Finding[] {
  const { ready, url } = service;
  if (!ready.ok) {
    return [
      missing("readiness", `no service answers at ${url}: ${ready.reason}`, "deno task serve"),
    ];
  }
  const { status, reasons } = ready.value;
  if (status === "ok") return [ok("readiness", `${url}/readyz is ok`)];
  const mend = "docs/incidents.md has each reason; the log has more";
  return (reasons.length > 0 ? reasons : [status]).map((reason) =>
    missing("readiness", reason, mend)
  );
}
