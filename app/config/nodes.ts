/**
 * The variables of a network's nodes.
 *
 * @module
 */

import ipaddr from "ipaddr.js";
import { z } from "zod";
import { Secret } from "./secret.ts";
import { listOf, nodeUrl, trimmed, wholeNumber } from "./variables.ts";

/** Nodes of one network. */
export interface NodesConfig {
  /** Base URLs of nodes, in the order they are tried; empty: the network is off (or embedded). */
  readonly nodeUrls: readonly string[];
  readonly nodeApiKey: Secret | null;
  /** Calls that each node's provider allows per day (UTC); null: nothing bounds them. */
  readonly dailyCalls: number | null;
  /** Calls per second to each node, 0 without a bound; null: by where the node is. */
  readonly callsPerSecond: number | null;
  /** Types of transactions whose receipts are believed without their root, as this version does not know their layout. */
  readonly receiptTypes: readonly number[];
}

/** A type of transactions (EIP-2718) whose receipts this version does not know. */
const typeOfTransaction = z.string().refine(
  (text) => /^\d{1,3}$/.test(text) && Number(text) > 4 && Number(text) < 128,
  "is no list of whole numbers from 5 to 127",
);

/** The variables; each name follows the network's symbol and an underscore. */
export const NODES = {
  NODE_URLS: listOf(nodeUrl).default([]).describe(
    "node base URLs, separated by commas, tried in this order",
  ),
  NODE_API_KEY: z.string().transform((text) => new Secret(text)).optional().describe(
    "API key, sent as a header to every node of the list that is asked by https: where they are of several providers, write each one's key into its URL instead",
  ),
  DAILY_CALLS: wholeNumber(1_000, 999_999_999).optional().describe(
    "calls that each node's provider allows per day (UTC), 100000 on a free plan of TronGrid; the scan slows down to make them last. Without it nothing bounds them",
  ),
  CALLS_PER_SECOND: wholeNumber(0, 100_000).optional().describe(
    "calls per second to each node, 0 = no bound; less than its provider allows where other programs use the same key. Without it 12 for nodes on the internet (public providers allow 15 and then suspend for half a minute), no bound on this machine and private networks",
  ),
  RECEIPT_TYPES: listOf(typeOfTransaction).default([]).describe(
    "types of transactions, separated by commas, whose receipts are believed without their proof: a way to go on where an upgrade of the chain brings a type whose receipts this version cannot prove. A block is as good as its node's word then, as the type is too; take it out with the next version",
  ),
};

/** The nodes that the variables name. */
export function nodesOf(values: z.infer<z.ZodObject<typeof NODES>>): NodesConfig {
  return {
    nodeUrls: values.NODE_URLS.map(trimmed),
    nodeApiKey: values.NODE_API_KEY ?? null,
    dailyCalls: values.DAILY_CALLS ?? null,
    callsPerSecond: values.CALLS_PER_SECOND ?? null,
    receiptTypes: values.RECEIPT_TYPES.map(Number),
  };
}

/**
 * True where the chain of a network may be a development chain: those are on this machine or a private network. Real nodes
 * are also used in development, where nothing may differ from what they will do for money.
 */
export function mayBeDevelopment(environment: string, nodeUrls: readonly string[]): boolean {
  return environment === "development" &&
    nodeUrls.every((url) => isPrivate(new URL(url).hostname));
}

/** True if a host is this machine or on a private network. */
function isPrivate(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (ipaddr.isValid(host)) return ipaddr.parse(host).range() !== "unicast";
  return !host.includes(".") || /\.(local|localhost|internal|lan|home\.arpa)$/.test(host);
}
