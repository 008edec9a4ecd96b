/**
 * The lanes of a network after its database has lost commits: nonces that the signer gave to transfers which wait are
 * promised to them again, with all that was signed, before anything new is promised. Nothing of it expires, and a
 * transfer that was given another nonce would be paid twice.
 *
 * @module
 */

import type { Chain } from "../../chains/chain.ts";
import type { RememberedSignature, Signer } from "../../chains/signer.ts";
import { isToBlame } from "../../ledger/database/database_errors.ts";
import {
  fillGap,
  type LostNonce,
  readUnderWay,
  type Restored,
  restoreNonce,
} from "../../ledger/lanes/restore_nonces.ts";
import { keepToldNonce, readToldNonces } from "../../ledger/lanes/told_nonces.ts";
import { ZERO } from "../../ledger/money/amount.ts";
import { shareOf } from "../../ledger/money/shares.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { logEvent } from "../../log/log_event.ts";
import type { Sql } from "postgres";
import { newId } from "../runtime/ids.ts";
import { faultOf, termsOf } from "./signed_rows.ts";

/** Transfers of one question: each may have been replaced a dozen times. */
const PAGE = 100;

/** Missing nonces below one that are taken out of use in one pass. */
const MOST_FILLED = 100;

/** Reason of a transfer whose signed nonce was promised to others before the signer told of it. */
const PROMISED = "its nonce is promised to others, it waits for the block that takes that";

/** Dependencies of bringing lanes back. */
interface RestoreDeps {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly signer: Pick<Signer, "live">;
  /** True where nonces that no signer has told of are taken out of use, so that later ones can be promised. */
  readonly fillsGaps: boolean;
}

/** The result of a pass. */
export interface RestorePass {
  /**
   * False where it has to be made again: another transaction held a transfer, or one of the hot wallet has a nonce that
   * cannot be promised to it yet.
   */
  readonly isWhole: boolean;
  /** True where a nonce was promised of which only another node's signer has the transactions: that node is to add them. */
  readonly isBare: boolean;
}

/**
 * One pass over all transfers that wait.
 *
 * @throws {SignerUnavailable} when the signer cannot be asked; then nothing is known of what it gave
 */
export async function restoreLanes(deps: RestoreDeps): Promise<RestorePass> {
  const { sql, chain, signer } = deps;
  const { network } = chain;
  // of the own scan: a node whose chain nodes are silent has to tell as well
  const near = (await readCursor(sql, network, "solid"))?.height ?? 0;
  const lost = new Map<string, LostNonce>();
  for (let after = "";;) {
    const ids = await readUnderWay(sql, network, after, PAGE);
    const last = ids.at(-1);
    if (last === undefined) break;
    after = last;
    for (const signature of await signer.live?.(ids) ?? []) {
      addTo(lost, chain, signature, near);
    }
  }
  for (const told of await readToldNonces(sql, network)) {
    const key = keyOf(told);
    if (!lost.has(key)) lost.set(key, { ...told, attempts: [] });
  }
  let isWhole = true;
  let isBare = false;
  for (const [payer, nonces] of Map.groupBy(lost.values(), (one) => one.payer)) {
    for (const one of nonces.toSorted((a, b) => a.nonce - b.nonce)) {
      const end = await place(deps, one);
      // a deposit address pays the service's own wallet: no other network waits until its lane is in order
      const hasToWait = end === "held" || payer === "hot" && (end === "gap" || end === "not_ended");
      if (hasToWait) isWhole = false;
      if (end === "restored" && one.attempts.length === 0) isBare = true;
    }
  }
  return { isWhole, isBare };
}

