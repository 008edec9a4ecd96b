import type { Chain } from "./chain.ts";

/** A chain that can be checked before anything it says about money is believed. */
export interface Verifiable extends Chain {
  /** @throws when it cannot be checked now, or must not be used at all */
  verify(signal?: AbortSignal): Promise<void>;
}

/**
 * Members that ask no node, and `broadcast`: its bytes were signed for a checked chain, so that holding
 * them back would only delay them.
 */
const UNCHECKED: ReadonlySet<string | symbol> = new Set<keyof Chain>([
  "isAddress",
  "addressOf",
  "eventAddress",
  "transactionId",
  "deriveAddress",
  "envelope",
  "termsOf",
  "broadcast",
]);

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
  const guarded = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function" || UNCHECKED.has(name)) return member;
        return async (...given: unknown[]) => {
          await verified();
          return await Reflect.apply(member, target, given);
        };
      },
    });
  const checked = guarded<Chain>(chain);
  const gas = guarded(chain.gas);
  const blocks: Chain["blocks"] = async function* (...range) {
    await verified();
    yield* chain.blocks(...range);
  };
  return new Proxy(checked, {
    get: (_, name) =>
      name === "gas" ? gas : name === "blocks" ? blocks : Reflect.get(checked, name),
  });
}
