import { bytesToHex } from "@noble/hashes/utils.js";
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { createTronChain } from "../../chains/tron/tron_chain.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { openPublicWallet } from "../../chains/wallet/public_wallet.ts";
import { readPassphraseFile, WalletFault } from "../../chains/wallet/secret_file.ts";
import { exportMnemonic, unlockWallet } from "../../chains/wallet/unlock_wallet.ts";
import type { WalletFile } from "../../chains/wallet/wallet_file.ts";
import { publicAddresses } from "../../chains/wallet/network_keys.ts";
import { needs } from "../support/permissions.ts";
import { loadTronweb } from "../tron/support/tronweb_offline.ts";

const MNEMONIC =
  "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
const PASSPHRASE = "correct horse battery staple";
const FIRST_DEPOSIT_ADDRESS = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH";
/** m/44'/195'/0' of that mnemonic. */
const ACCOUNT_XPUB =
  "xpub6D1AabNHCupeiLM65ZR9UStMhJ1vCpyV4XbZdyhMZBiJXALQtmn9p42VTQckoHVn8WNqS7dqnJokZHAHcHGoaQgmv8D45oNUKx6DZMNZBCd";
const NETWORKS_OF_TRON = ["TRX", "TRX_SHASTA"] as const;

const ignore = needs({ read: true, write: true, env: true });

/** Registers a test that works on files. */
function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

