import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { admin } from "../../app/commands/admin.ts";
import { type Facts, look, unseen } from "../../app/commands/doctor/facts.ts";
import { isReady, lineOf, type Point, POINTS } from "../../app/commands/doctor/finding.ts";
import { judge } from "../../app/commands/doctor/judge.ts";
import { readSettings } from "../../app/commands/doctor/read_settings.ts";
import { redactor } from "../../app/commands/doctor/redact.ts";
import { seeRates } from "../../app/commands/doctor/see_rates.ts";
import { registerWallets } from "../../app/open/open_wallet.ts";
import type { SignerStatus } from "../../chains/signer/socket_protocol.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import {
  fingerprintOf,
  networkFingerprint,
  publicFileText,
  type PublicWallet,
} from "../../chains/wallet/public_wallet.ts";
import { testDatabase } from "../support/database.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const NOW = Date.parse("2026-11-23T12:00:00Z");
const MINUTE_MS = 60_000;
const MAIN = "00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc";
const USDT = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const OTHER_TOKEN = "TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs";
const COLD = "TUyimd9HR6U8gnQkKrjcoVfWP1WzjU5fZg";

const ENV = {
  ENVIRONMENT: "production",
  HOST: "10.0.0.5",
  PUBLIC_URL: "https://pay.example",
  TRUSTED_PROXIES: "10.0.0.2",
  OPS_HOST: "127.0.0.1",
  OPS_PORT: "9464",
  API_DOCS: "off",
  DATABASE_URL: "postgres://engine:not-to-be-seen@10.0.0.3/engine",
  SESSION_SECRET: "3f5c0d7be91a42688e1f5b7a9c0d2e4f",
  INGEST_SECRET: "a1b2c3d4e5f60718293a4b5c6d7e8f90",
  CALLBACK_SECRETS_KEY: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  WALLET_FILE: "/etc/engine/public-wallet.json",
  SIGNER_SOCKET: "/run/engine-signer/signer.sock",
  TRX_NODE_URLS: "https://one.example",
  TRX_PROOF_NODE_URLS: "https://other.example",
  TRX_DEPOSIT_PROOF_ABOVE: "1000",
  TRX_COLD_ADDRESS: COLD,
  TRX_USDT_CEILING: "50000",
  TRX_USDT_TARGET: "20000",
};

const WALLET: PublicWallet = {
  walletId: "wal_1",
  development: false,
  networks: {
    TRX: {
      kind: "secp256k1",
      depositAccount: 0,
      depositXpub: "xpub",
      hotAccount: 1_000,
      hotWallet: "THot",
    },
  },
};

function seen<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

const KEPT = {
  network: "TRX",
  walletId: "wal_1",
  fingerprint: networkFingerprint(WALLET, "TRX"),
  isAttested: true,
};
const SIGNER: SignerStatus = {
  walletId: "wal_1",
  fingerprint: fingerprintOf(WALLET),
  paused: false,
  pauseNote: "",
  reachesDatabase: true,
  uncapped: [],
  spent: {},
};
const NODE = {
  network: "TRX",
  variable: "TRX_NODE_URLS",
  label: "one.example",
  isEncrypted: true,
  isThisMachine: false,
  genesis: seen(MAIN),
  isNumbered: seen(true),
} as const;
const keyOf = (id: string, administrator: string, ...permissions: string[]) => ({
  id,
  administrator,
  permissions,
});
const comparison = (scope: "quick" | "full", minutesAgo: number) => ({
  scope,
  finishedAt: NOW - minutesAgo * MINUTE_MS,
  differences: 0,
  unchecked: 0,
});

const DATABASE_FACTS: Facts["database"] = {
  server: seen({ version: "18.4", connections: 97, encrypted: true }),
  durable: seen(null),
  environment: seen("production"),
  schema: seen(null),
  aheadMs: seen(20),
  callbackKey: seen(1),
  wallets: seen([KEPT]),
  signerRoles: seen([{ name: "signer", mayWrite: false }]),
  genesis: seen(new Map([["TRX" as const, MAIN]])),
  administrators: seen([
    keyOf("key_1", "key_1", "admin:write"),
    keyOf("key_2", "key_2", "admin:payments"),
  ]),
  comparisons: seen([comparison("quick", 10), comparison("full", 300)]),
};

