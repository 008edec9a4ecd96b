/**
 * The control routes of README.md, for people and tests; no client of a real node uses them. Bad input is
 * status 400 with `{error}`.
 *
 * @module
 */

import { contractAddress, fromBase58, type HexAddress, toBase58 } from "../address.ts";
import { CannotReorganise } from "../chain_node.ts";
import { readContract } from "../contract.ts";
import type { DevNode } from "../dev_node.ts";
import { readFaults, TRON_FAULTS } from "../faults.ts";
import type { ScriptStep } from "../script.ts";
import type { TokenSwitchStep } from "../token.ts";
import {
  BadRequest,
  type Body,
  controlRefusal,
  DAY_MS,
  flagIn,
  MAX_MINED,
  reply,
  runCommand,
  unitsIn,
  wholeIn,
  wordIn,
} from "./control.ts";

/**
 * Answers one control request.
 *
 * @param peer the client's address; others than this machine's are refused
 */
export async function answerControl(
  dev: DevNode,
  request: Request,
  path: string,
  peer: string,
): Promise<Response> {
  const refusal = controlRefusal(peer);
  if (refusal !== null) return refusal;
  if (path === "/dev/info" && request.method === "GET") return reply(dev.info());
  const command = COMMANDS.get(path);
  return await runCommand(
    request,
    path,
    command && ((body) => command(dev, body)),
    (error) => error instanceof CannotReorganise,
  );
}

const COMMANDS: ReadonlyMap<string, (dev: DevNode, body: Body) => unknown> = new Map([
  ["/dev/transfer", transfer],
  ["/dev/mine", mine],
  ["/dev/reorg", reorganise],
  ["/dev/config", configure],
  ["/dev/token", createToken],
  ["/dev/token-switches", switchToken],
  ["/dev/emit", emit],
]);

function transfer(dev: DevNode, body: Body): unknown {
  const to = addressIn(body, "to");
  const currency = String(body.get("currency") ?? "USDT");
  const expiresInMs = lifetimeIn(body);
  if (currency === "TRX") return pay(dev.faucet.payTrx(to, unitsIn(body, 6), expiresInMs));
  const token = currency === "USDT" ? dev.node.identity.usdt : fromBase58(currency);
  const contract = token === null ? null : readContract(dev.node.store, token);
  if (token === null || contract?.kind !== "token") {
    throw new BadRequest(`currency must be USDT, TRX or a token's address: ${currency}`);
  }
  return pay(dev.faucet.payToken(token, to, unitsIn(body, contract.decimals), expiresInMs));
}

function pay(sent: { txid: string } | { refused: string }): { txid: string } {
  if ("refused" in sent) throw new BadRequest(sent.refused);
  return { txid: sent.txid };
}

function mine(dev: DevNode, body: Body): unknown {
  const blocks = wholeIn(body, "blocks", 1, MAX_MINED) ?? 1;
  const spacing = wholeIn(body, "intervalMs", 1, DAY_MS);
  dev.mine(blocks, spacing ?? undefined);
  return { head: dev.node.head.height, solid: dev.node.solid.height };
}

function reorganise(dev: DevNode, body: Body): unknown {
  const depth = wholeIn(body, "depth", 1, Number.MAX_SAFE_INTEGER) ?? 1;
  dev.node.reorganise(depth, flagIn(body, "drop"));
  return { head: dev.node.head.height, solid: dev.node.solid.height };
}

function configure(dev: DevNode, body: Body): unknown {
  const blockMs = wholeIn(body, "blockMs", 0, DAY_MS);
  const solidLag = wholeIn(body, "solidLag", 0, 10_000);
  const seed = wholeIn(body, "seed", 0, Number.MAX_SAFE_INTEGER);
  const faults = body.has("faults") ? readFaults(body.get("faults"), TRON_FAULTS) : null;
  if (seed !== null) dev.faults.seed(seed);
  if (faults !== null) dev.faults.replace(faults);
  dev.configure(blockMs, solidLag);
  return dev.info();
}

