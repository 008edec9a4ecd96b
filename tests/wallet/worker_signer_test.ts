import { assert, assertEquals, assertRejects } from "@std/assert";
import { createWorkerSigner, type WorkerSigner } from "../../app/workers/worker_signer.ts";
import type { Envelope } from "../../chains/chain.ts";
import { signerPermissions, type SignerSettings } from "../../chains/signer/signer_settings.ts";
import { makeEnvelope } from "../../chains/tron/pay/envelope.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { needs } from "../support/permissions.ts";
import { accessOf } from "./support/access_of.ts";
import { requestOf } from "../support/sign_request.ts";

const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const DESTINATION = "TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8";
const CODE_ROOT = new URL("../../", import.meta.url);
const ENTRY = new URL("./support/signer_worker.ts", import.meta.url);

const ENVELOPE: Envelope = makeEnvelope(
  "TRX",
  {
    height: 7,
    parentHeight: 6,
    hash: "0".repeat(15) + "7" + "5e".repeat(24),
    parentHash: "",
    time: 1_750_000_000_000,
    tick: 1_750_000_000_000,
  },
  { fee: amountOf("7"), limit: amountOf("8") },
  60_000,
);

const ignore = needs({ read: true, write: true, net: true, env: true });

/** Registers a test that starts a worker; a worker gets no permission that its parent lacks. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore, fn });
}

/** Requests for signatures by id. */
function requests(...ids: string[]) {
  return ids.map((outgoingId) => requestOf(outgoingId, ENVELOPE));
}

interface Place extends AsyncDisposable {
  readonly signer: WorkerSigner;
  readonly walletId: string;
}

/** A worker over a wallet of its own. */
async function setUp(
  changes: { readonly passphrase?: string; readonly timeoutMs?: number } = {},
): Promise<Place> {
  const directory = await Deno.makeTempDir();
  const settings: SignerSettings = {
    databaseUrl: "postgres://signer:secret@127.0.0.1:1/none",
    walletFile: `${directory}/wallet.json`,
    passphraseFile: `${directory}/passphrase`,
    networks: [{
      network: "TRX",
      contracts: { USDT },
      feeCap: amountOf("150"),
      isDevelopment: true,
    }],
  };
  const passphrase = "correct horse battery staple";
  const wallet = await createWallet({
    file: settings.walletFile,
    passphrase,
    passphraseIsRandom: true, // hardly stretched, as workers unlock it again and again
    networks: ["TRX"],
  });
  await Deno.writeTextFile(settings.passphraseFile, changes.passphrase ?? passphrase, {
    mode: 0o600,
  });
  const intents = { out_1: DESTINATION, out_2: DESTINATION };
  await Deno.writeTextFile(`${settings.walletFile}.intents`, JSON.stringify(intents));
  const permissions = signerPermissions(settings, CODE_ROOT, accessOf(settings));
  const signer = createWorkerSigner({
    entry: ENTRY,
    settings,
    permissions: {
      ...permissions,
      read: [
        settings.walletFile,
        settings.passphraseFile,
        CODE_ROOT,
        `${settings.walletFile}.intents`,
      ],
    },
    timeoutMs: changes.timeoutMs ?? 90_000,
  });
  return {
    signer,
    walletId: wallet.walletId,
    [Symbol.asyncDispose]: async () => {
      await signer.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

test("a worker signs through the port, in the order of the requests", async () => {
  await using place = await setUp();
  assertEquals(await place.signer.ready(), { walletId: place.walletId });
  const answers = await place.signer.sign(requests("out_2", "out_x", "out_1"));
  assertEquals(answers.map((answer) => "signed" in answer ? "signed" : answer.refused), [
    "signed",
    "unknown-intent",
    "signed",
  ]);
});

test("batches that are under way together get each its own answers", async () => {
  await using place = await setUp();
  const batches = await Promise.all(
    ["out_1", "out_2", "out_x", "out_1"].map((id) => place.signer.sign(requests(id))),
  );
  assertEquals(batches.map(([answer]) => answer?.outgoingIds), [
    ["out_1"],
    ["out_2"],
    ["out_x"],
    ["out_1"],
  ]);
});

test("a worker that crashes rejects what was under way and is started again", async () => {
  await using place = await setUp();
  await place.signer.ready();
  const together = [place.signer.sign(requests("hang")), place.signer.sign(requests("crash"))];
  for (const result of await Promise.allSettled(together)) {
    assertEquals(result.status, "rejected");
  }
  const [answer] = await signAfterRestart(place.signer);
  assert(answer !== undefined && "signed" in answer);
});

test("a worker that does not answer in time is replaced", async () => {
  // the start of a worker has to be within it as well
  await using place = await setUp({ timeoutMs: 10_000 });
  await place.signer.ready();
  await assertRejects(() => place.signer.sign(requests("hang")), Error, "ms passed");
  const [answer] = await signAfterRestart(place.signer);
  assert(answer !== undefined && "signed" in answer);
});

/** Asks until the next worker answers; bounded. */
async function signAfterRestart(signer: WorkerSigner) {
  const deadline = performance.now() + 90_000;
  while (true) {
    try {
      return await signer.sign(requests("out_1"));
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

test("a worker that cannot unlock its wallet says so, and signs nothing", async () => {
  await using place = await setUp({ passphrase: "not the passphrase at all" });
  await assertRejects(() => place.signer.ready(), Error, "Cannot unlock the wallet");
  await assertRejects(() => place.signer.sign(requests("out_1")), Error, "Cannot");
});

test("the worker has no permission that signing does not need", async () => {
  await using place = await setUp();
  const denied = /is (denied|prompt)/;
  for (const name of ["run", "write", "ffi", "sys", "net", "env", "read"]) {
    const error = await assertRejects(() => place.signer.sign(requests(name)), Error);
    assert(denied.test(error.message), error.message);
  }
});

test("a closed signer signs nothing and closes twice without harm", async () => {
  await using place = await setUp();
  await place.signer.ready();
  const outstanding = place.signer.sign(requests("hang"));
  const closing = place.signer.close();
  await assertRejects(() => outstanding, Error, "closed");
  await closing;
  await place.signer.close();
  await assertRejects(() => place.signer.sign(requests("out_1")), Error, "closed");
});
