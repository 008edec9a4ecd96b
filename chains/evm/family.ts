/**
 * Ethereum and BNB Smart Chain as a family of chains.
 *
 * @module
 */

import type { Family } from "../family.ts";
import { addressOfPublicKey, evmAddress } from "./address.ts";
import { chainIdOf } from "./chain_id.ts";
import { EVM_DEVELOPMENT } from "./development.ts";
import { evmTransactionId } from "./transaction_id.ts";

/** See {@linkcode Family}. */
export const EVM: Family = {
  name: "evm",
  development: EVM_DEVELOPMENT,
  address: evmAddress,
  transactionId: evmTransactionId,
  encodeAddress: addressOfPublicKey,
  async load() {
    await import("./evm_chain.ts");
  },
  async open({ making, ...options }) {
    const { createEvmChain } = await import("./evm_chain.ts");
    return createEvmChain({ ...options, ...making });
  },
  async builder({ isDevelopment, isRehearsal = false, ...options }) {
    const { createEvmTransferBuilder } = await import("./pay/transfer_builder.ts");
    const chainId = chainIdOf(options.network, isDevelopment || isRehearsal);
    return createEvmTransferBuilder({ ...options, chainId });
  },
  async identityOf(node, signal) {
    const { firstBlockOf } = await import("./evm_chain.ts");
    return await firstBlockOf(node, signal);
  },
  async isOf(node, { network, isDevelopment }, signal) {
    const { hasChainId } = await import("./evm_chain.ts");
    return await hasChainId(node, chainIdOf(network, isDevelopment), signal);
  },
  async inspect(node, network, signal) {
    const { nodeOf } = await import("./evm_chain.ts");
    const { inspectNode } = await import("./read/inspect_node.ts");
    return await inspectNode(nodeOf(node), network, signal);
  },
};
