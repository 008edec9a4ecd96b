import { z } from "zod";
import { FIRST_NETWORKS, SERVED_NETWORKS } from "../../chains/families.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { partsOf, wholeNumber } from "./variables.ts";

/** Development chains as configured. */
export interface DevChainConfig {
  /** Networks that get one of their own in development. */
  readonly networks: readonly Network[];
  readonly blockMs: number;
  /** Blocks from its head back to its newest final block. */
  readonly solidLag: number;
}

/** Networks by name, or all that are served; one that no family serves is refused by its name. */
const devChains = z.string().transform((text, context) => {
  const names = partsOf(text);
  if (names.length === 1 && names[0] === "all") return [...SERVED_NETWORKS];
  const unserved = names.filter((name) => !SERVED_NETWORKS.some((network) => network === name));
  if (unserved.length > 0) {
    context.addIssue({
      code: "custom",
      message: `names what cannot be served: ${unserved.join(", ")}; served are ${
        SERVED_NETWORKS.join(", ")
      }`,
    });
  }
  return SERVED_NETWORKS.filter((network) => names.includes(network));
});

/** Variables of development chains. */
export const DEV_CHAIN = {
  DEV_CHAINS: devChains.default([...FIRST_NETWORKS]).describe(
    "networks that get a development chain of their own in development, separated by commas; all = every one that can be served",
  ),
  DEV_CHAIN_BLOCK_MS: wholeNumber(10, 600_000).default(1_000).describe(
    "milliseconds between blocks of the embedded development chain",
  ),
  DEV_CHAIN_SOLID_LAG: wholeNumber(1, 1_000).default(3).describe(
    "blocks between its head and its newest final block",
  ),
};

/** The development chains that the variables ask for. */
export function devChainOf(values: z.infer<z.ZodObject<typeof DEV_CHAIN>>): DevChainConfig {
  return {
    networks: values.DEV_CHAINS,
    blockMs: values.DEV_CHAIN_BLOCK_MS,
    solidLag: values.DEV_CHAIN_SOLID_LAG,
  };
}
