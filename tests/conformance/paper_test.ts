/**
 * The rules of the port on a chain in memory of another kind than TRON: it passes heights by, counts nonces, and its hot
 * wallet pays for sweeps. A rule that fails here is a habit of one chain, which would be asked of every adapter after it.
 *
 * @module
 */

import type { Movement } from "../../chains/fees.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { chainConformance } from "./chain.ts";
import type { ChainHarness, Kind, Payment } from "./harness.ts";
import { paperAdapter } from "./paper/adapter.ts";
import { FAUCET, PaperLedger } from "./paper/ledger.ts";
import { Troubles } from "./paper/node.ts";
import { idOf, signedOnPaper } from "./paper/transaction.ts";

const PAPER: Kind = {
  life: "nonce",
  skips: true,
  sweeps: "together",
  coin: ["1", "0.000001"],
};
const HOT_WALLET = "paper-4000000000";

function paperHarness(): Promise<ChainHarness> {
  const ledger = new PaperLedger(HOT_WALLET);
  const troubles = new Troubles();
  let addresses = 1_000_000;
  let paid = 0;
  const mine = (count: number): Promise<void> => {
    for (let made = 0; made < count; made++) ledger.mine();
    return Promise.resolve();
  };
  const payTogether = (payments: readonly Payment[]): Promise<string> => {
    const movements = payments.map((payment): Movement => ({ from: FAUCET, ...payment }));
    const txid = idOf(`paid by the faucet ${++paid}`);
    const nonce = ledger.nextBehind(FAUCET);
    ledger.take({
      txid,
      bytes: "",
      from: FAUCET,
      nonce,
      price: ledger.base,
      movements,
      fails: false,
    });
    return Promise.resolve(txid);
  };
  // others have used it before
  void payTogether([
    { to: HOT_WALLET, asset: "USDT", amount: amountOf("1000000") },
    { to: HOT_WALLET, asset: "native", amount: amountOf("100") },
  ]);
  void mine(10);
  return Promise.resolve({
    chain: paperAdapter("SOL", HOT_WALLET, ledger, troubles),
    currency: "USDT",
    spacingMs: 400,
    freshAddress: () => `paper-${++addresses}`,
    notAddresses: ["paper-", "paper-1 ", "Paper-1", "paper-x"],
    pay: (payment) => payTogether([payment]),
    payTogether,
    poison: () => payTogether([]),
    mine,
    reorganise: (depth) => Promise.resolve(ledger.reorganise(depth)),
    sign: (payment, envelope) =>
      Promise.resolve(signedOnPaper(HOT_WALLET, [{ from: HOT_WALLET, ...payment }], envelope)),
    signSweeps: (movements, envelope) =>
      Promise.resolve(signedOnPaper(HOT_WALLET, movements, envelope)),
    trouble: (trouble, times) => Promise.resolve(troubles.add(trouble, times)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
}

chainConformance("chain on paper", paperHarness, PAPER);
