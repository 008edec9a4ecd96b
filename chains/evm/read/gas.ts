/**
 * The needs of sweeps where a deposit address pays for its own: coin for one transaction of it.
 *
 * @module
 */

import { add, type Amount, ZERO } from "../../../ledger/money/amount.ts";
import type { GasPort, Movement, SweepCosts } from "../../fees.ts";
import { PLAIN_GAS } from "../pay/envelope.ts";
import { callOf, estimateGas } from "./estimate_fee.ts";
import { pricedWithin, readGasPrices } from "./fee_market.ts";
import { readBalance, type TokenContract } from "./read_balance.ts";
import type { EvmSource } from "./source.ts";

/**
 * Makes the port. Stake is unknown to these chains: there is none to delegate, and what an address needs is
 * coin.
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
      const token = tokenOf(currency);
      const call = callOf({ from, to, asset: currency, amount }, token);
      const [need, prices, coin] = await Promise.all([
        estimateGas(source, call, signal),
        readGasPrices(source, signal),
        readBalance(source, from, null, signal),
      ]);
      const fee = pricedWithin(need, prices, feeCap);
      const given = pricedWithin({ expected: PLAIN_GAS, limit: PLAIN_GAS }, prices, feeCap);
      const costByCoin = add(fee.fee, given.fee);
      return {
        isActive: true,
        coin,
        fee,
        cost: fee.fee,
        costAtMost: fee.limit,
        costDelegated: fee.limit,
        stakeNeeded: null,
        costByCoin,
        costByDelegation: costByCoin,
      };
    },
    delegatable: () => Promise.resolve(ZERO),
    delegatedTo: () => Promise.resolve(ZERO),
  };
}
