/**
 * The needs of sweeps where a deposit address pays for its own: coin for one transaction of it.
 *
 * @module
 */

import { add, type Amount, min, ZERO } from "../../../ledger/money/amount.ts";
import { ChainUnavailable } from "../../chain.ts";
import type { GasPort, Movement, SweepCosts } from "../../fees.ts";
import { PLAIN_GAS, weiAmount } from "../pay/envelope.ts";
import { isDelegated } from "../pay/sweep_delegate.ts";
import { bytesSchema } from "./answers.ts";
import { callOf, estimateGas } from "./estimate_fee.ts";
import { type GasNeed, pricedWithin, readGasPrices } from "./fee_market.ts";
import { readFresh } from "./newest_heads.ts";
import { readBalance, type TokenContract } from "./read_balance.ts";
import { type EvmSource, rpc } from "./source.ts";

/** A base fee rises by an eighth from one block to the next at most: by so much what is enough is above what is asked. */
const RISE_NUMERATOR = 9n;
const RISE_DENOMINATOR = 8n;

/**
 * Makes the port. Stake is unknown to these chains: there is none to delegate, and what an address needs is
 * coin. Nodes want all that a transaction may cost to be there, so that one whose address has less than it was to
 * be given offers less; it is given more only where that is less than what blocks ask for.
 *
 * @param feeCap the most that one transaction may cost
 * @param tokenOf the contract of a movement's asset
 */
export function evmGasPort(
  source: EvmSource,
  feeCap: Amount,
  tokenOf: (asset: Movement["asset"]) => TokenContract | null,
): GasPort {
  return {
    async sweepCosts({ from, to, currency, amount }, signal): Promise<SweepCosts> {
      await refuseDelegated(source, from, signal);
      const token = tokenOf(currency);
      const call = callOf({ from, to, asset: currency, amount }, token);
      const [need, prices, coin] = await Promise.all([
        estimateGas(source, call, signal).then(withoutRoom),
        readGasPrices(source, signal),
        readBalance(source, from, null, signal),
      ]);
      const wanted = pricedWithin(need, prices, feeCap);
      const wei = need.limit * (prices.base + prices.tip);
      const cost = weiAmount(wei);
      const enough = min(
        weiAmount((wei * RISE_NUMERATOR + RISE_DENOMINATOR - 1n) / RISE_DENOMINATOR),
        wanted.limit,
      );
      const fee = coin < cost ? wanted : pricedWithin(need, prices, min(feeCap, coin));
      const given = pricedWithin({ expected: PLAIN_GAS, limit: PLAIN_GAS }, prices, feeCap);
      const costByCoin = add(wanted.fee, given.fee);
      return {
        isActive: true,
        coin,
        fee,
        cost,
        enough,
        costAtMost: wanted.limit,
        costDelegated: wanted.limit,
        stakeNeeded: null,
        costByCoin,
        costByDelegation: costByCoin,
      };
    },
    delegatable: () => Promise.resolve(ZERO),
    delegatedTo: () => Promise.resolve(ZERO),
  };
}

/**
 * The need without the room for a receiver that is emptied: that is the hot wallet, which a payout would have to take to
 * nothing in that moment. Coin for it would lie at every address, one of which would be swept again.
 */
function withoutRoom({ expected, limit, least = limit }: GasNeed): GasNeed {
  return { expected, limit: least };
}

/**
 * An address that has authorised a contract counts that as a nonce of its own, which no lane of it knows, and takes
 * no coin for the gas of a plain transfer: it stays with the hot wallet's sweeps.
 *
 * @throws {ChainUnavailable} `reverted` where it has
 */
async function refuseDelegated(
  source: EvmSource,
  address: string,
  signal?: AbortSignal,
): Promise<void> {
  const call = { method: "eth_getCode", params: [address, "latest"] };
  const code = await readFresh(
    source,
    (node, bound) => rpc.ask(node, call, bytesSchema, bound),
    signal,
  );
  if (!isDelegated(code)) return;
  throw new ChainUnavailable(
    "reverted",
    `Cannot sweep as the address has authorised a contract, by which the hot wallet sweeps it: ${address}`,
  );
}
