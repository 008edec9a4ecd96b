import { parseArgs } from "node:util";
import { SERVED_NETWORKS } from "../../chains/families.ts";
import { PROFILES } from "../../chains/profiles.ts";
import type { Network } from "../../ledger/money/pair.ts";

/** Settings of a chain soak. */
export interface ChainSoakOptions {
  /** Amounts, troubles and their moments are drawn from it. */
  readonly seed: number;
  /** The network whose development chain it is; every other one is left alone. */
  readonly network: Network;
  /** Addresses that are issued and paid to; some are paid more than once. */
  readonly deposits: number;
  readonly payouts: number;
  /** Times that the service is killed (SIGKILL) and started again. */
  readonly kills: number;
  /** Times that the chain's node is. */
  readonly chainKills: number;
  /** Times that the program behind the chain's node is, on chains that have one. */
  readonly anvilKills: number;
  /** Times that PostgreSQL is. */
  readonly databaseKills: number;
  /** Times that another program uses the hot wallet's key, on chains whose senders number their transactions. */
  readonly strangers: number;
  readonly merchants: number;
  /** Customers, and merchants' systems, that are at work at the same time. */
  readonly workers: number;
  readonly blockMs: number;
  /** Bound of the time until nothing is in flight any more, once there is peace. */
  readonly peaceMs: number;
}

/** Settings of catching up with a node of a public provider. */
export interface PublicNodeOptions {
  /** Blocks that the service is behind, with a transfer in each. */
  readonly behind: number;
  /** Calls that the node answers within a second. */
  readonly perSecond: number;
  /** Time for which it answers nothing after one more. */
  readonly suspendSeconds: number;
  /** `<NETWORK>_CALLS_PER_SECOND` of the service. */
  readonly callsPerSecond: number;
}

export const USAGE = `deno task soak chain [options]
deno task soak chain --node public [options]: far behind a node with a limit per second
  --behind n          blocks, default 300
  --per-second n      calls that the node answers, default 15
  --suspend n         seconds of silence after more, default 30
  --calls-per-second n  that the service is set to, default 12
  --network name      one of ${SERVED_NETWORKS.join(", ")}; default TRX
  --seed n            repeats a run; drawn and printed when left out
  --deposits n        default 10000, each to an address of its own
  --payouts n         default 5000
  --kills n           of the service, default 10
  --chain-kills n     of the chain's node, default 3
  --database-kills n  of PostgreSQL, default 2
  --anvil-kills n     of anvil behind the node, default 3, of networks that have one
  --strangers n       transactions of the hot key that are not ours, default 2, of the same networks
  --block-ms n        time between two blocks, default 250
  --workers n         customers, and merchants' systems, at the same time, default 8`;

/**
 * Reads the command line of `--node public`; `null`: it asks for another kind of run.
 *
 * @throws {TypeError} when it cannot be read; the message says why
 */
export function parsePublicNode(args: readonly string[]): PublicNodeOptions | null {
  if (!args.includes("--node")) return null;
  const { values } = parseArgs({
    args: [...args],
    options: {
      "node": { type: "string" },
      "behind": { type: "string", default: "300" },
      "per-second": { type: "string", default: "15" },
      "suspend": { type: "string", default: "30" },
      "calls-per-second": { type: "string", default: "12" },
    },
  });
  if (values.node !== "public") {
    throw new TypeError(`Cannot use --node as it is not public: ${values.node}`);
  }
  return {
    behind: count("--behind", values.behind),
    perSecond: count("--per-second", values["per-second"]),
    suspendSeconds: count("--suspend", values.suspend),
    callsPerSecond: count("--calls-per-second", values["calls-per-second"]),
  };
}

/** The command line that repeats a run. */
export function commandOf(options: ChainSoakOptions): string {
  const { network, seed, deposits, payouts, kills, chainKills, databaseKills } = options;
  const { anvilKills, strangers, blockMs, workers } = options;
  return [
    `deno task soak chain --network ${network} --seed ${seed} --deposits ${deposits} --payouts ${payouts}`,
    `--kills ${kills} --chain-kills ${chainKills} --database-kills ${databaseKills}`,
    ...(PROFILES[network].family === "evm"
      ? [`--anvil-kills ${anvilKills} --strangers ${strangers}`]
      : []),
    `--block-ms ${blockMs} --workers ${workers}`,
  ].join(" ");
}

/**
 * Reads the command line.
 *
 * @throws {TypeError} when it cannot be read; the message says why
 */
export function parseOptions(args: readonly string[]): ChainSoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "seed": { type: "string" },
      "network": { type: "string", default: "TRX" },
      "deposits": { type: "string", default: "10000" },
      "payouts": { type: "string", default: "5000" },
      "kills": { type: "string", default: "10" },
      "chain-kills": { type: "string", default: "3" },
      "database-kills": { type: "string", default: "2" },
      "anvil-kills": { type: "string" },
      "strangers": { type: "string" },
      "block-ms": { type: "string", default: "250" },
      "workers": { type: "string", default: "8" },
    },
  });
  const network = networkOf(values.network);
  const isNumbered = PROFILES[network].family === "evm";
  const numbered = (name: "anvil-kills" | "strangers", usual: string) => {
    const given = values[name];
    if (isNumbered) return count(`--${name}`, given ?? usual);
    if (given === undefined) return 0;
    throw new TypeError(`Cannot use --${name} as the network has no such thing: ${network}`);
  };
  return {
    seed: values.seed === undefined ? Date.now() % 1_000_000 : count("--seed", values.seed),
    network,
    deposits: count("--deposits", values.deposits),
    payouts: count("--payouts", values.payouts),
    kills: count("--kills", values.kills),
    chainKills: count("--chain-kills", values["chain-kills"]),
    databaseKills: count("--database-kills", values["database-kills"]),
    anvilKills: numbered("anvil-kills", "3"),
    strangers: numbered("strangers", "2"),
    merchants: 20,
    workers: count("--workers", values.workers),
    blockMs: count("--block-ms", values["block-ms"]),
    // what a node did not answer for while others were answered for waits ten minutes at most
    peaceMs: 900_000,
  };
}

function networkOf(name: string): Network {
  const network = SERVED_NETWORKS.find((served) => served === name);
  if (network !== undefined) return network;
  throw new TypeError(`Cannot use --network as no family serves it: ${name}`);
}

function count(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) {
    throw new TypeError(`Cannot use ${name} as it is no whole number: ${text}`);
  }
  return Number(text);
}
