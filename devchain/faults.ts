/**
 * Faults that the node commits on request, so that a client can be tried against everything a real
 * node does. They are drawn from a seedable generator.
 *
 * @module
 */

/** Kinds of faults of every node. */
const COMMON_FAULTS = [
  /** HTTP 500. */
  "error-500",
  /** HTTP 429 with `Retry-After`; with `status` 403 or 503 as providers refuse who asks too much. */
  "busy-429",
  /** No answer for a minute, or until the client goes away. */
  "timeout",
  /** Broadcast: answers success and forgets the transaction. */
  "lost-broadcast",
  /** Broadcast: answers an error and keeps the transaction. */
  "silent-accept",
  /** Broadcast: answers DUP_TRANSACTION_ERROR at the first sight of a transaction, and keeps it. */
  "duplicate",
  /** Receipts: a block's list is empty although it has transactions; a single one is absent. */
  "lagging-receipts",
  /** Broadcast: the contract call will end with REVERT. */
  "revert",
] as const;

/** Kinds of faults of a TRON node. */
export const TRON_FAULTS = [
  ...COMMON_FAULTS,
  /** Broadcast: the contract call will end with OUT_OF_ENERGY, burning its whole fee limit. */
  "out-of-energy",
  /**
   * As public providers: more than `perSecond` calls within a second, and nothing is answered for
   * `suspendSeconds`, which only the body tells; each call meanwhile begins the time anew.
   */
  "limit-per-second",
  /** The call is not there as this is a lite node: a text, with HTTP 200. */
  "lite-node",
  /** The call is closed by the node's operator. */
  "closed-api",
  /** Constant calls: the node ran out of time. */
  "call-exception",
  /** Two nodes behind one address: every second answer is of one that is `behind` blocks behind. */
  "two-nodes",
] as const;

/** Kinds of faults of an EVM node. */
export const EVM_FAULTS = [
  ...COMMON_FAULTS,
  /** Broadcast: the contract call will use its whole gas up. */
  "out-of-gas",
  /** Broadcast: answers "nonce too low", and keeps the transaction. */
  "nonce-too-low",
  /** Broadcast: answers "replacement transaction underpriced", and keeps the transaction. */
  "underpriced",
  /** Receipts: a block's list, or a single one, is null. */
  "receipts-null",
  /** Receipts: the last one of a block is missing. */
  "receipts-short",
  /** Receipts: the last log of a block's last transaction that has any is missing. */
  "log-missing",
  /** Receipts: those of the block before. */
  "receipts-of-another",
  /** The final block is `behind` blocks behind the one that was final already. */
  "finality-back",
  /** No further block becomes final while this is in force; it is never used up. */
  "finality-stands",
] as const;

export type FaultKind = (typeof TRON_FAULTS)[number] | (typeof EVM_FAULTS)[number];

/** One fault as it is asked for. */
export interface Fault {
  /** `/wallet/getnowblock`, `/walletsolidity/*`, `eth_getBlockReceipts`, `eth_*`, or `*` for everything. */
  readonly path: string;
  readonly kind: FaultKind;
  /** 0 to 1. */
  readonly probability: number;
  /** Times that it may still happen, null without limit. */
  readonly times: number | null;
  /**
   * `error-500`, `busy-429`, `timeout`: the request is carried out before its answer is withheld.
   * `lagging-receipts`: all receipts but the last are there.
   */
  readonly late: boolean;
  /** `duplicate`, `nonce-too-low`, `underpriced`: the transaction is not kept. */
  readonly forget: boolean;
  /** `silent-accept`: the code it answers. */
  readonly code: string;
  /** `busy-429`, `limit-per-second`: the HTTP status it answers. */
  readonly status: BusyStatus;
  /** `limit-per-second`: calls that are answered within a second. */
  readonly perSecond: number;
  /** `limit-per-second`: how long nothing is answered then. */
  readonly suspendSeconds: number;
  /** `two-nodes`: blocks that the second one lacks. `finality-back`: blocks that are not final any more. */
  readonly behind: number;
}

/** Statuses of a provider's refusal: too many requests, a suspended client, an overloaded server, in words alone. */
const BUSY_STATUSES = [429, 403, 503, 200] as const;
/** One of {@linkcode BUSY_STATUSES}. */
export type BusyStatus = (typeof BUSY_STATUSES)[number];

/** A fault list that cannot be used. */
export class MalformedFault extends Error {
  override readonly name = "MalformedFault";
}

/** The faults in force. */
export class Faults {
  #list: Fault[] = [];
  #draw: () => number = generator(Date.now());
  readonly #onChange: (list: readonly Fault[]) => void;

