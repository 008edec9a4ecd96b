import { assert, assertEquals, assertRejects } from "@std/assert";
import { createWorkerSigner } from "../../app/workers/worker_signer.ts";
import { signerPermissions, type SignerSettings } from "../../chains/signer/signer_settings.ts";
import { addressToHex, addressToLogHex } from "../../chains/tron/address.ts";
import { makeEnvelope } from "../../chains/tron/pay/envelope.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { needs } from "../support/permissions.ts";
import { accessOf } from "./support/access_of.ts";
import { requestOf } from "../support/sign_request.ts";

const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const DESTINATION = "TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8";
const ROOT = new URL("../../", import.meta.url);
const PASSPHRASE = "correct horse battery staple";

const ignore = needs({ read: true, write: true, net: true, env: true, run: true, sys: true });

/** Registers a test that starts the service's worker. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

/** An outgoing row as the ledger writes it. */
async function putOutgoing(
  { sql }: TestDatabase,
  id: string,
  status: string,
  kind: "payout" | "gas" = "payout",
): Promise<void> {
  await sql`
    INSERT INTO book.outgoing
      (id, merchant_id, kind, payment_id, network, currency, amount, wallet, destination, status, created_at, updated_at)
    VALUES (${id}, ${kind === "gas" ? "mer_platform" : "mer_1"}, ${kind},
      ${kind === "gas" ? null : `wd_${id}`}, 'TRX', ${kind === "gas" ? "native" : "USDT"}, 12.5,
      'hot', ${DESTINATION}, ${status}, now(), now())`;
}

test("the service's own worker signs what the database says, with its few permissions", async () => {
  await using database = await testDatabase();
  const directory = await Deno.makeTempDir();
  const settings: SignerSettings = {
    databaseUrl: database.url,
    walletFile: `${directory}/wallet.json`,
    passphraseFile: `${directory}/passphrase`,
    networks: [{
      network: "TRX",
      contracts: { USDT },
      feeCap: amountOf("150"),
      isDevelopment: true,
    }],
    limits: { "USDT/TRX": { perTransaction: amountOf("12.5"), perDay: amountOf("13") } },
  };
  const wallet = await createWallet({
    file: settings.walletFile,
    passphrase: PASSPHRASE,
    passphraseIsRandom: true, // hardly stretched: what is signed is the same
    networks: ["TRX"],
  });
  await Deno.writeTextFile(settings.passphraseFile, PASSPHRASE, { mode: 0o600 });
  await putOutgoing(database, "out_1", "queued");
  await putOutgoing(database, "out_2", "signed");
  await putOutgoing(database, "out_3", "queued");
  await putOutgoing(database, "out_4", "queued", "gas");
  const signer = createWorkerSigner({
    entry: new URL("app/commands/signer_worker.ts", ROOT),
    settings,
    permissions: signerPermissions(settings, ROOT, accessOf(settings)),
    timeoutMs: 30_000,
  });
  try {
    assertEquals(await signer.ready(), { walletId: wallet.walletId });
    const envelope = makeEnvelope(
      "TRX",
      {
        height: 7,
        parentHeight: 6,
        hash: `${"0".repeat(15)}7${"5e".repeat(24)}`,
        parentHash: "",
        time: Date.now(),
        tick: Date.now(),
      },
      { fee: amountOf("7"), limit: amountOf("8") },
      60_000,
    );
    const ids = ["out_1", "out_2", "out_3", "out_4", "out_5"];
    const answers = await signer.sign(ids.map((outgoingId) => requestOf(outgoingId, envelope)));
    assertEquals(answers.map((answer) => ("refused" in answer ? answer.refused : "signed")), [
      "signed",
      "not-queued",
      "over-limit",
      "wrong-destination",
      "unknown-intent",
    ]);
    const [first] = answers;
    assert(first !== undefined && "signed" in first);
    const { bytes } = first.signed;
    const units = (12_500_000).toString(16).padStart(64, "0");
    assert(bytes.includes(`a9059cbb${addressToLogHex(DESTINATION).padStart(64, "0")}${units}`));
    assert(bytes.includes(addressToHex(wallet.networks.TRX?.hotWallet ?? "")));
  } finally {
    await signer.close();
    await Deno.remove(directory, { recursive: true });
  }
});

test("a worker whose database is away rejects, and signs nothing", async () => {
  const directory = await Deno.makeTempDir();
  const settings: SignerSettings = {
    databaseUrl: "postgres://signer:secret@127.0.0.1:1/none",
    walletFile: `${directory}/wallet.json`,
    passphraseFile: `${directory}/passphrase`,
    networks: [],
  };
  await createWallet({
    file: settings.walletFile,
    passphrase: PASSPHRASE,
    passphraseIsRandom: true,
    networks: ["TRX"],
  });
  await Deno.writeTextFile(settings.passphraseFile, PASSPHRASE, { mode: 0o600 });
  const signer = createWorkerSigner({
    entry: new URL("app/commands/signer_worker.ts", ROOT),
    settings,
    permissions: signerPermissions(settings, ROOT, accessOf(settings)),
    timeoutMs: 15_000,
  });
  try {
    await signer.ready();
    const envelope = {
      network: "TRX",
      fields: {},
      diesAfter: 0,
      nonce: null,
      expiresAt: 0,
    } as const;
    const error = await assertRejects(
      () => signer.sign([requestOf("out_1", envelope)]),
      Error,
    );
    assertEquals(error.message.includes("secret"), false);
  } finally {
    await signer.close();
    await Deno.remove(directory, { recursive: true });
  }
});
