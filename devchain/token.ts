/**
 * TRC-20 tokens, shaped after USDT on TRON: `transfer` moves the money, emits `Transfer` and may return
 * false; energy is what main net charged in 2026. A token is switched as its issuer could (a fee, a pause, a
 * successor, blocked holders) by a step of the faucet's script, so by a transaction like anything else.
 *
 * @module
 */

import { type HexAddress, isHexAddress } from "./address.ts";
import {
  addressOfWord,
  addressWord,
  APPROVAL_TOPIC,
  argument,
  type CallResult,
  type Log,
  numberOfWord,
  readContract,
  stringOutput,
  type TokenContract,
  TRANSFER_TOPIC,
  wordOf,
  writeContract,
} from "./contract.ts";
import type { Overlay, StateReader } from "./overlay.ts";

/** The switches that are set; an absent field stays as it is. */
export interface TokenSwitchStep {
  readonly do: "switch";
  readonly token: HexAddress;
  readonly paused?: boolean;
  readonly feeBasisPoints?: number;
  /** In the token's smallest unit, decimal text. */
  readonly maximumFee?: string;
  /** The contract that takes its place; null: none. */
  readonly upgradedTo?: HexAddress | null;
  /** All addresses that can send nothing of it. */
  readonly blocked?: readonly HexAddress[];
}

/** Carries out a step; false where there is no such token. */
export function switchToken(state: Overlay, step: TokenSwitchStep): boolean {
  const { do: _do, token, ...switched } = step;
  const contract = readContract(state, token);
  if (contract?.kind !== "token") return false;
  writeContract(state, token, { ...contract, ...switched });
  return true;
}

/** True where call data that the faucet signed is a step of this kind. */
export function isSwitchStep(step: ReadonlyMap<string, unknown>): boolean {
  const optional = (name: string, is: (value: unknown) => boolean) =>
    !step.has(name) || is(step.get(name));
  const isAddress = (value: unknown) => typeof value === "string" && isHexAddress(value);
  return isAddress(step.get("token")) &&
    optional("paused", (value) => typeof value === "boolean") &&
    optional("feeBasisPoints", Number.isInteger) &&
    optional("maximumFee", (value) => /^\d{1,78}$/.test(String(value))) &&
    optional("upgradedTo", (value) => value === null || isAddress(value)) &&
    optional("blocked", (value) => Array.isArray(value) && value.every(isAddress));
}

/** Fee that the receiver of a transfer of so much bears. */
function feeOf(
  { feeBasisPoints, maximumFee }: TokenContract,
  value: bigint,
): bigint {
  const fee = value * BigInt(feeBasisPoints) / 10_000n;
  return maximumFee === undefined || fee < BigInt(maximumFee) ? fee : BigInt(maximumFee);
}

/** True for a holder that cannot send now. */
function isHeld({ paused, blocked }: TokenContract, holder: HexAddress): boolean {
  return paused === true || blocked?.includes(holder) === true;
}

/** The word with which the token answers a question about its switches; null: it is another call. */
function switchWord(contract: TokenContract, data: string): string | null {
  const flag = (on: boolean) => wordOf(on ? 1n : 0n);
  switch (data.slice(0, 8)) {
    case "5c975abb": // paused()
      return flag(contract.paused === true);
    case "dd644f72": // basisPointsRate()
      return wordOf(BigInt(contract.feeBasisPoints));
    case "35390714": // maximumFee()
      return wordOf(BigInt(contract.maximumFee ?? 10n ** 12n));
    case "0e136b19": // deprecated()
      return flag(typeof contract.upgradedTo === "string");
    case "26976e3f": // upgradedAddress()
      return addressWord(contract.upgradedTo ?? "41".padEnd(42, "0"));
    case "59bf1abe": // getBlackListStatus(address)
    case "e47d6060": { // isBlackListed(address)
      const holder = argument(data, 0);
      return flag(holder !== null && contract.blocked?.includes(addressOfWord(holder)) === true);
    }
    default:
      return null;
  }
}

/** Energy of a transfer to an address that holds the token, and to one that does not. */
export const TRANSFER_ENERGY = {
  holder: { energy: 64_285, penalty: 49_635 },
  newHolder: { energy: 130_285, penalty: 100_635 },
} as const;
const VIEW_ENERGY = { energy: 935, penalty: 0 };
const APPROVE_ENERGY = { energy: 99_764, penalty: 77_023 };
const REVERT_ENERGY = 4_115;
const TRUE = wordOf(1n);

/** A holder's balance in the token's smallest unit. */
export function tokenBalance(state: StateReader, token: HexAddress, holder: HexAddress): bigint {
  return BigInt(state.get(`token/${token}/${holder}`) ?? "0");
}

/** Sets a holder's balance. */
export function setTokenBalance(
  state: Overlay,
  token: HexAddress,
  holder: HexAddress,
  balance: bigint,
): void {
  state.set(`token/${token}/${holder}`, balance === 0n ? undefined : String(balance));
}

export interface TokenCall {
  readonly token: HexAddress;
  readonly contract: TokenContract;
  readonly caller: HexAddress;
  /** Hex, selector first. */
  readonly data: string;
}

type Run = (state: Overlay, call: TokenCall, words: readonly string[]) => CallResult;

