import { tokenDecimals } from "../../ledger/money/pair.ts";
import type { Shown, ShownDeposit } from "./chain_audit.ts";
import type { ChainTransfer } from "../faults/support/chain_transfers.ts";
import type { SoakWorld } from "./chain_world.ts";
import { textOf, TOKEN, unitsOf } from "./units.ts";

const DOLLAR = TOKEN;
const ACTIVATION = TOKEN / 2n;

/** Result of the audit of deposits. */
export interface DepositAudit {
  readonly faults: readonly string[];
  /** Amounts that must have been credited, by merchant. */
  readonly credited: ReadonlyMap<string, bigint>;
  readonly figures: Readonly<Record<string, number>>;
}

/** Each transfer to an issued address is credited to its merchant exactly once, with exact fees. */
export function auditDeposits(
  { addresses, options }: SoakWorld,
  transfers: readonly ChainTransfer[],
  shown: readonly Shown[],
): DepositAudit {
  const faults: string[] = [];
  const credited = new Map<string, bigint>();
  const finest = TOKEN / 10n ** BigInt(tokenDecimals("USDT", options.network));
  const owners = new Map(addresses.map(({ address, merchant }) => [address, merchant]));
  const arrived = transfers.filter(({ to }) => owners.has(to));
  const open = new Map(shown.map(({ merchant, deposits }) => [
    merchant.id,
    Map.groupBy(
      deposits.filter(({ status }) => status === "CONFIRMED"),
      ({ metadata, amount }) => `${metadata.txHash} ${amount}`,
    ),
  ]));
  const byAddress = new Map<string, { transfer: ChainTransfer; deposit: ShownDeposit }[]>();
  for (const transfer of arrived) {
    const merchant = owners.get(transfer.to);
    if (merchant === undefined) continue;
    const key = `${transfer.txid} ${textOf(transfer.units)}`;
    const deposit = open.get(merchant.id)?.get(key)?.pop();
    if (deposit === undefined) {
      faults.push(`${key} to ${transfer.to} is on the chain and not credited to ${merchant.id}`);
      continue;
    }
    byAddress.set(transfer.to, [...byAddress.get(transfer.to) ?? [], { transfer, deposit }]);
  }
  for (const [merchantId, left] of open) {
    for (const { id, metadata } of [...left.values()].flat()) {
      faults.push(
        `deposit ${id} of ${merchantId} is credited without a transfer: ${metadata.txHash}`,
      );
    }
  }
  for (const [address, payments] of byAddress) {
    const merchant = owners.get(address);
    if (merchant === undefined) continue;
    // one activation per address, with whichever of its deposits came first
    let activations = payments.some(({ transfer }) => transfer.units >= DOLLAR) ? 1 : 0;
    for (const { transfer: { units }, deposit } of payments) {
      const exempt = units < DOLLAR;
      const commission = exempt ? 0n : halfUp(units, merchant.rate, finest);
      const activates = !exempt && activations > 0 && deposit.fee !== "0";
      if (activates) activations--;
      const fee = activates ? ACTIVATION : 0n;
      if (deposit.commission !== textOf(commission) || deposit.fee !== textOf(fee)) {
        faults.push(
          `deposit ${deposit.id} of ${
            textOf(units)
          } paid ${deposit.commission} and ${deposit.fee} ` +
            `instead of ${textOf(commission)} and ${textOf(fee)}`,
        );
      }
      credited.set(merchant.id, (credited.get(merchant.id) ?? 0n) + units - commission - fee);
    }
    if (activations > 0) faults.push(`${address} was not activated by any deposit`);
  }
  const onChain = new Set(transfers.map(({ txid }) => txid));
  const others = shown.flatMap(({ deposits }) =>
    deposits.filter(({ status }) => status !== "CONFIRMED")
  );
  for (const { id, status, metadata } of others) {
    if (status === "FAILED" && !onChain.has(metadata.txHash)) continue;
    faults.push(`deposit ${id} is ${status} although its transaction is ${metadata.txHash}`);
  }
  return {
    faults,
    credited,
    figures: {
      "addresses paid to": byAddress.size,
      "deposits credited": arrived.length,
      "deposits that vanished and failed": others.length,
    },
  };
}

/** `units x rate`, rounded half up to the finest amount of a token. */
function halfUp(units: bigint, rate: string, finest: bigint): bigint {
  const whole = TOKEN * finest;
  return (units * unitsOf(rate) * 2n + whole) / (2n * whole) * finest;
}
