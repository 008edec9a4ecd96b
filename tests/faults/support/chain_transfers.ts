import { z } from "zod";
import { fromBase58, toBase58 } from "../../../devchain/address.ts";
import { send } from "./client.ts";

const TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const AT_ONCE = 8;

const Log = z.object({ address: z.string(), topics: z.array(z.string()), data: z.string() });
const Receipts = z.array(z.object({ id: z.string(), log: z.array(Log).optional() }));

/** One USDT transfer in a block. */
export interface ChainTransfer {
  readonly txid: string;
  readonly logIndex: number;
  readonly from: string;
  readonly to: string;
  /** Smallest units. */
  readonly units: bigint;
}

const Info = z.object({ usdt: z.string(), head: z.number() });

/**
 * Every USDT transfer of a development chain up to its newest block, read without any code of the
 * product's adapter.
 *
 * @param from first block that is read
 */
export async function readTransfers(
  chainUrl: string,
  from = 1,
): Promise<readonly ChainTransfer[]> {
  const { usdt, head } = Info.parse((await send(`${chainUrl}/dev/info`, "GET")).body);
  const contract = fromBase58(usdt)?.slice(2);
  const left = Array.from({ length: Math.max(0, head - from + 1) }, (_, n) => from + n);
  const found: (readonly ChainTransfer[])[] = [];
  const read = async () => {
    for (let num = left.pop(); num !== undefined; num = left.pop()) {
      const url = `${chainUrl}/wallet/gettransactioninfobyblocknum`;
      const receipts = Receipts.parse((await send(url, "POST", { num })).body);
      found.push(
        receipts.flatMap(({ id: txid, log = [] }) =>
          log.flatMap(({ address, topics, data }, logIndex) => {
            if (address !== contract || topics[0] !== TRANSFER) return [];
            const [, from = "", to = ""] = topics;
            return [{
              txid,
              logIndex,
              from: addressIn(from),
              to: addressIn(to),
              units: BigInt(`0x${data}`),
            }];
          })
        ),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, read));
  return found.flat();
}

function addressIn(topic: string): string {
  return toBase58(`41${topic.slice(-40)}`);
}
