import type { Chain } from "../../chains/chain.ts";

/**
 * The same chain through a node that tells neither events of simulations nor switches of tokens: what
 * a token keeps is found out by its transaction alone.
 */
export function blindChain<C extends Chain>(chain: C): C {
  return {
    ...chain,
    tokenSwitches: () =>
      Promise.resolve({ isPaused: false, keepsPart: false, successor: null, isBlocked: false }),
    estimateFee: async (...args) => {
      const { arrives: _, ...fee } = await chain.estimateFee(...args);
      return fee;
    },
    gas: {
      ...chain.gas,
      sweepCosts: async (...args) => {
        const costs = await chain.gas.sweepCosts(...args);
        const { arrives: _, ...fee } = costs.fee;
        return { ...costs, fee };
      },
    },
  };
}
