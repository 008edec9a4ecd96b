import { type Audit, audit } from "./chain_audit.ts";
import { askForPayouts, payIn, payWhoIsMissing, type Progress } from "./chain_customers.ts";
import type { ChainSoakOptions } from "./chain_options.ts";
import { untilPeace } from "./chain_peace.ts";
import { reconcileWith } from "./chain_reconcile.ts";
import { kill } from "./chain_kills.ts";
import { laneFaults } from "./chain_audit_lane.ts";
import { beStrangers } from "./chain_strangers.ts";
import { type Done, makeTrouble } from "./chain_troubles.ts";
import type { ChainTransfer } from "../faults/support/chain_transfers.ts";
import { tokenDecimals } from "../../ledger/money/pair.ts";
import { kindOf } from "./chain_kinds.ts";
import { TOKEN } from "./units.ts";
import { type SoakWorld, withWorld } from "./chain_world.ts";

/** Pause between two reports of progress. */
const NOTE_MS = 5_000;
/** A run that nothing moves any more ends. */
const STANDSTILL_MS = 900_000;

/** Runs a soak to its end. @param note told how it goes */
export async function runChainSoak(
  options: ChainSoakOptions,
  note: (text: string) => void,
): Promise<Audit> {
  return await withWorld(options, async (world) => {
    note("the service and its chain are up");
    const done: Done = new Map();
    await work(world, done, note);
    note("all asked for; peace");
    await untilPeace(world, note);
    for (;;) {
      const paid = new Set((await transfersOf(world)).map(({ to }) => to));
      const missing = await payWhoIsMissing(world, paid);
      if (missing === 0) break;
      note(`${missing} payments were lost with their blocks or nodes, paid again`);
      await untilPeace(world, note);
    }
    note("nothing in flight; audit");
    const found = await audit(world, await transfersOf(world));
    const reconciled = await reconcileWith(world);
    return {
      faults: [...found.faults, ...await laneFaults(world), ...reconciled],
      figures: { ...found.figures, ...Object.fromEntries(done) },
    };
  });
}

/** Every transfer on the chain, with its amount as auditors count. */
async function transfersOf({ chain, options }: SoakWorld): Promise<readonly ChainTransfer[]> {
  const finest = TOKEN / 10n ** BigInt(tokenDecimals("USDT", options.network));
  const transfers = await kindOf(options.network).family.readTransfers(chain.url);
  return transfers.map((transfer) => ({ ...transfer, units: transfer.units * finest }));
}

/** All deposits and payouts, with troubles and kills beside them. */
async function work(world: SoakWorld, done: Done, note: (text: string) => void): Promise<void> {
  const progress: Progress = { paid: 0, asked: 0 };
  const { deposits, payouts } = world.options;
  const over = new AbortController();
  const stood = Promise.withResolvers<never>();
  let last = { sum: -1, at: performance.now() };
  const ticker = setInterval(() => {
    const sum = progress.paid + progress.asked;
    if (sum !== last.sum) last = { sum, at: performance.now() };
    else if (performance.now() - last.at > STANDSTILL_MS) {
      stood.reject(new Error(`Cannot go on as nothing moves: ${sum} of ${deposits + payouts}`));
    }
    const troubles = [...done.values()].reduce((total, times) => total + times, 0);
    note(
      `${progress.paid}/${deposits} paid in, ${progress.asked}/${payouts} payouts, ` +
        `${world.receiver.ended} ended, ${troubles} troubles`,
    );
  }, NOTE_MS);
  try {
    const troubles = makeTrouble(world, over.signal, done);
    const kills = kill(world, progress, over.signal, done);
    const strangers = beStrangers(world, progress, over.signal, done);
    const everybody = Promise.all([payIn(world, progress), askForPayouts(world, progress)])
      .then(() => over.abort());
    await Promise.race([Promise.all([everybody, troubles, kills, strangers]), stood.promise]);
  } finally {
    over.abort();
    clearInterval(ticker);
  }
}
