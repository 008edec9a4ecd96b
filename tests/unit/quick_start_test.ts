import { assertEquals } from "@std/assert";
import { quickStart } from "../../app/development/demo_accounts.ts";

const CREDENTIALS = {
  baseUrl: "http://localhost:8080",
  admin: { apiKey: "a", ingestSecret: "s" },
  merchant: { id: "mer_1", apiKey: "m", readOnlyKey: "r", webhookSecret: "w" },
  reseller: { id: "rsl_1", merchantId: "mer_2", apiKey: "k", withdrawalAddress: "T", network: "x" },
};
const NODE = { url: "http://localhost:9090", usdt: "T1", faucetAddress: "T2" };

/** The parts of the text for first-time users that name a network, a node or a destination. */
function pasted(chains: Readonly<Record<string, typeof NODE>>): string[] {
  const text = quickStart({ ...CREDENTIALS, chains }, "./.data", []);
  const named = /"?network"?[:=]"?\w+|http\S+\/dev\/transfer|"destination":"[^"]+"|undefined/g;
  return [...text.matchAll(named)].map(([part]) => part);
}

Deno.test("what is there to paste at a first start names the development chain that there is", () => {
  assertEquals(pasted({ TRX_SHASTA: NODE }), [
    '"network":"TRX_SHASTA',
    "http://localhost:9090/dev/transfer",
    "network=TRX_SHASTA",
    '"network":"TRX_SHASTA',
    '"destination":"T2"',
  ]);
});

Deno.test("without a development chain nothing is there to paste that cannot work", () => {
  assertEquals(pasted({}), [
    '"network":"TRX',
    "network=TRX",
    '"network":"TRX',
    '"destination":"<address>"',
  ]);
});

Deno.test("of a development chain whose pairs are closed it says how they are enabled, before anything else", () => {
  const text = quickStart({ ...CREDENTIALS, chains: { ETH: NODE } }, "./.data", ["ETH"]);
  const [, tried = ""] = text.split("Try it (needs curl):\n\n");
  assertEquals(tried.split("\n").slice(0, 4), [
    "  # ETH is not enabled yet",
    "  deno task admin pairs set USDT/ETH --deposits on --withdrawals on",
    "",
    "  export KEY=m",
  ]);
  const open = quickStart({ ...CREDENTIALS, chains: { ETH: NODE } }, "./.data", []);
  assertEquals(open.includes("pairs set"), false);
});
