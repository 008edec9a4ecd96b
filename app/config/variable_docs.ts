/**
 * The variables as documentation: what `.env.example` and docs/configuration.md are made of.
 *
 * @module
 */

import { z } from "zod";
import { type Network, SERVED_NETWORKS } from "../../ledger/money/pair.ts";
import { GENERAL, NETWORK } from "./config.ts";

/** One variable, for documentation. */
export interface VariableDoc {
  readonly name: string;
  /** The network it belongs to, null for the others. */
  readonly network: Network | null;
  readonly text: string;
  /** Value when it is not set, as it would be written; null: none. */
  readonly default: string | null;
}

/** Every variable the service takes, in the order of documentation. */
export function variableDocs(): readonly VariableDoc[] {
  return [
    ...docsOf(GENERAL.shape, null),
    ...SERVED_NETWORKS.flatMap((network) => docsOf(NETWORK.shape, network)),
  ];
}

function docsOf(shape: z.ZodRawShape, network: Network | null): VariableDoc[] {
  return Object.entries(shape).map(([key, schema]) => {
    const { data } = z.safeParse(schema, undefined);
    const fallback = data === undefined ? "" : String(data);
    return {
      name: network === null ? key : `${network}_${key}`,
      network,
      text: z.globalRegistry.get(schema)?.description ?? "",
      default: fallback === "" ? null : fallback,
    };
  });
}
