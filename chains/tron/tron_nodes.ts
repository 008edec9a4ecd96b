import type { NodeState } from "../chain.ts";
import type { CallMeter } from "./call_meter.ts";
import type { ChainIdentity } from "./chain_identity.ts";
import type { NodePool } from "./node_pool.ts";

/** The nodes of a network, as its composition root sees them. */
export interface TronNodes {
  /** In their configured order. */
  readonly states: readonly NodeState[];
  /** Counters of calls by node. */
  readonly meters: ReadonlyMap<string, CallMeter>;
  /** Id of the chain's first block, as nodes say or as was expected; null while nobody has said. */
  readonly genesis: string | null;
  /** Says which chain it is; nodes of another one are not believed from then on. */
  expect(genesis: string): void;
}

/** The nodes of a pool. */
export function nodesOf(pool: NodePool, identity: ChainIdentity): TronNodes {
  return {
    get states() {
      return pool.states;
    },
    meters: new Map(pool.nodes.map((node) => [node.label, node.meter])),
    get genesis() {
      return identity.genesis;
    },
    expect: (genesis) => {
      if (identity.genesis === genesis) return;
      identity.expect(genesis);
      pool.doubtAll();
    },
  };
}
