/** The control route that switches a token as its issuer could. @module */

import { fromBase58, type HexAddress } from "../address.ts";
import type { DevNode } from "../dev_node.ts";
import type { TokenSwitchStep } from "../token_switches.ts";

/** A request that cannot be carried out. */
export class BadSwitch extends Error {
  override readonly name = "BadSwitch";
}

/**
 * Switches a token, USDT by default, by a transaction of the faucet.
 *
 * @throws {BadSwitch} when the body does not say how
 */
export function switchTokenBy(
  dev: DevNode,
  body: ReadonlyMap<string, unknown>,
): { readonly txid: string } {
  const step: { -readonly [field in keyof TokenSwitchStep]: TokenSwitchStep[field] } = {
    do: "switch",
    token: body.has("token") ? addressOf(body.get("token"), "token") : dev.node.identity.usdt,
  };
  if (body.has("paused")) step.paused = body.get("paused") === true;
  const rate = body.get("feeBasisPoints");
  if (rate !== undefined) {
    if (typeof rate !== "number" || !Number.isInteger(rate) || rate < 0 || rate > 10_000) {
      throw new BadSwitch(`feeBasisPoints must be a whole number from 0 to 10000: ${rate}`);
    }
    step.feeBasisPoints = rate;
  }
  const most = body.get("maximumFee");
  if (most !== undefined) {
    if (typeof most !== "string" || !/^\d{1,30}$/.test(most)) {
      throw new BadSwitch(`maximumFee must be a whole number as text: ${most}`);
    }
    step.maximumFee = most;
  }
  const successor = body.get("upgradedTo");
  if (successor !== undefined) {
    step.upgradedTo = successor === null ? null : addressOf(successor, "upgradedTo");
  }
  const blocked = body.get("blocked");
  if (blocked !== undefined) {
    if (!Array.isArray(blocked)) throw new BadSwitch("blocked must be a list of addresses");
    step.blocked = blocked.map((one: unknown) => addressOf(one, "blocked"));
  }
  const sent = dev.faucet.runScript([step]);
  if ("refused" in sent) throw new BadSwitch(sent.refused);
  return { txid: sent.txid };
}

function addressOf(value: unknown, name: string): HexAddress {
  const address = fromBase58(String(value ?? ""));
  if (address !== null) return address;
  throw new BadSwitch(`${name} must be a base58 address: ${value}`);
}