const provider = (name: string, prices: Facts["rates"][number]["prices"], isThere = true) => ({
  name,
  prices,
  dollars: isThere ? seen("1.0002") : unseen(`Cannot read rates from api.${name}.com: refused`),
});
const COINBASE = provider("coinbase", ["USDT", "USDC"]);
const KRAKEN = provider("kraken", ["USDT", "USDC", "TRX"]);
const BINANCE = provider("binance", ["TRX"]);

const WELL: Facts = {
  settings: readSettings(ENV),
  now: NOW,
  folder: seen({ path: "/var/lib/engine", mode: 0o700, isOwn: true }),
  descriptors: seen({ limit: 8_192, isService: true }),
  front: seen({ status: 404, showsMetrics: false }),
  service: { url: "http://127.0.0.1:9464", ready: seen({ status: "ok", reasons: [] }) },
  database: DATABASE_FACTS,
  wallet: seen({ file: "/etc/engine/public-wallet.json", wallet: WALLET, hasWords: false }),
  apart: seen(null),
  signer: seen(SIGNER),
  nodes: [NODE, { ...NODE, variable: "TRX_PROOF_NODE_URLS", label: "other.example" }],
  rates: [COINBASE, KRAKEN, BINANCE],
};

const set = (env: Readonly<Record<string, string>>): Facts => ({
  ...WELL,
  settings: readSettings({ ...ENV, ...env }),
});
const database = (change: Partial<Facts["database"]>): Facts => ({
  ...WELL,
  database: { ...DATABASE_FACTS, ...change },
});
const signer = (change: Partial<SignerStatus>): Facts => ({
  ...WELL,
  signer: seen({ ...SIGNER, ...change }),
});
const node = (change: Partial<Facts["nodes"][number]>): Facts => ({
  ...WELL,
  nodes: [{ ...NODE, ...change }, ...WELL.nodes.slice(1)],
});

Deno.test("an installation with nothing missing is ready, with what a person confirms left", () => {
  const findings = judge(WELL);
  assertEquals(findings.filter(({ state }) => state === "missing" || state === "unknown"), []);
  assert(isReady(findings));
  assertEquals([...new Set(findings.map(({ point }) => point))], [...POINTS]);
  assertEquals(
    findings.filter(({ state }) => state === "by hand").map(({ point }) => point),
    ["backups", "signer's machine", "alarms", "audit", "rehearsal"],
  );
});

