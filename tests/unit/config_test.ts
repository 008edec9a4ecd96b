import { assert, assertEquals, assertFalse, assertStringIncludes, assertThrows } from "@std/assert";
import { z } from "zod";
import { configurationPage } from "../../app/commands/configuration.ts";
import { envExample } from "../../app/commands/env_example.ts";
import { type Config, loadConfig } from "../../app/config/config.ts";
import { mayBeDevelopment } from "../../app/config/nodes.ts";
import { SWEEPS, sweepsOf } from "../../app/config/sweeps.ts";
import { SERVED_NETWORKS } from "../../chains/families.ts";
import { variableDocs } from "../../app/config/variable_docs.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import { needs } from "../support/permissions.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const PRODUCTION = {
  ENVIRONMENT: "production",
  PUBLIC_URL: "https://pay.example/base/",
  DATABASE_URL: "postgres://engine:hunter2@db.example/engine",
  SESSION_SECRET: SECRET,
  INGEST_SECRET: SECRET,
  CALLBACK_SECRETS_KEY: SECRET,
  WALLET_FILE: "/run/wallet",
  SIGNER_SOCKET: "/run/signer/signer.sock",
  TRX_NODE_URLS: "https://one.example/, https://two.example",
  TRX_NODE_API_KEY: "node-key",
};

function load(env: Record<string, string | undefined>): Config {
  const answer = loadConfig(env);
  if (!answer.ok) throw new Error(answer.faults.join("; "));
  return answer.config;
}

function faults(env: Record<string, string | undefined>): readonly string[] {
  const answer = loadConfig(env);
  return answer.ok ? [] : answer.faults;
}

Deno.test("development needs no variable at all", () => {
  const config = load({});
  assertEquals(config.environment, "development");
  assertEquals([config.host, config.port, config.dataDir], ["127.0.0.1", 8000, "./.data"]);
  assertEquals([config.databaseUrl, config.publicUrl, config.ops], [null, null, null]);
  assertEquals(config.networks.TRX.nodeUrls, []);
  assertEquals(config.devChain, { networks: ["TRX", "TRX_SHASTA"], blockMs: 1000, solidLag: 3 });
});

Deno.test("development chains are those that are named, or all, and only of networks that can be served", () => {
  const named = (DEV_CHAINS: string) => load({ DEV_CHAINS }).devChain.networks;
  assertEquals(named(" TRX_SHASTA "), ["TRX_SHASTA"]);
  assertEquals(named("TRX_SHASTA,TRX,TRX"), ["TRX", "TRX_SHASTA"]);
  assertEquals(named("all"), [...SERVED_NETWORKS]);
  assertEquals(faults({ DEV_CHAINS: "TRX,DOGE,trx" }), [
    `DEV_CHAINS names what cannot be served: DOGE, trx; served are ${SERVED_NETWORKS.join(", ")}`,
  ]);
  assertStringIncludes(faults({ DEV_CHAINS: "all,TRX" }).join(), "cannot be served: all");
});

Deno.test("an empty variable counts as absent", () => {
  assertEquals(load({ PORT: "", DATABASE_URL: " " }).port, 8000);
});

Deno.test("production reads every setting", () => {
  const config = load({ ...PRODUCTION, OPS_PORT: "9464", TRUSTED_PROXIES: "10.0.0.0/8, ::1" });
  assertEquals(config.host, "0.0.0.0");
  assertEquals(config.publicUrl, "https://pay.example/base");
  assertEquals(config.networks.TRX.nodeUrls, ["https://one.example", "https://two.example"]);
  assertEquals(config.networks.TRX.nodeApiKey?.reveal(), "node-key");
  assertEquals(config.databaseUrl?.reveal(), PRODUCTION.DATABASE_URL);
  assertEquals(config.ops, { host: "127.0.0.1", port: 9464 });
  assertEquals(config.trustedProxies, ["10.0.0.0/8", "::1"]);
});