/** A directory of this test alone. */
async function scratch(): Promise<{ readonly file: string } & AsyncDisposable> {
  const directory = await Deno.makeTempDir();
  return {
    file: `${directory}/wallet.json`,
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

/** The wallet of the known mnemonic. */
function importKnown(file: string) {
  return createWallet({
    file,
    passphrase: PASSPHRASE,
    networks: NETWORKS_OF_TRON,
    mnemonic: MNEMONIC,
  });
}

/** The file of that wallet, made once: to stretch its passphrase takes longer than most tests here. */
let known: Promise<Uint8Array<ArrayBuffer>> | undefined;

async function madeKnown(): Promise<Uint8Array<ArrayBuffer>> {
  await using place = await scratch();
  await importKnown(place.file);
  return await Deno.readFile(place.file);
}

/** Puts that wallet into a file of its own. */
async function putKnown(file: string): Promise<void> {
  await Deno.writeFile(file, await (known ??= madeKnown()), { mode: 0o600 });
}

/** Changes a wallet file behind the wallet's back. */
async function tamper(file: string, change: (wallet: WalletFile) => unknown): Promise<void> {
  const wallet: WalletFile = JSON.parse(await Deno.readTextFile(file));
  await Deno.writeTextFile(file, JSON.stringify(change(wallet) ?? wallet));
}

test("the known mnemonic gives the known deposit address, with and without its key", async () => {
  await using place = await scratch();
  const wallet = await importKnown(place.file);
  const keys = await unlockWallet(place.file, PASSPHRASE);
  assertEquals(keys.key("TRX", 0)?.address, FIRST_DEPOSIT_ADDRESS);
  for (const network of NETWORKS_OF_TRON) {
    const account = wallet.networks[network];
    assert(account !== undefined);
    const chain = createTronChain({
      network,
      nodeUrls: ["http://127.0.0.1:1"],
      contracts: {},
      deposits: publicAddresses(network, account),
      hotWallet: account.hotWallet,
    });
    for (const index of [0, 1, 2, 1_000]) {
      assertEquals(chain.deriveAddress(index), keys.key(network, index)?.address);
    }
    assertEquals(keys.key(network, "hot")?.address, account.hotWallet);
  }
});

test("the paths are those of BIP-44, two accounts per network", async () => {
  await using place = await scratch();
  await putKnown(place.file);
  const keys = await unlockWallet(place.file, PASSPHRASE);
  const { TronWeb } = await loadTronweb();
  const expected = {
    "m/44'/195'/0'/0/0": keys.key("TRX", 0),
    "m/44'/195'/0'/0/7": keys.key("TRX", 7),
    "m/44'/195'/1000'/0/0": keys.key("TRX", "hot"),
    "m/44'/195'/1'/0/0": keys.key("TRX_SHASTA", 0),
    "m/44'/195'/1001'/0/0": keys.key("TRX_SHASTA", "hot"),
  };
  for (const [path, key] of Object.entries(expected)) {
    const theirs = TronWeb.fromMnemonic(MNEMONIC, path);
    assertEquals(key?.address, theirs.address);
    assertEquals(`0x${bytesToHex(key?.privateKey ?? new Uint8Array())}`, theirs.privateKey);
  }
});

test("a new wallet has words of its own, and they restore it", async () => {
  await using place = await scratch();
  await using other = await scratch();
  const options = { passphrase: PASSPHRASE, networks: NETWORKS_OF_TRON };
  const wallet = await createWallet({ ...options, file: place.file });
  const mnemonic = await exportMnemonic(place.file, PASSPHRASE);
  assertEquals(mnemonic.split(" ").length, 24);
  assertNotEquals(mnemonic, MNEMONIC);
  const restored = await createWallet({
    ...options,
    file: other.file,
    mnemonic: `  ${mnemonic.toUpperCase().replaceAll(" ", "\n ")} `,
  });
  assertEquals(restored.networks, wallet.networks);
  assertNotEquals(restored.walletId, wallet.walletId);
});

test("the file holds no word in the clear and is for its owner only", async () => {
  await using place = await scratch();
  await importKnown(place.file);
  const text = await Deno.readTextFile(place.file);
  assertEquals(text.includes("abandon"), false);
  assertEquals(text.includes("xprv"), false);
  assertEquals((await Deno.stat(place.file)).mode! & 0o777, 0o600);
  const names = (await Array.fromAsync(Deno.readDir(place.file.replace("/wallet.json", ""))))
    .map((entry) => entry.name);
  assertEquals(names, ["wallet.json"]);
});

test("a wallet is never overwritten", async () => {
  await using place = await scratch();
  const first = await importKnown(place.file);
  await assertRejects(() => importKnown(place.file), Deno.errors.AlreadyExists);
  assertEquals((await openPublicWallet(place.file)).walletId, first.walletId);
  assertEquals(await exportMnemonic(place.file, PASSPHRASE), MNEMONIC);
});

test("the public part opens without the passphrase", async () => {
  await using place = await scratch();
  const wallet = await importKnown(place.file);
  assertEquals(await openPublicWallet(place.file), wallet);
  assertEquals(Object.keys(wallet.networks), [...NETWORKS_OF_TRON]);
  assert(wallet.networks.TRX?.depositXpub.startsWith("xpub"));
});

test("a wrong passphrase unlocks nothing", async () => {
  await using place = await scratch();
  await putKnown(place.file);
  const error = await assertRejects(() => unlockWallet(place.file, `${PASSPHRASE}.`), Error);
  assertStringIncludes(error.message, "Cannot unlock the wallet");
  assertEquals(error.message.includes(PASSPHRASE), false);
});

const STRANGERS_HOT_WALLET = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const changes: Record<string, (wallet: WalletFile) => unknown> = {
  "another hot wallet": (wallet) => ({
    ...wallet,
    networks: {
      ...wallet.networks,
      TRX: { ...wallet.networks.TRX, hotWallet: STRANGERS_HOT_WALLET },
    },
  }),
  "another network's public key": (wallet) => ({
    ...wallet,
    networks: { ...wallet.networks, TRX: wallet.networks.TRX_SHASTA },
  }),
  "a network left out": ({ networks: { TRX_SHASTA: _, ...networks }, ...wallet }) => ({
    ...wallet,
    networks,
  }),
  "another wallet id": (wallet) => ({ ...wallet, walletId: `wal_${crypto.randomUUID()}` }),
  "another creation time": (wallet) => ({ ...wallet, createdAt: "2020-01-01T00:00:00.000Z" }),
  "weaker stretching": (wallet) => ({ ...wallet, kdf: { ...wallet.kdf, N: 2 ** 14 } }),
  "another ciphertext": (wallet) => ({
    ...wallet,
    cipher: { ...wallet.cipher, ciphertext: `AAAA${wallet.cipher.ciphertext.slice(4)}` },
  }),
};
for (const [what, change] of Object.entries(changes)) {
  test(`a changed file does not unlock: ${what}`, async () => {
    await using place = await scratch();
    await putKnown(place.file);
    await tamper(place.file, change);
    await assertRejects(() => unlockWallet(place.file, PASSPHRASE), Error, "was changed");
  });
}

test("the order of keys in the file plays no part", async () => {
  await using place = await scratch();
  await putKnown(place.file);
  await tamper(place.file, (wallet) => Object.fromEntries(Object.entries(wallet).toReversed()));
  assertEquals(
    (await unlockWallet(place.file, PASSPHRASE)).key("TRX", 0)?.address,
    FIRST_DEPOSIT_ADDRESS,
  );
});

const malformed: Record<string, (wallet: WalletFile) => unknown> = {
  "a later version": (wallet) => ({ ...wallet, version: 3 }),
  "stretching that would eat the memory": (wallet) => ({
    ...wallet,
    kdf: { ...wallet.kdf, N: 2 ** 30 },
  }),
  "a private key where the public one belongs": (wallet) => ({
    ...wallet,
    networks: { TRX: { ...wallet.networks.TRX, depositXpub: "xprv9s21ZrQH143K" } },
  }),
  "an account's public key where that of its deposit branch belongs": (wallet) => ({
    ...wallet,
    networks: { TRX: { ...wallet.networks.TRX, depositXpub: ACCOUNT_XPUB } },
  }),
  "a family of keys that is not known": (wallet) => ({
    ...wallet,
    networks: { TRX: { ...wallet.networks.TRX, kind: "ed25519" } },
  }),
  "an unknown field": (wallet) => ({ ...wallet, note: "hello" }),
};
for (const [what, change] of Object.entries(malformed)) {
  test(`a file with ${what} is refused before anything is decrypted`, async () => {
    await using place = await scratch();
    await putKnown(place.file);
    await tamper(place.file, change);
    await assertRejects(() => openPublicWallet(place.file), Error, "Cannot use the wallet");
  });
}

test("a file that others may change is refused", async () => {
  await using place = await scratch();
  await putKnown(place.file);
  await Deno.chmod(place.file, 0o622);
  await assertRejects(() => openPublicWallet(place.file), WalletFault, "others may change");
});

test("a file that all users may read is refused, one that its group may read is not", async () => {
  await using place = await scratch();
  await putKnown(place.file);
  await Deno.chmod(place.file, 0o644);
  await assertRejects(() => openPublicWallet(place.file), WalletFault, "all users may read");
  await assertRejects(() => unlockWallet(place.file, PASSPHRASE), WalletFault, "mode 600 or 640");
  await Deno.chmod(place.file, 0o640);
  await openPublicWallet(place.file);
});

const oldForms: Record<string, (wallet: WalletFile) => unknown> = {
  "a wallet": ({ networks: _, ...wallet }) => ({
    ...wallet,
    version: 1,
    networks: { TRX: { accountIndex: 0, xpub: ACCOUNT_XPUB, hotWallet: STRANGERS_HOT_WALLET } },
  }),
  "a public file": ({ walletId, development }) => ({
    format: "payment-wallet-public",
    version: 1,
    walletId,
    development,
    networks: { TRX: { accountIndex: 0, xpub: ACCOUNT_XPUB, hotWallet: STRANGERS_HOT_WALLET } },
  }),
};
for (const [what, change] of Object.entries(oldForms)) {
  test(`${what} of the old form is refused in one line that names the way to move`, async () => {
    await using place = await scratch();
    await putKnown(place.file);
    await tamper(place.file, change);
    const opens = [
      () => openPublicWallet(place.file),
      () => unlockWallet(place.file, PASSPHRASE),
      () => exportMnemonic(place.file, PASSPHRASE),
    ];
    for (const open of opens) {
      const { message } = await assertRejects(open, WalletFault, "of the old form");
      assertStringIncludes(message, "Moving from an old wallet");
      assertEquals([message.includes("\n"), message.includes("xpub")], [false, false]);
    }
    assertStringIncludes(await Deno.readTextFile("docs/wallet.md"), "## Moving from an old wallet");
  });
}

test("a locked wallet has no keys, and those given out are wiped", async () => {
  await using place = await scratch();
  await putKnown(place.file);
  const keys = await unlockWallet(place.file, PASSPHRASE);
  const given = keys.key("TRX", "hot");
  assertEquals(keys.key("ETH", "hot"), null);
  keys.lock();
  assertEquals(keys.key("TRX", "hot"), null);
  assertEquals(keys.key("TRX", 0), null);
  assertEquals(given?.privateKey, new Uint8Array(32));
});

test("many derived keys stay right while old ones are dropped from memory", async () => {
  await using place = await scratch();
  await putKnown(place.file);
  const keys = await unlockWallet(place.file, PASSPHRASE);
  const hot = structuredClone(keys.key("TRX", "hot"));
  for (let index = 0; index < 200; index++) keys.key("TRX", index);
  assertEquals(keys.key("TRX", 0)?.address, FIRST_DEPOSIT_ADDRESS);
  assertEquals(keys.key("TRX", "hot"), hot);
});

for (
  const [what, mnemonic] of [
    ["a wrong checksum", MNEMONIC.replace("about", "abandon")],
    ["an unknown word", MNEMONIC.replace("about", "abouts")],
    ["too few words", "abandon abandon"],
  ] as const
) {
  test(`a mnemonic with ${what} is not imported, and not shown`, async () => {
    await using place = await scratch();
    const options = { file: place.file, passphrase: PASSPHRASE, networks: NETWORKS_OF_TRON };
    const error = await assertRejects(() => createWallet({ ...options, mnemonic }), TypeError);
    assertEquals(error.message.includes("abandon"), false);
    await assertRejects(() => Deno.stat(place.file), Deno.errors.NotFound);
  });
}

test("a short passphrase protects nothing", async () => {
  await using place = await scratch();
  const options = { file: place.file, passphrase: "short", networks: NETWORKS_OF_TRON };
  await assertRejects(() => createWallet(options), TypeError, "shorter than");
});

test("a network whose addresses cannot be made yet is refused", async () => {
  await using place = await scratch();
  await assertRejects(
    () => createWallet({ file: place.file, passphrase: PASSPHRASE, networks: ["SOL"] }),
    TypeError,
    "no wallet support",
  );
});

test("a passphrase is its file's first line", async () => {
  await using place = await scratch();
  await Deno.writeTextFile(place.file, `${PASSPHRASE}\r\nsecond line\n`, { mode: 0o600 });
  assertEquals(await readPassphraseFile(place.file), PASSPHRASE);
  await Deno.writeTextFile(place.file, "\n");
  await assertRejects(() => readPassphraseFile(place.file), Error, "is empty");
});

test("a key that is forgotten for another one is wiped", async () => {
  await using place = await scratch();
  await putKnown(place.file);
  const keys = await unlockWallet(place.file, PASSPHRASE);
  const first = keys.key("TRX", 0);
  assert(first !== null && first.privateKey.some((byte) => byte !== 0));
  for (let index = 1; index <= 64; index++) keys.key("TRX", index);
  assertEquals([...first.privateKey], Array(32).fill(0));
  keys.lock();
});
