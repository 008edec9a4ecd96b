import { createSigner } from "../../../chains/signer/create_signer.ts";
import { type Limits, SpendingLimits } from "../../../chains/signer/signing_rules.ts";
import type { SigningKey, TransferBuilder } from "../../../chains/signer.ts";
import type { Envelope } from "../../../chains/chain.ts";
import type { Sql } from "../../../ledger/database/connect.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import { readIntents } from "../../../ledger/treasury/intents.ts";
import { readUsedNonces } from "../../../ledger/treasury/used_nonces.ts";

/**
 * The real signer with the real rules, whose signatures are paper.
 *
 * @param name beginning of its transactions' ids
 */
export function countingSigner(
  sql: Sql,
  network: Network,
  limits: Limits = {},
  name: string = network,
) {
  let signed = 0;
  const keyOf = (wallet: "hot" | number): SigningKey => ({
    address: wallet === "hot" ? "hot-wallet" : `address-${wallet}`,
    privateKey: new Uint8Array(32),
  });
  const bytesOf = ({ nonce, fields }: Envelope, pays: readonly string[]) => {
    const txid = `${name}-${++signed}`;
    return {
      txid,
      bytes: JSON.stringify({ txid, nonce, price: fields.price, pays }),
      expiresAt: null,
    };
  };
  const builder: TransferBuilder = {
    network,
    ends: {
      by: "nonce",
      cancelFault: () => null,
      cancel: (envelope) => bytesOf(envelope, []),
      mostOf: ({ fields }) => amountOf(String(fields.price)),
      cancelsPerDay: amountOf("10000"),
      signedBy: (bytes) => {
        const { txid, nonce, pays } = JSON.parse(bytes);
        return { txid, nonce, sender: "hot-wallet", movesNothing: pays?.length === 0 };
      },
    },
    envelopeFault: () => null,
    intentFault: () => null,
    sign: (intents, envelope) => bytesOf(envelope, intents.map(({ outgoingId }) => outgoingId)),
  };
  return createSigner({
    keys: {
      walletId: "wal_test",
      key: (_, wallet) => keyOf(wallet),
      address: (_, wallet) => keyOf(wallet).address,
      lock: () => {},
    },
    intents: {
      read: (ids) => readIntents(sql, ids),
      readUsed: (places) => readUsedNonces(sql, places),
    },
    builders: [builder],
    spending: new SpendingLimits(limits),
    now: Date.now,
  });
}
