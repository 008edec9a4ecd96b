/**
 * Writes the rows of a database with payments in every state, for the tests of later releases:
 * `deno task release-dump`. Run once for each release: what is kept
 * is not written over.
 *
 * @module
 */

import { VERSION } from "../../api/http/version.ts";
import { requireEnvironment } from "../../ledger/installation.ts";
import { HOT_WALLET, testApi } from "../support/api.ts";
import { booksFaults } from "../support/books.ts";
import { addWallet } from "../support/wallet_row.ts";
import {
  makeCallbacks,
  makeDeposits,
  makeOddPayouts,
  makeSettlements,
  makeWithdrawals,
} from "./make_payments.ts";
import { makeEventCounts, makeRest, makeSums } from "./make_rest.ts";
import { makeHolds, makeSweeps, makeUnknownSpends } from "./make_transfers.ts";
import { dumpRows } from "./rows.ts";
import { statesWithoutRow } from "./states.ts";

/** Makes the database and answers its rows, and the states that no row of it is in. */
export async function makeDump() {
  await using api = await testApi();
  await requireEnvironment(api.sql, "production");
  // the open hold is for the wallets that there are when it is found: not for that of TRX
  await addWallet(api.sql, "TRX_SHASTA", HOT_WALLET);
  await makeHolds(api);
  await addWallet(api.sql, "TRX", HOT_WALLET);
  for (
    const make of [
      makeCallbacks,
      makeEventCounts,
      // some that are not counted yet
      makeCallbacks,
      makeDeposits,
      makeWithdrawals,
      makeSums,
      makeSettlements,
      makeSweeps,
      makeUnknownSpends,
      makeRest,
      makeOddPayouts,
    ]
  ) {
    await make(api);
  }
  const faults = await booksFaults(api.sql);
  if (faults.length > 0) throw new Error(`Cannot keep a dump of wrong books: ${faults.join("; ")}`);
  return { text: await dumpRows(api.sql), without: await statesWithoutRow(api.sql) };
}

if (import.meta.main) {
  const { text, without } = await makeDump();
  const file = new URL(`./${VERSION}.sql`, import.meta.url);
  const head =
    `-- Rows of release ${VERSION}, made by "deno task release-dump". Kept as they are: do not edit.\n\n`;
  await Deno.writeTextFile(file, head + text, { createNew: true });
  const size = (await Deno.stat(file)).size;
  const lines = [`${file.pathname}: ${size} bytes`, ...without.map((state) => `no row: ${state}`)];
  await Deno.stdout.write(new TextEncoder().encode(lines.join("\n") + "\n"));
}