/** Changed settings, the point that reports them, its text, and the remedy. */
const MISSING: readonly (readonly [Facts, Point, string, string])[] = [
  [
    set({ ENVIRONMENT: "development" }),
    "environment",
    "not for real money",
    "ENVIRONMENT=production",
  ],
  [
    set({ PUBLIC_URL: "http://pay.example" }),
    "settings",
    "PUBLIC_URL is not https",
    ".env.example",
  ],
  [set({ SESSION_SECRET: "" }), "secrets", "not set: SESSION_SECRET", "openssl rand -hex 32"],
  [
    set({ SESSION_SECRET: "x".repeat(40) }),
    "secrets",
    "not random, or nearly so: SESSION_SECRET",
    "openssl",
  ],
  [
    set({ SESSION_SECRET: ENV.INGEST_SECRET }),
    "secrets",
    "twice: SESSION_SECRET, INGEST_SECRET",
    "openssl",
  ],
  [
    { ...WELL, folder: seen({ path: "/d", mode: 0o755, isOwn: true }) },
    "data folder",
    "/d (755)",
    "chmod 700 /d",
  ],
  [
    { ...WELL, folder: seen({ path: "/d", mode: 0o700, isOwn: false }) },
    "data folder",
    "another user's: /d",
    "as that user",
  ],
  [
    { ...WELL, front: seen({ status: 502, showsMetrics: false }) },
    "tls",
    "answers 502: the proxy does not reach the service",
    "HOST and PORT",
  ],
  [
    { ...WELL, front: unseen("certificate has expired") },
    "tls",
    "certificate has expired",
    "proxy",
  ],
  [
    set({ TRUSTED_PROXIES: "" }),
    "proxies",
    "all clients behind the proxy count as one",
    "TRUSTED_PROXIES=",
  ],
  [set({ TRUSTED_PROXIES: "0.0.0.0/0" }), "proxies", "0.0.0.0/0", "own addresses"],
  [
    { ...WELL, front: seen({ status: 200, showsMetrics: true }) },
    "operators",
    "everybody reads",
    "OPS_PORT",
  ],
  [
    { ...WELL, descriptors: seen({ limit: 1_024, isService: true }) },
    "descriptors",
    "1024 of the 8192",
    "LimitNOFILE",
  ],
  [
    database({ durable: unseen("fsync is not on") }),
    "database",
    "fsync is not on",
    "postgresql.conf",
  ],
  [
    database({ server: unseen("connection refused") }),
    "database",
    "connection refused",
    "DATABASE_URL",
  ],
  [
    set({ DATABASE_URL: "postgres://e:not-to-be-seen@db.example/e?sslmode=require" }),
    "database tls",
    "db.example (sslmode=require)",
    "verify-full",
  ],
  [
    database({ server: seen({ version: "14.1", connections: 20, encrypted: false }) }),
    "connections",
    "grants 20",
    "max_connections",
  ],
  [
    database({ schema: unseen("migrations are missing") }),
    "schema",
    "migrations are missing",
    "start",
  ],
  [database({ aheadMs: seen(-2_500) }), "clock", "2.5 s behind", "NTP"],
  [
    database({ callbackKey: unseen("Cannot decrypt") }),
    "callback secrets",
    "Cannot decrypt",
    "CALLBACK_SECRETS_KEY",
  ],
  [
    { ...WELL, wallet: unseen("all users may read its file") },
    "wallet",
    "all users may read",
    "show-public",
  ],
  [
    {
      ...WELL,
      wallet: seen({ file: "/w", wallet: { ...WALLET, development: true }, hasWords: false }),
    },
    "wallet",
    "made for development: /w",
    "deno task wallet create",
  ],
  [
    { ...WELL, wallet: seen({ file: "/w", wallet: WALLET, hasWords: true }) },
    "wallet",
    "encrypted words",
    "show-public",
  ],
  [
    { ...WELL, wallet: seen({ file: "/w", wallet: { ...WALLET, networks: {} }, hasWords: false }) },
    "wallet",
    "no account of TRX",
    "TRX_NODE_URLS",
  ],
  [database({ wallets: seen([]) }), "wallet of the database", "has none yet", "deno task serve"],
  [
    database({ wallets: seen([{ ...KEPT, fingerprint: "0".repeat(64) }]) }),
    "wallet of the database",
    "another wallet",
    "show-public",
  ],
  [
    database({ wallets: seen([{ ...KEPT, fingerprint: null }]) }),
    "wallet of the database",
    "old form",
    "docs/wallet.md",
  ],
  [
    database({ wallets: seen([{ ...KEPT, isAttested: false }]) }),
    "wallet of the database",
    "no signer has said yet",
    "start the signer",
  ],
  [
    { ...WELL, apart: unseen("the service runs as root") },
    "users",
    "runs as root",
    "Users and groups",
  ],
  [set({ SIGNER_SOCKET: "" }), "signer", "SIGNER_SOCKET is not set", "deno task signer"],
  [
    { ...WELL, signer: unseen("permission denied") },
    "signer",
    "permission denied",
    "SIGNER_SOCKET_GROUP",
  ],
  [
    { ...WELL, signer: seen(null) },
    "signer",
    "nothing answers at /run/engine-signer",
    "deno task signer",
  ],
  [
    signer({ fingerprint: "other", walletId: "wal_2" }),
    "signer",
    "another wallet: wal_2",
    "show-public",
  ],
  [
    signer({ reachesDatabase: false }),
    "signer",
    "does not reach its database",
    "SIGNER_DATABASE_URL",
  ],
  [
    database({ signerRoles: seen([{ name: "engine", mayWrite: true }]) }),
    "signer",
    "its role may change the books: engine",
    "SIGNER_DATABASE_URL",
  ],
  [
    signer({ paused: true, pauseNote: "key leaked" }),
    "signer",
    "it is paused: key leaked",
    "deno task signer resume",
  ],
  [
    signer({ uncapped: ["USDT/TRX"] }),
    "caps",
    "USDT/TRX lacks one",
    "TRX_SIGNER_PER_TRANSACTION=USDT:",
  ],
  [node({ isEncrypted: false }), "nodes", "plain http", "https:// in TRX_NODE_URLS"],
  [
    node({ genesis: unseen("refused") }),
    "nodes",
    "one.example: refused",
    "take it out of TRX_NODE_URLS",
  ],
  [node({ genesis: seen("0".repeat(64)) }), "nodes", "of another chain than TRX", "TRX_NODE_URLS"],
  [
    node({ isNumbered: seen(false) }),
    "nodes",
    "of another chain than TRX (by its",
    "TRX_NODE_URLS",
  ],
  [node({ isNumbered: unseen("silent") }), "nodes", "silent", "take it out of TRX_NODE_URLS"],
  [
    database({ genesis: seen(new Map([["TRX" as const, "1".repeat(64)]])) }),
    "nodes",
    "of another chain than TRX",
    "TRX_NODE_URLS",
  ],
  [
    set({ TRX_USDT_CONTRACT: OTHER_TOKEN }),
    "contracts",
    `USDT is ${OTHER_TOKEN}, not the issuer's`,
    "TRX_USDT_CONTRACT",
  ],
  [set({ TRX_NODE_URLS: "" }), "nodes", "no network has any", "TRX_NODE_URLS="],
  [
    set({ TRX_COLD_ADDRESS: "" }),
    "cold wallet",
    "TRX_COLD_ADDRESS is not set",
    "service and signer",
  ],
  [
    set({ TRX_COLD_ADDRESS: USDT }),
    "cold wallet",
    "is the contract of USDT",
    "TRX_COLD_ADDRESS=",
  ],
  [set({ TRX_COLD_ADDRESS: "nonsense" }), "cold wallet", "no address of TRX", "TRX_COLD_ADDRESS="],
  [
    set({ TRX_USDT_CEILING: "", TRX_USDT_TARGET: "" }),
    "cold wallet",
    "no USDT is moved",
    "TRX_USDT_CEILING",
  ],
  [set({ RECONCILE_MINUTES: "0" }), "books", "RECONCILE_MINUTES is 0", "RECONCILE_MINUTES=15"],
  [database({ comparisons: seen([]) }), "books", "never compared", "deno task reconcile"],
  [
    database({ comparisons: seen([comparison("quick", 10)]) }),
    "books",
    "compared in full: never",
    "deno task reconcile",
  ],
  [
    database({ comparisons: seen([comparison("full", 500)]) }),
    "books",
    "last compared at 2026-11-23T03:40:00.000Z",
    "deno task reconcile",
  ],
  [
    database({
      comparisons: seen([comparison("quick", 10), { ...comparison("full", 20), differences: 2 }]),
    }),
    "books",
    "found 2 differences",
    "deno task admin reports",
  ],
  [
    database({ administrators: seen([]) }),
    "administrators",
    "no usable key",
    "deno task admin bootstrap",
  ],
  [
    database({ administrators: seen([keyOf("key_1", "key_1", "admin:read")]) }),
    "administrators",
    "no usable key may approve",
    "deno task admin bootstrap",
  ],
  [
    // two keys of one person
    database({
      administrators: seen([
        keyOf("key_1", "key_1", "admin:write"),
        keyOf("key_2", "key_1", "admin:write"),
      ]),
    }),
    "administrators",
    "one administrator alone",
    "bootstrap another",
  ],
  [
    database({ environment: seen("staging") }),
    "database environment",
    "it was begun for staging, and ENVIRONMENT is production",
    "ENVIRONMENT=staging, or a new database",
  ],
  [
    { ...WELL, rates: [provider("coinbase", ["USDT"], false), KRAKEN, BINANCE] },
    "exchange rates",
    "fewer than 2 providers price USDT; coinbase: Cannot read rates from api.coinbase.com: refused",
    "let the service reach them",
  ],
  [
    { ...WELL, service: { ...WELL.service, ready: unseen("connection refused") } },
    "readiness",
    "no service answers at http://127.0.0.1:9464",
    "deno task serve",
  ],
  [
    {
      ...WELL,
      service: {
        ...WELL.service,
        ready: seen({ status: "degraded", reasons: ["payouts wait: x"] }),
      },
    },
    "readiness",
    "payouts wait: x",
    "docs/incidents.md",
  ],
];

