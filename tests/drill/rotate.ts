/**
 * `deno task drill rotate`: every secret of docs/operations.md, "Rotate a secret", is replaced while a merchant
 * withdraws through two services that are restarted in turns. No request may be refused, every
 * withdrawal is paid once, each new secret works, and each old one has ended.
 *
 * @module
 */

import { z } from "zod";
import { wallet } from "../../app/commands/wallet.ts";
import { exportMnemonic } from "../../chains/wallet/unlock_wallet.ts";
import { connect } from "../../ledger/database/connect.ts";
import { booksFaults } from "../support/books.ts";
import { openCallbacks } from "./callbacks.ts";
import {
  eventually,
  fetchStatus,
  type Installation,
  openInstallation,
  PASSPHRASE,
  randomSecret,
  type ServiceProcess,
} from "./installation.ts";
import { fund, paymentFaults, startLoad } from "./payouts.ts";
import { type Proofs, secretFaults, SECRETS } from "./secrets.ts";

/** Pause between two withdrawals of a client. */
const PAUSE_MS = 250;

const Keys = z.object({
  apiKeys: z.array(z.object({ id: z.string(), permissions: z.array(z.string()) })),
});

/**
 * Carries it out.
 *
 * @param say prints a step
 * @param small true: one round of restarts alone, without the key of the callback secrets
 * @returns what was interrupted, or did not end; empty where nothing was
 */
export async function drillRotate(
  say: (line: string) => void,
  small = false,
): Promise<readonly string[]> {
  await using installation = await openInstallation();
  const { signer, env, signerEnv } = installation;
  const proofs: Proofs = new Map();
  const faults: string[] = [];
  let services: readonly ServiceProcess[] = [await installation.startService("one")];
  await signer.start(signerEnv);
  services = [...services, await installation.startService("two")];
  const one = () => {
    const [service] = services;
    if (service === undefined) throw new Error("Cannot go on without a service");
    return service;
  };
  await fund(installation, one());
  await using callbacks = await openCallbacks(installation, one());
  const load = startLoad(installation, () => services, PAUSE_MS);
  say("running: server, signer, two services; a merchant withdraws");
  const rolling = async () => {
    for (const [index, name] of ["one", "two"].entries()) {
      const leaving = services[index];
      const code = await leaving?.stop();
      if (code !== 0) faults.push(`service ${name} ended with ${code}`);
      const next = await installation.startService(name);
      services = services.map((service) => service === leaving ? next : service);
    }
  };

  try {
    for (const account of ["admin", "merchant"] as const) {
      proofs.set(`key of the ${account}`, await rotateKey(installation, one(), account));
    }
    say("keys: replaced, worked beside the old ones, which are revoked");

    const { merchant } = installation.credentials;
    const rotated = async (hours: string) => {
      const line = ["merchants", "rotate-secret", merchant.id, "--overlap", hours];
      return /whsec_\S+/.exec(await installation.admin(one(), ...line))?.[0] ?? "";
    };
    const second = await rotated("1");
    const signers = await callbacks.signers(one(), [merchant.webhookSecret, second]);
    if (signers.length < 2) faults.push("a callback was not signed with both secrets");
    const third = await rotated("0");
    const last = await callbacks.signers(one(), [merchant.webhookSecret, second, third]);
    proofs.set("callback secret", {
      works: last.includes(third),
      ended: !last.includes(second) && !last.includes(merchant.webhookSecret),
    });
    say("callback secret: replaced, first with an overlap and then without");

    const page = await makePage(installation, one());
    const old = { ...env };
    const role = await secondLogin(installation);
    env.SESSION_SECRET = randomSecret();
    env.INGEST_SECRET = randomSecret();
    env.CALLBACK_SECRETS_EARLIER_KEYS = randomSecret();
    env.DATABASE_URL = signerEnv.SIGNER_DATABASE_URL = role.url;
    await rolling();
    const pages = [page, await makePage(installation, one())];
    const found = await Promise.all(pages.map((path) => fetchStatus(one().url + path)));
    proofs.set("SESSION_SECRET", { works: found.every((status) => status === 200), ended: null });
    proofs.set("INGEST_SECRET", {
      works: await reports(installation, one(), env) === 404,
      ended: await reports(installation, one(), old) === 401,
    });
    say("page secret, ingest secret, second login of the database: restarted in turns");

    if (!small) {
      const next = env.CALLBACK_SECRETS_EARLIER_KEYS;
      env.CALLBACK_SECRETS_EARLIER_KEYS = old.CALLBACK_SECRETS_KEY ?? "";
      env.CALLBACK_SECRETS_KEY = next;
      await rolling();
      delete env.CALLBACK_SECRETS_EARLIER_KEYS;
      await rolling();
      const works = (await callbacks.signers(one(), [third])).length === 1;
      proofs.set("CALLBACK_SECRETS_KEY", { works, ended: null });
      say("key of the callback secrets: in two rounds, and the old one is out");
    }

    proofs.set("passphrase of the wallet", await renewPassphrase(installation));
    say("passphrase of the wallet: the signer has the same keys from a new file");
    proofs.set("login of the database", await role.endFirst());
    say("first login of the database: closed, and its sessions are ended");
    const before = load.orders.length;
    await eventually("more withdrawals", () => Promise.resolve(load.orders.length > before + 3));

    const orders = await load.stop();
    faults.push(...load.failures);
    const sql = connect(role.url, { max: 1 });
    try {
      await eventually("the last payouts", async () => {
        const [open] = await sql`SELECT FROM book.withdrawal WHERE status <> 'CONFIRMED'`;
        return open === undefined;
      });
      faults.push(...await paymentFaults(installation, orders), ...await booksFaults(sql));
    } finally {
      await sql.end({ timeout: 1 });
    }
    const wanted = SECRETS.filter((name) => !small || name !== "CALLBACK_SECRETS_KEY");
    faults.push(...secretFaults(proofs, wanted));
    for (const service of services) await service.stop();
    say(`${orders.length} withdrawals are to be paid once each; ${faults.length} faults`);
  } finally {
    await load.stop();
  }
  return faults;
}

