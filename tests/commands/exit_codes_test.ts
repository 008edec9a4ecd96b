import { assertEquals, assertMatch } from "@std/assert";
import { reset } from "@logtape/logtape";
import { fileURLToPath } from "node:url";
import { wallet } from "../../app/commands/wallet.ts";
import { reconcileCommand } from "../../app/commands/reconcile.ts";
import { addMerchant, fund, openJournal } from "../support/books.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

async function reconcile(env: Readonly<Record<string, string>>) {
  const lines: string[] = [];
  const say = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
  await reset();
  const code = await reconcileCommand(["--quick"], env, { log: say, error: say });
  await reset();
  return { code, text: lines.join("\n") };
}

test("books that cannot be compared end deno task reconcile with 2, a difference alone with 1", async () => {
  const folder = await Deno.makeTempDir();
  const gone = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = gone.addr;
  gone.close();
  try {
    const away = await reconcile({
      DATA_DIR: folder,
      DATABASE_URL: `postgres://engine@127.0.0.1:${port}/none`,
    });
    assertMatch(away.text, /^Cannot use the database: /);
    assertEquals(away.code, 2);

    await using database = await testDatabase();
    const env = { DATA_DIR: folder, DATABASE_URL: database.url };
    const unset = await reconcile(env);
    assertMatch(unset.text, /^Cannot compare as there is no wallet: set WALLET_FILE/);
    assertEquals(unset.code, 2);

    await createWallet({
      file: `${folder}/wallet.json`,
      passphrase: "a passphrase of twelve words or so",
      passphraseIsRandom: true,
      networks: ["TRX"],
      development: true,
    });
    assertEquals((await reconcile(env)).code, 0);
    const journal = openJournal(database.sql);
    await fund(database.sql, journal, await addMerchant(database.sql), "100");
    await journal.stop(1_000);
    await database.sql`UPDATE book.balance SET available = available + 1`;
    assertEquals((await reconcile(env)).code, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Exit code of `deno task healthy` against a server at an address. */
async function healthy(hostname: string): Promise<number> {
  await using server = Deno.serve(
    { hostname, port: 0, onListen: () => {} },
    ({ url }) => Response.json({}, { status: url.endsWith("/healthz") ? 200 : 404 }),
  );
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--cached-only", "--quiet", "--no-prompt", "--no-check"].concat(
      ["--allow-net", "--allow-env", "app/commands/healthy.ts"],
    ),
    cwd: ROOT,
    env: { OPS_HOST: hostname, OPS_PORT: String(server.addr.port) },
    stdout: "null",
    stderr: "null",
  }).output();
  return code;
}

test("deno task healthy finds a service that lives at an IPv4 and at an IPv6 address", async () => {
  assertEquals(await healthy("127.0.0.1"), 0);
  assertEquals(await healthy("::1"), 0);
});

Deno.test("no command prints while what is printed would go to the collector of traces", async () => {
  for (const traced of ["true", "TRUE"]) {
    const lines: string[] = [];
    const say = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
    const env = { OTEL_DENO: traced, WALLET_FILE: "none", WALLET_PASSPHRASE_FILE: "none" };
    const readWords = () => Promise.resolve("");
    const code = await wallet(["create", "--show-mnemonic"], env, readWords, {
      log: say,
      error: say,
    });
    assertEquals([code, lines.length], [2, 1]);
    assertMatch(lines.join(), /^Cannot go on as OTEL_DENO/);
  }
});
