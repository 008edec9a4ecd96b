/**
 * `deno task drill restore`: a backup under load, the loss of the server, the restore of the copy on an
 * empty one, and the way back to payouts as docs/operations.md has it. Nothing that was acknowledged before
 * the copy may be missing, and nothing may be paid twice, also what merchants ask for again. A drill in
 * which nothing was lost, repeated, matched or booked has shown nothing, and fails as well.
 *
 * @module
 */

import { z } from "zod";
import { wallet } from "../../app/commands/wallet.ts";
import { delay } from "../../ledger/database/delay.ts";
import { booksFaults } from "../support/books.ts";
import { guardCluster } from "../support/cluster_guard.ts";
import { startDebianPostgres } from "../support/debian_postgres.ts";
import { removeCluster } from "../support/remove_cluster.ts";
import { someAddress } from "../faults/support/chain_audit.ts";
import { eventually, type Installation, openInstallation } from "./installation.ts";
import { runPostgresProgram } from "./postgres_program.ts";
import {
  control,
  fund,
  type Order,
  paidTimes,
  paymentFaults,
  startLoad,
  withdraw,
} from "./payouts.ts";

/** Pause between two withdrawals of a client. */
const PAUSE_MS = 250;

const Failover = z.object({
  unknownSpends: z.array(z.object({
    txid: z.string(),
    status: z.string(),
    to: z.string(),
    candidates: z.array(z.object({ withdrawalId: z.string() })),
  })),
});

/**
 * Carries it out.
 *
 * @param say prints a step
 * @param seconds of load before the copy, and after it
 * @returns what was lost, doubled, wrong or not met with; empty where nothing was
 */
