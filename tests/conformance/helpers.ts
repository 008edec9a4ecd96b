import type {
  Block,
  BroadcastOutcome,
  Chain,
  Envelope,
  Finality,
  SignedTransaction,
  Transfer,
} from "../../chains/chain.ts";
import type { FeeEstimate } from "../../chains/fees.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import type { ChainHarness, Payment } from "./harness.ts";

/** Blocks after which everything that was pending is solid; far less than a lifetime. */
export const ENOUGH = 12;

/** A block that must be whole. */
export async function wholeBlock(chain: Chain, height: number, finality: Finality): Promise<Block> {
  const answer = await chain.block(height, finality);
  if (answer.kind === "block") return answer.block;
  throw new Error(`Cannot go on as block ${height} is ${answer.kind}`);
}

/** The blocks from a height to the newest of a view. */
export async function blocksSince(
  chain: Chain,
  from: number,
  finality: Finality,
): Promise<Block[]> {
  const newest = await chain[finality === "solid" ? "solid" : "head"]();
  const blocks: Block[] = [];
  // from the newest one back by its own word: what lies between a block and its parent is nothing
  for (let height = newest.height; height >= Math.max(from, 1);) {
    const block = await wholeBlock(chain, height, finality);
    blocks.unshift(block);
    height = block.parentHeight;
  }
  return blocks;
}

/** A transaction with its block and transfers; null where no block has it. */
export function findIn(blocks: readonly Block[], txid: string) {
  for (const block of blocks) {
    const transaction = block.transactions.find((included) => included.txid === txid);
    const transfers = block.transfers.filter((transfer) => transfer.txid === txid);
    if (transaction !== undefined) return { block, transaction, transfers };
  }
  return null;
}

/** A transfer without the times that a test cannot know. */
export function essence(
  chain: Chain,
  { eventFrom, eventTo, currency, amount, logIndex }: Transfer,
) {
  const [from, to] = [chain.addressOf(eventFrom), chain.addressOf(eventTo)];
  return { from, to, currency, amount, logIndex };
}

/** The life of a chain's transactions, where they expire. */
export function expiring({ capabilities: { life } }: Chain) {
  if (life.kind === "expires") return life;
  throw new Error("Cannot wait for an end as no transaction of this chain expires");
}

/** A payout of the hot wallet, signed on the solid block. */
export async function signPayout(
  harness: ChainHarness,
  changes: Partial<Payment> = {},
): Promise<{ readonly payment: Payment; readonly signed: SignedTransaction }> {
  const { chain, currency } = harness;
  const payment: Payment = {
    to: harness.freshAddress(),
    asset: currency,
    amount: amountOf("2.5"),
    ...changes,
  };
  const fee = await chain.estimateFee([{ from: chain.hotWallet, ...payment }]);
  const signed = await harness.sign(payment, await envelopeOf(chain, fee));
  return { payment, signed };
}

/** The terms of the hot wallet's next transaction, numbered where its chain numbers them. */
export async function envelopeOf(chain: Chain, fee: FeeEstimate): Promise<Envelope> {
  const { life } = chain.capabilities;
  const nonce = life.kind === "nonce" ? await life.lane.next(chain.hotWallet, "head") : null;
  return chain.envelope(await chain.solid(), fee, nonce);
}

/** True when an outcome says that the node has the transaction. */
export function isTaken(outcome: BroadcastOutcome): boolean {
  return outcome.category === "accepted" || outcome.category === "known";
}
