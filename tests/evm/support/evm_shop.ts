/**
 * A merchant of a running service on a network of EVM: its page, its payments, and what the chain says of them,
 * without any code of the product's adapter.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { getAddress, Interface } from "ethers";
import { z } from "zod";
import { admin } from "../../../app/commands/admin.ts";
import { ask, eventually, expectBody, send, UNDISTURBED_MS } from "../../faults/support/client.ts";
import type { Receiver } from "../../faults/support/receiver.ts";
import type { Service } from "../../support/service.ts";

const TOKEN = new Interface(["function balanceOf(address) view returns (uint256)"]);
const FACTS = {
  ETH: { names: "Ethereum (ERC-20)", decimals: 6n, chainId: 1_337_001 },
  BNB: { names: "BNB Smart Chain (BEP-20)", decimals: 18n, chainId: 1_337_056 },
} as const;
/** Amounts of the interface are counted in these. */
const PLACES = 18n;

type Token = "USDT" | "USDC";
const Info = z.object({ usdt: z.string(), usdc: z.string() });
const Lines = z.object({
  transactions: z.array(
    z.object({
      type: z.string(),
      status: z.string(),
      amount: z.string(),
      balanceAfter: z.string(),
    }),
  ),
});

/** References are new in every step. */
let made = 0;

function count(text: string, decimals: bigint): bigint {
  const [whole = "", fraction = ""] = text.split(".");
  assert(fraction.length <= Number(decimals), `finer than its token: ${text}`);
  return BigInt(whole + fraction.padEnd(Number(decimals), "0"));
}

