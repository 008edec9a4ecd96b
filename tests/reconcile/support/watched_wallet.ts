/**
 * A hot wallet that is compared, and what its nodes say of it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { checkHotWallet } from "../../../actors/reconcile/check_hot_wallet.ts";
import type { Compared } from "../../../actors/reconcile/report.ts";
import type { ChainCheck } from "../../../actors/reconcile/passed_block.ts";
import { type Amount, formatAmount } from "../../../ledger/money/amount.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import type { OutgoingAsset } from "../../../ledger/money/pair.ts";
import { readWalletLevel } from "../../../ledger/reconcile/holdings.ts";
import { amount } from "../../support/books.ts";
import { coinOf, movingChain, passed } from "./moving_chain.ts";

export const HOT = "hot-wallet";

/** Answers of nodes: a balance, and the newest block before and after it is asked for. */
export type Said = readonly [low: number, high: number, text: string];

/** Differences reported of an asset, which was compared. */
export function toldOf({ differences, unchecked }: Compared, asset: OutgoingAsset) {
  assertEquals(unchecked?.includes(`${asset}: `) ?? false, false, unchecked ?? "");
  return differences.filter(({ subject }) => subject.includes(` ${asset}/`))
    .map(({ subject, detail }) => `${subject}: ${detail}`);
}

/** A hot wallet with 100 USDT and 100 of the coin at block 10, and what is found of it later. */
export function watchedWallet(sql: Sql) {
  const held: Record<string, Amount> = { [HOT]: amount("100"), [coinOf(HOT)]: amount("100") };
  const { at, chain } = movingChain(held);
  /** On a chain that stands still. */
  const check: ChainCheck = { sql, chain, coldAddress: null, pause: () => Promise.resolve() };
  const now = (height: number, asset: OutgoingAsset, text: string) => {
    at.height = height;
    held[asset === "native" ? coinOf(HOT) : HOT] = amount(text);
  };

  /** Compares while nodes say one thing, and another one as soon as a later block is waited for. */
  async function lookTwice(
    asset: OutgoingAsset,
    first: Said,
    second: Said | null,
    accept = false,
  ): Promise<Compared> {
    let said = first;
    let isWaiting = false;
    let isRead = false;
    const say = async (next: Said) => {
      said = next;
      now(next[0], asset, next[2]);
      await passed(sql, next[1]);
    };
    await say(first);
    const solid = () => {
      const height = isRead ? said[1] : said[0];
      isWaiting = !isRead;
      isRead = false;
      return Promise.resolve({
        height,
        parentHeight: height - 1,
        hash: `h${height}`,
        parentHash: "",
        time: 0,
        tick: 0,
      });
    };
    const balanceOf: typeof chain.balanceOf = (address, of) => {
      [isRead, isWaiting] = [true, false];
      return chain.balanceOf(address, of);
    };
    // a pause right after the newest block was asked for: it is too old for the comparison
    const pause = async () => {
      if (isWaiting && second !== null) await say(second);
    };
    return await checkHotWallet(
      { ...check, chain: { ...chain, solid, balanceOf }, pause },
      accept,
    );
  }

  /** Differences where every balance is read between two blocks, and later ones follow. */
  async function lookBetween(low: number, high: number, asset: OutgoingAsset, text: string) {
    const second = [high + 1, 2 * high + 1 - low, text] as const;
    return toldOf(await lookTwice(asset, [low, high, text], second), asset);
  }

  return {
    check,
    now,
    lookTwice,
    lookBetween,
    /** Differences at a block, and at the one after it. */
    look: (height: number, asset: OutgoingAsset, text: string) =>
      lookBetween(height, height, asset, text),
    async kept(asset: OutgoingAsset): Promise<string> {
      const level = await readWalletLevel(sql, "TRX", asset);
      return level === null ? "none" : `${formatAmount(level.balance)} at ${level.height}`;
    },
  };
}
