import type { Chain } from "./chain.ts";

/** A chain that can be checked before anything it says about money is believed. */
export interface Verifiable extends Chain {
  /**
   * @throws {ChainUnavailable} when it cannot be checked now
   * @throws {WrongDecimals} when it must not be used at all
   */
  verify(signal?: AbortSignal): Promise<void>;
}

type Method<Answer> = (...given: never[]) => Answer;

/**
 * Treatment of a member by its type: `read` and `stream` ask nodes and wait for the check, `free` asks
 * none, `port` has methods of its own that ask, `value` is data; the capabilities have a port in them.
 */
type Treatment<Member> = Member extends Method<infer Answer>
  ? Answer extends AsyncIterable<unknown> ? "stream"
  : Answer extends Promise<unknown> ? "read"
  : "free"
  : Member extends Readonly<Record<keyof Member, Method<unknown>>> ? "port"
  : "value";

/**
 * Treatment of each member of a chain. The compiler refuses the table while one is missing, or while
 * one that asks nodes is not treated so; a name that it does not have waits for the check.
 */
const TREATMENTS: {
  readonly [Name in keyof Required<Chain>]: Name extends "broadcast" ? "free"
    : Name extends "capabilities" ? "capabilities"
    : Treatment<Required<Chain>[Name]>;
} = {
  network: "value",
  capabilities: "capabilities",
  hotWallet: "value",
  address: "free",
  addressOf: "free",
  eventAddress: "free",
  transactionId: "free",
  paymentLink: "free",
  deriveAddress: "free",
  head: "read",
  furthest: "read",
  solid: "read",
  block: "read",
  blocks: "stream",
  transaction: "read",
  estimateFee: "read",
  envelope: "free",
  termsOf: "free",
  feeOf: "free",
  provenIds: "read",
  // its bytes were signed for a checked chain, so that holding them back would only delay them
  broadcast: "free",
  balanceOf: "read",
  tokenSwitches: "read",
  missingSetup: "read",
  gas: "port",
};
const treatmentOf: ReadonlyMap<string | symbol, string> = new Map(Object.entries(TREATMENTS));

/**
 * Puts a chain's check before everything it says. A network whose nodes are away while the service starts
 * is checked when they come back, so that their absence stops nothing else.
 */
export function verifiedFirst(chain: Verifiable): Chain {
  let checking: Promise<void> | null = null;
  const verified = () =>
    checking ??= chain.verify().catch((error: unknown) => {
      checking = null;
      throw error;
    });
  return new Proxy<Chain>(chain, { get: (_, name) => checkedMember(chain, name, verified) });
}

/** A member of a chain, with the check before it where it asks nodes. */
function checkedMember(
  chain: Verifiable,
  name: string | symbol,
  verified: () => Promise<void>,
): unknown {
  const member: unknown = Reflect.get(chain, name);
  switch (treatmentOf.get(name) ?? "read") {
    case "read":
      return readAfter(member, chain, verified);
    case "stream":
      return streamAfter(member, chain, verified);
    case "port":
      return typeof member === "object" && member !== null ? portAfter(member, verified) : member;
    case "capabilities":
      return capabilitiesAfter(chain.capabilities, verified);
    default:
      return member;
  }
}

/** A port whose methods ask nodes once the check has passed. */
function portAfter<Port extends object>(port: Port, verified: () => Promise<void>): Port {
  return new Proxy(port, {
    get: (_, name) => readAfter(Reflect.get(port, name), port, verified),
  });
}

/** Capabilities; the port of a chain that counts nonces asks nodes. */
function capabilitiesAfter(
  capabilities: Chain["capabilities"],
  verified: () => Promise<void>,
): Chain["capabilities"] {
  const { life } = capabilities;
  if (life.kind === "expires") return capabilities;
  return { ...capabilities, life: { ...life, lane: portAfter(life.lane, verified) } };
}

/** A method that asks nodes once the check has passed; anything else as it is. */
function readAfter(member: unknown, target: object, verified: () => Promise<void>): unknown {
  if (typeof member !== "function") return member;
  return async (...given: unknown[]) => {
    await verified();
    return await Reflect.apply(member, target, given);
  };
}

/** The same for a method that answers one thing after the other. */
function streamAfter(member: unknown, target: object, verified: () => Promise<void>): unknown {
  if (typeof member !== "function") return member;
  return async function* (...given: unknown[]) {
    await verified();
    yield* Reflect.apply(member, target, given);
  };
}