Deno.test("outside of development health and metrics are for this machine alone, or as is set", () => {
  assertEquals(load(PRODUCTION).ops, { host: "127.0.0.1", port: 9464 });
  assertEquals(load({ ...PRODUCTION, OPS_HOST: "10.0.0.5" }).ops, { host: "10.0.0.5", port: 9464 });
  const both = { OPS_HOST: "10.0.0.5", OPS_PORT: "9000" };
  assertEquals(load({ ...PRODUCTION, ...both }).ops, { host: "10.0.0.5", port: 9000 });
});

Deno.test("staging and production name everything that is missing, at once", () => {
  for (const ENVIRONMENT of ["staging", "production"]) {
    const named = faults({ ENVIRONMENT }).map((fault) => fault.split(" ")[0]);
    assertEquals(named, [
      "PUBLIC_URL",
      "DATABASE_URL",
      "SESSION_SECRET",
      "INGEST_SECRET",
      "CALLBACK_SECRETS_KEY",
      "WALLET_FILE",
      "SIGNER_SOCKET",
      "TRX_NODE_URLS",
    ]);
  }
});

Deno.test("malformed and missing variables are told together, by name and never by value", () => {
  const told = faults({
    ENVIRONMENT: "production",
    PORT: "80 80",
    LOG_LEVEL: "loud-value",
    SESSION_SECRET: "short-value",
    PUBLIC_URL: "http://pay.example",
    TRX_NODE_URLS: "ftp://node-value",
    TRUSTED_PROXIES: "10.0.0.0/8,proxy-value",
    tBNB_NODE_URLS: "no url-value",
  });
  const names = told.map((fault) => fault.split(" ")[0]);
  for (
    const name of [
      "PORT",
      "LOG_LEVEL",
      "SESSION_SECRET",
      "PUBLIC_URL",
      "TRX_NODE_URLS",
      "TRUSTED_PROXIES",
      "tBNB_NODE_URLS",
      "DATABASE_URL",
    ]
  ) assert(names.includes(name), `${name} in ${told}`);
  assertFalse(told.some((fault) => fault.includes("value") || fault.includes("80 80")));
});

Deno.test("settings of a network that cannot be served are refused by name, wherever it runs", () => {
  const given = { SOL_NODE_URLS: "https://node.example", SOL_DEVNET_COLD_ADDRESS: "x" };
  const served = SERVED_NETWORKS.join(", ");
  for (const base of [{}, PRODUCTION]) {
    assertEquals(faults({ ...base, ...given }), [
      `SOL_NODE_URLS is set although SOL cannot be served yet: take it out, served are ${served}`,
      `SOL_DEVNET_COLD_ADDRESS is set although SOL_DEVNET cannot be served yet: take it out, served are ${served}`,
    ]);
  }
  const signer = loadConfig(given, "signer");
  assertEquals(signer.ok ? [] : signer.faults.slice(0, 2).map((fault) => fault.split(" ")[0]), [
    "SOL_NODE_URLS",
    "SOL_DEVNET_COLD_ADDRESS",
  ]);
  const names = variableDocs().map(({ name }) => name);
  assert(names.includes("ETH_NODE_URLS") && !names.includes("SOL_NODE_URLS"));
});

Deno.test("outside development the service is told nothing that only the signer may know", () => {
  const secrets = {
    WALLET_PASSPHRASE_FILE: "/run/passphrase",
    SIGNER_DATABASE_URL: "postgres://signer:s@db.example/engine",
  };
  const config = load({ ...PRODUCTION, ...secrets });
  assertEquals([config.walletPassphraseFile, config.signer.databaseUrl], [null, null]);
});

Deno.test("the signer needs its files, its socket and its role, and nothing of the service's", () => {
  const answer = loadConfig({ ENVIRONMENT: "production" }, "signer");
  assertEquals(answer.ok ? [] : answer.faults.map((fault) => fault.split(" ")[0]), [
    "WALLET_FILE",
    "WALLET_PASSPHRASE_FILE",
    "SIGNER_SOCKET",
    "SIGNER_STATE_DIR",
    "SIGNER_DATABASE_URL",
  ]);
});

