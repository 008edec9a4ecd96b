import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { publicFileText, type PublicWallet } from "../../chains/wallet/public_wallet.ts";
import { WalletFault } from "../../chains/wallet/secret_file.ts";
import { takeIndexes } from "../../ledger/addresses/watched_addresses.ts";
import type { SignerWallet } from "../../chains/signer/socket_client.ts";
import { serviceFlags } from "../../app/commands/service_flags.ts";
import { openAttestation } from "../../app/open/wallet_attestation.ts";
import { until } from "../support/books.ts";
import { registerWallets } from "../../app/open/open_wallet.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

async function newWallet(): Promise<PublicWallet> {
  const folder = await Deno.makeTempDir();
  try {
    return await createWallet({
      file: `${folder}/wallet.json`,
      passphrase: crypto.randomUUID(),
      passphraseIsRandom: true,
      networks: ["TRX"],
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

test("a database belongs to one wallet, as it was when the database was begun", async () => {
  const [wallet, other] = [await newWallet(), await newWallet()];
  const account = wallet.networks.TRX;
  const strange = other.networks.TRX;
  assert(account !== undefined && strange !== undefined);
  await using database = await testDatabase();
  const { sql } = database;
  await registerWallets(sql, wallet, ["TRX"]);
  await registerWallets(sql, wallet, ["TRX"]);
  const refusal = async (given: PublicWallet) => {
    const { message } = await assertRejects(
      () => registerWallets(sql, given, ["TRX"]),
      WalletFault,
    );
    assertEquals([message.includes("\n"), message.includes("xpub")], [false, false]);
    return message;
  };
  assertStringIncludes(await refusal(other), "addresses of another one");
  // the name and the hot wallet are right, so that only the deposits would go elsewhere
  const redirected = { ...account, depositXpub: strange.depositXpub };
  const { depositAccount: _, ...renumbered } = account;
  for (
    const TRX of [
      redirected,
      { ...account, hotWallet: strange.hotWallet },
      { ...renumbered, depositAccount: 1 },
    ]
  ) {
    assertStringIncludes(await refusal({ ...wallet, networks: { TRX } }), "tampered with");
  }
  assertStringIncludes(await refusal({ ...wallet, development: true }), "tampered with");

  // nor can the row be made to fit, or be removed
  for (
    const change of [
      sql`UPDATE hub.wallet SET fingerprint = ${"0".repeat(64)}`,
      sql`UPDATE hub.wallet SET hot_wallet = ${strange.hotWallet}`,
      sql`DELETE FROM hub.wallet`,
    ]
  ) await assertRejects(() => change, Error, "written once");
});

test("a database with addresses of a wallet of the old form is refused, and numbers none", async () => {
  const wallet = await newWallet();
  await using database = await testDatabase();
  const { sql } = database;
  await sql`ALTER TABLE hub.wallet DROP CONSTRAINT wallet_is_identified`;
  await sql`
    INSERT INTO hub.wallet (network, wallet_id, hot_wallet)
    VALUES ('TRX', ${wallet.walletId}, ${wallet.networks.TRX?.hotWallet ?? ""})`;
  await sql`
    ALTER TABLE hub.wallet ADD CONSTRAINT wallet_is_identified CHECK (fingerprint IS NOT NULL) NOT VALID`;
  const { message } = await assertRejects(
    () => registerWallets(sql, wallet, ["TRX"]),
    WalletFault,
    "of the old form",
  );
  assertStringIncludes(message, "Moving from an old wallet");
  await assertRejects(
    () => sql`UPDATE hub.wallet SET next_index = next_index + 1`,
    Error,
    "wallet_is_identified",
  );
});

test("no address is numbered before a signer has attested the wallet; afterwards it may be away", async () => {
  const wallet = await newWallet();
  await using database = await testDatabase();
  const { sql } = database;
  await registerWallets(sql, wallet, ["TRX"]);
  let said: SignerWallet = "unknown";
  const open = () => openAttestation(sql, wallet, ["TRX"], () => said);
  const first = await open();
  assertStringIncludes(first.held() ?? "", "no signer has said yet");
  assertEquals(await takeIndexes(sql, "TRX", 1), null);
  said = "other";
  assertEquals(first.held(), "the signer has another wallet");
  said = "same";
  await until(() => first.held() === null);
  await first.close();
  assertEquals(await takeIndexes(sql, "TRX", 1), 0);

  said = "unknown";
  const second = await open();
  assertEquals(second.held(), null);
  said = "other";
  assertEquals(second.held(), "the signer has another wallet");
  await second.close();
});

test("the service does not start on a wallet of the old form, and says so in one line", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const text = publicFileText(await newWallet()).replace('"version": 2', '"version": 1');
    await Deno.writeTextFile(`${folder}/wallet.json`, text, { mode: 0o600 });
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--allow-all", "--no-check", "main.ts"],
      env: { DATA_DIR: folder, PORT: "0", NO_COLOR: "1" },
    }).output();
    const lines = new TextDecoder().decode(stderr).trim().split("\n");
    assertEquals([code, lines.length], [2, 1], lines.join("\n"));
    assertStringIncludes(lines[0] ?? "", "Cannot start: Cannot use the wallet as it is of the old");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

test("outside development the service does not start where it can read the signer's passphrase", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/public.json`, publicFileText(await newWallet()), {
      mode: 0o600,
    });
    await Deno.writeTextFile(`${folder}/passphrase`, "secret", { mode: 0o600 });
    const env = {
      NO_COLOR: "1",
      ENVIRONMENT: "production",
      DATA_DIR: folder,
      PUBLIC_URL: "https://pay.example",
      DATABASE_URL: "postgres://engine:s@127.0.0.1:1/engine",
      SESSION_SECRET: "0123456789abcdef0123456789abcdef",
      INGEST_SECRET: "0123456789abcdef0123456789abcdef",
      CALLBACK_SECRETS_KEY: "0123456789abcdef0123456789abcdef",
      WALLET_FILE: `${folder}/public.json`,
      WALLET_PASSPHRASE_FILE: `${folder}/passphrase`,
      SIGNER_SOCKET: `${folder}/signer.sock`,
      TRX_NODE_URLS: "http://127.0.0.1:1",
    };
    // as `deno task serve` starts it
    const answer = serviceFlags(env, Deno.cwd());
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--no-check", ...(answer.ok ? answer.flags : []), "main.ts"],
      env,
    }).output();
    const lines = new TextDecoder().decode(stderr).trim().split("\n");
    assertEquals([code, lines.length], [2, 1], lines.join("\n"));
    assertStringIncludes(lines[0] ?? "", "the service can read what only the signer may");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
