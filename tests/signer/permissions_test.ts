import { assert, assertEquals } from "@std/assert";
import {
  printSettings,
  processFlags,
  type ProcessSettings,
  readSettings,
} from "../../app/commands/signer/process_settings.ts";
import { settingsOf } from "../../app/commands/signer/settings_of.ts";
import { loadConfig } from "../../app/config/config.ts";
import { SERVED_NETWORKS } from "../../chains/families.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
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

test("a signer's process takes the settings of every network that can be served", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const passphrase = "0123456789abcdef0123456789abcdef";
    const [file, passphraseFile] = [`${folder}/wallet.json`, `${folder}/passphrase`];
    await createWallet({
      file,
      passphrase,
      passphraseIsRandom: true,
      networks: SERVED_NETWORKS,
      development: false,
    });
    await Deno.writeTextFile(passphraseFile, passphrase, { mode: 0o600 });
    const caps = SERVED_NETWORKS.flatMap((network) =>
      ["PER_TRANSACTION", "PER_DAY"].map((cap) => [`${network}_SIGNER_${cap}`, "USDT:1,USDC:1"])
    );
    const variables = {
      ENVIRONMENT: "production",
      WALLET_FILE: file,
      WALLET_PASSPHRASE_FILE: passphraseFile,
      SIGNER_SOCKET: `${folder}/run/signer.sock`,
      SIGNER_STATE_DIR: `${folder}/state`,
      SIGNER_DATABASE_URL: "postgres://signer:s@127.0.0.1:1/engine",
      ETH_SWEEP_BY: "delegate",
      ...Object.fromEntries(caps),
    };
    const loaded = loadConfig(variables, "signer");
    assert(loaded.ok, loaded.ok ? "" : loaded.faults.join("\n"));
    const settings = await settingsOf(loaded.config);
    assertEquals(settings.networks.map(({ network }) => network), SERVED_NETWORKS);
    assertEquals(settings.networks.find(({ network }) => network === "ETH")?.sweepBy, "delegate");
    assertEquals(readSettings(printSettings(settings)), settings);
    assertEquals(settings.networks.filter(({ isRehearsal }) => isRehearsal), []);
    const rehearsed = loadConfig(
      { ...variables, ENVIRONMENT: "staging", REHEARSAL: "on" },
      "signer",
    );
    assert(rehearsed.ok);
    const { networks } = await settingsOf(rehearsed.config);
    assertEquals(
      networks.filter(({ isRehearsal }) => isRehearsal).map(({ network }) => network),
      SERVED_NETWORKS.filter((network) => PROFILES[network].names.isTest),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
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
