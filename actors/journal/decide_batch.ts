/**
 * Deciding the messages of a batch: what they speak of is read once for all of them, then each
 * merchant's are decided in order.
 *
 * @module
 */

import { getLogger } from "@logtape/logtape";
import type { Facts } from "../../ledger/journal/read_facts.ts";
import type { Settings } from "../../ledger/journal/read_settings.ts";
import type { JournalStore } from "../../ledger/journal/store.ts";
import type { ActiveMerchant, ActiveMerchants } from "./active_merchants.ts";
import { doubtfulReferences, withHolders } from "./doubtful_references.ts";
import { Draft } from "./draft.ts";
import type { Decidable } from "./envelope.ts";
import { HotFunds, type Liquidity, promisesOf } from "../merchant/liquidity.ts";
import { needsOf } from "./needs.ts";
import { decideSlice, type Slice } from "./slice.ts";
import { Records } from "../merchant/state.ts";

const log = getLogger(["engine", "journal"]);

/** Messages to decide, in order, per merchant. */
export type Work = ReadonlyMap<string, readonly Decidable[]>;

/** What deciding works with. */
export interface Deciding {
  readonly store: Pick<JournalStore, "readAccounts" | "readFacts" | "findReferences">;
  readonly active: ActiveMerchants;
  readonly liquidity: Liquidity;
  /** Asks the database until it answers. */
  readonly untilAnswered: <T>(ask: () => Promise<T>) => Promise<T>;
}

/** Decides a batch: reads what its messages speak of, then every merchant's in order. */
export async function decideBatch(
  deciding: Deciding,
  work: Work,
  settings: Settings,
): Promise<readonly Slice[]> {
  const { store, untilAnswered } = deciding;
  const actors = await openMerchants(deciding, [...work.keys()]);
  const messages = [...work].flatMap(([merchantId, envelopes]) =>
    envelopes.map(({ message }) => ({ merchantId, message }))
  );
  const facts = await untilAnswered(() => store.readFacts(needsOf(messages)));
  const hotFunds = new HotFunds(deciding.liquidity);
  const slices: Slice[] = [];
  for (const [merchantId, envelopes] of work) {
    const actor = actors.get(merchantId);
    if (actor === undefined) {
      log.error("a message names a merchant that does not exist: {merchantId}", { merchantId });
      for (const envelope of envelopes) {
        if (envelope.kind === "command") envelope.settle({ kind: "failed" });
      }
      continue;
    }
    const slice = decideInOrder(merchantId, actor, facts, settings, envelopes, hotFunds);
    hotFunds.promise(promisesOf(slice.draft.records.newOutgoing.values()));
    for (const { envelope } of slice.messages) {
      if (envelope.kind === "command") envelope.decided = true;
    }
    slices.push(slice);
  }
  return await confirmReferences(deciding, slices);
}

/**
 * The merchants of a batch. Kept apart from those in memory: taking one in may drop another that
 * the same batch speaks of.
 */
async function openMerchants(
  { store, active, untilAnswered }: Deciding,
  merchantIds: readonly string[],
): Promise<ReadonlyMap<string, ActiveMerchant>> {
  const actors = new Map<string, ActiveMerchant>();
  const cold: string[] = [];
  for (const merchantId of merchantIds) {
    const actor = active.get(merchantId);
    if (actor === undefined) cold.push(merchantId);
    else actors.set(merchantId, actor);
  }
  if (cold.length === 0) return actors;
  const snapshots = await untilAnswered(() => store.readAccounts(cold));
  for (const [merchantId, state] of snapshots) {
    actors.set(merchantId, active.open(merchantId, state));
  }
  return actors;
}

/** Nobody is refused for want of funds whose reference is taken. */
async function confirmReferences(
  { store, active, untilAnswered }: Deciding,
  slices: readonly Slice[],
): Promise<readonly Slice[]> {
  const doubtful = doubtfulReferences(slices);
  if (doubtful.length === 0) return slices;
  const holders = await untilAnswered(() => store.findReferences(doubtful));
  for (const { merchantId, referenceId, withdrawalId } of holders) {
    active.learnReference(merchantId, referenceId, withdrawalId);
  }
  return holders.length === 0 ? slices : slices.map((slice) => withHolders(slice, holders));
}

/** Decides a merchant's part; again where it had given a reference away that a later message frees. */
function decideInOrder(
  merchantId: string,
  { state, references }: ActiveMerchant,
  facts: Facts,
  settings: Settings,
  envelopes: readonly Decidable[],
  hotFunds: HotFunds,
): Slice {
  const decide = () => {
    const funds = new HotFunds((network, currency) => hotFunds.left(network, currency));
    const draft = new Draft(state, Records.of(merchantId, facts), references, funds);
    return decideSlice(merchantId, draft, settings, envelopes);
  };
  const slice = decide();
  if (slice.draft.overlooked.size === 0) return slice;
  for (const [reference, holder] of slice.draft.overlooked) references.set(reference, holder);
  return decide();
}
