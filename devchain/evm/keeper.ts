/**
 * Keeps a chain: one thing at a time is made durable and carried out by anvil. Should anvil end meanwhile,
 * another one is built up from what is on disk.
 *
 * @module
 */

import { logEvent } from "../../log/log_event.ts";
import type { Pace } from "../options.ts";
import { AnvilGone, type AnvilSettings, openAnvil } from "./anvil.ts";
import {
  type Base,
  type Command,
  CommandLog,
  type Facts,
  isThere,
  writeWhole,
} from "./commands.ts";
import { genesisOf, type Identity, newIdentity } from "./genesis.ts";
import type { EvmNetwork } from "./networks.ts";
import { Replica } from "./replica.ts";
import type { Hex } from "./rpc.ts";

/** Settings of a chain. */
export interface KeeperSettings {
  /** For example `ETH`. */
  readonly name: string;
  readonly network: EvmNetwork;
  /** An existing folder. */
  readonly folder: string;
  /** Pace that it is started with. */
  readonly pace: Pace;
  /** Address that has money in the first block of a new chain. */
  readonly treasury: Hex | null;
}

/** Commands after which the journal begins anew; more on a long chain, whose state takes longer to write. */
const REBASE_AFTER = 500;
const REBASE_SHARE = 20;
const BUILD_TRIES = 3;

/** A base for the journal, which it becomes when its block is final. */
interface NextBase {
  readonly base: Base;
  readonly height: number;
  /** Commands up to it. */
  readonly commands: number;
}

/** A chain on disk and in anvil. */
export class Keeper {
  readonly settings: KeeperSettings;
  readonly #log: CommandLog;
  readonly #anvilSettings: AnvilSettings;
  #replica: Replica;
  #next: NextBase | null = null;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    settings: KeeperSettings,
    log: CommandLog,
    anvilSettings: AnvilSettings,
    replica: Replica,
  ) {
    this.settings = settings;
    this.#log = log;
    this.#anvilSettings = anvilSettings;
    this.#replica = replica;
  }

  /**
   * Opens the chain of a folder, or makes a new one.
   *
   * @throws {Error} when there is no anvil for this platform, another process holds the folder, or it is damaged
   */
  static async open(settings: KeeperSettings): Promise<Keeper> {
    const log = new CommandLog(settings.folder);
    try {
      const identity = log.base?.facts.identity ?? identityOf(settings);
      const anvilSettings = {
        network: settings.name,
        folder: settings.folder,
        chainId: settings.network.chainId,
        mnemonic: identity.mnemonic,
      };
      const replica = log.base === null
        ? await createChain(settings, log, anvilSettings, identity)
        : await build(log, anvilSettings);
      return new Keeper(settings, log, anvilSettings, replica);
    } catch (error) {
      log.close();
      throw error;
    }
  }

  /** All that is true of the chain besides its state. */
  get facts(): Facts {
    return this.#replica.facts;
  }

  /** The newest block. */
  get head(): { readonly height: number; readonly hash: Hex; readonly time: number } {
    return this.#replica.head;
  }

  /** Carries work out when all that was asked for earlier has ended. */
  serially<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    // the failure of one is its caller's and not the next one's
    this.#last = done.catch(() => {});
    return done;
  }

  /** Makes a command durable and carries it out; only within {@linkcode serially}. */
  async commit(command: Command): Promise<void> {
    this.#log.append(command);
    await this.#again(() => this.#replica.carryOut(command), () => Promise.resolve());
    if (command.do === "reorganise" && this.#next !== null && command.to < this.#next.height) {
      this.#next = null;
    }
    if (command.do === "block") await this.#tendJournal();
  }

  /** Makes settings durable that anvil has nothing to do with. */
  note(command: Extract<Command, { do: "faults" }>): void {
    this.facts.faults = command.faults;
    this.#log.append(command);
  }

  /**
   * Calls a method of anvil; only within {@linkcode serially}.
   *
   * @throws {AnvilRefusal}
   */
  async ask(method: string, ...params: unknown[]): Promise<unknown> {
    const work = () => this.#replica.anvil.ask(method, ...params);
    return await this.#again(work, work);
  }

  /** Passes a request on to anvil, at any time. @param body one call or a batch */
  async read(body: unknown): Promise<unknown> {
    try {
      return await this.#replica.anvil.post(body);
    } catch (error) {
      if (!(error instanceof AnvilGone)) throw error;
      await this.serially(() => this.ask("eth_chainId"));
      return await this.#replica.anvil.post(body);
    }
  }

  /** Ends anvil and closes the files. */
  async close(): Promise<void> {
    await this.serially(() => this.#replica.anvil.stop());
    this.#log.close();
  }

  /** @param second carried out on the anvil that was built up anew, where the first one was gone */
  async #again<T>(first: () => Promise<T>, second: () => Promise<T>): Promise<T> {
    try {
      return await first();
    } catch (error) {
      if (!(error instanceof AnvilGone)) throw error;
      logEvent("devchain.anvil_restored", { network: this.settings.name, error });
      await this.#replica.anvil.stop();
      this.#replica = await build(this.#log, this.#anvilSettings);
      return await second();
    }
  }

  /** Lets the journal begin anew from time to time, so that a start has little to carry out. */
  async #tendJournal(): Promise<void> {
    const { commands } = this.#log;
    const { height } = this.head;
    if (this.#next === null && commands.length >= Math.max(REBASE_AFTER, height / REBASE_SHARE)) {
      const count = commands.length;
      const facts = structuredClone(this.facts);
      facts.blocks = facts.blocks.slice(-1);
      facts.final = height;
      const dump = () => this.#replica.dump();
      const state = this.#log.writeState(height, await this.#again(dump, dump));
      this.#next = { base: { do: "base", state, facts }, height, commands: count };
    }
    if (this.#next === null || this.facts.final < this.#next.height) return;
    this.#log.rebase(this.#next.base, this.#log.commands.slice(this.#next.commands));
    this.#next = null;
  }
}