/** Replaces a key as its owner does; the old one is used on for the overlap, and revoked. */
async function rotateKey(
  installation: Installation,
  service: ServiceProcess,
  account: "admin" | "merchant",
) {
  const { admin, merchant } = installation.credentials;
  const old = account === "admin" ? admin.apiKey : merchant.apiKey;
  const path = account === "admin"
    ? "/api/admin/api-keys"
    : `/api/merchants/${merchant.id}/api-keys`;
  const headers = { authorization: old, "content-type": "application/json" };
  const listed = await fetch(service.url + path, { headers });
  const { apiKeys } = Keys.parse(await listed.json());
  const key = apiKeys.find(({ permissions }) => permissions.some((name) => name !== "read"));
  const answer = await fetch(`${service.url}${path}/${key?.id}/rotate`, {
    method: "POST",
    headers,
    body: JSON.stringify({ overlapHours: 1 }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Cannot rotate a key: ${text}`);
  const { apiKey } = z.object({ apiKey: z.string() }).parse(JSON.parse(text));
  const opens = async (one: string) => {
    const read = account === "admin" ? "/api/admin/settings" : "/api/balance";
    const { status, body } = await fetch(service.url + read, { headers: { authorization: one } });
    await body?.cancel();
    return status;
  };
  const works = await opens(apiKey) === 200 && await opens(old) === 200;
  installation.useKey(account, apiKey);
  const of = account === "admin" ? "admin" : merchant.id;
  await installation.admin(service, "keys", "revoke", of, key?.id ?? "");
  return { works, ended: await opens(old) === 401 };
}

/**
 * Makes another login of the role that owns the database, so that both passwords open it until all nodes have
 * been restarted.
 */
async function secondLogin(installation: Installation) {
  const first = installation.database.url;
  const url = new URL(first);
  const owner = url.username;
  const password = randomSecret();
  const sql = installation.connect();
  await sql.unsafe(`CREATE ROLE ${owner}_2 LOGIN PASSWORD '${password}' IN ROLE ${owner};
    ALTER ROLE ${owner}_2 SET role = ${owner}`);
  await sql.end({ timeout: 1 });
  [url.username, url.password] = [`${owner}_2`, password];
  installation.database = { ...installation.database, url: url.href };
  return {
    url: url.href,
    /** Closes the first login. */
    async endFirst() {
      const sql = connect(url.href, { max: 1 });
      await sql.unsafe(`ALTER ROLE ${owner} NOLOGIN`);
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${owner}`;
      await sql.end({ timeout: 1 });
      const closed = connect(first, { max: 1 });
      const fault = await closed`SELECT`.then(() => "", String);
      await closed.end({ timeout: 1 });
      return { works: true, ended: fault.includes("not permitted to log in") };
    },
  };
}

/** The signer starts on a wallet file of another passphrase; payouts wait meanwhile. */
async function renewPassphrase({ folder, signer, signerEnv }: Installation) {
  const [file, passphrase] = [`${folder}/wallet-2.json`, `${folder}/passphrase-2`];
  const was = signerEnv.WALLET_FILE ?? "";
  await Deno.writeTextFile(passphrase, randomSecret(), { mode: 0o600 });
  const print = { log: () => {}, error: () => {} };
  const code = await wallet(
    ["passphrase", file, passphrase],
    signerEnv,
    () => Promise.resolve(""),
    print,
  );
  if (code !== 0) throw new Error("Cannot go on as the wallet was not encrypted anew");
  signerEnv.WALLET_FILE = file;
  signerEnv.WALLET_PASSPHRASE_FILE = passphrase;
  const ended = await signer.stop() === 0;
  await signer.start(signerEnv);
  await Deno.remove(was);
  const opened = await exportMnemonic(file, PASSPHRASE).then(() => true, () => false);
  return { works: ended, ended: !opened };
}

/** Makes a hosted page. Answers its path. */
async function makePage(installation: Installation, service: ServiceProcess): Promise<string> {
  const body = { network: "TRX", identifier: `page-${crypto.randomUUID()}` };
  const answer = await installation.call(service, "POST", "/api/deposit-url", body);
  const url = /"(?:depositUrl|url)":"([^"]+)"/.exec(await answer.text())?.[1] ?? "";
  return new URL(url).pathname;
}

/** The status of a report that names no withdrawal, signed with the secret of some variables. */
async function reports(
  installation: Installation,
  service: ServiceProcess,
  { INGEST_SECRET = "" }: Record<string, string>,
): Promise<number> {
  const kept = installation.env.INGEST_SECRET ?? "";
  installation.env.INGEST_SECRET = INGEST_SECRET;
  try {
    await installation.admin(service, "withdrawals", "fail", "wd_none", "--reason", "drill");
    return 200;
  } catch (error) {
    return Number(/: (\d{3}) /.exec(String(error))?.[1]);
  } finally {
    installation.env.INGEST_SECRET = kept;
  }
}
