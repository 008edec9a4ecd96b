import { assert, assertEquals, assertRejects } from "@std/assert";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { publicAddresses } from "../../chains/wallet/network_keys.ts";

const test = testNeeding(DATABASE);

test("a node that does not answer leaves no payout leased", async () => {
  const { signQueued } = await import("../../actors/treasury/sign_queued.ts");
  const { ChainUnavailable } = await import("../../chains/chain.ts");
  const { createTronChain } = await import("../../chains/tron/tron_chain.ts");
  const { createWallet } = await import("../../chains/wallet/create_wallet.ts");
  const { testDatabase } = await import("../support/database.ts");
  const { addMerchant, fund, openJournal, reserveCommand } = await import("../support/books.ts");

  await using database = await testDatabase();
  const { sql } = database;
  const folder = await Deno.makeTempDir({ prefix: "engine-lease-" });
  try {
    const wallet = await createWallet({
      file: `${folder}/wallet.json`,
      passphrase: crypto.randomUUID(),
      passphraseIsRandom: true,
      networks: ["TRX"],
    });
    const account = wallet.networks.TRX;
    assert(account !== undefined);
    const chain = createTronChain({
      network: "TRX",
      nodeUrls: [nobodysUrl()],
      contracts: { USDT: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
      deposits: publicAddresses("TRX", account),
      hotWallet: account.hotWallet,
    });
    const merchantId = await addMerchant(sql);
    const journal = openJournal(sql);
    await fund(sql, journal, merchantId, "100");
    await journal.ask(merchantId, reserveCommand(), 60_000);
    await journal.stop(5_000);

    await assertRejects(() =>
      signQueued(chain, {
        sql,
        chains: new Map([["TRX", chain]]),
        signer: {
          sign: (requests) =>
            requests.length === 0
              ? Promise.resolve([])
              : Promise.reject(new Error("nothing is to be signed")),
        },
        now: Date.now,
        node: "node",
        leaseMs: 60_000,
        resendMs: 1_000,
        attemptLimit: 3,
        wakeMerchants: () => {},
        onLook: () => {},
        onLiquidity: () => {},
        onSignerState: () => {},
      }), ChainUnavailable);
    const rows = await sql`
      SELECT status, attempts, lease_until <= now() AS free FROM book.outgoing`;
    assertEquals(rows.map((row) => ({ ...row })), [{ status: "queued", attempts: 0, free: true }]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** A loopback address on which no process listens. */
function nobodysUrl(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}`;
}