/** Calls by selector, with the number of their arguments. */
const CALLS: Readonly<Record<string, readonly [words: number, run: Run]>> = {
  "06fdde03": [0, (_, { contract }) => view(stringOutput(contract.name))],
  "95d89b41": [0, (_, { contract }) => view(stringOutput(contract.symbol))],
  "313ce567": [0, (_, { contract }) => view(wordOf(BigInt(contract.decimals)))],
  "18160ddd": [0, (_, { contract }) => view(wordOf(BigInt(contract.supply)))],
  "70a08231": [
    1,
    (state, { token }, [holder = ""]) =>
      view(wordOf(tokenBalance(state, token, addressOfWord(holder)))),
  ],
  "dd62ed3e": [
    2,
    (state, { token }, [owner = "", spender = ""]) =>
      view(wordOf(allowance(state, token, addressOfWord(owner), addressOfWord(spender)))),
  ],
  "095ea7b3": [2, approve],
  "a9059cbb": [
    2,
    (state, call, [to = "", value = ""]) =>
      move(state, call, call.caller, addressOfWord(to), numberOfWord(value)),
  ],
  "23b872dd": [3, transferFrom],
};

/**
 * Carries out a call. What it changed counts only when the result is ok.
 *
 * @param state a layer the caller throws away when the call fails
 */
export function callToken(state: Overlay, call: TokenCall): CallResult {
  const known = CALLS[call.data.slice(0, 8)];
  if (known === undefined) {
    const word = switchWord(call.contract, call.data);
    return word === null ? reverted() : view(word);
  }
  const [count, run] = known;
  const words = Array.from({ length: count }, (_, i) => argument(call.data, i));
  return words.every((word) => word !== null) ? run(state, call, words) : reverted();
}

function approve(
  state: Overlay,
  call: TokenCall,
  [to = "", amount = ""]: readonly string[],
): CallResult {
  const spender = addressOfWord(to);
  const value = numberOfWord(amount);
  // USDT asks to set an allowance to zero before it may be changed.
  if (value > 0n && allowance(state, call.token, call.caller, spender) > 0n) return reverted();
  setAllowance(state, call.token, call.caller, spender, value);
  const log = {
    address: call.token.slice(2),
    topics: [APPROVAL_TOPIC, addressWord(call.caller), addressWord(spender)],
    data: wordOf(value),
  };
  return { ok: true, output: TRUE, logs: [log], ...APPROVE_ENERGY };
}

function transferFrom(
  state: Overlay,
  call: TokenCall,
  [owner = "", to = "", amount = ""]: readonly string[],
): CallResult {
  const from = addressOfWord(owner);
  const value = numberOfWord(amount);
  const allowed = allowance(state, call.token, from, call.caller);
  if (allowed < value) return reverted();
  setAllowance(state, call.token, from, call.caller, allowed - value);
  const moved = move(state, call, from, addressOfWord(to), value);
  return moved.ok ? { ...moved, output: TRUE } : moved;
}

function move(
  state: Overlay,
  call: TokenCall,
  from: HexAddress,
  to: HexAddress,
  value: bigint,
): CallResult {
  if (tokenBalance(state, call.token, from) < value) return reverted();
  if (isHeld(call.contract, from)) return reverted();
  const cost = value > 0n && tokenBalance(state, call.token, to) === 0n
    ? TRANSFER_ENERGY.newHolder
    : TRANSFER_ENERGY.holder;
  const fee = feeOf(call.contract, value);
  const logs = [transferLog(call.token, from, to, value - fee)];
  moveBalance(state, call.token, from, to, value - fee);
  if (fee > 0n) {
    moveBalance(state, call.token, from, call.contract.origin, fee);
    logs.push(transferLog(call.token, from, call.contract.origin, fee));
  }
  return { ok: true, output: wordOf(call.contract.transferReturns ? 1n : 0n), logs, ...cost };
}

/**
 * Moves tokens between two holders; the caller has checked the balance.
 */
export function moveBalance(
  state: Overlay,
  token: HexAddress,
  from: HexAddress,
  to: HexAddress,
  value: bigint,
): void {
  setTokenBalance(state, token, from, tokenBalance(state, token, from) - value);
  setTokenBalance(state, token, to, tokenBalance(state, token, to) + value);
}

/** The event of a transfer. */
export function transferLog(
  token: HexAddress,
  from: HexAddress,
  to: HexAddress,
  value: bigint,
): Log {
  return {
    address: token.slice(2),
    topics: [TRANSFER_TOPIC, addressWord(from), addressWord(to)],
    data: wordOf(value),
  };
}

function allowance(
  state: StateReader,
  token: HexAddress,
  owner: HexAddress,
  spender: HexAddress,
): bigint {
  return BigInt(state.get(`allowance/${token}/${owner}/${spender}`) ?? "0");
}

function setAllowance(
  state: Overlay,
  token: HexAddress,
  owner: HexAddress,
  spender: HexAddress,
  value: bigint,
): void {
  const key = `allowance/${token}/${owner}/${spender}`;
  state.set(key, value === 0n ? undefined : String(value));
}

function view(output: string): CallResult {
  return { ok: true, output, logs: [], ...VIEW_ENERGY };
}

function reverted(): CallResult {
  return { ok: false, output: "", energy: REVERT_ENERGY };
}