/** Brings one nonce back; those before it that are missing are taken out of use. */
async function place(
  { sql, chain: { network }, fillsGaps }: RestoreDeps,
  lost: LostNonce,
): Promise<Restored> {
  const { payer, nonce, intents } = lost;
  const mayFill = fillsGaps && payer === "hot";
  for (let filled = 0;; filled++) {
    const end = await restoreApart(sql, network, lost);
    const fills = end === "gap" && mayFill && filled < MOST_FILLED;
    if (fills && await fillApart(sql, network, nonce)) continue;
    if (end === "restored") {
      for (const outgoingId of intents) logEvent("failover.signed_before", { network, outgoingId });
    }
    // promised to others: no other nonce goes to its transfers before a block has shown which transaction has taken it
    const isSigned = lost.attempts.some(({ purpose }) => purpose === "pay");
    if (
      end === "gap" || end === "held" || end === "not_ended" || end === "elsewhere" && isSigned
    ) {
      await keepToldNonce(sql, network, lost);
    }
    if (end === "elsewhere" && isSigned) {
      for (const outgoingId of intents) {
        logEvent("failover.not_adopted", { network, outgoingId, reason: PROMISED });
      }
    }
    if (end === "gap") logEvent("failover.nonce_waits", { network, payer, nonce });
    if (end === "held" || end === "not_ended") {
      for (const outgoingId of intents) {
        logEvent("failover.nonce_held", { network, payer, nonce, outgoingId });
      }
    }
    return end;
  }
}

/**
 * Brings one nonce back. Where the database refuses its transactions, each is tried by itself. Without any its transfers are
 * promised it all the same: the signer signs them again with it, and nothing else takes it.
 */
async function restoreApart(
  sql: Sql,
  network: Chain["network"],
  lost: LostNonce,
): Promise<Restored> {
  try {
    return await restoreNonce(sql, network, lost);
  } catch (error) {
    if (!isToBlame(error)) throw error;
    for (const outgoingId of lost.intents) {
      logEvent("failover.not_adopted", { network, outgoingId, reason: error });
    }
    if (lost.attempts.length === 0) return "not_waiting";
    const { attempts } = lost;
    if (attempts.length === 1) {
      await keepToldNonce(sql, network, lost);
      return await restoreApart(sql, network, { ...lost, attempts: [] });
    }
    // what is refused of one transaction keeps no other of its nonce from being known
    const ends: Restored[] = [];
    for (const attempt of attempts) {
      ends.push(await restoreApart(sql, network, { ...lost, attempts: [attempt] }));
    }
    return ends.find((end) => end === "restored") ?? ends.at(-1) ?? "not_waiting";
  }
}

/** Takes the hot wallet's next nonce out of use, if it is below another. @returns false where that has to be tried again */
async function fillApart(sql: Sql, network: Chain["network"], below: number): Promise<boolean> {
  try {
    return await fillGap(sql, network, newId("out"), below);
  } catch (error) {
    // another node has promised it at the same time
    if (!isToBlame(error)) throw error;
    return false;
  }
}

function keyOf({ payer, nonce }: Pick<LostNonce, "payer" | "nonce">): string {
  return `${payer}/${nonce}`;
}

/** Adds a signature to its nonce; one that cannot be read is logged and left out. */
function addTo(
  lost: Map<string, LostNonce>,
  chain: Chain,
  { outgoingIds, signed, numbered }: RememberedSignature,
  near: number,
): void {
  if (numbered === null) return;
  const { nonce, purpose } = numbered;
  const payer = String(numbered.payer);
  const key = keyOf({ payer, nonce });
  const earlier = lost.get(key);
  if (earlier?.attempts.some(({ txid }) => txid === signed.txid) === true) return;
  const terms = termsOf(chain, signed.bytes, near);
  const fault = terms === null || terms.nonce !== nonce
    ? "its bytes do not have its nonce"
    : faultOf(chain, signed, terms, new Set());
  const intents = earlier?.intents ?? outgoingIds;
  if (terms === null || fault !== null || intents.join() !== outgoingIds.join()) {
    for (const outgoingId of outgoingIds) {
      const reason = fault ?? "its nonce was given to others as well";
      logEvent("failover.not_adopted", { network: chain.network, outgoingId, reason });
    }
    return;
  }
  const most = payer === "hot" ? terms.feeLimit : ZERO;
  const feeLimits = outgoingIds.map((_, at) => shareOf(most, at, outgoingIds.length));
  const attempt = { txid: signed.txid, bytes: signed.bytes, purpose, feeLimits };
  lost.set(key, { payer, nonce, intents, attempts: [...earlier?.attempts ?? [], attempt] });
}
