/**
 * The beginning of a new chain: keys of its own, the USDT contract, the faucet's money and script.
 *
 * @module
 */

import { newAccount, writeAccount } from "./account.ts";
import { contractAddress, type HexAddress } from "./address.ts";
import { makeHeader, NO_PARENT } from "./block.ts";
import { writeContract } from "./contract.ts";
import { Overlay } from "./overlay.ts";
import { SUN_PER_TRX } from "./parameters.ts";
import { renderBlock } from "./render.ts";
import { type ChainKey, keyOf, newKey } from "./signature.ts";
import type { Store } from "./store.ts";
import { setTokenBalance } from "./token.ts";

/** Keys and contracts of a chain, fixed when it was made. */
export interface Identity {
  readonly faucet: ChainKey;
  /** Produces the blocks. */
  readonly witness: ChainKey;
  readonly usdt: HexAddress;
  /** The faucet's script contract. */
  readonly script: HexAddress;
}

const FAUCET_TRX = 1_000_000_000n;
const FAUCET_USDT = 1_000_000_000n * 1_000_000n;

/** The stored identity, null in a new file. */
export function readIdentity(store: Store): Identity | null {
  const text = store.meta.get("identity");
  if (text === undefined) return null;
  const { faucet, witness, usdt, script } = JSON.parse(text);
  return { faucet: keyOf(faucet), witness: keyOf(witness), usdt, script };
}

/** Makes a new chain: its keys, its contracts and block 0. */
export function createChain(store: Store, now: number): Identity {
  const identity = newIdentity();
  const header = makeHeader(0, NO_PARENT, now, [], identity.witness);
  const state = new Overlay(store);
  writeGenesis(state, identity, now);
  store.transaction(() => {
    storeIdentity(store, identity);
    store.addBlock({
      block: { height: 0, id: header.id, parentId: NO_PARENT, time: now, txids: [], forced: [] },
      ...renderBlock(header, []),
      leavePool: [],
      changes: state.changes(),
    });
  });
  return identity;
}

function newIdentity(): Identity {
  const faucet = newKey();
  return {
    faucet,
    witness: newKey(),
    usdt: contractAddress("01".repeat(32), faucet.address),
    script: contractAddress("02".repeat(32), faucet.address),
  };
}

function storeIdentity(store: Store, identity: Identity): void {
  const { faucet, witness, usdt, script } = identity;
  const value = JSON.stringify({ faucet: faucet.secret, witness: witness.secret, usdt, script });
  store.take({ do: "meta", key: "identity", value });
}

function writeGenesis(state: Overlay, identity: Identity, time: number): void {
  writeAccount(state, identity.faucet.address, {
    ...newAccount(time),
    balance: FAUCET_TRX * SUN_PER_TRX,
  });
  writeContract(state, identity.usdt, {
    kind: "token",
    name: "Tether USD",
    symbol: "USDT",
    decimals: 6,
    supply: String(FAUCET_USDT),
    origin: identity.faucet.address,
    transferReturns: false,
    feeBasisPoints: 0,
  });
  setTokenBalance(state, identity.usdt, identity.faucet.address, FAUCET_USDT);
  writeContract(state, identity.script, { kind: "script", origin: identity.faucet.address });
}
