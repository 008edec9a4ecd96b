import { assertEquals, assertStringIncludes } from "@std/assert";
import { createSocketSigner } from "../../chains/signer/socket_client.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { fingerprintOf, openPublicWallet } from "../../chains/wallet/public_wallet.ts";
import { eventually } from "../faults/support/client.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";
import { envelopeAt, signedOf } from "./support/desk.ts";
import { signerProcess } from "./support/signer_process.ts";
import { signerRole } from "./support/signer_role.ts";
import { requestOf } from "../support/sign_request.ts";

const test = testNeeding(DATABASE);

const PASSPHRASE = "correct horse battery staple";

test("a signer that was killed gives the same signature again, and none from damaged files", async () => {
  await using database = await testDatabase();
  await using role = await signerRole(database.sql, database.url);
  await using signer = await signerProcess({});
  const folder = await Deno.makeTempDir();
  try {
    const walletFile = `${folder}/wallet.json`;
    await createWallet({
      file: walletFile,
      passphrase: PASSPHRASE,
      passphraseIsRandom: true, // hardly stretched, as each start of the signer unlocks it
      networks: ["TRX"],
    });
    await Deno.writeTextFile(`${folder}/passphrase`, PASSPHRASE, { mode: 0o600 });
    await database.sql`
      INSERT INTO book.outgoing
        (id, merchant_id, kind, payment_id, network, currency, amount, destination, status, created_at, updated_at)
      VALUES ('out_1', 'mer_1', 'payout', 'wd_1', 'TRX', 'USDT', 12.5,
        'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8', 'queued', now(), now())`;
    const env = {
      ENVIRONMENT: "development",
      WALLET_FILE: walletFile,
      WALLET_PASSPHRASE_FILE: `${folder}/passphrase`,
      SIGNER_DATABASE_URL: role.url,
      TRX_USDT_CONTRACT: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    };
    const fingerprint = fingerprintOf(await openPublicWallet(walletFile));
    const blockTime = Date.now();
    const ask = async (time: number) => {
      const client = createSocketSigner({ path: signer.socket, fingerprint, timeoutMs: 30_000 });
      try {
        await eventually("the connection", () => Promise.resolve(client.trouble === null));
        const [answer] = await client.sign([requestOf("out_1", envelopeAt(time))]);
        return signedOf(answer);
      } finally {
        await client.close();
      }
    };
    await signer.start(env);
    const before = await ask(blockTime);
    const uncapped = "Without a cap per transaction and per day: USDT/TRX";
    assertStringIncludes((await signer.verb("status")).printed, uncapped);
    await signer.kill9();
    const caps = { TRX_SIGNER_PER_TRANSACTION: "USDT:500", TRX_SIGNER_PER_DAY: "USDT:1000" };
    await signer.start({ ...env, ...caps });
    assertEquals((await signer.verb("status")).printed.includes(uncapped), false);
    assertEquals(await ask(blockTime + 60_000), before);
    assertStringIncludes((await signer.verb("status")).printed, "24 hours: 12.5 USDT/TRX");
    await signer.kill9();
    await Deno.writeTextFile(`${signer.stateDir}/signed-000001.jsonl`, "{}\n");
    const refused = await signer.verb();
    assertEquals(refused.code, 2, refused.printed);
    assertStringIncludes(refused.printed, "Cannot rule out signing twice");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
