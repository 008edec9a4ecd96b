/**
 * `deno task drill upgrade`: a database of the last release is carried over by this version and compared, then
 * served: payouts that were under way are paid once each beside new ones. With `--backup FILE` it is an
 * operator's own database, which is carried over and compared and never served: its payouts are real.
 *
 * @module
 */

import { dirname } from "node:path";
import { networkFingerprint, openPublicWallet } from "../../chains/wallet/public_wallet.ts";
import { connect, type Sql } from "../../ledger/database/connect.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { delay } from "../../ledger/database/delay.ts";
import { booksFaults } from "../support/books.ts";
import { debianBinaries, type TestServer } from "../support/debian_postgres.ts";
import { carryOver, loadLastRelease, timed } from "./carry_over.ts";
import { eventually, type Installation, openInstallation, openServer } from "./installation.ts";
import { fund, paidTimes, paymentFaults, startLoad } from "./payouts.ts";
import { programAddress, runPostgresProgram } from "./postgres_program.ts";

/** Pause between two withdrawals of a client. */
const PAUSE_MS = 250;

/**
 * Carries it out.
 *
 * @param say prints a step
 * @param options `seconds` of load on the new version; `backup`: a file of `pg_dump --format=custom`
 * @returns what has changed, is missing, or was not paid once; empty where nothing was
 */
export async function drillUpgrade(
  say: (line: string) => void,
  { seconds = 4, backup }: { readonly seconds?: number; readonly backup?: string } = {},
): Promise<readonly string[]> {
  if (backup !== undefined) return await carryOverBackup(backup, say);
  await using installation = await openInstallation();
  await using sql = closing(installation.connect());
  await timed(say, async () => [`kept rows of release ${await loadLastRelease(sql)}`, null]);
  const changed = await carryOver(sql, say);
  return changed.length > 0 ? changed : await serve(installation, sql, say, seconds);
}

/** Restores an operator's database on an empty server of its own, and carries it over there. */
async function carryOverBackup(
  file: string,
  say: (line: string) => void,
): Promise<readonly string[]> {
  await using server = await openServer();
  await timed(say, async () => {
    await restore(server, file);
    return [`restored ${file}`, null];
  });
  // a statement that adds up a large table takes as long as it takes
  const options = { max: 2, applicationName: "drill", statementTimeoutMs: 0 };
  await using sql = closing(connect(server.url, options));
  return await carryOver(sql, say);
}

function closing(sql: Sql): Sql & AsyncDisposable {
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }) });
}

async function restore(database: Pick<TestServer, "url">, file: string): Promise<void> {
  const { url, env } = programAddress(database);
  const program = `${dirname(debianBinaries().initdb)}/pg_restore`;
  const args = ["--no-owner", "--no-privileges", "--exit-on-error", `--dbname=${url}`, file];
  await runPostgresProgram(program, args, env);
}

/** Starts this version on the kept rows: what was under way is paid, and so is what is asked for now. */
async function serve(
  installation: Installation,
  sql: Sql,
  say: (line: string) => void,
  seconds: number,
): Promise<readonly string[]> {
  await moveToDrill(installation, sql);
  const waiting = await sql<{ id: string; destination: string }[]>`
    SELECT w.id, o.destination FROM book.outgoing o
    JOIN book.withdrawal w ON w.outgoing_id = o.id AND w.merchant_id = o.merchant_id
    WHERE o.status IN ('queued', 'signed') AND o.amount <= 500`;
  const service = await timed(say, async () => {
    const started = await installation.startService("service");
    return ["this version is ready", started];
  });
  await installation.signer.start(installation.signerEnv);
  await fund(installation, service);
  const load = startLoad(installation, () => [service], PAUSE_MS);
  await delay(seconds * 1_000);
  const orders = [...await load.stop()];
  const faults = [...load.failures];
  const ids = [...waiting.map(({ id }) => id), ...orders.map(({ withdrawalId }) => withdrawalId)];
  await timed(say, async () => {
    let open: unknown = null;
    await eventually("the last payouts", async () => {
      const rows = await sql`
        SELECT w.id, w.status, o.status AS payout, o.reason FROM book.withdrawal w
        JOIN book.outgoing o ON o.id = w.outgoing_id AND o.merchant_id = w.merchant_id
        WHERE w.id = ANY (${ids}) AND w.status <> 'CONFIRMED'`;
      open = rows;
      return rows.length === 0;
    }).catch((error: unknown) => {
      throw new Error(`${error instanceof Error ? error.message : error}: ${JSON.stringify(open)}`);
    });
    return [
      `paid: ${waiting.length} that were under way, ${orders.length} that were asked for now`,
      null,
    ];
  });
  faults.push(...metFaults(waiting.length, orders.length));
  // all payouts of the kept rows have the same destination
  const earlier = waiting.map(({ id: withdrawalId, destination }) => ({
    referenceId: withdrawalId,
    destination,
    withdrawalId,
    acknowledgedAt: 0,
  }));
  const [first] = earlier;
  const times = first === undefined ? 0 : (await paidTimes(installation, [first])).get(first) ?? 0;
  if (times !== earlier.length) {
    faults.push(`${earlier.length} payouts were under way, and the chain has ${times} of them`);
  }
  faults.push(...await paymentFaults(installation, orders), ...await booksFaults(sql));
  await service.stop();
  return faults;
}

/** Faults where a drill has shown nothing. */
export function metFaults(underWay: number, asked: number): readonly string[] {
  return [
    ...underWay > 0 ? [] : ["nothing is shown about payouts under way, as there were none"],
    ...asked > 0 ? [] : ["nothing is shown about new payouts, as there were none: more --seconds"],
  ];
}

/**
 * Kept rows name a wallet without keys, and a chain that is gone: the rows that say so get the
 * drill's own. All others stay as the release has left them.
 */
async function moveToDrill({ env }: Installation, sql: Sql): Promise<void> {
  const wallet = await openPublicWallet(env.WALLET_FILE ?? "");
  await sql.begin(async (tx) => {
    // what is written once is written anew, as by the restore that brought the rows here
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`UPDATE hub.installation SET environment = 'development'`;
    for (const [network, account] of Object.entries(wallet.networks)) {
      await tx`
        UPDATE hub.wallet SET wallet_id = ${wallet.walletId}, hot_wallet = ${account.hotWallet},
          fingerprint = ${networkFingerprint(wallet, network as Network)}, attested_at = NULL
        WHERE network = ${network}`;
    }
    await tx`DELETE FROM hub.chain`;
    await tx`DELETE FROM hub.cursor`;
    await tx`DELETE FROM hub.unreadable_block`;
  });
}
