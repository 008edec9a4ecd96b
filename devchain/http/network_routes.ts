/** Routes about the network. @module */

import { CHAIN_PARAMETERS } from "../parameters.ts";
import type { Route } from "./route.ts";

/** Paths about the network. */
export const NETWORK_ROUTES: Readonly<Record<string, Route>> = {
  getchainparameters: {
    answer: () => ({ json: { chainParameter: CHAIN_PARAMETERS } }),
    solidity: false,
    get: true,
  },
};
