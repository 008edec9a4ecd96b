import { newId } from "../../actors/runtime/ids.ts";
import { publicAddresses } from "../../chains/wallet/network_keys.ts";
import {
  closeLostPayments,
  listLostPayments,
  recoverAddresses,
} from "../../ledger/addresses/recover_addresses.ts";
import { ADDRESS_GAP } from "../../ledger/failover/history.ts";
import { formatAmount } from "../../ledger/money/amount.ts";
import { type Network, NETWORKS } from "../../ledger/money/pair.ts";
import { openConfiguredWallet, registerWallets } from "../open/open_wallet.ts";
import { configFor, withBooks } from "./books.ts";
import { type Env, Refused } from "./command.ts";
import { select, table } from "./table.ts";

const LARGEST_GAP = 1_000_000;
const MOST_SHOWN = 1_000;

/**
 * Jumps ahead of what an older copy of the database does not know, and watches the gap.
 *
 * @returns text to print
 * @throws {Refused} when the command or its settings are wrong
 */
export async function recover(
  env: Env,
  name: string | undefined,
  gapText: string | undefined,
): Promise<string> {
  const network = networkOf(name);
  const gap = gapText === undefined ? ADDRESS_GAP : parseInt(gapText, 10);
  if (!/^\d{1,7}$/.test(gapText ?? "1") || gap < 1 || gap > LARGEST_GAP) {
    throw new Refused(`Cannot recover as --gap is not a whole number from 1 to ${LARGEST_GAP}`);
  }
  const config = configFor("go on", env, 1);
  return await withBooks(config, async (sql) => {
    const wallet = await openConfiguredWallet(
      config,
      config.walletFile ?? `${config.dataDir}/wallet.json`,
    );
    const account = wallet.networks[network];
    if (account === undefined) {
      throw new Refused(`Cannot recover as the wallet has no account for it: ${network}`);
    }
    // a database of another wallet would be filled with addresses that are not its own
    await registerWallets(sql, wallet, [network]);
    const deposits = publicAddresses(network, account);
    const { nextIndex, lost, readTo } = await recoverAddresses(
      sql,
      network,
      gap,
      (index) => deposits.address(index),
      () => newId("adr"),
    );
    return `${network}: the next address has index ${nextIndex}; ${lost} addresses without a ` +
      `known owner are watched.\n` +
      (readTo === null
        ? "No block was read yet."
        : `The scan goes on from block ${readTo}. If the service has run since the copy was restored, or ` +
          `tables of different copies were put together, it has read blocks without these addresses: ` +
          `read them again from the copy's time on, while the hold is open,\n` +
          `  deno task admin rescan ${network} <from> ${readTo}`);
  });
}

/** Lists payments to addresses without a known owner. @returns text to print */
export async function showLost(env: Env): Promise<string> {
  return await withBooks(configFor("go on", env, 1), async (sql) => {
    const payments = await listLostPayments(sql, MOST_SHOWN);
    if (payments.length === 0) return "No payment waits.";
    const rows = payments.map((one) => ({ ...one, amount: formatAmount(one.amount) }));
    return table(select(rows, "network amount currency from to block=height txid"));
  });
}

/**
 * Takes a payment off the list.
 *
 * @throws {Refused} when no confirmed deposit by hand names its transaction and covers it
 */
export async function closeLost(
  env: Env,
  name: string | undefined,
  txid: string,
): Promise<string> {
  const network = networkOf(name);
  return await withBooks(configFor("go on", env, 1), async (sql) => {
    const count = await closeLostPayments(sql, network, txid);
    if (count > 0) return `${txid} is off the list.`;
    throw new Refused(
      `Cannot take it off the list as it is not on it, or no confirmed deposit by hand names it and is as large: ${txid}`,
    );
  });
}

function networkOf(name: string | undefined): Network {
  const network = NETWORKS.find((known) => known === name);
  if (network !== undefined) return network;
  throw new Refused(`Cannot go on as --network is none of ${NETWORKS.join(", ")}`);
}