  /** @param onChange called with the list whenever it changed */
  constructor(onChange: (list: readonly Fault[]) => void) {
    this.#onChange = onChange;
  }

  /** The faults in force with what is left of their times. */
  get list(): readonly Fault[] {
    return this.#list;
  }

  /** Puts other faults in force. */
  replace(list: readonly Fault[]): void {
    this.#list = [...list];
    this.#onChange(this.#list);
  }

  /** Starts the generator afresh. */
  seed(seed: number): void {
    this.#draw = generator(seed);
  }

  /** The first fault of a kind in force at a path, without counting it. */
  find(path: string, kind: FaultKind): Fault | null {
    return this.#list.find((fault) => fault.kind === kind && matches(fault.path, path)) ?? null;
  }

  /**
   * Decides whether a fault happens now, and counts it.
   *
   * @param path the request's path
   * @param kinds the kinds that can happen here
   */
  fire(path: string, kinds: readonly FaultKind[]): Fault | null {
    for (const fault of this.#list) {
      if (!kinds.includes(fault.kind) || !matches(fault.path, path)) continue;
      if (fault.probability < 1 && this.#draw() >= fault.probability) continue;
      if (fault.times !== null) {
        const left = fault.times - 1;
        this.#list = this.#list.flatMap((other) =>
          other !== fault ? [other] : left > 0 ? [{ ...fault, times: left }] : []
        );
        this.#onChange(this.#list);
      }
      return fault;
    }
    return null;
  }
}

/**
 * Reads a fault list.
 *
 * @param kinds the kinds that the node knows
 * @param json `[{path, kind, probability?, times?, late?, forget?, code?, status?, perSecond?,
 *   suspendSeconds?, behind?}]`
 * @throws {MalformedFault} when it is anything else
 */
export function readFaults(json: unknown, kinds: readonly FaultKind[]): Fault[] {
  if (!Array.isArray(json)) throw new MalformedFault("faults must be a list");
  return json.map((entry: unknown) => {
    if (typeof entry !== "object" || entry === null) {
      throw new MalformedFault("a fault must be an object");
    }
    const field = new Map<string, unknown>(Object.entries(entry));
    const path = field.get("path") ?? "*";
    const isTron = kinds === TRON_FAULTS;
    if (typeof path !== "string" || (path !== "*" && path.startsWith("/") !== isTron)) {
      const shape = isTron ? 'begin with "/"' : "be a method";
      throw new MalformedFault(`a fault's path must be "*" or ${shape}: ${path}`);
    }
    const kind = kinds.find((known) => known === field.get("kind"));
    if (kind === undefined) {
      throw new MalformedFault(`a fault's kind must be one of ${kinds.join(", ")}`);
    }
    const probability = field.get("probability") ?? 1;
    if (typeof probability !== "number" || !(probability >= 0 && probability <= 1)) {
      throw new MalformedFault(`a fault's probability must be 0 to 1: ${probability}`);
    }
    const times = field.get("times") ?? null;
    if (times !== null && !(typeof times === "number" && Number.isInteger(times) && times > 0)) {
      throw new MalformedFault(`a fault's times must be a whole number above 0: ${times}`);
    }
    const code = field.get("code") ?? "OTHER_ERROR";
    if (typeof code !== "string") throw new MalformedFault("a fault's code must be a text");
    const wanted = field.get("status") ?? (kind === "limit-per-second" ? 403 : 429);
    const status = BUSY_STATUSES.find((known) => known === wanted);
    if (status === undefined || (status === 200 && kind !== "limit-per-second")) {
      throw new MalformedFault(`a fault's status must be one of ${BUSY_STATUSES.join(", ")}`);
    }
    return {
      path,
      kind,
      probability,
      times,
      late: field.get("late") === true,
      forget: field.get("forget") === true,
      code,
      status,
      perSecond: wholeOf(field, "perSecond", 15, 0),
      suspendSeconds: wholeOf(field, "suspendSeconds", 30, 1),
      behind: wholeOf(field, "behind", 5, 1),
    };
  });
}

function wholeOf(
  field: ReadonlyMap<string, unknown>,
  name: string,
  otherwise: number,
  least: number,
): number {
  const value = field.get(name) ?? otherwise;
  if (typeof value === "number" && Number.isInteger(value) && value >= least) return value;
  throw new MalformedFault(`a fault's ${name} must be a whole number from ${least} on: ${value}`);
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

/** Mulberry32: small, and the same sequence for the same seed. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