Deno.test("what is missing is named at its point, in one line with what mends it, and is not ready", () => {
  for (const [facts, point, text, mend] of MISSING) {
    const findings = judge(facts);
    const found = findings.find((one) =>
      one.point === point && one.state === "missing" && one.text.includes(text)
    );
    assert(found !== undefined, `${point}: ${text}\n${findings.map(lineOf).join("\n")}`);
    assertStringIncludes(found.mend ?? "", mend);
    assertEquals(lineOf(found).includes("\n"), false);
    assertEquals(isReady(findings), false);
    // whatever is missing, no other point is left out
    assertEquals([...new Set(findings.map((one) => one.point))], [...POINTS]);
  }
});

Deno.test("choices that are allowed are left to a person, and what cannot be checked is not ready", () => {
  const stateOf = (facts: Facts, point: Point) =>
    judge(facts).find((one) => one.point === point)?.state;
  assertEquals(stateOf(set({ FOUR_EYES: "off" }), "administrators"), "by hand");
  assertEquals(stateOf(set({ API_DOCS: "on" }), "reference"), "by hand");
  assertEquals(stateOf(set({ HOST: "0.0.0.0" }), "listening"), "by hand");
  assertEquals(
    stateOf(set({ TRX_PROOF_NODE_URLS: "", TRX_DEPOSIT_PROOF_ABOVE: "" }), "proof nodes"),
    "by hand",
  );
  assertEquals(stateOf(set({ TRX_DEPOSIT_PROOF_ABOVE: "" }), "proof nodes"), "by hand");
  assertEquals(stateOf(set({ ENVIRONMENT: "staging" }), "environment"), "by hand");
  assertEquals(stateOf(set({ TRX_USDT_CONTRACT: USDT }), "contracts"), "ok");
  const token = set({ TRX_USDT_CONTRACT: OTHER_TOKEN, ENVIRONMENT: "staging" });
  assertEquals(stateOf(token, "contracts"), "by hand");
  assertEquals(stateOf(set({ TRX_USDC_CONTRACT: OTHER_TOKEN }), "contracts"), "by hand");
  // an issuer's contract is the same in every spelling
  const usdt = "0xdac17f958d2ee523a2206206994597c13d831ec7";
  const ethereum = { ETH_NODE_URLS: "https://one.example" };
  assertEquals(stateOf(set({ ...ethereum, ETH_USDT_CONTRACT: usdt }), "contracts"), "ok");
  const cold = set({ ...ethereum, ETH_COLD_ADDRESS: usdt });
  assert(judge(cold).some(({ text }) => text.includes("is the contract of USDT")));
  const rehearsed = judge(set({
    ENVIRONMENT: "staging",
    REHEARSAL: "on",
    TRX_SHASTA_NODE_URLS: "http://127.0.0.1:8790",
    TRX_SHASTA_USDT_CONTRACT: USDT,
  })).find(({ point }) => point === "contracts");
  assertEquals([rehearsed?.state, rehearsed?.mend], ["by hand", null], "it has no issuer's");
  assertEquals(stateOf(node({ genesis: seen(null) }), "nodes"), "by hand");
  assertEquals(stateOf({ ...WELL, signer: seen(null) }, "users"), "unknown");
  assertEquals(stateOf({ ...WELL, signer: seen(null) }, "caps"), "unknown");
  assertEquals(isReady([{ point: "caps", state: "unknown", text: "", mend: null }]), false);
});

