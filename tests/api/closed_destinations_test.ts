import { assertEquals } from "@std/assert";
import { isClosedDestination } from "../../api/payouts/withdrawals.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { amount } from "../support/books.ts";
import { paperChain } from "../support/paper_chain.ts";

/** Cold wallets of two networks whose addresses have the same form. */
const COLD: Partial<Record<Network, string>> = { ETH: "0xEthCold", BNB: "0xBnbCold" };

/** The wallets of those networks, to which no deposit address was handed out. */
const CONTEXT: Parameters<typeof isClosedDestination>[3] = {
  chains: new Map([
    ["ETH", paperChain("ETH", { hotWallet: "0xEthHot" })],
    ["BNB", paperChain("BNB", { hotWallet: "0xBnbHot" })],
  ]),
  treasury: (network) => ({
    policy: {
      second: null,
      low: { native: amount("0"), USDT: amount("0"), USDC: amount("0") },
      cold: { address: COLD[network] ?? "", levels: new Map() },
    },
    status: null,
  }),
  addressOwners: () => Promise.resolve(undefined),
};

Deno.test("the service's wallets are no destination on any network, whichever they are of", async () => {
  for (const network of ["ETH", "BNB"] as const) {
    const isClosed = (address: string) => isClosedDestination("mer_1", network, address, CONTEXT);
    for (const address of ["0xEthHot", "0xBnbHot", "0xEthCold", "0xBnbCold"]) {
      assertEquals(await isClosed(address), true, `${address} on ${network}`);
    }
    assertEquals(await isClosed("0xCustomer"), false);
  }
});
