import { assert, assertEquals } from "@std/assert";
import { signer } from "../../app/commands/signer.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true, write: true, net: true });

/** Carries out a command line; it must end by itself, so nothing is started. */
async function run(args: readonly string[], env: Record<string, string>) {
  let printed = "";
  const print = (text: string) => printed += `${text}\n`;
  return { code: await signer(args, env, { log: print, error: print }), printed };
}

test("a signer does not start with missing files or a development wallet, and names the variable", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const env = {
      ENVIRONMENT: "production",
      WALLET_FILE: `${folder}/wallet.json`,
      WALLET_PASSPHRASE_FILE: `${folder}/passphrase`,
      SIGNER_SOCKET: `${folder}/run/signer.sock`,
      SIGNER_STATE_DIR: `${folder}/state`,
      SIGNER_DATABASE_URL: "postgres://signer:secret@127.0.0.1:1/engine",
    };
    const expectRefusal = async (changes: Record<string, string>, code: number, says: string) => {
      const found = await run([], { ...env, ...changes });
      assertEquals([found.code, found.printed.includes(says)], [code, true], found.printed);
      assertEquals(found.printed.includes("secret"), false);
    };
    await expectRefusal({ SIGNER_DATABASE_URL: "" }, 2, "SIGNER_DATABASE_URL is missing");
    await expectRefusal({}, 1, "WALLET_FILE names no file");
    const make = (file: string, development: boolean) =>
      createWallet({
        file,
        passphrase: "0123456789abcdef0123456789abcdef",
        passphraseIsRandom: true,
        networks: ["TRX"],
        development,
      });
    await make(`${folder}/dev.json`, true);
    await expectRefusal({ WALLET_FILE: `${folder}/dev.json` }, 1, "was made for development");
    await make(env.WALLET_FILE, false);
    await expectRefusal({}, 1, "WALLET_PASSPHRASE_FILE names no file");
    await Deno.writeTextFile(env.WALLET_PASSPHRASE_FILE, "x");
    await Deno.chmod(env.WALLET_PASSPHRASE_FILE, 0o666);
    await expectRefusal({}, 1, "others may change");
    await Deno.chmod(env.WALLET_PASSPHRASE_FILE, 0o600);
    // a signer without caps signs for whatever it is asked
    for (const ENVIRONMENT of ["staging", "production"]) {
      await expectRefusal({ ENVIRONMENT }, 1, "TRX_SIGNER_PER_TRANSACTION has no cap of USDT");
      await expectRefusal(
        { ENVIRONMENT, TRX_SIGNER_PER_TRANSACTION: "USDT:10000", TRX_SIGNER_PER_DAY: "coin:5" },
        1,
        "TRX_SIGNER_PER_DAY has no cap of USDT",
      );
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

test("pause, resume and status work where nothing runs", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const env = { SIGNER_STATE_DIR: folder, SIGNER_SOCKET: `${folder}/signer.sock` };
    assertEquals((await run(["pause", "why", "not"], env)).code, 0);
    assertEquals(await Deno.readTextFile(`${folder}/paused`), "why not\n");
    const { code, printed } = await run(["status"], env);
    assertEquals(code, 1);
    assert(printed.includes("does not answer") && printed.includes("It is paused: why not."));
    assertEquals((await run(["resume"], env)).code, 0);
    assertEquals((await run(["status"], env)).printed.includes("paused"), false);
    // a stop is not refused for a word of its reason
    assertEquals((await run(["pause", "key", "leaked", "--now"], env)).code, 0);
    assertEquals(await Deno.readTextFile(`${folder}/paused`), "key leaked --now\n");
    assertEquals((await run(["pause"], {})).code, 1);
    assertEquals((await run(["role"], env)).code, 2);
    const unknown = await run(["export"], env);
    assertEquals([unknown.code, unknown.printed.includes("pause")], [2, true], unknown.printed);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