Deno.test("of a network whose payouts are numbered none is said to expire, and both of its tokens need levels", () => {
  const texts = (env: Record<string, string>) =>
    judge(set({ ETH_NODE_URLS: "https://eth.example", ...env }))
      .filter(({ point, text }) =>
        (point === "proof nodes" || point === "cold wallet") && text.startsWith("ETH")
      ).map(({ text }) => text);
  const deposits = "ETH: the word of one node credits a deposit of any amount";
  assertEquals(texts({}), [
    deposits,
    "ETH_COLD_ADDRESS is not set: all money stays in the hot wallet",
  ]);
  const COLD_OF_ETH = "0x52908400098527886E0F7030069857D2E4169EE7";
  const levelled = { ETH_COLD_ADDRESS: COLD_OF_ETH, ETH_USDT_CEILING: "9", ETH_USDT_TARGET: "5" };
  assertEquals(texts(levelled), [
    deposits,
    "ETH: no USDC is moved there, however much the hot wallet holds",
  ]);
});

Deno.test("one provider of exchange rates that is away is named, and nothing is lacking while two answer", async () => {
  const away = { ...WELL, rates: [...WELL.rates, provider("coingecko", ["USDT", "TRX"], false)] };
  const point = judge(away).find((one) => one.point === "exchange rates");
  assertEquals(point?.state, "ok");
  assertStringIncludes(point?.text ?? "", "3 of 4 providers answer; coingecko: ");
  const sources = [
    { name: "one", read: () => Promise.resolve(new Map([["USD", "1"]])) },
    { name: "two", prices: ["TRX" as const], read: () => Promise.reject(new Error("no way out")) },
    { name: "has nothing to price", prices: [], read: () => Promise.reject(new Error("asked")) },
  ];
  const { config } = readSettings({});
  assertEquals(
    (await seeRates({ ...config, environment: "staging" }, sources)).map(({ dollars }) => dollars),
    [seen("1"), unseen("no way out")],
  );
  assertEquals(await seeRates({ ...config, environment: "development" }, sources), []);
});

