import { type Amount, fromTokenUnits } from "../../../ledger/money/amount.ts";
import type { Checkpoint } from "../../chain.ts";
import { weiAmount } from "../pay/envelope.ts";
import { methodData } from "../token_contracts.ts";
import { quantitySchema } from "./answers.ts";
import { callContract, readFinal, returnedInteger } from "./contract_call.ts";
import { type EvmSource, rpc } from "./source.ts";

/** A token's contract, and the decimals that it counts in. */
export interface TokenContract {
  readonly contract: string;
  readonly decimals: number;
}

/**
 * Final balance of an address, at the checkpoint where one is given.
 *
 * @param token null: the chain's own coin
 * @throws {ChainUnavailable} when no node can be read
 */
export async function readBalance(
  source: EvmSource,
  address: string,
  token: TokenContract | null,
  signal?: AbortSignal,
  checkpoint?: Checkpoint,
): Promise<Amount> {
  if (token === null) {
    const wei = await readFinal(
      source,
      (node, state, bound) => {
        const call = { method: "eth_getBalance", params: [address, state] };
        return rpc.ask(node, call, quantitySchema, bound);
      },
      signal,
      checkpoint,
    );
    return weiAmount(wei);
  }
  const { contract, decimals } = token;
  const data = methodData("balanceOf", address);
  const bytes = await readFinal(
    source,
    (node, state, bound) => callContract(node, contract, data, state, bound),
    signal,
    checkpoint,
  );
  return fromTokenUnits(returnedInteger(bytes, "a balance"), decimals);
}
