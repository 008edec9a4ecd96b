import type { Chain } from "../../chains/chain.ts";
import type { GasPort } from "../../chains/fees.ts";

/**
 * The same chain through a node that tells neither events of simulations nor switches of tokens: what
 * a token keeps is found out by its transaction alone.
 */
export function blindChain<C extends Chain>(chain: C): C {
  const { gas } = chain;
  return {
    ...chain,
    tokenSwitches: () =>
      Promise.resolve({ isPaused: false, keepsPart: false, successor: null, isBlocked: false }),
    estimateFee: async (...args) => {
      const { arrives: _, ...fee } = await chain.estimateFee(...args);
      return fee;
    },
    ...(gas === undefined ? {} : { gas: blindGas(gas) }),
  };
}

function blindGas(gas: GasPort): GasPort {
  return {
    ...gas,
    sweepCosts: async (...args) => {
      const costs = await gas.sweepCosts(...args);
      const { arrives: _, ...fee } = costs.fee;
      return { ...costs, fee };
    },
  };
}