Deno.test("settings at fault are named, and the others are checked nevertheless", () => {
  const { environment, faults, config } = readSettings({
    ...ENV,
    ENVIRONMENT: "prod",
    PORT: "eight",
    SESSION_SECRET: "short",
    TRX_USDT_TARGET: "60000",
  });
  assertEquals(environment, "production");
  for (
    const text of [
      "ENVIRONMENT is none of",
      "PORT is not",
      "SESSION_SECRET is shorter",
      "TRX_USDT_TARGET",
    ]
  ) {
    assert(faults.some((fault) => fault.startsWith(text)), text);
  }
  assertEquals(config.sessionSecret, null);
  assertEquals(config.networks.TRX.nodeUrls, ["https://one.example"]);
  assertEquals([config.duties.fourEyes, config.host], ["persons", "10.0.0.5"]);
  assertEquals(readSettings({ WALLET_FILE: "/w" }).environment, "development");
  assertEquals(
    readSettings({}).faults.some((fault) => fault.startsWith("DATABASE_URL is missing")),
    true,
  );
});

Deno.test("no secret of the environment is printed, also where an error repeats it", () => {
  const redact = redactor({
    ...ENV,
    DATABASE_URL: "postgres://engine:pass%2Fword@a:1,b:2/engine",
    TRX_NODE_URLS: "https://node.example/v2/keykeykey, https://plain.example",
    TRX_NODE_API_KEY: "node-api-key",
    ADMIN_API_KEY: "sk_live_abcdef",
  });
  const texts = [
    "pass%2Fword",
    "pass/word",
    "v2/keykeykey",
    "node-api-key",
    "sk_live_abcdef",
    ENV.SESSION_SECRET,
  ];
  for (const text of texts) assertEquals(redact(`Cannot use ${text}.`), "Cannot use [secret].");
  assertEquals(redact("node.example, engine, /etc/engine"), "node.example, engine, /etc/engine");
});

Deno.test("a check that never ends is given up, and one that throws is an answer", async () => {
  let isStopped = false;
  const late = await look(
    20,
    (signal) => new Promise<never>(() => signal.addEventListener("abort", () => isStopped = true)),
  );
  assertEquals([late, isStopped], [{ ok: false, reason: "no answer within 0.02 s" }, true]);
  const thrown = await look(1_000, () => {
    throw new Error("no\nluck", { cause: new Error("refused") });
  });
  assertEquals(thrown, { ok: false, reason: "no luck: refused" });
});