/** An anvil with all that is in the log. */
async function build(log: CommandLog, settings: AnvilSettings): Promise<Replica> {
  const { base } = log;
  if (base === null) throw new Error(`Cannot build up a chain without a base: ${settings.folder}`);
  const state = await log.baseState();
  for (let tries = 1;; tries++) {
    const anvil = await openAnvil(settings, null);
    try {
      const replica = await Replica.load(anvil, base, state);
      for (const command of log.commands) await replica.carryOut(command);
      return replica;
    } catch (error) {
      await anvil.stop();
      if (!(error instanceof AnvilGone) || tries === BUILD_TRIES) throw error;
    }
  }
}

/** The identity of a chain that has no first block yet. */
function identityOf({ folder, treasury }: KeeperSettings): Identity {
  const file = `${folder}/identity.json`;
  // one that was made before a crash belongs to the anvil that may still run
  if (!isThere(file)) writeWhole(file, JSON.stringify(newIdentity(treasury, Date.now())));
  return JSON.parse(Deno.readTextFileSync(file));
}

async function createChain(
  { network, folder, pace }: KeeperSettings,
  log: CommandLog,
  anvilSettings: AnvilSettings,
  identity: Identity,
): Promise<Replica> {
  const file = `${folder}/genesis.json`;
  writeWhole(file, JSON.stringify(genesisOf(identity, network)));
  const anvil = await openAnvil(anvilSettings, file);
  try {
    const replica = await Replica.begin(anvil, (genesis) => ({
      identity,
      genesis,
      blocks: [{ height: 0, hash: genesis, time: identity.time * 1_000, transactions: [] }],
      final: 0,
      pool: [],
      forks: 0,
      lead: 0,
      baseFee: String(network.baseFee),
      pace,
      startedWith: pace,
      faults: [],
    }));
    const state = log.writeState(0, await replica.dump());
    log.rebase({ do: "base", state, facts: structuredClone(replica.facts) }, []);
    return replica;
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}