function createToken(dev: DevNode, body: Body): unknown {
  const symbol = String(body.get("symbol") ?? "");
  if (!/^[\x21-\x7e]{1,32}$/.test(symbol)) throw new BadRequest("symbol must be 1 to 32 letters");
  const name = String(body.get("name") ?? symbol);
  if (!/^[\x20-\x7e]{1,64}$/.test(name)) throw new BadRequest("name must be 1 to 64 letters");
  const { faucet } = dev;
  const address = contractAddress(faucet.nonce(), dev.node.identity.faucet.address);
  const sent = pay(faucet.runScript([{
    do: "token",
    address,
    name,
    symbol,
    decimals: wholeIn(body, "decimals", 0, 77) ?? 6,
    supply: wordIn(body, "supply", "1000000000000000"),
    transferReturns: body.get("transferReturns") !== false,
    feeBasisPoints: wholeIn(body, "feeBasisPoints", 0, 10_000) ?? 0,
  }], lifetimeIn(body)));
  return { ...sent, address: toBase58(address) };
}

/** Switches a token as its issuer could, USDT by default, by a transaction of the faucet. */
function switchToken(dev: DevNode, body: Body): unknown {
  const feeBasisPoints = wholeIn(body, "feeBasisPoints", 0, 10_000);
  const blocked = body.get("blocked");
  if (blocked !== undefined && !Array.isArray(blocked)) {
    throw new BadRequest("blocked must be a list of addresses");
  }
  const step: TokenSwitchStep = {
    do: "switch",
    token: body.has("token") ? addressIn(body, "token") : dev.node.identity.usdt,
    ...(body.has("paused") ? { paused: body.get("paused") === true } : {}),
    ...(feeBasisPoints === null ? {} : { feeBasisPoints }),
    ...(body.has("maximumFee") ? { maximumFee: wordIn(body, "maximumFee") } : {}),
    ...(body.has("upgradedTo")
      ? { upgradedTo: body.get("upgradedTo") === null ? null : addressIn(body, "upgradedTo") }
      : {}),
    ...(blocked === undefined ? {} : {
      blocked: blocked.map((one: unknown) => addressIn(new Map([["blocked", one]]), "blocked")),
    }),
  };
  return pay(dev.faucet.runScript([step]));
}

function emit(dev: DevNode, body: Body): unknown {
  const steps = body.get("steps");
  if (!Array.isArray(steps) || steps.length === 0) throw new BadRequest("steps must be a list");
  const read = steps.map((step: unknown) => readStep(step, dev.node.identity.usdt));
  return pay(dev.faucet.runScript(read, lifetimeIn(body)));
}

function readStep(json: unknown, usdt: HexAddress): ScriptStep {
  if (typeof json !== "object" || json === null) throw new BadRequest("a step must be an object");
  const step: Body = new Map(Object.entries(json));
  const token = () => step.has("token") ? addressIn(step, "token") : usdt;
  switch (step.get("do")) {
    case "transfer":
      return {
        do: "transfer",
        token: token(),
        to: addressIn(step, "to"),
        amount: wordIn(step, "amount"),
      };
    case "event":
      return {
        do: "event",
        token: token(),
        from: addressIn(step, "from"),
        to: addressIn(step, "to"),
        amount: wordIn(step, "amount"),
      };
    case "log":
      return {
        do: "log",
        address: addressIn(step, "address"),
        topics: topicsIn(step),
        data: hexIn(step.get("data") ?? "", "data"),
      };
    case "revert":
      return { do: "revert" };
    default:
      throw new BadRequest(`a step must do transfer, event, log or revert: ${step.get("do")}`);
  }
}

function topicsIn(step: Body): string[] {
  const topics = step.get("topics");
  if (!Array.isArray(topics) || topics.length > 4) {
    throw new BadRequest("topics must be a list of at most 4 words");
  }
  return topics.map((topic: unknown) => {
    const hex = hexIn(topic, "a topic");
    if (hex.length !== 64) throw new BadRequest("a topic must be 64 hex digits");
    return hex;
  });
}

function hexIn(value: unknown, name: string): string {
  if (typeof value === "string" && /^([0-9a-f]{2})*$/.test(value)) return value;
  throw new BadRequest(`${name} must be lower-case hex: ${value}`);
}

function addressIn(body: Body, name: string): HexAddress {
  const address = fromBase58(String(body.get(name) ?? ""));
  if (address !== null) return address;
  throw new BadRequest(`${name} must be a base58 address: ${body.get(name)}`);
}

function lifetimeIn(body: Body): number | undefined {
  return wholeIn(body, "expiresInMs", 1, DAY_MS) ?? undefined;
}
