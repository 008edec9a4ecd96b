import { configure, type LogRecord, reset } from "@logtape/logtape";
import { assertEquals } from "@std/assert";
import { openSigner } from "../../app/open/open_signer.ts";
import { LastingFailure } from "../../chains/signer/lasting_failure.ts";
import { listenSocket } from "../../chains/signer/listen_socket.ts";
import { isPaused, unreadPause } from "../../chains/signer/pause_file.ts";
import { serveSocket } from "../../chains/signer/serve_socket.ts";
import { createSocketSigner } from "../../chains/signer/socket_client.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { until } from "../support/until.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ net: true, read: true, write: true });

/** Runs work and returns the events of the signer's log, with their reasons and counts. */
async function logged(work: () => Promise<void> | void): Promise<string[]> {
  const records: LogRecord[] = [];
  await configure({
    sinks: { kept: (record) => records.push(record) },
    loggers: [
      { category: ["engine", "signer"], lowestLevel: "debug", sinks: ["kept"] },
      { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["kept"] },
    ],
  });
  try {
    await work();
  } finally {
    await reset();
  }
  return records.map(({ properties: { event, reason, count } }) =>
    [event, count, reason].filter((part) => part !== undefined).join(" ")
  );
}

Deno.test("a failure that lasts is logged when it begins, changes and ends, and counted meanwhile", async () => {
  let now = 0;
  const failure = new LastingFailure("signer.database_away", "reaching the database", () => now);
  const lines = await logged(() => {
    for (let n = 0; n < 450; n++, now += 2_000) failure.failed("no rights");
    failure.failed("no server");
    failure.failed("no rights");
    failure.succeeded();
    failure.succeeded();
    failure.failed("no rights");
  });
  assertEquals(lines, [
    "signer.database_away no rights",
    "signer.still_failing 301 no rights",
    "signer.database_away no server",
    "signer.works_again 452",
    "signer.database_away no rights",
  ]);
});

Deno.test("reasons that are never the same fill no log", async () => {
  const failure = new LastingFailure("signer.request_failed", "signing", () => 1);
  const lines = await logged(() => {
    for (let n = 0; n < 100; n++) failure.failed(`transfer ${n}`);
  });
  assertEquals(lines.length, 8);
});

Deno.test("what failed ten minutes ago is another failure", async () => {
  let now = 0;
  const failure = new LastingFailure("signer.peer_failed", "a peer's connection", () => now);
  const lines = await logged(() => {
    failure.failed("no JSON");
    now += 600_000;
    failure.failed("no JSON");
  });
  assertEquals(lines, ["signer.peer_failed no JSON", "signer.peer_failed no JSON"]);
});

test("a signer whose requests fail logs it once however often it is asked, and that they work again", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.chmod(folder, 0o700);
  const path = `${folder}/signer.sock`;
  let asked = 0;
  const lines = await logged(async () => {
    const status = {
      walletId: "wal_1",
      fingerprint: "print",
      paused: false,
      pauseNote: "",
      reachesDatabase: true,
      uncapped: [],
      spent: {},
    };
    const server = serveSocket(await listenSocket(path), {
      sign: () => Promise.resolve([]),
      live: () => Promise.resolve([]),
      status: () => ++asked < 20 ? Promise.reject("no disk") : Promise.resolve(status),
    });
    const client = createSocketSigner({
      path,
      fingerprint: "print",
      pollMs: 2,
      longestPauseMs: 2,
    });
    await until(() => client.trouble === null);
    await client.close();
    await server.close(0);
  });
  await Deno.remove(folder, { recursive: true });
  assertEquals(lines.filter((line) => line.startsWith("signer.request_failed")), [
    "signer.request_failed no disk",
  ]);
  assertEquals(lines.filter((line) => line.startsWith("signer.works_again")), [
    "signer.works_again 19",
  ]);
});

test("a database that is away and a pause that cannot be read are logged once", async () => {
  const folder = await Deno.makeTempDir();
  const [walletFile, passphraseFile] = [`${folder}/wallet.json`, `${folder}/passphrase`];
  const passphrase = "correct horse battery staple";
  await createWallet({ file: walletFile, passphrase, passphraseIsRandom: true, networks: ["TRX"] });
  await Deno.writeTextFile(passphraseFile, passphrase, { mode: 0o600 });
  const lines = await logged(async () => {
    const databaseUrl = "postgres://signer:secret@127.0.0.1:1/none";
    const settings = { databaseUrl, walletFile, passphraseFile, networks: [] };
    const signer = await openSigner(settings, { isPaused: () => false });
    for (let n = 0; n < 3; n++) assertEquals(await signer.reachesDatabase(), false);
    await signer.close();
    const unread = unreadPause();
    const noFolder = `${walletFile}/paused`;
    for (let n = 0; n < 3; n++) assertEquals(await isPaused(noFolder, unread), true);
  });
  await Deno.remove(folder, { recursive: true });
  assertEquals(lines.map((line) => line.split(" ")[0]), [
    "signer.database_away",
    "signer.pause_unread",
  ]);
});
