import { z } from "zod";
import { admin } from "../../app/commands/admin.ts";
import { unlockWallet } from "../../chains/wallet/unlock_wallet.ts";
import { delay } from "../../ledger/database/delay.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { eventually, send } from "../faults/support/client.ts";
import type { Service } from "../support/service.ts";
import type { Progress } from "./chain_customers.ts";
import { atMoments, momentsOf } from "./chain_moments.ts";
import type { Done } from "./chain_troubles.ts";
import type { SoakWorld } from "./chain_world.ts";

/** Bound of each wait: the service, its node and its database are killed meanwhile. */
const WAIT_MS = 600_000;
/** Pause between two looks. */
const LOOK_MS = 250;
/** Time within which nothing may be signed that a polling treasury would sign. */
const STOPPED_MS = 3_000;
const ALL_ADOPTED = "all adopted";

const Sent = z.object({ txid: z.string() });
const Shown = z.object({ from: z.string(), to: z.string().nullable(), gas: z.string() });
const Known = z.object({ result: Shown.nullable() });
/** Gas of the development chain's own transfers of coin, which the service never asks for. */
const STRANGE_GAS = 60_000;

/**
 * Another program that has the hot wallet's key: it uses a nonce at each of its moments. The engine has to stop signing with
 * its reason, and to go on once an administrator has adopted what was found.
 */
export async function beStrangers(
  world: SoakWorld,
  progress: Progress,
  signal: AbortSignal,
  done: Done,
): Promise<void> {
  const { strangers } = world.options;
  const moments = momentsOf("stranger's nonce adopted", strangers, world.draws("strangers"));
  await atMoments(world, progress, signal, done, moments, () => useAndAdopt(world));
}

async function useAndAdopt(world: SoakWorld): Promise<void> {
  const { service, options: { network } } = world;
  const key = await hotKeyOf(service, network);
  const used: string[] = [];
  await looking("a stranger's transaction listed", async () => {
    if ((await openHands(world)).length > 0) return true;
    const last = used.at(-1);
    if (last === undefined || !await isKnown(world, last)) used.push(await useNonce(world, key));
    return false;
  });
  await looking("signing stopped, and told", () => isToldStopped(world));
  await requireNothingSigned(world);
  const end = await looking("every stranger adopted", async () => {
    const [first] = await openHands(world);
    if (first === undefined) return ALL_ADOPTED;
    // the answer to one of them may have been lost with its node
    if (!used.includes(first) && !await isStrangers(world, first)) {
      return `Cannot adopt what no stranger has sent: ${first}`;
    }
    return await adopt(service, network, first);
  });
  if (end !== ALL_ADOPTED) throw new Error(end);
  const adopted = await signedSoFar(world);
  await looking(
    "payouts going on",
    async () => await signedSoFar(world) > adopted || await isQueueEmpty(world),
  );
}

/** With the next nonce that no block has; at terms that replace what waits with it. */
async function useNonce({ chain }: SoakWorld, key: string): Promise<string> {
  return Sent.parse(await chain.control("/dev/use-nonce", { key })).txid;
}

async function shownBy({ chain }: SoakWorld, txid: string) {
  const call = { jsonrpc: "2.0", id: 1, method: "eth_getTransactionByHash", params: [txid] };
  return Known.parse((await send(chain.url, "POST", call)).body).result;
}

/** False once a reorganisation has dropped it, or another with its nonce was faster. */
async function isKnown(world: SoakWorld, txid: string): Promise<boolean> {
  return await shownBy(world, txid) !== null;
}

/** True of what a stranger sends: a transfer to its own sender, with gas of its own. */
async function isStrangers(world: SoakWorld, txid: string): Promise<boolean> {
  const found = await shownBy(world, txid);
  if (found === null) throw new Error(`The node does not show it: ${txid}`);
  return found.from === found.to && Number(found.gas) === STRANGE_GAS;
}

/** Transactions that stop signing, in the order of their blocks. */
async function openHands({ service, options: { network } }: SoakWorld): Promise<readonly string[]> {
  const rows = await service.sql<{ txid: string }[]>`
    SELECT txid FROM hub.unknown_spend
    WHERE network = ${network} AND status = 'open' AND log_index = -1 ORDER BY height, txid`;
  return rows.map(({ txid }) => txid);
}

async function isToldStopped({ service, options: { network } }: SoakWorld): Promise<boolean> {
  const { body } = await send(`${service.credentials.baseUrl}/readyz`, "GET");
  return JSON.stringify(body).includes(`${network} payouts are stopped`);
}

/** @throws where a transaction is signed although signing is stopped */
async function requireNothingSigned(world: SoakWorld): Promise<void> {
  const before = await signedSoFar(world);
  await delay(STOPPED_MS);
  const after = await signedSoFar(world);
  if (after === before) return;
  throw new Error(`Cannot go on as ${after - before} were signed while signing was stopped`);
}

/** Signatures of the network that were committed, waiting for a database that is away. */
async function signedSoFar({ service, options: { network } }: SoakWorld): Promise<number> {
  return await looking("the number of signatures", async () => {
    const [row] = await service.sql<{ signed: number }[]>`
      SELECT count(*)::int AS signed FROM book.attempt WHERE network = ${network}`;
    return row ?? null;
  }).then(({ signed }) => signed);
}

async function isQueueEmpty({ service, options: { network } }: SoakWorld): Promise<boolean> {
  const rows = await service.sql`
    SELECT FROM book.outgoing WHERE network = ${network} AND status = 'queued' LIMIT 1`;
  return rows.length === 0;
}

/**
 * By the administrator's command: what it shows first, and then by the nonce that it has shown.
 *
 * @returns what is wrong with what is shown; null: nothing is, or the service or its node is away
 */
async function adopt(
  { dataDir }: Service,
  network: Network,
  txid: string,
): Promise<string | null> {
  const say = async (...words: readonly string[]) => {
    const lines: string[] = [];
    const print = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
    const line = ["treasury", "adopt", network, txid, ...words];
    const code = await admin(line, { DATA_DIR: dataDir }, { log: print, error: print });
    return { code, text: lines.join("\n") };
  };
  const shown = await say();
  if (shown.code !== 0) return null;
  const nonce = /\bnonce\W+(\d+)/.exec(shown.text)?.[1];
  if (nonce === undefined || !/isHotWallet\W+true/.test(shown.text)) {
    return `Cannot adopt what is not shown as the hot wallet's: ${shown.text}`;
  }
  await say("--nonce", nonce, "--reason", "a stranger of the soak");
  return null;
}

/** The development wallet's key, as another program that has read its files would use it. */
async function hotKeyOf({ dataDir }: Service, network: Network): Promise<string> {
  const passphrase = (await Deno.readTextFile(`${dataDir}/wallet-passphrase`)).trim();
  const keys = await unlockWallet(`${dataDir}/wallet.json`, passphrase);
  const key = keys.key(network, "hot");
  if (key === null) throw new Error(`Cannot use a key as the wallet has none of: ${network}`);
  const hex = `0x${key.privateKey.toHex()}`;
  keys.lock();
  return hex;
}

function looking<T>(
  what: string,
  condition: () => Promise<T | null | undefined | false>,
): Promise<T> {
  let looks = 0;
  return eventually(what, async () => {
    if (looks++ > 0) await delay(LOOK_MS);
    return await condition();
  }, WAIT_MS);
}
