/**
 * The anvil process of a chain. It keeps nothing on disk: all that is to last is in the chain's folder, and
 * anvil is built up from there. It is a process group of its own, so that a Ctrl-C meant for its owner does
 * not end it before the owner has; should the owner be killed, the next one finds it by its port file.
 *
 * @module
 */

import { mnemonicToAccount } from "viem/accounts";
import { logEvent } from "../../log/log_event.ts";
import { anvilProgram, KILL_PROGRAMS } from "./anvil_program.ts";
import { AnvilAnswer, type RpcAnswer, type RpcError } from "./rpc.ts";

/** The process has ended, or does not answer: it has to be built up anew. */
export class AnvilGone extends Error {
  override readonly name = "AnvilGone";
}

/** A JSON-RPC error as the answer of anvil. */
export class AnvilRefusal extends Error {
  override readonly name = "AnvilRefusal";
  constructor(readonly error: RpcError) {
    super(error.message);
  }
}

/** The settings of a chain's anvil. */
export interface AnvilSettings {
  readonly network: string;
  /** The chain's folder. */
  readonly folder: string;
  readonly chainId: number;
  /** Words of the faucet's key; its address tells this chain's anvil from any other. */
  readonly mnemonic: string;
}

/** Coin of the faucet. */
const FAUCET_COIN = 1_000_000_000;
/** Blocks whose state is kept: older ones answer as those of a pruned node. */
export const KEPT_STATES = 64;
const START_MS = 15_000;
const START_TRIES = 5;
const ASK_MS = 30_000;
const LOOK_MS = 2_000;
/** A process whose port was written so lately may not listen yet. */
const STARTING_MS = 1_000;

export class Anvil {
  readonly #url: string;
  readonly #settings: AnvilSettings;
  readonly #place: Place;
  /** Null where an earlier owner started it. */
  readonly #child: Deno.ChildProcess | null;

  constructor(settings: AnvilSettings, place: Place, child: Deno.ChildProcess | null) {
    this.#settings = settings;
    this.#place = place;
    this.#url = urlOf(place.port);
    this.#child = child;
  }

