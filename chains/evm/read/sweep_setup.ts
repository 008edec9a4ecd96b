/**
 * The contract by which the hot wallet sweeps: whether it is there, and what creating it takes.
 *
 * @module
 */

import { ChainUnavailable } from "../../chain.ts";
import { creationData, DEPLOYER } from "../pay/sweep_delegate.ts";
import { bytesSchema } from "./answers.ts";
import { readFinal } from "./contract_call.ts";
import { estimateGas } from "./estimate_fee.ts";
import type { GasNeed } from "./fee_market.ts";
import { readFresh } from "./newest_heads.ts";
import { type EvmSource, rpc } from "./source.ts";

/**
 * See `Chain.missingSetup`. Asked of final blocks: a call of a contract that is not there succeeds, and moves nothing.
 *
 * @throws {ChainUnavailable} when no node can be read
 */
export async function missingDelegate(
  source: EvmSource,
  delegate: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const code = await readFinal(
    source,
    (node, state, bound) =>
      rpc.ask(node, { method: "eth_getCode", params: [delegate, state] }, bytesSchema, bound),
    signal,
  );
  return code === "0x" ? [delegate] : [];
}

/**
 * Gas of the transaction that creates the contract.
 *
 * @throws {ChainUnavailable} `reverted` when it would fail as things stand, also where the chain lacks the contract
 *   that creates others: a call of that would succeed, and create nothing
 */
export async function estimateCreation(
  source: EvmSource,
  hotWallet: string,
  signal?: AbortSignal,
): Promise<GasNeed> {
  const call = { method: "eth_getCode", params: [DEPLOYER, "latest"] };
  const deployer = await readFresh(
    source,
    (node, bound) => rpc.ask(node, call, bytesSchema, bound),
    signal,
  );
  if (deployer === "0x") {
    throw new ChainUnavailable(
      "reverted",
      `Cannot create the sweeps' contract as the chain has no deployer: ${DEPLOYER}`,
    );
  }
  const data = creationData(hotWallet);
  return await estimateGas(source, { from: hotWallet, to: DEPLOYER, value: 0n, data }, signal);
}
