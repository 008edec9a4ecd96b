import { assert, assertEquals, assertRejects } from "@std/assert";
import { validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { fingerprintOf, openPublicWallet } from "../../chains/wallet/public_wallet.ts";
import { exportMnemonic, unlockWallet } from "../../chains/wallet/unlock_wallet.ts";
import { WalletFault } from "../../chains/wallet/secret_file.ts";
import { wallet } from "../../app/commands/wallet.ts";
import { loadConfig } from "../../app/config/config.ts";
import { openWallet } from "../../app/open/open_wallet.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true, write: true });

const MNEMONIC =
  "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
const PASSPHRASE = "correct horse battery staple";
/** The hot wallet of that mnemonic on TRX: m/44'/195'/1000'/0/0. */
const HOT = /hot wallet (T[1-9A-HJ-NP-Za-km-z]{33})/;

interface Place extends AsyncDisposable {
  readonly folder: string;
  readonly file: string;
  /** Carries out a command line. */
  run(args: readonly string[], words?: string): Promise<{ code: number; printed: string }>;
}

async function setUp(): Promise<Place> {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/wallet.json`;
  await Deno.writeTextFile(`${folder}/passphrase`, `${PASSPHRASE}\n`, { mode: 0o600 });
  return {
    folder,
    file,
    async run(args, words = "") {
      let printed = "";
      const print = (text: string) => printed += `${text}\n`;
      const env = { WALLET_FILE: file, WALLET_PASSPHRASE_FILE: `${folder}/passphrase` };
      const out = { log: print, error: print };
      return { code: await wallet(args, env, () => Promise.resolve(words), out), printed };
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

test("new words are shown once and only when asked for, and never again", async () => {
  await using place = await setUp();
  const created = await place.run(["create", "--show-mnemonic", "--networks", "TRX"]);
  assertEquals(created.code, 0);
  const words = created.printed.trim().split("\n").at(-1) ?? "";
  assertEquals([words.split(" ").length, validateMnemonic(words, wordlist)], [24, true]);
  assertEquals((await Deno.stat(place.file)).mode! & 0o777, 0o600);
  // a wallet is never overwritten: it may be the only copy of a key
  const again = await place.run(["create", "--show-mnemonic"]);
  assertEquals([again.code, again.printed.includes("exists already")], [1, true]);
  for (const args of [["show-public"], ["create"], ["show-mnemonic"]]) {
    const { printed } = await place.run(args);
    assertEquals(words.split(" ").every((word) => printed.includes(word)), false);
  }
});

test("imported words come from the standard input alone", async () => {
  await using place = await setUp();
  for (const args of [["import", MNEMONIC], ["import", "--mnemonic", MNEMONIC]]) {
    const { code, printed } = await place.run(args, "");
    assertEquals([code, printed.includes("abandon")], [2, false]);
  }
  const wrong = await place.run(["import"], MNEMONIC.replace("about", "abandon"));
  assertEquals([wrong.code, wrong.printed.includes("abandon")], [1, false]);
  const { code, printed } = await place.run(["import"], `  ${MNEMONIC.toUpperCase()}\n`);
  assertEquals([code, printed.includes("abandon")], [0, false]);
  const hot = HOT.exec(printed)?.[1];
  const keys = await unlockWallet(place.file, PASSPHRASE);
  assertEquals(keys.key("TRX", "hot")?.address, hot);
  assert(keys.address("TRX", "hot") !== keys.address("TRX_SHASTA", "hot"));
  keys.lock();
});

test("the public file has what the service needs, and nothing to spend with", async () => {
  await using place = await setUp();
  await place.run(["import"], MNEMONIC);
  const { printed } = await place.run(["show-public"]);
  assertEquals(/cipher|kdf|salt/.test(printed), false);
  const file = `${place.folder}/public.json`;
  await Deno.writeTextFile(file, printed, { mode: 0o640 });
  const [whole, part] = [await openPublicWallet(place.file), await openPublicWallet(file)];
  assertEquals(part, whole);
  assertEquals(fingerprintOf(part), fingerprintOf(whole));
  await assertRejects(() => unlockWallet(file, PASSPHRASE), Error, "Cannot use the wallet");
});

test("what is changed in the public keys changes the fingerprint", async () => {
  await using place = await setUp();
  await place.run(["import"], MNEMONIC);
  const wallet = await openPublicWallet(place.file);
  const { TRX, TRX_SHASTA } = wallet.networks;
  assert(TRX !== undefined && TRX_SHASTA !== undefined);
  const { depositXpub } = TRX_SHASTA;
  const forged = { ...wallet, networks: { TRX: { ...TRX, depositXpub }, TRX_SHASTA } };
  assert(fingerprintOf(forged) !== fingerprintOf(wallet));
});

test("a command without its variables names them, and an unknown one explains itself", async () => {
  const printed: string[] = [];
  const out = { log: () => {}, error: (text: string) => printed.push(text) };
  const words = () => Promise.resolve("");
  assertEquals(await wallet(["create"], {}, words, out), 1);
  assertEquals(await wallet(["show-public"], {}, words, out), 1);
  assertEquals(await wallet(["recover", "--network", "XYZ"], {}, words, out), 1);
  assertEquals(await wallet(["recover", "--network", "TRX", "--gap", "1e3"], {}, words, out), 1);
  assertEquals(await wallet(["toString"], {}, words, out), 2);
  assert(printed[0]?.includes("WALLET_FILE") && printed[2]?.includes("--network"));
});

/** Environment of a service in production. */
function productionEnv(place: Place): Record<string, string> {
  const secret = "0123456789abcdef0123456789abcdef";
  return {
    ENVIRONMENT: "production",
    PUBLIC_URL: "https://pay.example",
    DATABASE_URL: "postgres://engine:s@db.example/engine",
    SESSION_SECRET: secret,
    INGEST_SECRET: secret,
    CALLBACK_SECRETS_KEY: secret,
    WALLET_FILE: place.file,
    WALLET_PASSPHRASE_FILE: `${place.folder}/passphrase`,
    SIGNER_SOCKET: "/run/signer.sock",
    TRX_NODE_URLS: "https://node.example",
  };
}

test("outside development a missing or a development wallet is refused by variable name", async () => {
  await using place = await setUp();
  const env = productionEnv(place);
  for (const ENVIRONMENT of ["staging", "production"]) {
    const answer = loadConfig({ ...env, ENVIRONMENT });
    assert(answer.ok);
    await assertRejects(
      () => openWallet(answer.config, ["TRX"]),
      Error,
      "WALLET_FILE names no file",
    );
  }
  await createWallet({
    file: place.file,
    passphrase: PASSPHRASE,
    networks: ["TRX"],
    development: true,
  });
  const answer = loadConfig(env);
  assert(answer.ok);
  await assertRejects(
    () => openWallet(answer.config, ["TRX"]),
    Error,
    "WALLET_FILE names one that was made for development",
  );
  // and a file whose flag was edited does not unlock any more
  const text = await Deno.readTextFile(place.file);
  await Deno.writeTextFile(place.file, text.replace('"development": true', '"development": false'));
  await assertRejects(() => unlockWallet(place.file, PASSPHRASE), Error, "the file was changed");
});

test("a development wallet gets the accounts of networks that are opened later, and one that is named gets none", async () => {
  await using place = await setUp();
  const answer = loadConfig({ DATA_DIR: place.folder });
  assert(answer.ok);
  await Deno.remove(`${place.folder}/passphrase`);
  const { wallet: first } = await openWallet(answer.config, ["TRX"]);
  assertEquals(Object.keys(first.networks), ["TRX"]);
  const { wallet: later, passphraseFile } = await openWallet(answer.config, ["TRX", "ETH", "BNB"]);
  assertEquals(Object.keys(later.networks).toSorted(), ["BNB", "ETH", "TRX"]);
  assertEquals([later.walletId, later.networks.TRX], [first.walletId, first.networks.TRX]);
  const passphrase = (await Deno.readTextFile(passphraseFile)).trim();
  const keys = await unlockWallet(place.file, passphrase);
  assertEquals(keys.key("ETH", "hot")?.address, later.networks.ETH?.hotWallet);
  keys.lock();
  // what is there already is not written again
  const { mtime } = await Deno.stat(place.file);
  await openWallet(answer.config, ["TRX", "ETH"]);
  assertEquals((await Deno.stat(place.file)).mtime, mtime);

  const named = loadConfig({ DATA_DIR: place.folder, WALLET_FILE: place.file });
  assert(named.ok);
  const { wallet: same } = await openWallet(named.config, ["TRX", "SEP"]);
  assertEquals(same.networks.SEP, undefined);
});

test("outside development the service does not run on the file with the words, only on the public one", async () => {
  await using place = await setUp();
  await place.run(["import"], MNEMONIC);
  const answer = loadConfig(productionEnv(place));
  assert(answer.ok);
  const { config } = answer;
  await assertRejects(() => openWallet(config, ["TRX"]), WalletFault, "show-public");
  const { printed } = await place.run(["show-public"]);
  await Deno.remove(place.file);
  await Deno.writeTextFile(place.file, printed, { mode: 0o600 });
  assert((await openWallet(config, ["TRX"])).wallet.networks.TRX !== undefined);
});

test("the passphrase is replaced, and the wallet is the same one", async () => {
  await using place = await setUp();
  const old = { file: place.file, passphrase: PASSPHRASE, passphraseIsRandom: true } as const;
  const made = await createWallet({ ...old, networks: ["TRX"] });
  const printed: string[] = [];
  const out = {
    log: (text: string) => printed.push(text),
    error: (text: string) => printed.push(text),
  };
  const [passphraseFile, newFile, newPassphrase] = ["p1", "w2.json", "p2"]
    .map((name) => `${place.folder}/${name}`);
  const env = { WALLET_FILE: place.file, WALLET_PASSPHRASE_FILE: passphraseFile ?? "" };
  const run = () =>
    wallet(["passphrase", newFile ?? "", newPassphrase ?? ""], env, () => Promise.resolve(""), out);
  await Deno.writeTextFile(passphraseFile ?? "", PASSPHRASE, { mode: 0o600 });
  await Deno.writeTextFile(newPassphrase ?? "", "short", { mode: 0o600 });
  assertEquals(await run(), 1);
  await Deno.writeTextFile(newPassphrase ?? "", "another passphrase", { mode: 0o600 });
  assertEquals(await run(), 0, printed.join("\n"));
  assertEquals(fingerprintOf(await openPublicWallet(newFile ?? "")), fingerprintOf(made));
  const words = await exportMnemonic(place.file, PASSPHRASE);
  assertEquals(await exportMnemonic(newFile ?? "", "another passphrase"), words);
  await assertRejects(() => exportMnemonic(newFile ?? "", PASSPHRASE), Error);
  assertEquals(await run(), 1);
});
