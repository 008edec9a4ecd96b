import { fromTokenUnits } from "../../../ledger/money/amount.ts";
import { type Currency, type Network, tokenDecimals } from "../../../ledger/money/pair.ts";
import type { NewestPlace } from "../../nodes/believed_nodes.ts";
import type { NodePool } from "../../nodes/node_pool.ts";
import { LongReads } from "./long_reads.ts";
import { NamedBlocks } from "./named_blocks.ts";
import { NewestHeads } from "./newest_heads.ts";
import type { EvmSource, FinalBlocks } from "./source.ts";

/** Nodes of a network, and what is known of it before they are asked. */
export interface SourceParts {
  readonly network: Network;
  readonly pool: NodePool;
  readonly finals: FinalBlocks;
  /** Contracts of its tokens. */
  readonly contracts: readonly (readonly [Currency, string])[];
  /** `0x` and 40 lower-case digits. */
  readonly hotWallet: string;
  /** Bound of one read over all nodes, milliseconds. */
  readonly totalTimeoutMs: number;
  readonly place: NewestPlace;
  /** Time between two blocks. */
  readonly blockMs: number;
  /** Types of transactions whose receipts are believed without their root. */
  readonly receiptTypes: readonly number[];
}

/** Makes the source that the reads of a network share. */
export function makeSource(parts: SourceParts): EvmSource {
  const { network, pool, finals, contracts, hotWallet, totalTimeoutMs, place, blockMs } = parts;
  const tokens = new Map(contracts.map(([currency, contract]) => {
    const unit = fromTokenUnits(1n, tokenDecimals(currency, network));
    return [contract.toLowerCase(), { currency, unit }];
  }));
  return {
    pool,
    finals,
    named: new NamedBlocks(),
    long: new LongReads({ tokens, totalTimeoutMs, nodes: pool.nodes.length }),
    heads: new NewestHeads(place, blockMs),
    context: {
      tokens,
      hotWallet,
      believed: new Set(parts.receiptTypes),
      mostAheadMs: place.mostAheadMs,
    },
  };
}