Deno.test("caps are amounts by asset, and anything else is a fault", () => {
  const { TRX } = load({ TRX_SIGNER_PER_TRANSACTION: "USDT:1000.5, coin:20" }).networks;
  assertEquals(TRX.caps, {
    perTransaction: { USDT: amountOf("1000.5"), native: amountOf("20") },
    perDay: {},
  });
  for (
    const wrong of ["USDT", "USDT:", "EUR:1", "USDT:1,USDT:2", "USDT:-1", "USDT:1:2", "toString:1"]
  ) {
    assertEquals(faults({ TRX_SIGNER_PER_DAY: wrong }), [
      "TRX_SIGNER_PER_DAY is not a list of caps (USDT:10000,coin:500)",
    ]);
  }
});

Deno.test("a changed history jumps over 1,000 address numbers, or what is set from 1 to 1,000,000", () => {
  assertEquals(load({}).addressGap, 1_000);
  assertEquals(load({ FAILOVER_ADDRESS_GAP: "1000000" }).addressGap, 1_000_000);
  assertEquals(load({}).failoverTellingMs, 60_000);
  assertEquals(load({ FAILOVER_TELLING_MINUTES: "90" }).failoverTellingMs, 5_400_000);
  for (const FAILOVER_ADDRESS_GAP of ["0", "1000001", "-5", "1e3", "some"]) {
    assertEquals(faults({ FAILOVER_ADDRESS_GAP }), [
      "FAILOVER_ADDRESS_GAP is not a whole number from 1 to 1000000",
    ]);
  }
});

Deno.test("a socket path that the system cannot take is a fault", () => {
  for (const wrong of ["signer.sock", "/a,b", `/${"x".repeat(100)}`]) {
    assertEquals(faults({ SIGNER_SOCKET: wrong }).length, 1);
  }
});

Deno.test("an environment that is none is a fault, not development", () => {
  assertEquals(faults({ ENVIRONMENT: "prod" }).length, 1);
});

Deno.test("ports outside 0 to 65535 are faults", () => {
  for (const PORT of ["65536", "-1", "1e3", "0x50", "8000.5", "٣"]) {
    assertEquals(faults({ PORT }), ["PORT is not a whole number from 0 to 65535"]);
  }
});

Deno.test("no printed form of the settings shows a secret", () => {
  const config = load(PRODUCTION);
  for (
    const text of [
      Deno.inspect(config, { depth: 9 }),
      JSON.stringify(config, (_, value) => typeof value === "bigint" ? String(value) : value),
      `${config.databaseUrl}`,
    ]
  ) {
    assertFalse(text.includes("hunter2"));
    assertFalse(text.includes(SECRET));
    assertFalse(text.includes("node-key"));
    assertStringIncludes(text, "[secret]");
  }
});

