import { assert, assertEquals, assertRejects } from "@std/assert";
import { addNetworks } from "../../chains/wallet/add_networks.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { exportMnemonic, unlockWallet } from "../../chains/wallet/unlock_wallet.ts";
import {
  readWalletFile,
  replaceWalletFile,
  type WalletFile,
} from "../../chains/wallet/wallet_file.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true, write: true });
const PASSPHRASE = "correct horse battery staple";
/** Words of the BIP-39 test vectors. */
const WORDS = "legal winner thank year wave sausage worth useful legal winner thank yellow";
const ADDED = ["TRX", "TRX_SHASTA"] as const;

/** A folder with a wallet of these words that has an account of TRX alone. */
async function withWallet(body: (file: string, folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "engine-wallet-" });
  try {
    const file = `${folder}/wallet.json`;
    const fast = { passphrase: PASSPHRASE, passphraseIsRandom: true, mnemonic: WORDS };
    await createWallet({ ...fast, file, networks: ["TRX"] });
    await body(file, folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) names.push(name);
  return names.sort();
}

test("a wallet that gets a network is the same wallet, with the account that its words have there", async () => {
  await withWallet(async (file, folder) => {
    await Deno.chmod(file, 0o400);
    const [earlier, text] = [await readWalletFile(file), await Deno.readTextFile(file)];
    const { added, backup, wallet } = await addNetworks({
      file,
      passphrase: PASSPHRASE,
      networks: ADDED,
    });
    assertEquals(added, ["TRX_SHASTA"]);
    const later = await readWalletFile(file);
    const fixed = ({ walletId, createdAt, development }: WalletFile) => ({
      walletId,
      createdAt,
      development,
    });
    assertEquals(fixed(later), fixed(earlier));
    assertEquals(later.networks.TRX, earlier.networks.TRX);
    const whole = { file: `${folder}/whole.json`, networks: ADDED, mnemonic: WORDS };
    const expected = await createWallet({
      ...whole,
      passphrase: PASSPHRASE,
      passphraseIsRandom: true,
    });
    assertEquals(wallet.networks, expected.networks);
    // neither key nor nonce of the encryption stands for two texts
    assert(later.kdf.salt !== earlier.kdf.salt && later.cipher.iv !== earlier.cipher.iv);
    assertEquals(await exportMnemonic(file, PASSPHRASE), WORDS);
    assertEquals(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o400);
    // the earlier one is kept as it was
    assertEquals(await Deno.readTextFile(backup), text);
    assertEquals((await namesIn(folder)).length, 3);
  });
});

test("a wallet is left as it is where its passphrase is wrong, nothing is to be added or it was changed", async () => {
  await withWallet(async (file, folder) => {
    const text = await Deno.readTextFile(file);
    const adding = { file, passphrase: PASSPHRASE, networks: ADDED };
    await assertRejects(() => addNetworks({ ...adding, passphrase: "wrong horse battery staple" }));
    await assertRejects(
      () => addNetworks({ ...adding, networks: ["TRX"] }),
      Error,
      "the wallet has an account of each",
    );
    assertEquals(await Deno.readTextFile(file), text);
    const forged = text.replace(/wal_[0-9a-f]/, (part) => `wal_${part.endsWith("0") ? "1" : "0"}`);
    await Deno.writeTextFile(file, forged);
    await assertRejects(() => addNetworks(adding));
    assertEquals(await Deno.readTextFile(file), forged);
    assertEquals(await namesIn(folder), ["wallet.json"]);
  });
});

test("a wallet file is exchanged only for the same wallet that opens, and only while it is what was read", async () => {
  await withWallet(async (file, folder) => {
    const earlier = await readWalletFile(file);
    const text = await Deno.readTextFile(file);
    const opens = () => Promise.resolve();
    const replace = (was: WalletFile, later: WalletFile, check = opens) => () =>
      replaceWalletFile(file, was, later, check);
    const other = { ...earlier, walletId: `wal_${crypto.randomUUID()}` };
    await assertRejects(replace(earlier, other), Error, "another one would take its place");
    await assertRejects(replace(earlier, { ...earlier, networks: {} }), Error, "take its place");
    await assertRejects(replace(other, other), Error, "changed meanwhile");
    const fails = () => Promise.reject(new Error("does not open"));
    await assertRejects(replace(earlier, earlier, fails), Error, "does not open");
    assertEquals(await Deno.readTextFile(file), text);
    assertEquals(await namesIn(folder), ["wallet.json"]);
  });
});

test("what a death in between has left is no hindrance, and a link stays one", async () => {
  await withWallet(async (file, folder) => {
    await Deno.writeTextFile(`${file}.new`, "half a wallet");
    await Deno.symlink(file, `${folder}/linked.json`);
    const linked = `${folder}/linked.json`;
    await addNetworks({ file: linked, passphrase: PASSPHRASE, networks: ADDED });
    assert((await Deno.lstat(linked)).isSymlink);
    const unlocked = await unlockWallet(file, PASSPHRASE);
    unlocked.lock();
    assertEquals(Object.keys((await readWalletFile(file)).networks), [...ADDED]);
    const names = await namesIn(folder);
    assertEquals(names.filter((name) => name.endsWith(".new")), []);
    assertEquals(names.filter((name) => name.startsWith("wallet.json.before-")).length, 1);
  });
});

test("of two that add at once one waits for the other, and no account is lost", async () => {
  await withWallet(async (file) => {
    const adding = { file, passphrase: PASSPHRASE, networks: ADDED };
    const both = await Promise.allSettled([addNetworks(adding), addNetworks(adding)]);
    assertEquals(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assertEquals(Object.keys((await readWalletFile(file)).networks), [...ADDED]);
    (await unlockWallet(file, PASSPHRASE)).lock();
  });
});
