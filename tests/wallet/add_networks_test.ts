import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { addNetworks } from "../../chains/wallet/add_networks.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { networkFingerprint, openPublicWallet } from "../../chains/wallet/public_wallet.ts";
import { exportMnemonic, unlockWallet } from "../../chains/wallet/unlock_wallet.ts";
import { WalletFault } from "../../chains/wallet/secret_file.ts";
import { readWalletFile, replaceWalletFile } from "../../chains/wallet/wallet_file.ts";
import { wallet } from "../../app/commands/wallet.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true, write: true, run: true });

const PASSPHRASE = "correct horse battery staple";
/** Steps on the disk: owner, bytes, second name, its entry, first name, its entry. */
const STEPS = ["chown", "sync", "link", "sync", "rename", "sync"];

interface Place extends AsyncDisposable {
  readonly folder: string;
  readonly file: string;
  /** The names in the folder. */
  names(): string[];
}

/** A folder with a wallet of one network. */
async function setUp(): Promise<Place> {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/wallet.json`;
  const terms = { passphrase: PASSPHRASE, passphraseIsRandom: true, networks: ["TRX"] } as const;
  await createWallet({ file, ...terms });
  return {
    folder,
    file,
    names: () => [...Deno.readDirSync(folder)].map(({ name }) => name).toSorted(),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const addShasta = (file: string, passphrase = PASSPHRASE) =>
  addNetworks({ file, passphrase, networks: ["TRX", "TRX_SHASTA"] });

test("a wallet gets further networks of the same words, and is the same one to its databases", async () => {
  await using place = await setUp();
  await Deno.chmod(place.file, 0o640);
  const before = await openPublicWallet(place.file);
  const text = await Deno.readTextFile(place.file);
  const words = await exportMnemonic(place.file, PASSPHRASE);
  const { wallet: after, added, backup } = await addShasta(place.file);
  assertEquals(added, ["TRX_SHASTA"]);
  assertEquals(networkFingerprint(after, "TRX"), networkFingerprint(before, "TRX"));
  assertEquals(await exportMnemonic(place.file, PASSPHRASE), words);
  const whole = `${place.folder}/whole.json`;
  const networks = ["TRX", "TRX_SHASTA"] as const;
  await createWallet({ file: whole, passphrase: PASSPHRASE, networks, mnemonic: words });
  assertEquals(after.networks, (await openPublicWallet(whole)).networks);
  assertEquals(await Deno.readTextFile(backup), text);
  for (const file of [place.file, backup]) {
    assertEquals((await Deno.stat(file)).mode! & 0o777, 0o640);
  }
});

test("a wallet is left as it is where nothing is to be added or the passphrase is wrong", async () => {
  await using place = await setUp();
  const text = await Deno.readTextFile(place.file);
  await assertRejects(
    () => addNetworks({ file: place.file, passphrase: PASSPHRASE, networks: ["TRX"] }),
    WalletFault,
    "has an account of each",
  );
  await assertRejects(() => addShasta(place.file, "wrong horse battery"), Error, "wrong");
  assertEquals([place.names(), await Deno.readTextFile(place.file)], [["wallet.json"], text]);
});

test("a wallet whose header was changed is not extended", async () => {
  await using place = await setUp();
  const text = await Deno.readTextFile(place.file);
  const forged = text.replace(/wal_[0-9a-f]/, (part) => `wal_${part.endsWith("0") ? "1" : "0"}`);
  await Deno.writeTextFile(place.file, forged);
  await assertRejects(() => addShasta(place.file));
  assertEquals([place.names(), await Deno.readTextFile(place.file)], [["wallet.json"], forged]);
});

test("a link to a wallet stays one, and what it names is exchanged", async () => {
  await using place = await setUp();
  const link = `${place.folder}/linked.json`;
  await Deno.symlink(place.file, link);
  await addShasta(link);
  assert((await Deno.lstat(link)).isSymlink);
  assert(!(await Deno.lstat(place.file)).isSymlink);
  assertEquals(Object.keys((await readWalletFile(place.file)).networks).length, 2);
});

test("a wallet never takes the place of another, nor of one that was changed meanwhile", async () => {
  await using place = await setUp();
  await using other = await setUp();
  const [ours, theirs] = [await readWalletFile(place.file), await readWalletFile(other.file)];
  const text = await Deno.readTextFile(place.file);
  const fine = () => Promise.resolve();
  const lacking = { ...ours, networks: {} };
  for (const later of [theirs, { ...theirs, walletId: ours.walletId }, lacking]) {
    await assertRejects(
      () => replaceWalletFile(place.file, ours, later, fine),
      WalletFault,
      "another one",
    );
  }
  await assertRejects(
    () => replaceWalletFile(place.file, theirs, theirs, fine),
    WalletFault,
    "changed meanwhile",
  );
  const useless = () => Promise.reject(new Error("of no use"));
  await assertRejects(
    () => replaceWalletFile(place.file, ours, ours, useless),
    Error,
    "of no use",
  );
  assertEquals([place.names(), await Deno.readTextFile(place.file)], [["wallet.json"], text]);
});

test("of two that add networks at once one does, and the other is told", async () => {
  await using place = await setUp();
  const ends = await Promise.allSettled([addShasta(place.file), addShasta(place.file)]);
  assertEquals(ends.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  assertEquals(place.names().length, 2);
  (await unlockWallet(place.file, PASSPHRASE)).lock();
});

test("a kill at any step leaves a whole wallet, and adding again ends it", async () => {
  const script = fileURLToPath(new URL("support/killed_adding.ts", import.meta.url));
  for (const step of STEPS.keys()) {
    for (const side of ["before", "after"]) {
      await using place = await setUp();
      const words = await exportMnemonic(place.file, PASSPHRASE);
      const { signal } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-prompt", "--no-check", "--frozen", "--allow-read", "--allow-write"]
          .concat("--allow-run", script, place.file, PASSPHRASE, "TRX_SHASTA", `${step + 1}`, side),
      }).output();
      const at = `${side} ${STEPS[step]} (${step + 1})`;
      assertEquals(signal, "SIGKILL", at);
      const isDone = Object.keys((await openPublicWallet(place.file)).networks).length === 2;
      assertEquals(isDone, step > 4 || (step === 4 && side === "after"), at);
      assertEquals(await exportMnemonic(place.file, PASSPHRASE), words, at);
      if (!isDone) await addShasta(place.file);
      const keys = await unlockWallet(place.file, PASSPHRASE);
      assert(keys.address("TRX", "hot") !== null && keys.address("TRX_SHASTA", "hot") !== null, at);
      keys.lock();
      assertEquals(place.names().includes("wallet.json.new"), false, at);
    }
  }
});

test("the command names what was added and what is to be done then", async () => {
  await using place = await setUp();
  await Deno.writeTextFile(`${place.folder}/passphrase`, PASSPHRASE, { mode: 0o600 });
  const env = { WALLET_FILE: place.file, WALLET_PASSPHRASE_FILE: `${place.folder}/passphrase` };
  let printed = "";
  const print = (text: string) => printed += text;
  const run = (...args: string[]) =>
    wallet(args, env, () => Promise.resolve(""), { log: print, error: print });
  assertEquals(await run("add-networks", "--networks", "XYZ"), 1);
  assertEquals(await run("add-networks", "--networks", "TRX_SHASTA"), 0, printed);
  assertStringIncludes(printed, "TRX_SHASTA");
  assertStringIncludes(printed, "show-public");
  assertEquals(await run("add-networks", "--networks", "TRX,TRX_SHASTA"), 1);
  assertStringIncludes(printed, "has an account of each");
});

test("networks are added by name alone: without names the command says which can be, and adds none", async () => {
  await using place = await setUp();
  await Deno.writeTextFile(`${place.folder}/passphrase`, PASSPHRASE, { mode: 0o600 });
  const env = { WALLET_FILE: place.file, WALLET_PASSPHRASE_FILE: `${place.folder}/passphrase` };
  const before = await Deno.readTextFile(place.file);
  let printed = "";
  const print = (text: string) => printed += text;
  const words = () => Promise.resolve("");
  assertEquals(await wallet(["add-networks"], env, words, { log: print, error: print }), 1);
  assertStringIncludes(printed, "--networks names none; it can be ETH, BNB, TRX_SHASTA, ");
  assertEquals(await Deno.readTextFile(place.file), before);
});
