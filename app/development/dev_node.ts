/**
 * Work with a development chain besides treating it as any node: the service recognises it
 * and gives its own hot wallet something to pay with.
 *
 * @module
 */

import { z } from "zod";
import type { Chain } from "../../chains/chain.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { readStored, store } from "../open/data_folder.ts";

/** A development node. */
export interface DevNode {
  readonly url: string;
  /** The USDT contract. */
  readonly usdt: string;
  /** The USDC contract, where the chain has one. */
  readonly usdc?: string | undefined;
  readonly faucetAddress: string;
}

const Info = z.object({ usdt: z.string(), usdc: z.string().optional(), faucetAddress: z.string() });
const PROBE_MS = 3_000;
const FUNDS_TOKENS = "1000000";
const FUNDS_COIN = "100000";

/** Asks a node whether it is a development chain; `null` when it is not. */
export async function probeDevNode(url: string): Promise<DevNode | null> {
  let response: Response;
  try {
    const info = new URL(url);
    info.pathname = `${info.pathname.replace(/\/+$/, "")}/dev/info`;
    response = await fetch(info, { signal: AbortSignal.timeout(PROBE_MS) });
  } catch {
    return null; // a node that cannot be reached now is found out by the watcher, visibly
  }
  const body = response.ok ? Info.safeParse(await response.json().catch(() => null)) : null;
  if (body === null) await response.body?.cancel().catch(() => {});
  return body?.success === true ? { url, ...body.data } : null;
}

/**
 * Funds the hot wallet of a development chain from its faucet, once per chain. An embedded chain
 * has funded it in its first block; one that was started alone does not know of the wallet.
 *
 * @param markFile remembers which chain was funded, because a transfer takes some blocks to show
 */
export async function fundHotWallet(node: DevNode, chain: Chain, markFile: string): Promise<void> {
  const { hotWallet, network } = chain;
  const mark = `${node.faucetAddress} ${hotWallet}`;
  if (await readStored(markFile) === mark) return;
  await store(markFile, mark);
  if (await chain.balanceOf(hotWallet, "native") > 0n) return;
  const funds = [
    ["USDT", FUNDS_TOKENS],
    ...(node.usdc === undefined ? [] : [["USDC", FUNDS_TOKENS]]),
    [PROFILES[network].coin.symbol, FUNDS_COIN],
  ];
  for (const [currency, amount] of funds) {
    const response = await fetch(`${node.url}/dev/transfer`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ to: hotWallet, amount, currency }),
      signal: AbortSignal.timeout(PROBE_MS),
    });
    const answer = await response.text();
    if (!response.ok) {
      throw new Error(`Cannot fund the hot wallet from the development chain: ${answer}`);
    }
  }
}