Deno.test("a treasury needs no variable; what is half configured is a fault, by name", () => {
  assertEquals(load({}).networks.TRX.treasury, {
    proof: null,
    depositProofAbove: null,
    fee: { receiver: "new", margin: "0.1", floor: "0.1" },
    feeCap: "150",
    feesPerDay: null,
    low: { coin: "200", USDT: "1000", USDC: "0" },
    levels: { USDT: null, USDC: null },
  });
  const { treasury } = load({
    ...PRODUCTION,
    TRX_PROOF_NODE_URLS: "https://other.example/, https://third.example",
    TRX_PROOF_ABOVE: "5000",
    TRX_DEPOSIT_PROOF_ABOVE: "7000.5",
    TRX_COLD_ADDRESS: "T",
    TRX_USDT_CEILING: "80000",
    TRX_USDT_TARGET: "50000.5",
    TRX_FEE_RECEIVER: "holder",
  }).networks.TRX;
  assertEquals(treasury.proof, {
    nodeUrls: ["https://other.example", "https://third.example"],
    above: "5000",
  });
  assertEquals(treasury.depositProofAbove, "7000.5");
  assertEquals(treasury.levels.USDT, { ceiling: "80000", target: "50000.5" });
  assertEquals(treasury.fee.receiver, "holder");
  const wrong: readonly [Record<string, string>, string][] = [
    [{ TRX_PROOF_ABOVE: "1" }, "TRX_PROOF_NODE_URLS is missing although TRX_PROOF_ABOVE is set"],
    [
      { TRX_DEPOSIT_PROOF_ABOVE: "1" },
      "TRX_PROOF_NODE_URLS is missing although TRX_DEPOSIT_PROOF_ABOVE is set",
    ],
    [
      { TRX_PROOF_NODE_URLS: "https://two.example/v1" },
      "TRX_PROOF_NODE_URLS names a node of TRX_NODE_URLS",
    ],
    [
      { TRX_USDT_CEILING: "5", TRX_COLD_ADDRESS: "T" },
      "TRX_USDT_TARGET is missing, which a cold wallet's levels need",
    ],
    [
      { TRX_USDC_CEILING: "5", TRX_USDC_TARGET: "1" },
      "TRX_COLD_ADDRESS is missing, which a cold wallet's levels need",
    ],
    [
      { TRX_USDT_CEILING: "5", TRX_USDT_TARGET: "5", TRX_COLD_ADDRESS: "T" },
      "TRX_USDT_TARGET is not below TRX_USDT_CEILING",
    ],
    [{ TRX_FEE_FLOOR: "0.123" }, "TRX_FEE_FLOOR is not an amount with up to 2 decimals"],
    [{ TRX_FEE_MARGIN: "-1" }, "TRX_FEE_MARGIN is not a fraction from 0 to 9"],
    [{ TRX_FEE_CAP: "0" }, "TRX_FEE_CAP is zero, so that nothing could be sent"],
    [
      { TRX_FEE_LIMIT: "100" },
      "TRX_FEE_LIMIT is no setting; did you mean TRX_FEE_CAP? (docs/configuration.md)",
    ],
    [{ TRX_LOW_COIN: "many" }, "TRX_LOW_COIN is not an amount"],
    [{ TRX_LOW_COIN: "0.0000001" }, "TRX_LOW_COIN has more than the 6 decimals of TRX"],
    [{ TRX_FEE_CAP: "66.6000001" }, "TRX_FEE_CAP has more than the 6 decimals of TRX"],
  ];
  for (const [env, fault] of wrong) assertEquals(faults({ ...PRODUCTION, ...env }), [fault]);
});

Deno.test("production believes no node on another machine over plain http", () => {
  const refused = (name: string) =>
    `${name} names a node on another machine by http, which production refuses as anybody on the ` +
    "way could change its answers: use https, or a tunnel that ends on this machine";
  const cases: readonly [string, boolean][] = [
    ["http://node.example", false],
    ["https://one.example,http://10.0.0.7:8090", false],
    ["http://127.example", false],
    ["http://[2001:db8::1]:8090", false],
    ["https://one.example", true],
    ["http://localhost:8090", true],
    ["http://127.0.0.1:8090,http://[::1]:8090", true],
    ["http://127.9", true],
  ];
  for (const [urls, isTaken] of cases) {
    assertEquals(
      faults({ ...PRODUCTION, TRX_NODE_URLS: urls }),
      isTaken ? [] : [refused("TRX_NODE_URLS")],
      urls,
    );
    const proof = {
      ...PRODUCTION,
      TRX_NODE_URLS: "https://own.example",
      TRX_PROOF_NODE_URLS: urls,
    };
    assertEquals(faults(proof), isTaken ? [] : [refused("TRX_PROOF_NODE_URLS")], urls);
    assertEquals(faults({ ...PRODUCTION, ENVIRONMENT: "staging", TRX_NODE_URLS: urls }), [], urls);
  }
});

