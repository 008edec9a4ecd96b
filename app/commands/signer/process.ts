/**
 * The signer's process: started by `deno task signer` with the few permissions of
 * `process_settings.ts`, told its settings on its standard input, and ended when that closes.
 *
 * @module
 */

import { logEvent } from "../../../log/log_event.ts";
import { listenSocket } from "../../../chains/signer/listen_socket.ts";
import { isPaused, readPause, unreadPause } from "../../../chains/signer/pause_file.ts";
import { serveSocket } from "../../../chains/signer/serve_socket.ts";
import { openSignedJournal } from "../../../chains/signer/signed_journal.ts";
import { readSpent, writeSpent } from "../../../chains/signer/spent_file.ts";
import { fingerprintOf, openPublicWallet } from "../../../chains/wallet/public_wallet.ts";
import { lockDataDir } from "../../open/data_folder.ts";
import { configureLogging } from "../../open/logging.ts";
import { openSigner } from "../../open/open_signer.ts";
import { readSettings } from "./process_settings.ts";

/** Bound of the wait for requests at hand when it stops. */
const STOP_MS = 8_000;

const input = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
let line = "";
while (!line.includes("\n")) {
  const { value, done } = await input.read();
  if (done) Deno.exit(2);
  line += value;
}
const settings = readSettings(line);
await configureLogging(settings);
const lock = await lockDataDir(settings.stateDir);
if (!lock.ok) {
  logEvent("signer.folder_taken", {
    owner: lock.owner,
    folder: settings.stateDir,
  });
  Deno.exit(2);
}
const spentFile = `${settings.stateDir}/spent.json`;
const pauseFile = `${settings.stateDir}/paused`;
const unread = unreadPause();
const { journal, spent } = await earlierState();
const wallet = await openPublicWallet(settings.walletFile);
const opened = await openSigner(settings, {
  isPaused: () => isPaused(pauseFile, unread),
  spent,
  persistSpent: (spent) => writeSpent(spentFile, spent),
  memory: journal.memory,
  nonces: journal.nonces,
  persistSigned: (batch) => journal.append(batch),
});
const uncapped = settings.networks.flatMap(({ network, contracts }) =>
  Object.keys(contracts).map((currency) => `${currency}/${network}`)
).filter((asset) => {
  const limit = Object.entries(settings.limits ?? {}).find(([name]) => name === asset)?.[1];
  return limit?.perTransaction === undefined || limit.perDay === undefined;
});
for (const asset of uncapped) {
  logEvent("signer.without_cap", { asset });
}

const server = serveSocket(await listenSocket(settings.socket, settings.socketGroup), {
  sign: (requests) => opened.signer.sign(requests),
  live: (outgoingIds) => opened.signer.live(outgoingIds),
  status: async () => {
    const pause = await readPause(pauseFile, unread);
    return {
      walletId: opened.walletId,
      fingerprint: fingerprintOf(wallet),
      paused: pause !== null,
      pauseNote: pause ?? "",
      reachesDatabase: await opened.reachesDatabase(),
      uncapped,
      spent: { ...opened.spent() },
    };
  },
});
logEvent("signer.serving", {
  networks: settings.networks.map(({ network }) => network).join(", "),
  socket: settings.socket,
});

const stopped = Promise.withResolvers<void>();
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.addSignalListener(signal, stopped.resolve);
}
const ended = async () => {
  while (!(await input.read()).done);
};
await Promise.race([stopped.promise, ended()]);
logEvent("signer.stopping");
await server.close(STOP_MS);
await opened.close();
journal.close();
Deno.exit(0);

/** State of an earlier process; without it neither the caps nor "signed once" would hold. */
async function earlierState() {
  try {
    return {
      journal: await openSignedJournal(settings.stateDir),
      spent: await readSpent(spentFile),
    };
  } catch (error) {
    logEvent("signer.start_refused", {
      reason: error instanceof Error ? error.message : String(error),
    });
    Deno.exit(2);
  }
}