test("the page and the command have the same points, in the same order", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/operations.md", import.meta.url));
  const section = page.split("\n## ").find((text) =>
    text.startsWith("Before the first real money")
  );
  const rows = [...(section ?? "").matchAll(/^\| `([^`]+)` \|/gm)].map(([, point]) => point);
  assertEquals(rows, [...POINTS]);
});

/** Carries out the command. */
async function doctor(env: Record<string, string>) {
  const lines: string[] = [];
  const say = (...parts: unknown[]) => lines.push(parts.map(String).join(" "));
  const code = await admin(["doctor"], env, { log: say, error: say });
  const has = (start: RegExp, text: string) => {
    assert(
      lines.some((line) => start.test(line) && line.includes(text)),
      `${start} ${text}\n${lines.join("\n")}`,
    );
  };
  return { code, lines, has };
}

test("a folder that was never started in is checked without making anything, and is not for real money", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const { code, lines, has } = await doctor({ DATA_DIR: `${folder}/new`, PORT: "1" });
    assertEquals(code, 1);
    has(/^missing +environment/, "not for real money");
    has(/^missing +settings/, "SIGNER_SOCKET is missing");
    has(/^missing +database +/, "no embedded server runs");
    has(/^unknown +schema/, "not reached");
    has(/^missing +wallet +/, "names no file");
    has(/^missing +readiness/, "no service answers");
    assertEquals(
      POINTS.filter((point) => !lines.some((line) => line.slice(9).startsWith(point))),
      [],
    );
    assertEquals((await Array.fromAsync(Deno.readDir(folder))).length, 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

test("of an installation in staging each thing that is missing is named, and no secret is", async () => {
  const folder = await Deno.makeTempDir();
  // a node of a chain of its own
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () =>
      Response.json({
        blockID: "0".repeat(16) + "7".repeat(48),
        block_header: { raw_data: { parentHash: "0".repeat(64) } },
      }),
  );
  try {
    await using database = await testDatabase();
    const wallet = await createWallet({
      file: `${folder}/signer.json`,
      passphrase: crypto.randomUUID(),
      passphraseIsRandom: true,
      networks: ["TRX"],
    });
    await Deno.writeTextFile(`${folder}/public.json`, publicFileText(wallet), { mode: 0o600 });
    await Deno.writeTextFile(`${folder}/passphrase`, "passphrase of the signer", { mode: 0o600 });
    await registerWallets(database.sql, wallet, ["TRX"]);
    const env = {
      ...ENV,
      ENVIRONMENT: "staging",
      PUBLIC_URL: "https://127.0.0.1:1",
      OPS_PORT: "1",
      DATA_DIR: folder,
      DATABASE_URL: database.url,
      WALLET_FILE: `${folder}/public.json`,
      WALLET_PASSPHRASE_FILE: `${folder}/passphrase`,
      SIGNER_SOCKET: `${folder}/signer.sock`,
      TRX_NODE_URLS: `http://127.0.0.1:${server.addr.port}/key-of-the-node`,
      TRX_PROOF_NODE_URLS: "http://127.0.0.1:1",
      TRX_COLD_ADDRESS: "",
      TRX_USDT_CEILING: "",
      TRX_USDT_TARGET: "",
    };
    assertEquals(await admin(["bootstrap"], env, { log: () => {}, error: () => {} }), 0);
    const { code, lines, has } = await doctor(env);
    assertEquals(code, 1);
    has(/^ok +settings/, "well-formed");
    has(/^missing +tls/, "https://127.0.0.1:1");
    has(/^ok +schema/, "of this version");
    has(/^ok +clock/, "agree");
    has(/^ok +database environment/, "begun for staging");
    has(/^ok +wallet +/, wallet.walletId);
    has(/^missing +wallet of the database/, "no signer has said yet");
    has(/^missing +users/, "can read what only the signer may");
    has(/^missing +signer +/, `nothing answers at ${folder}/signer.sock`);
    has(/^missing +nodes/, "of another chain than TRX");
    has(/^missing +proof nodes/, "127.0.0.1:1");
    has(/^missing +cold wallet/, "TRX_COLD_ADDRESS is not set");
    has(/^missing +books/, "never compared");
    has(/^missing +administrators/, "one administrator alone");
    has(/^missing +readiness/, "no service answers");
    const [setting] = await database.sql`SHOW fsync`;
    if (setting?.fsync === "off") has(/^missing +database +/, "fsync is not on");
    else has(/^ok +database +/, "PostgreSQL");
    const text = lines.join("\n");
    const password = new URL(database.url).password;
    const secrets = [
      ENV.SESSION_SECRET,
      ENV.INGEST_SECRET,
      ENV.CALLBACK_SECRETS_KEY,
      "key-of-the-node",
      "passphrase of",
      "xpub",
    ];
    for (const secret of [...secrets, ...(password === "" ? [] : [password])]) {
      assertEquals(text.includes(secret), false, secret);
    }
    assertEquals(await admin(["bootstrap", "another"], env, { log: () => {}, error: () => {} }), 0);
    (await doctor(env)).has(/^ok +administrators/, "2 administrators may approve");
  } finally {
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
});