Deno.test("traces are exported with all that keeps secrets in, or not at all", () => {
  const traced = {
    ...PRODUCTION,
    OTEL_DENO: "true",
    OTEL_TRACES_SAMPLER: "parentbased_always_off",
    OTEL_PROPAGATORS: "none",
    OTEL_DENO_CONSOLE: "ignore",
    OTEL_DENO_METRICS: "false",
  };
  assertEquals(load(PRODUCTION).isTraced, false);
  assertEquals(load(traced).isTraced, true);
  for (
    const name of [
      "OTEL_TRACES_SAMPLER",
      "OTEL_PROPAGATORS",
      "OTEL_DENO_CONSOLE",
      "OTEL_DENO_METRICS",
    ] as const
  ) {
    for (const value of ["", "other"]) {
      const [fault, ...others] = faults({ ...traced, [name]: value });
      assert(fault?.startsWith(`${name} is not `), fault);
      assertEquals(others, []);
    }
  }
  assertEquals(faults({ ...PRODUCTION, OTEL_DENO_TRACING: "true" }), [
    "OTEL_DENO_TRACING is set although OTEL_DENO is not true (docs/traces.md)",
  ]);
});

Deno.test("settings cannot be changed after they were read", () => {
  const config = load(PRODUCTION);
  assertThrows(() => Object.assign(config.networks.TRX, { coldAddress: "elsewhere" }), TypeError);
});

Deno.test({
  name: ".env.example is what `deno task env-example` prints",
  ignore: needs({ read: true }),
  fn: async () => {
    const written = await Deno.readTextFile(new URL("../../.env.example", import.meta.url));
    assertEquals(written, envExample());
  },
});

