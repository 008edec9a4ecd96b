/**
 * Estimates the transaction with which the hot wallet collects from several addresses, and finds those that
 * have to authorise the delegate first (EIP-7702).
 *
 * @module
 */

import { ChainUnavailable } from "../../chain.ts";
import type { ChainNode } from "../../nodes/node.ts";
import type { RpcCall } from "../../nodes/json_rpc.ts";
import { delegatedCode, sweepData, type Swept } from "../pay/sweep_delegate.ts";
import { bytesSchema, quantitySchema, wholeSchema } from "./answers.ts";
import { withEmptied } from "./estimate_fee.ts";
import type { GasNeed } from "./fee_market.ts";
import { readFresh } from "./newest_heads.ts";
import { type EvmSource, quantityOf, rpc } from "./source.ts";

/** A sweep that is estimated. */
export interface SweepCall {
  readonly chainId: number;
  readonly hotWallet: string;
  readonly delegate: string;
  /** The token's contract. */
  readonly token: string;
  readonly swept: readonly Swept[];
}

/**
 * A well-formed signature of no key of the wallet: what an authorisation costs does not depend on whose it is,
 * and a node that estimates gets no signature that is of use.
 */
const NO_SIGNATURE = {
  yParity: "0x0",
  r: "0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
  s: "0x1",
};

/**
 * Gas of a sweep. Its limit has room for a hot wallet that is emptied before it runs, and no more: the estimate does not
 * know what is given back for addresses that are left without tokens.
 *
 * @throws {ChainUnavailable} `reverted` when it would fail as things stand, also while the delegate is not there
 */
export async function estimateSweep(
  source: EvmSource,
  call: SweepCall,
  signal?: AbortSignal,
): Promise<GasNeed> {
  return await readFresh(source, async (node, bound) => {
    const nonces = await noncesToAuthorize(node, call, bound);
    const gas = await rpc.ask(node, estimateCall(call, nonces), quantitySchema, bound);
    const authorize = [...nonces].map(([place, nonce]) => `${place}:${nonce}`).join(",");
    return { ...withEmptied(gas, gas), ...(authorize === "" ? {} : { authorize }) };
  }, signal);
}

function estimateCall(
  { chainId, hotWallet, delegate, token, swept }: SweepCall,
  nonces: ReadonlyMap<number, number>,
): RpcCall {
  const transaction = { from: hotWallet, to: delegate, data: sweepData(token, swept) };
  if (nonces.size === 0) return { method: "eth_estimateGas", params: [transaction] };
  const authorizationList = [...nonces.values()].map((nonce) => ({
    chainId: quantityOf(chainId),
    address: delegate,
    nonce: quantityOf(nonce),
    ...NO_SIGNATURE,
  }));
  // as if they had authorised it already: the signatures above are not theirs
  const code = delegatedCode(delegate);
  const overrides = Object.fromEntries(
    [...nonces.keys()].map((place) => [swept[place]?.from, { code }]),
  );
  return {
    method: "eth_estimateGas",
    params: [{ ...transaction, authorizationList }, "latest", overrides],
  };
}

/**
 * Nonces of the addresses that have not authorised the delegate, by their places.
 *
 * @throws {ChainUnavailable} `reverted` while the delegate is not there: a call of nothing succeeds and moves
 *   nothing
 */
async function noncesToAuthorize(
  node: ChainNode,
  { delegate, swept }: SweepCall,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const ask = (method: string, addresses: readonly string[]) =>
    addresses.map((address): RpcCall => ({ method, params: [address, "latest"] }));
  const addresses = swept.map(({ from }) => from);
  const [own, ...codes] = await rpc.askAll(
    node,
    ask("eth_getCode", [delegate, ...addresses]),
    bytesSchema,
    signal,
  );
  if (own instanceof ChainUnavailable) throw own;
  if (own === undefined || own === "0x") {
    throw new ChainUnavailable(
      "reverted",
      `Cannot sweep as the hot wallet's delegate is not there: ${delegate}`,
    );
  }
  const expected = delegatedCode(delegate);
  const places = codes.flatMap((code, place) => {
    if (code instanceof ChainUnavailable) throw code;
    return code.toLowerCase() === expected ? [] : [place];
  });
  if (places.length === 0) return new Map();
  const nonces = await rpc.askAll(
    node,
    ask("eth_getTransactionCount", addresses),
    wholeSchema,
    signal,
  );
  return new Map(places.map((place) => {
    const nonce = nonces[place];
    if (nonce instanceof ChainUnavailable) throw nonce;
    return [place, nonce ?? 0];
  }));
}