export async function drillRestore(
  say: (line: string) => void,
  seconds = 4,
): Promise<readonly string[]> {
  await using installation = await openInstallation();
  const { signer, env, signerEnv } = installation;
  await using disposed = new AsyncDisposableStack();
  const first = await installation.startService("service");
  await installation.signer.start(signerEnv);
  await fund(installation, first);
  say("running: server, signer, service; a merchant withdraws");

  const load = startLoad(installation, () => [first], PAUSE_MS);
  await delay(seconds * 1_000);
  const copiedFrom = performance.now();
  const copy = await baseBackup(installation);
  say(`pg_basebackup under load: ${Math.round(performance.now() - copiedFrom)} ms`);
  await delay(seconds * 1_000);
  const orders = [...await load.stop()];
  await paidSome(installation, orders, copiedFrom);
  const faults = load.failures.map((failure) => `before the loss: ${failure}`);
  await installation.database.stop();
  await first.stop();
  say(`lost the server; ${orders.length} withdrawals were acknowledged`);

  // as the section "After the restore of an older copy" has it, step by step
  expectDone(await signer.verb("pause", "restore"));
  const guard = await guardCluster(copy);
  disposed.defer(async () => {
    await guard.release();
    await removeCluster(copy, null);
  });
  installation.database = await startDebianPostgres(copy, {});
  disposed.defer(() => installation.database.stop());
  const print = { log: () => {}, error: say };
  const recover = ["recover", "--network", "TRX", "--gap", "100"];
  const recovered = await wallet(recover, env, () => Promise.resolve(""), print);
  if (recovered !== 0) throw new Error("Cannot go on as wallet recover was refused");
  const service = await installation.startService("service");
  await installation.admin(service, "failover", "declare", "--reason", "restore of the copy");
  const held = await installation.admin(service, "failover");
  if (!held.includes("fov_")) throw new Error(`Cannot go on as nothing is held:\n${held}`);
  expectDone(await signer.verb("resume"));
  say("restored, declared; payouts are held");

  await using sql = Object.assign(installation.connect(), {
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
    },
  });
  const rows = await sql<{ id: string }[]>`SELECT id FROM book.withdrawal`;
  const known = new Set(rows.map(({ id }) => id));
  const missing = orders.filter((order) => !known.has(order.withdrawalId));
  faults.push(
    ...missing.filter((order) => order.acknowledgedAt < copiedFrom)
      .map((order) => `${order.referenceId} was acknowledged before the copy and is lost`),
  );
  const before = await paidTimes(installation, orders);
  const wasPaid = (order: Order) => before.get(order) !== 0;
  say(
    `of them the copy lacks ${missing.length}, of which ${missing.filter(wasPaid).length} are paid`,
  );
  // the merchant asks for every second one again, and books the others
  const paidFirst = missing.toSorted((a, b) => Number(wasPaid(b)) - Number(wasPaid(a)));
  const repeated = await Promise.all(
    paidFirst.filter((_, index) => index % 2 === 0)
      .map(async (order) => [order, await withdraw(installation, service, order)] as const),
  );
  for (const [order, again] of repeated) {
    if (again === null) faults.push(`${order.referenceId} was refused when it was repeated`);
    else order.withdrawalId = again.withdrawalId;
  }
  const verdicts = await resolve(installation, service, orders);
  say(`unknown transfers: ${verdicts.match} matched, ${verdicts.book} booked; payouts are signed`);
  // all others may have been paid before: this one shows that payouts leave again
  const destination = someAddress();
  const fresh = await withdraw(installation, service, { referenceId: "afterwards", destination });
  if (fresh === null) faults.push("a withdrawal after the restore was refused");
  else orders.push(fresh);
  const repeats = new Set(repeated.map(([order]) => order));
  const unrepeated = missing.filter((order) => !repeats.has(order));
  for (const order of unrepeated.filter(wasPaid)) {
    let why = "it is paid again";
    await withdraw(installation, service, order, (refusal) => why = refusal);
    if (why.includes(" 409 ")) continue;
    faults.push(`${order.referenceId} was booked and asked for again: ${why}`);
  }
  faults.push(...metFaults({
    "withdrawals that the copy has": known.size,
    "lost ones that were paid, and asked for again": [...repeats].filter(wasPaid).length,
    "lost ones that were paid, and not asked for again": unrepeated.filter(wasPaid).length,
  }, verdicts));
  // what was lost unpaid and not asked for again is gone, as the merchant knows
  const gone = unrepeated.filter((order) => !wasPaid(order));
  const expected = orders.filter((order) => !gone.includes(order));
  let waiting = "";
  await eventually("the last payouts", async () => {
    // a clock that was turned forward stands until the time has come; what has to expire waits for it
    await control(installation, "mine", { blocks: 1, intervalMs: 3_000 });
    waiting = JSON.stringify(
      await sql`
      SELECT w.id, w.status, o.status AS payout, o.reason FROM book.withdrawal w
      JOIN book.outgoing o ON o.id = w.outgoing_id WHERE w.status NOT IN ('CONFIRMED', 'FAILED')`,
    );
    const [open] =
      await sql`SELECT FROM book.withdrawal WHERE status NOT IN ('CONFIRMED', 'FAILED')`;
    return open === undefined;
  }).catch((error: unknown) => {
    throw new Error(`${error instanceof Error ? error.message : error}: ${waiting}`);
  });
  faults.push(
    ...await paymentFaults(installation, expected),
    ...await paymentFaults(installation, gone, 0),
    ...await booksFaults(sql),
  );
  const compared = await installation.admin(service, "reports");
  const report = await installation.admin(service, "reconcile").catch(String);
  if (!report.includes("No difference")) faults.push(`reconcile: ${report}\n${compared}`);
  await service.stop();
  say(`${expected.length} withdrawals are to be paid once each; ${faults.length} faults`);
  return faults;
}

/**
 * Faults where a drill did not meet what it is for, or did not give the verdicts that this asks for.
 *
 * @param met number of withdrawals by what happened to them: of those that were lost and paid, the ones
 * asked for again have to be matched, the others booked
 */
