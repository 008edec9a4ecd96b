import type { Chain } from "./chain.ts";

/** A chain that can be checked before anything it says about money is believed. */
export interface Verifiable extends Chain {
  /** @throws when it cannot be checked now, or must not be used at all */
  verify(signal?: AbortSignal): Promise<void>;
}

/**
 * Puts a chain's check before everything it says or sends. A network whose nodes are away while the
 * service starts is checked when they come back, so that their absence stops nothing else.
 */
export function verifiedFirst(chain: Verifiable): Chain {
  let checking: Promise<void> | null = null;
  const verified = () =>
    checking ??= chain.verify().catch((error: unknown) => {
      checking = null;
      throw error;
    });
  return {
    network: chain.network,
    capabilities: chain.capabilities,
    hotWallet: chain.hotWallet,
    isAddress: (text) => chain.isAddress(text),
    addressOf: (eventAddress) => chain.addressOf(eventAddress),
    eventAddress: (address) => chain.eventAddress(address),
    transactionId: (text) => chain.transactionId(text),
    deriveAddress: (index) => chain.deriveAddress(index),
    envelope: (solid, fee) => chain.envelope(solid, fee),
    termsOf: (bytes, near) => chain.termsOf(bytes, near),
    head: async (signal) => {
      await verified();
      return await chain.head(signal);
    },
    solid: async (signal) => {
      await verified();
      return await chain.solid(signal);
    },
    block: async (height, finality, signal) => {
      await verified();
      return await chain.block(height, finality, signal);
    },
    blocks: async function* (from, to, finality, signal, checkpoint, continued) {
      await verified();
      yield* chain.blocks(from, to, finality, signal, checkpoint, continued);
    },
    transaction: async (txid, finality, signal, checkpoint) => {
      await verified();
      return await chain.transaction(txid, finality, signal, checkpoint);
    },
    estimateFee: async (transfer, signal) => {
      await verified();
      return await chain.estimateFee(transfer, signal);
    },
    balanceOf: async (address, asset, signal, checkpoint) => {
      await verified();
      return await chain.balanceOf(address, asset, signal, checkpoint);
    },
    tokenSwitches: async (currency, address, signal) => {
      await verified();
      return await chain.tokenSwitches(currency, address, signal);
    },
    gas: {
      means: async (transfer, signal) => {
        await verified();
        return await chain.gas.means(transfer, signal);
      },
      lendable: async (signal) => {
        await verified();
        return await chain.gas.lendable(signal);
      },
      lentTo: async (address, signal) => {
        await verified();
        return await chain.gas.lentTo(address, signal);
      },
    },
    // what was signed was signed for a checked chain; holding it back would only delay it
    broadcast: (signed, signal) => chain.broadcast(signed, signal),
  };
}
