/**
 * Starts a development chain of an EVM network: a control proxy in front of anvil, with its whole state in
 * one folder.
 *
 * @module
 */

import { getAddress, isAddress } from "viem";
import {
  chainFolder,
  checkedHostname,
  type DevChain,
  type DevChainOptions,
  paceOf,
} from "../options.ts";
import { serveChain } from "../serve.ts";
import { EvmChain } from "./evm_chain.ts";
import { Faucet } from "./faucet.ts";
import { CONTRACTS } from "./genesis.ts";
import { answerControl } from "./http/control_api.ts";
import { Methods } from "./http/methods.ts";
import { RpcApi } from "./http/rpc_api.ts";
import { Keeper } from "./keeper.ts";
import { evmNetwork } from "./networks.ts";
import type { Hex } from "./rpc.ts";

/**
 * Starts a chain.
 *
 * @returns once it listens
 * @throws when the options are wrong, there is no anvil for this platform, the port is taken, or another
 *   process holds the folder
 */
export async function startEvmDevChain(options: DevChainOptions): Promise<DevChain> {
  const network = evmNetwork(options.network);
  const hostname = checkedHostname(options);
  const treasury = treasuryOf(options);
  const folder = chainFolder(options.dataDir, options.network);
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const pace = paceOf(options);
  const keeper = await Keeper.open({ name: options.network, network, folder, pace, treasury });
  const chain = new EvmChain(keeper);
  const faucet = new Faucet(chain, keeper.facts.identity.mnemonic, network.chainId);
  const stopped = new AbortController();
  const api = new RpcApi(new Methods(chain), chain.faults, stopped.signal);
  const controlled = { name: options.network, network, chain, faucet };
  try {
    const server = serveChain(
      { ...options, hostname },
      (request, url, peer) =>
        url.pathname.startsWith("/dev/")
          ? answerControl(controlled, request, url.pathname, peer)
          : api.answer(request),
      (error) => new Response(`internal error: ${error}`, { status: 500 }),
    );
    await chain.start(pace);
    let stopping: Promise<void> | undefined;
    const stop = async () => {
      stopped.abort();
      await server.stop();
      await chain.stop();
    };
    return {
      url: server.url,
      port: server.port,
      usdt: CONTRACTS.USDT,
      usdc: CONTRACTS.USDC,
      faucetAddress: faucet.account.address,
      stop: () => stopping ??= stop(),
    };
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

function treasuryOf({ treasury }: DevChainOptions): Hex | null {
  if (treasury === undefined) return null;
  if (isAddress(treasury, { strict: true })) return getAddress(treasury);
  throw new RangeError(`Cannot fund the treasury as its address is malformed: ${treasury}`);
}
