import { assertEquals } from "@std/assert";
import { isAskedByRequest } from "../../chains/call_lane.ts";
import { testApi } from "../support/api.ts";
import { paperChain } from "../support/paper_chain.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

test("a merchant's claims wait behind themselves, whatever keys it has, and keep no other's from being read", async () => {
  const hanging = Promise.withResolvers<void>();
  const lanes = new Set<boolean>();
  const chain = paperChain("TRX", {
    transaction: async (txid) => {
      lanes.add(isAskedByRequest());
      if (txid.startsWith("slow")) await hanging.promise;
      return { kind: "missing", txid };
    },
  });
  await using api = await testApi({ chains: new Map([["TRX", chain]]) });
  await api.sql`
    INSERT INTO hub.cursor (network, view, height, hash, time, previous_time)
    VALUES ('TRX', 'solid', 7, '7', now(), now())`;
  const busy = await api.addMerchant();
  const calm = await api.addMerchant();
  const keys = [busy.key];
  for (let n = 0; n < 4; n++) {
    keys.push(await api.addKey(busy.id, { role: "MERCHANT", permissions: ["write"] }));
  }
  const claim = (key: string, txHash: string) =>
    api.call("POST", "/api/deposits/claim", { key, body: { network: "TRX", txHash } });
  const claims = keys.map((key, n) => claim(key, `slow-${n}`));
  assertEquals((await claim(calm.key, "other")).body, { deposits: [], status: "not_found" });
  const refused = await Promise.all(claims.slice(1));
  for (const { status, headers } of refused) {
    assertEquals([status, headers.get("retry-after") !== null], [503, true]);
  }
  hanging.resolve();
  assertEquals((await claims[0])?.body, { deposits: [], status: "not_found" });
  assertEquals((await claim(busy.key, "again")).body.status, "not_found");
  assertEquals([...lanes], [true]);
});