export function metFaults(
  met: Readonly<
    Record<
      | "withdrawals that the copy has"
      | "lost ones that were paid, and asked for again"
      | "lost ones that were paid, and not asked for again",
      number
    >
  >,
  verdicts: { readonly match: number; readonly book: number },
): readonly string[] {
  const faults = Object.entries(met).filter(([, count]) => count === 0)
    .map(([what]) => `nothing is shown about ${what}, as there were none: give it more --seconds`);
  const repeated = met["lost ones that were paid, and asked for again"];
  const others = met["lost ones that were paid, and not asked for again"];
  // the copy's own payouts may be matched as well, where the service has not found them by itself
  if (verdicts.match < repeated) {
    faults.push(`${repeated} were to be matched, and ${verdicts.match} were`);
  }
  if (verdicts.book !== others) {
    faults.push(`${others} were to be booked, and ${verdicts.book} were`);
  }
  return faults;
}

/** A copy of the running server's files, with what its start needs beside them. Answers its folder. */
async function baseBackup({ database, folder }: Installation): Promise<string> {
  const copy = `${folder}/postgres-2`;
  await Deno.mkdir(copy, { mode: 0o755 });
  const { username, password, port } = new URL(database.url);
  await runPostgresProgram("pg_basebackup", [
    "--host=127.0.0.1",
    `--port=${port}`,
    `--username=${username}`,
    "--no-password",
    "--checkpoint=fast",
    "--wal-method=stream",
    `--pgdata=${copy}/postgres`,
  ], { PGPASSWORD: decodeURIComponent(password) });
  const { uid, gid } = await Deno.stat(database.folder);
  await runPostgresProgram("chown", ["-R", `${uid}:${gid}`, `${copy}/postgres`], {});
  // restored at the same address: service and signer find it with the variables that they have
  for (const file of ["postgres-password", "postgres-port"]) {
    await Deno.copyFile(`${folder}/postgres-1/${file}`, `${copy}/${file}`);
  }
  return copy;
}

function expectDone({ code, printed }: { readonly code: number; readonly printed: string }): void {
  if (code !== 0) throw new Error(`Cannot go on: ${printed}`);
}

/** Waits until some of what the copy lacks was paid: that is what could be paid twice. */
async function paidSome(
  installation: Installation,
  orders: readonly Order[],
  since: number,
): Promise<void> {
  const later = orders.filter(({ acknowledgedAt }) => acknowledgedAt > since);
  await eventually("payouts after the copy", async () => {
    const paid = [...(await paidTimes(installation, later)).values()];
    return paid.filter((times) => times > 0).length >= Math.ceil(later.length / 2);
  });
}

/** Gives every unknown transfer its verdict, until payouts are signed. */
async function resolve(
  installation: Installation,
  service: Awaited<ReturnType<Installation["startService"]>>,
  orders: readonly Order[],
) {
  // each order has a payee of its own: by it the merchant is asked for the reference of what was lost
  const references = new Map(orders.map((order) => [order.destination, order.referenceId]));
  const verdicts = { match: 0, book: 0 };
  const { merchant, admin } = installation.credentials;
  await eventually("payouts are signed", async () => {
    // the hold lasts until the last signature has expired: the chain's clock is turned forward instead
    await control(installation, "mine", { blocks: 4, intervalMs: 5_000 });
    const answer = await fetch(`${service.url}/api/admin/failover`, {
      headers: { authorization: admin.apiKey },
    });
    const { unknownSpends } = Failover.parse(await answer.json());
    const open = unknownSpends.filter(({ status }) => status === "open");
    for (const { txid, to, candidates } of open) {
      const [candidate] = candidates;
      const verdict = candidate === undefined ? "book" : "match";
      const terms = candidate === undefined
        ? [merchant.id, "--reference", references.get(to) ?? ""]
        : [candidate.withdrawalId];
      const done = await installation.admin(service, "failover", verdict, txid, ...terms)
        .catch((error: Error) => error);
      // found by the service meanwhile, or a candidate is signed and has to expire first: looked at again
      if (done instanceof Error && /: 40[49] /.test(done.message)) continue;
      if (done instanceof Error) throw done;
      verdicts[verdict]++;
    }
    return (await installation.admin(service, "failover")).includes("Nothing here stops payouts.");
  });
  return verdicts;
}
