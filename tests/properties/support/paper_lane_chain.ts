import { amountOf } from "../../../ledger/money/amount.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { CountingChain } from "./counting_chain.ts";
import { countingSigner } from "./counting_signer.ts";
import type { LaneChain } from "./lane_chain.ts";

const FIRST_NONCE = 3;

/** The chain on paper, whose signatures are paper as well. */
export function paperLaneChain(network: Network, draw: () => number): LaneChain {
  const chain = new CountingChain(network, FIRST_NONCE, draw);
  return {
    port: chain.port,
    firstNonce: FIRST_NONCE,
    firstHeight: 1,
    shares: true,
    receiver: (number) => `customer-${number}`,
    intend: (id, intended) => chain.intended.set(id, intended),
    signer: (sql) => countingSigner(sql, network),
    calm: () => {
      chain.isCalm = true;
    },
    jump: (base) => Promise.resolve(chain.jump(base)),
    evict: () => Promise.resolve(chain.evict()),
    reorganise: () => Promise.resolve(chain.reorganise()),
    mine: () => Promise.resolve(chain.mine()),
    solidHeight: () => Promise.resolve(chain.solidHeight),
    block: (height) => Promise.resolve(chain.block(height)),
    seen: () => Promise.resolve(chain.seen),
    landed: () =>
      Promise.resolve(chain.solid.map((one) => ({
        nonce: one.nonce,
        txid: one.txid,
        fee: amountOf(String(one.price)),
        moved: chain.fails(one) ? [] : one.pays,
      }))),
  };
}
