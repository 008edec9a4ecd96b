// deno-lint-ignore-file no-console -- a command speaks to its operator on the terminal
/**
 * `deno task dev-chain --network NAME --port 9090 --data DIR`: a development chain alone, until
 * SIGINT or SIGTERM.
 *
 * @module
 */

import { parseArgs } from "node:util";
import type { Network } from "../../ledger/money/pair.ts";
import { wholeNumber } from "./command.ts";
import { DEVELOPED_NETWORKS, developmentOf } from "../../chains/families.ts";
import type { NetworkChainOptions } from "../workers/worker_dev_chain.ts";

/** The network without another word. */
const [FIRST = ""] = DEVELOPED_NETWORKS;

const USAGE = `Usage: deno task dev-chain [options]
  --network NAME     one of ${DEVELOPED_NETWORKS.join(", ")}; default ${FIRST}
  --port PORT        default 9090; 0 lets the system choose
  --data DIR         default ./.data
  --block-ms MS      milliseconds between blocks, default 1000; 0 makes blocks only on demand
  --solid-lag N      blocks from the head back to the solid block, default 3
  --treasury ADDRESS gets 1,000,000 USDT and coin in the first block of a new chain`;

/**
 * Reads the command line.
 *
 * @throws {Error} with a message for the operator
 */
export function readOptions(args: readonly string[]): NetworkChainOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      network: { type: "string", default: FIRST },
      port: { type: "string", default: "9090" },
      data: { type: "string", default: "./.data" },
      "block-ms": { type: "string", default: "1000" },
      "solid-lag": { type: "string", default: "3" },
      treasury: { type: "string" },
    },
  });
  return {
    network: networkOf(values.network),
    port: wholeNumber("--port", values.port, 0, 65_535),
    dataDir: values.data,
    blockMs: wholeNumber("--block-ms", values["block-ms"], 0, 86_400_000),
    solidLag: wholeNumber("--solid-lag", values["solid-lag"], 0, 10_000),
    ...(values.treasury === undefined ? {} : { treasury: values.treasury }),
  };
}

/** @throws {Error} when there is no development chain of that name */
function networkOf(name: string): Network {
  const network = DEVELOPED_NETWORKS.find((served) => served === name);
  if (network !== undefined) return network;
  throw new Error(`--network has to be one of ${DEVELOPED_NETWORKS.join(", ")}: ${name}`);
}

if (import.meta.main) {
  let options: NetworkChainOptions;
  try {
    options = readOptions(Deno.args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error(USAGE);
    Deno.exit(2);
  }
  const chain = await developmentOf(options.network)?.start(options);
  if (chain === undefined) throw new Error(`There is no such chain: ${options.network}`);
  const stop = async () => {
    await chain.stop();
    Deno.exit(0);
  };
  // before its address is printed: a signal that comes right after it ends the chain in order, too
  Deno.addSignalListener("SIGINT", stop);
  Deno.addSignalListener("SIGTERM", stop);
  console.log(`${options.network} development chain: ${chain.url}`);
  console.log(`USDT contract: ${chain.usdt}`);
  if (chain.usdc !== undefined) console.log(`USDC contract: ${chain.usdc}`);
  console.log(`Faucet: ${chain.faucetAddress}`);
}
