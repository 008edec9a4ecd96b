import { creationData, DEPLOYER } from "../../chains/evm/pay/sweep_delegate.ts";
import { signTransaction } from "../../chains/evm/pay/transfer_transaction.ts";
import type { Intent, SigningKey, TransferBuilder } from "../../chains/signer.ts";
import type { ChainHarness } from "./harness.ts";

const GWEI = 1_000_000_000n;
/** Far more than its creation takes. */
const GAS = 800_000;
/** So many deposit addresses are looked through for an index. */
const MOST = 100;

/** Creates the contract by which a hot wallet sweeps; in the next block. @param creator has sent nothing yet */
export async function createDelegate(
  nodeUrl: string,
  chainId: number,
  hotWallet: string,
  creator: SigningKey,
): Promise<void> {
  const { bytes } = signTransaction({
    chainId,
    nonce: 0,
    gas: GAS,
    maxFeePerGas: 10n * GWEI,
    maxPriorityFeePerGas: GWEI,
    to: DEPLOYER,
    value: 0n,
    data: creationData(hotWallet),
  }, creator);
  const call = { jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params: [bytes] };
  const response = await fetch(nodeUrl, { method: "POST", body: JSON.stringify(call) });
  const answer = await response.json();
  if (answer.result === undefined) {
    throw new Error(`Cannot create the delegate as the node refused: ${JSON.stringify(answer)}`);
  }
}

/** Signs sweeps as the signer does, each with the address of its index. */
export function sweepSigner(
  builder: TransferBuilder,
  keyOf: (wallet: "hot" | number) => SigningKey,
): NonNullable<ChainHarness["signSweeps"]> {
  const indexOf = (address: string): number => {
    const found = Array.from({ length: MOST }, (_, index) => index)
      .find((index) => keyOf(index).address === address);
    if (found !== undefined) return found;
    throw new Error(`Cannot find the index of an address: ${address}`);
  };
  return async (movements, envelope) => {
    const intents = movements.map(({ from, to, asset, amount }): Intent => ({
      kind: "sweep",
      destinationIndex: null,
      isDestinationClosed: false,
      outgoingId: crypto.randomUUID(),
      network: builder.network,
      currency: asset,
      amount,
      destination: to,
      wallet: indexOf(from),
      payer: "hot",
      status: "queued",
      nonce: null,
      usedNonces: [],
    }));
    const faults = intents.map((intent) => builder.intentFault(intent));
    const fault = faults.find((one) => one !== null) ??
      builder.envelopeFault(envelope, Date.now());
    if (fault !== null) throw new Error(`Cannot sign as ${fault}`);
    return await Promise.resolve(builder.sign(intents, envelope, keyOf, ""));
  };
}
