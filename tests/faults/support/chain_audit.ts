/**
 * Payments that really happened on the development chain, read from its blocks without any code of
 * the product's adapter.
 *
 * @module
 */

import { z } from "zod";
import { fromBase58, toBase58 } from "../../../devchain/address.ts";
import type { Mortal } from "./mortal.ts";
import { send } from "./client.ts";

const TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

const Info = z.object({
  head: z.number(),
  solid: z.number(),
  pending: z.number(),
  time: z.number(),
});
const Log = z.object({ address: z.string(), topics: z.array(z.string()), data: z.string() });
const Receipts = z.array(z.object({ id: z.string(), log: z.array(Log).optional() }));

/** A USDT transfer that is in a block. */
export interface ChainTransfer {
  readonly txid: string;
  readonly height: number;
  /** Smallest units. */
  readonly amount: bigint;
}

/** State of the chain. */
export async function chainInfo(service: Mortal): Promise<z.output<typeof Info>> {
  return Info.parse((await send(`${service.credentials.chains.TRX.url}/dev/info`, "GET")).body);
}

/** Every USDT transfer to an address in the blocks up to head. */
export async function transfersTo(
  service: Mortal,
  address: string,
): Promise<readonly ChainTransfer[]> {
  const { url, usdt } = service.credentials.chains.TRX;
  const wanted = hexOf(address);
  const contract = hexOf(usdt);
  const { head } = await chainInfo(service);
  const heights = Array.from({ length: head }, (_, n) => n + 1);
  const blocks = await Promise.all(heights.map(async (num) => {
    const answer = await send(`${url}/wallet/gettransactioninfobyblocknum`, "POST", { num });
    return { height: num, receipts: Receipts.parse(answer.body) };
  }));
  return blocks.flatMap(({ height, receipts }) =>
    receipts.flatMap(({ id: txid, log = [] }) =>
      log.filter((entry) =>
        entry.address === contract && entry.topics[0] === TRANSFER &&
        entry.topics[2]?.slice(-40) === wanted
      ).map((entry) => ({ txid, height, amount: BigInt(`0x${entry.data}`) }))
    )
  );
}

/** USDT of an address at head, smallest units. */
export async function usdtOf(service: Mortal, address: string): Promise<bigint> {
  const { url, usdt } = service.credentials.chains.TRX;
  const { body } = await send(`${url}/wallet/triggerconstantcontract`, "POST", {
    owner_address: address,
    contract_address: usdt,
    function_selector: "balanceOf(address)",
    parameter: hexOf(address).padStart(64, "0"),
    visible: true,
  });
  const { constant_result } = z.object({ constant_result: z.tuple([z.string()]) }).parse(body);
  return BigInt(`0x${constant_result[0]}`);
}

/** An address that no wallet of a test has, different at every call. */
export function someAddress(): string {
  return toBase58(`41${crypto.getRandomValues(new Uint8Array(20)).toHex()}`);
}

/** The 20 bytes of an address as contracts know it. */
function hexOf(address: string): string {
  const hex = fromBase58(address);
  if (hex === null) throw new RangeError(`Cannot use as an address: ${address}`);
  return hex.slice(2);
}
