import type { Chain } from "../../chains/chain.ts";
import type { Sql } from "../../ledger/database/connect.ts";
import { paperSigner } from "./paper_chain.ts";
import type { TreasuryDeps } from "../../actors/treasury/treasury_deps.ts";

/** Dependencies of a treasury node of its own, on a chain of paper. */
export function nodeOf(sql: Sql, chain: Chain, replaced: Partial<TreasuryDeps> = {}): TreasuryDeps {
  return {
    sql,
    chains: new Map([[chain.network, chain]]),
    signer: paperSigner(),
    now: Date.now,
    node: "node",
    leaseMs: 60_000,
    resendMs: 60_000,
    attemptLimit: 3,
    wakeMerchants: () => {},
    onLook: () => {},
    onLiquidity: () => {},
    onSignerState: () => {},
    ...replaced,
  };
}
