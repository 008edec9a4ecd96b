import { assert, assertEquals } from "@std/assert";
import {
  printSettings,
  processFlags,
  type ProcessSettings,
  readSettings,
} from "../../app/commands/signer/process_settings.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ net: true, read: true, write: true, run: true });

const SETTINGS: ProcessSettings = {
  databaseUrl: "postgres://signer:s@127.0.0.1:1/engine",
  walletFile: "/w/wallet.json",
  passphraseFile: "/w/passphrase",
  networks: [{
    network: "TRX",
    contracts: { USDT: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t" },
    feeCap: amountOf("150"),
    isDevelopment: false,
  }],
  limits: { "USDT/TRX": { perTransaction: amountOf("0.000001"), perDay: amountOf("12.5") } },
  coldAddresses: { TRX: "TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8" },
  socket: "/s/signer.sock",
  socketGroup: 7000,
  stateDir: "/t",
  environment: "production",
  logLevel: "info",
};

test("what the signer's process is told arrives as it was, caps to the last digit", () => {
  assertEquals(readSettings(printSettings(SETTINGS)), SETTINGS);
});

test("the signer's process can do what signing needs, and nothing else", async () => {
  const folder = await Deno.makeTempDir();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  try {
    for (const name of ["state", "run"]) await Deno.mkdir(`${folder}/${name}`);
    const place = {
      walletFile: `${folder}/wallet.json`,
      stateDir: `${folder}/state`,
      socket: `${folder}/run/signer.sock`,
    };
    const certificates = `${folder}/ca.pem`;
    const outside = `${folder}/outside.ts`;
    for (const file of [place.walletFile, certificates, outside]) {
      await Deno.writeTextFile(file, "{}");
    }
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        ...processFlags({
          ...SETTINGS,
          ...place,
          passphraseFile: `${folder}/passphrase`,
          databaseUrl: `${SETTINGS.databaseUrl}?sslmode=verify-full&sslrootcert=${certificates}`,
        }),
        new URL("./support/probe.ts", import.meta.url).pathname,
        JSON.stringify({ ...place, certificates, outside, port: listener.addr.port }),
      ],
      clearEnv: true,
      env: { HOME: Deno.env.get("HOME") ?? "/", NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder().decode(stdout);
    assertEquals(text === "" ? new TextDecoder().decode(stderr) : "", "");
    const found: Record<string, string> = JSON.parse(text);
    const able = Object.keys(found).filter((what) => found[what] === "done");
    assertEquals(able, [
      "read its wallet",
      "read the certificates of its database",
      "write its state",
      "listen on its socket",
    ]);
    const denied = Object.keys(found).filter((what) => found[what] === "denied");
    assertEquals(
      [...able, ...denied],
      Object.keys(found),
      "each of the others is denied, not failed for another reason",
    );
  } finally {
    listener.close();
    await Deno.remove(folder, { recursive: true });
  }
});

test("the signer's process reaches a database behind a Unix socket, and no other socket", () => {
  const flags = processFlags({
    ...SETTINGS,
    databaseUrl: "postgres://signer@%2Frun%2Fpostgresql/engine",
  });
  const socket = "/run/postgresql/.s.PGSQL.5432";
  assert(flags.includes(`--allow-net=unix:/s/signer.sock,unix:${socket}`));
  assert(flags.includes(`--allow-write=/t,/s,${socket}`));
});