  /**
   * Sends a request, or a batch of them.
   *
   * @throws {AnvilGone}
   */
  async post(body: unknown): Promise<unknown> {
    return await postJson(this.#url, body, ASK_MS);
  }

  /**
   * Calls a method.
   *
   * @throws {AnvilGone}
   * @throws {AnvilRefusal}
   */
  async ask(method: string, ...params: unknown[]): Promise<unknown> {
    const answer = answerIn(await this.post({ jsonrpc: "2.0", id: 1, method, params }));
    if ("error" in answer) throw new AnvilRefusal(answer.error);
    return answer.result;
  }

  /** Ends the process. One that an earlier owner started stays where this process may end no others. */
  async stop(): Promise<void> {
    if (this.#child !== null) {
      kill(this.#child);
      this.#child.ref();
      await this.#child.status;
    } else if (
      await isAnvilOf(this.#settings, this.#place.port) && !await endOther(this.#place.pid)
    ) {
      logEvent("devchain.anvil_left", { network: this.#settings.network, url: this.#url });
      return;
    }
    await removeIfThere(portFileOf(this.#settings));
  }
}

interface Place {
  readonly port: number;
  /** Null where the owner died before it knew. */
  readonly pid: number | null;
}

/**
 * The chain's anvil, empty: the one that an earlier owner left, or a new one.
 *
 * @param genesis file of the first block; null where a state will be loaded
 * @throws {Error} where there is none for this platform, with the way out
 */
export async function openAnvil(settings: AnvilSettings, genesis: string | null): Promise<Anvil> {
  const found = await findAnvil(settings);
  if (found !== null) {
    const anvil = new Anvil(settings, found, null);
    // the owner of one with the first block alone died before it had stored that: nothing else was done
    if (genesis === null) await anvil.ask("anvil_reset");
    return anvil;
  }
  const program = anvilProgram();
  if ("missing" in program) throw new Error(program.missing);
  for (let tries = 0; tries < START_TRIES; tries++) {
    const anvil = await startAnvil(program.path, settings, genesis);
    if (anvil !== null) return anvil;
  }
  throw new Error(`Cannot start anvil as it ends at once: ${program.path}`);
}

/** @returns null when it has ended, as it does where another program took its port first */
async function startAnvil(
  program: string,
  settings: AnvilSettings,
  genesis: string | null,
): Promise<Anvil | null> {
  const port = unusedPort();
  await storePlace(settings, { port, pid: null });
  const child = new Deno.Command(program, {
    args: [
      ...["--host", "127.0.0.1", "--port", `${port}`, "--chain-id", `${settings.chainId}`],
      ...["--no-mining", "--order", "fifo", "--hardfork", "prague", "--silent"],
      // pages in a browser of this machine would reach it past the proxy
      "--no-cors",
      ...["--mnemonic", settings.mnemonic, "--accounts", "1", "--balance", `${FAUCET_COIN}`],
      ...["--prune-history", `${KEPT_STATES}`, "--no-request-size-limit"],
      ...(genesis === null ? [] : ["--init", genesis]),
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
    clearEnv: true,
    detached: true,
  }).spawn();
  child.unref();
  await storePlace(settings, { port, pid: child.pid });
  let hasEnded = false;
  const ended = child.status.then(() => hasEnded = true);
  const deadline = performance.now() + START_MS;
  while (!hasEnded && performance.now() < deadline) {
    if (await isAnvilOf(settings, port)) {
      return new Anvil(settings, { port, pid: child.pid }, child);
    }
    await pause();
  }
  if (hasEnded) return null;
  kill(child);
  await ended;
  throw new Error(`Cannot start anvil in time: ${program}`);
}

async function findAnvil(settings: AnvilSettings): Promise<Place | null> {
  const file = portFileOf(settings);
  let place: Place;
  let age: number;
  try {
    place = JSON.parse(await Deno.readTextFile(file));
    age = Date.now() - ((await Deno.stat(file)).mtime?.getTime() ?? 0);
  } catch (error) {
    // a crash cut it off, before there was a process
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return null;
    throw error;
  }
  const deadline = performance.now() + (age < STARTING_MS ? STARTING_MS : 0);
  do {
    if (await isAnvilOf(settings, place.port)) return place;
    await pause();
  } while (performance.now() < deadline);
  return null;
}

async function isAnvilOf({ mnemonic }: AnvilSettings, port: number): Promise<boolean> {
  const request = { jsonrpc: "2.0", id: 1, method: "eth_accounts", params: [] };
  try {
    const answer = answerIn(await postJson(urlOf(port), request, LOOK_MS));
    const own = mnemonicToAccount(mnemonic).address.toLowerCase();
    return "result" in answer && Array.isArray(answer.result) &&
      String(answer.result[0]).toLowerCase() === own;
  } catch (error) {
    if (error instanceof AnvilGone || error instanceof Error && error.name === "ZodError") {
      return false;
    }
    throw error;
  }
}

function answerIn(json: unknown): RpcAnswer {
  const answer = AnvilAnswer.parse(json);
  return "error" in answer ? { error: errorOf(answer.error) } : { result: answer.result };
}

/** A JSON-RPC error without fields that are undefined. */
export function errorOf({ code, message, data }: RpcError): RpcError {
  return { code, message, ...(data === undefined ? {} : { data }) };
}

async function postJson(url: string, body: unknown, boundMs: number): Promise<unknown> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(boundMs),
    });
    return await response.json();
  } catch (error) {
    throw new AnvilGone(`anvil does not answer: ${error}`);
  }
}

/** A port that is free now. Should another program take it first, anvil ends and another port is tried. */
function unusedPort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    // it has ended by itself
    if (!(error instanceof TypeError) && !(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** @returns false where it may not be ended, or its owner died before it knew the number */
async function endOther(pid: number | null): Promise<boolean> {
  if (pid === null) return false;
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return await endByProgram(pid);
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return true;
}

/** @returns false where no such program may be run */
async function endByProgram(pid: number): Promise<boolean> {
  for (const program of KILL_PROGRAMS) {
    try {
      const { success } = await new Deno.Command(program, {
        args: ["-KILL", String(pid)],
        stdin: "null",
        stdout: "null",
        stderr: "null",
        clearEnv: true,
      }).output();
      return success;
    } catch (error) {
      const isMissing = error instanceof Deno.errors.NotCapable ||
        error instanceof Deno.errors.NotFound;
      if (!isMissing) throw error;
    }
  }
  return false;
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function portFileOf({ folder }: AnvilSettings): string {
  return `${folder}/anvil.port`;
}

async function storePlace(settings: AnvilSettings, place: Place): Promise<void> {
  await Deno.writeTextFile(portFileOf(settings), JSON.stringify(place), { mode: 0o600 });
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