/** Enables both tokens of a network as an administrator does, and has events sent to the receiver. */
export async function openEvmShop(service: Service, network: "ETH" | "BNB", receiver: Receiver) {
  const { names, decimals, chainId } = FACTS[network];
  const { merchant } = service.credentials;
  receiver.secret = merchant.webhookSecret;
  const silent = { log: () => {}, error: () => {} };
  for (const token of ["USDT", "USDC"]) {
    const line = ["pairs", "set", `${token}/${network}`, "--deposits", "on", "--withdrawals", "on"];
    assertEquals(await admin(line, { DATA_DIR: service.dataDir }, silent), 0);
  }
  const profile = { webhookUrl: receiver.url, webhookEnabled: true, webhookTimeout: 5_000 };
  const patched = await ask(service, "PATCH", `/api/merchants/${merchant.id}`, profile);
  assertEquals(patched.status, 200);
  const chainUrl = () => {
    const chain = service.credentials.chains[network];
    if (chain === undefined) throw new Error(`Cannot pay as there is no chain of ${network}`);
    return chain.url;
  };
  const contracts = Info.parse((await send(`${chainUrl()}/dev/info`, "GET")).body);
  const contractOf = { USDT: contracts.usdt, USDC: contracts.usdc };
  const get = async <S extends z.ZodType>(schema: S, path: string) =>
    expectBody(schema, await ask(service, "GET", path), 200);
  const balance = async (currency: Token) =>
    (await get(
      z.object({ available: z.string() }),
      `/api/balance?currency=${currency}&network=${network}`,
    )).available;

  return {
    names,
    /** An amount in the smallest units of the network's tokens. */
    units: (text: string) => count(text, decimals),
    /** An amount with the places of the interface. */
    scaled: (text: string) => count(text, PLACES),
    balance,
    available: async (currency: Token) => count(await balance(currency), PLACES),
    /** The link of a transfer of USDT. */
    link: (address: string, amount: string) =>
      `ethereum:${contractOf.USDT}@${chainId}/transfer?address=${address}&uint256=${
        count(amount, decimals)
      }`,
    /** A payment page, as the customer's browser gets it. */
    async openPage(requestedAmount: string) {
      const answer = await ask(service, "POST", "/api/deposit-url", {
        network,
        identifier: `page-${++made}`,
        requestedAmount,
        requestedCurrency: "USD",
      });
      const { address, url } = expectBody(
        z.object({ address: z.string(), url: z.string() }),
        answer,
        201,
      );
      assertEquals(getAddress(address), address);
      const page = await fetch(url, { headers: { accept: "text/html" } });
      return { address, page: await page.text() };
    },
    /** A customer pays to a new address. @returns the reference of its deposit */
    async payIn(currency: Token, amount: string) {
      const referenceId = `in-${++made}`;
      const asked = { network, identifier: `customer-${made}`, referenceId };
      const answer = await ask(service, "POST", "/api/deposit-address", asked);
      const { address } = expectBody(z.object({ address: z.string() }), answer, 201);
      const paid = await send(`${chainUrl()}/dev/transfer`, "POST", {
        to: address,
        amount,
        currency,
      });
      assertEquals(paid.status, 200);
      return referenceId;
    },
    /** The merchant asks for a payout to an address that holds nothing. */
    async withdraw(currency: Token, amount: string) {
      const [row] = await service.sql<{ next: number | null }[]>`
        SELECT (max(nonce) + 1)::int AS next FROM book.lane_nonce
        WHERE network = ${network} AND payer = 'hot'`;
      const destination = getAddress(
        `0x${crypto.getRandomValues(new Uint8Array(20)).toHex()}`,
      );
      const referenceId = `out-${++made}`;
      const answer = await ask(service, "POST", "/api/withdrawals", {
        network,
        currency,
        amount,
        destination: destination.toLowerCase(),
        referenceId,
      });
      const { withdrawalId } = expectBody(
        z.object({ withdrawalId: z.string() }),
        answer,
        201,
        409,
      );
      return { referenceId, withdrawalId, destination, least: row?.next ?? 0 };
    },
    /** Waits until a payment is confirmed. */
    async confirmed(kind: "deposits" | "withdrawals", referenceId: string) {
      const schema = z.object({ [kind]: z.array(z.object({ status: z.string() })) });
      await eventually(`${kind} of ${referenceId} on ${network}`, async () => {
        const found = await get(schema, `/api/${kind}?referenceId=${referenceId}`);
        return found[kind]?.[0]?.status === "CONFIRMED";
      }, UNDISTURBED_MS);
    },
    /** Nonces of a payout's transactions; one, however many there were. */
    async noncesOf(withdrawalId: string) {
      const rows = await service.sql<{ nonce: number }[]>`
        SELECT DISTINCT a.nonce::int FROM book.attempt a JOIN book.withdrawal w ON w.outgoing_id = a.outgoing_id
        WHERE w.id = ${withdrawalId}`;
      return rows.map(({ nonce }) => nonce);
    },
    /** The balance of an address, smallest units, by the newest block. */
    async balanceOnChain(currency: Token, address: string) {
      const data = TOKEN.encodeFunctionData("balanceOf", [address]);
      const call = { to: contractOf[currency], data };
      const body = { jsonrpc: "2.0", id: 1, method: "eth_call", params: [call, "latest"] };
      const answer = await send(chainUrl(), "POST", body);
      return BigInt(z.object({ result: z.string() }).parse(answer.body).result);
    },
    /** The merchant's statement, newest first. */
    statement: async (currency: Token) =>
      (await get(Lines, `/api/transactions?currency=${currency}&network=${network}`)).transactions
        .map(({ type, status, amount, balanceAfter }) => ({ type, status, amount, balanceAfter })),
  };
}

/** Waits for the event of a payment, which has to be signed by the merchant's secret. */
export async function tell(receiver: Receiver, event: string, referenceId: string): Promise<void> {
  const found = await eventually(`${event} of ${referenceId}`, () =>
    Promise.resolve(
      receiver.deliveries.find((one) =>
        one.event === event && one.body.includes(JSON.stringify(referenceId))
      ),
    ), UNDISTURBED_MS);
  assert(found.signatureIsRight, `the signature of ${found.eventId} is wrong`);
}