Deno.test("every variable of .env.example is read, for each network that it is said to exist for", () => {
  const text = envExample();
  const names = [...text.matchAll(/^# ([A-Za-z]+(?:_\w+)*)=/gm)].map(([, name]) => name as string);
  assertEquals(names.toSorted(), [...new Set(names)].toSorted());
  const docs = variableDocs();
  const keyOf = (name: string) => {
    const of = SERVED_NETWORKS.filter((network) => name.startsWith(`${network}_`));
    return name.slice(Math.max(0, ...of.map((network) => network.length + 1)));
  };
  const keys = [...new Set(docs.map(({ name }) => keyOf(name)))];
  assertEquals(names.map(keyOf).toSorted(), keys.toSorted());
  const others = /^# The same exist for (.*)\.$/m.exec(text)?.[1]?.split(", ") ?? [];
  assertEquals(["TRX", ...others], [...SERVED_NETWORKS] as string[]);
  const all = docs.map(({ name }) => name);
  // a value that nothing takes tells that the variable is looked at, and not refused for its name
  const told = faults(Object.fromEntries(all.map((name) => [name, "\u0000"])));
  const refused = told.filter((line) => /is no setting|cannot be served yet/.test(line));
  assertEquals(refused, []);
});

Deno.test("a network is refused what only networks of another kind have", () => {
  assertEquals(faults({ TRX_SWEEP_BY: "delegate", TRX_SWEEP_BATCH: "5" }), [
    "TRX_SWEEP_BY is set although TRX has no use for it: take it out",
    "TRX_SWEEP_BATCH is set although TRX has no use for it: take it out",
  ]);
  assertEquals(load({}).networks.TRX.sweeps.by, null);
});

for (
  const [what, network, given, isDevelopment, by] of [
    ["money has addresses send their own sweeps", "ETH", undefined, false, "coin"],
    ["money of BNB as well", "BNB", undefined, false, "coin"],
    [
      "money is swept by the delegate where the operator says so",
      "ETH",
      "delegate",
      false,
      "delegate",
    ],
    ["a test network is swept by the delegate", "SEP", undefined, false, "delegate"],
    ["the other one as well", "tBNB", undefined, false, "delegate"],
    ["development is swept by the delegate", "ETH", undefined, true, "delegate"],
    ["development is swept by coin where that is tried", "BNB", "coin", true, "coin"],
    ["TRON has one way", "TRX", undefined, true, null],
  ] as const
) {
  Deno.test(`without a word, ${what}`, () => {
    const values = z.object(SWEEPS).parse(given === undefined ? {} : { SWEEP_BY: given });
    assertEquals(sweepsOf(values, network, isDevelopment).by, by);
  });
}

Deno.test("real nodes that are used in development are treated as those of money are", () => {
  const by = (urls: string) => load({ ETH_NODE_URLS: urls }).networks.ETH.sweeps.by;
  assertEquals(by("https://mainnet.example/v3/key"), "coin");
  assertEquals(by("http://127.0.0.1:8545,https://mainnet.example"), "coin");
  // a development chain that was started alone
  assertEquals(by("http://127.0.0.1:8545"), "delegate");
  const of = (environment: "development" | "staging", ...urls: readonly string[]) =>
    mayBeDevelopment(environment, urls);
  assertEquals(of("development"), true);
  assertEquals(of("development", "http://chain.internal:8545"), true);
  assertEquals(of("development", "https://mainnet.example"), false);
  assertEquals(of("staging", "http://127.0.0.1:8545"), false);
});

Deno.test("the URL of a node keeps its query, and a fragment that is never sent is refused", () => {
  const { nodeUrls } = load({ TRX_NODE_URLS: "https://one.example/x?network=tron&dkey=k" }).networks
    .TRX;
  assertEquals(nodeUrls, ["https://one.example/x?network=tron&dkey=k"]);
  const told = faults({ TRX_NODE_URLS: "https://one.example/#key" });
  assertEquals(told.length, 1);
  assert(told[0]?.startsWith("TRX_NODE_URLS has a fragment"), told[0]);
});

Deno.test("what begins like a setting and is none is refused, with the name that was meant", () => {
  const told = faults({
    TRX_SIGNER_PER_DAYS: "USDT:5",
    SIGNER_SOCKETS: "/run/x",
    RECONCILE_MINUTE: "5",
    ETH_NODE_URL: "https://one.example",
  });
  assertEquals(told, [
    "ETH_NODE_URL is no setting; did you mean ETH_NODE_URLS? (docs/configuration.md)",
    "RECONCILE_MINUTE is no setting; did you mean RECONCILE_MINUTES? (docs/configuration.md)",
    "SIGNER_SOCKETS is no setting; did you mean SIGNER_SOCKET? (docs/configuration.md)",
    "TRX_SIGNER_PER_DAYS is no setting; did you mean TRX_SIGNER_PER_DAY? (docs/configuration.md)",
  ]);
  const signer = loadConfig({ TRX_SIGNER_PER_DAYS: "USDT:5" }, "signer");
  assert(!signer.ok && signer.faults.some((fault) => fault.startsWith("TRX_SIGNER_PER_DAYS ")));
});

Deno.test("variables of other programs are none of the service's business", () => {
  const others = { PATH: "/bin", HOME: "/", SESSION_MANAGER: "x", DATABASE_HOST: "db", TRXS: "1" };
  assertEquals(faults({ ...others, PGUSER: "x", DENO_DIR: "/x", LOG_FILE: "x" }), []);
});

Deno.test("a service is drained for five seconds outside development, and not at all in it", () => {
  assertEquals([load({}).drainMs, load({ DRAIN_SECONDS: "3" }).drainMs], [0, 3_000]);
  assertEquals(load(PRODUCTION).drainMs, 5_000);
  assertEquals(faults({ DRAIN_SECONDS: "31" }).length, 1);
});

Deno.test({
  name: "docs/configuration.md is what `deno task configuration` prints",
  ignore: needs({ read: true }),
  fn: async () => {
    const page = await Deno.readTextFile(new URL("../../docs/configuration.md", import.meta.url));
    assertEquals(page, configurationPage());
  },
});

Deno.test("a rehearsal is for staging alone", () => {
  assertEquals(load({ ...PRODUCTION, ENVIRONMENT: "staging", REHEARSAL: "on" }).isRehearsal, true);
  assertEquals(load(PRODUCTION).isRehearsal, false);
  assertEquals(faults({ ...PRODUCTION, REHEARSAL: "on" }), [
    "REHEARSAL is for staging alone, not for production",
  ]);
  assertEquals(faults({ REHEARSAL: "on" }), [
    "REHEARSAL is for staging alone, not for development",
  ]);
});

Deno.test("a cold address is kept in the one spelling of its network, however it was written", () => {
  const checksummed = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
  for (const written of [checksummed, checksummed.toLowerCase()]) {
    assertEquals(load({ ETH_COLD_ADDRESS: written }).networks.ETH.coldAddress, checksummed);
  }
});
