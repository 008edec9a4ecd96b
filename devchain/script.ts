/**
 * The faucet's script contract: one call carries a list of steps, so that tests can make what real
 * networks show and a plain transfer cannot: several logs in one transaction, transfers made by a
 * contract, events of fake tokens, events of value 0, further tokens. Only the faucet may
 * call it.
 *
 * @module
 */

import { type HexAddress, isHexAddress } from "./address.ts";
import {
  type CallResult,
  type Log,
  readContract,
  type ScriptContract,
  writeContract,
} from "./contract.ts";
import type { Overlay } from "./overlay.ts";
import {
  isSwitchStep,
  moveBalance,
  setTokenBalance,
  switchToken,
  tokenBalance,
  type TokenSwitchStep,
  TRANSFER_ENERGY,
  transferLog,
} from "./token.ts";

/** Selector of the script's only function. */
const SCRIPT_SELECTOR = "5c71c0de";

/** One step. Addresses are hex with `41`, amounts decimal text in the token's smallest unit. */
export type ScriptStep =
  /** Moves tokens of the faucet and emits the event, as a multi-sender contract would. */
  | {
    readonly do: "transfer";
    readonly token: HexAddress;
    readonly to: HexAddress;
    readonly amount: string;
  }
  /** Emits a Transfer event and moves nothing; any contract address, any parties, also value 0. */
  | {
    readonly do: "event";
    readonly token: HexAddress;
    readonly from: HexAddress;
    readonly to: HexAddress;
    readonly amount: string;
  }
  /** Emits any log. */
  | {
    readonly do: "log";
    readonly address: HexAddress;
    readonly topics: readonly string[];
    readonly data: string;
  }
  /** Creates a token at the given address, its whole supply with the faucet. */
  | {
    readonly do: "token";
    readonly address: HexAddress;
    readonly name: string;
    readonly symbol: string;
    readonly decimals: number;
    readonly supply: string;
    readonly transferReturns: boolean;
    readonly feeBasisPoints: number;
  }
  /** Switches a token as its issuer could. */
  | TokenSwitchStep
  /** Ends the call with a revert after the steps before it. */
  | { readonly do: "revert" };

/** A script's steps as call data. */
export function encodeScript(steps: readonly ScriptStep[]): string {
  return SCRIPT_SELECTOR + new TextEncoder().encode(JSON.stringify(steps)).toHex();
}

/** Carries out a script. What it changed counts only when the result is ok. */
export function callScript(
  state: Overlay,
  contract: ScriptContract,
  caller: HexAddress,
  data: string,
): CallResult {
  const failed: CallResult = { ok: false, output: "", energy: 5_000 };
  if (caller !== contract.origin || !data.startsWith(SCRIPT_SELECTOR)) return failed;
  const steps = readSteps(data.slice(SCRIPT_SELECTOR.length));
  if (steps === null) return failed;
  const logs: Log[] = [];
  let energy = 1_000;
  for (const step of steps) {
    if (!takeStep(state, contract, step, logs)) return { ok: false, output: "", energy };
    energy += step.do === "transfer" ? TRANSFER_ENERGY.newHolder.energy : 3_000;
  }
  return { ok: true, output: "", energy, penalty: 0, logs };
}

function takeStep(
  state: Overlay,
  contract: ScriptContract,
  step: ScriptStep,
  logs: Log[],
): boolean {
  switch (step.do) {
    case "transfer": {
      const amount = BigInt(step.amount);
      if (readContract(state, step.token)?.kind !== "token") return false;
      if (tokenBalance(state, step.token, contract.origin) < amount) return false;
      moveBalance(state, step.token, contract.origin, step.to, amount);
      logs.push(transferLog(step.token, contract.origin, step.to, amount));
      return true;
    }
    case "event":
      logs.push(transferLog(step.token, step.from, step.to, BigInt(step.amount)));
      return true;
    case "log":
      logs.push({ address: step.address.slice(2), topics: step.topics, data: step.data });
      return true;
    case "token": {
      if (readContract(state, step.address) !== null) return false;
      const { do: _do, address, ...token } = step;
      writeContract(state, address, { kind: "token", origin: contract.origin, ...token });
      setTokenBalance(state, address, contract.origin, BigInt(step.supply));
      return true;
    }
    case "switch":
      return switchToken(state, step);
    case "revert":
      return false;
    default:
      return step satisfies never;
  }
}

/** The steps in call data that the faucet signed, null when they are not steps. */
function readSteps(hex: string): ScriptStep[] | null {
  let steps: unknown;
  try {
    steps = JSON.parse(new TextDecoder().decode(Uint8Array.fromHex(hex)));
  } catch {
    // Not JSON: the contract's way of refusing its input is a revert.
    return null;
  }
  return Array.isArray(steps) && steps.every(isStep) ? steps : null;
}

function isStep(step: unknown): step is ScriptStep {
  if (typeof step !== "object" || step === null) return false;
  const field = new Map<string, unknown>(Object.entries(step));
  const address = (name: string) => {
    const value = field.get(name);
    return typeof value === "string" && isHexAddress(value);
  };
  const digits = (name: string) => /^\d{1,78}$/.test(String(field.get(name)));
  const hex = (value: unknown) => typeof value === "string" && /^([0-9a-f]{2})*$/.test(value);
  switch (field.get("do")) {
    case "transfer":
      return address("token") && address("to") && digits("amount");
    case "event":
      return address("token") && address("from") && address("to") && digits("amount");
    case "log": {
      const topics = field.get("topics");
      return address("address") && hex(field.get("data")) && Array.isArray(topics) &&
        topics.every((topic) => hex(topic) && topic.length === 64);
    }
    case "token":
      return address("address") && digits("supply") && Number.isInteger(field.get("decimals"));
    case "switch":
      return isSwitchStep(field);
    case "revert":
      return true;
    default:
      return false;
  }
}
