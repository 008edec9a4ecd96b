import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { startDevChain } from "../../devchain/start.ts";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import type { PublicWallet } from "../../chains/wallet/public_wallet.ts";
import { loadConfig } from "../../app/config/config.ts";
import { seeNodes } from "../../app/commands/doctor/see_nodes.ts";
import { openChains, UnusableChain } from "../../app/open/open_chains.ts";
import { storeNodes } from "../../app/open/store_nodes.ts";
import { ChainUnavailable } from "../../chains/chain.ts";
import { developmentOf } from "../../chains/families.ts";
import { PROFILES } from "../../chains/profiles.ts";
import { storeGenesis } from "../../ledger/watcher/chain_nodes.ts";
import { testDatabase } from "../support/database.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ net: true, read: true, write: true });

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

function staging(nodeUrls: string, more: Readonly<Record<string, string>> = {}) {
  const answer = loadConfig({
    ENVIRONMENT: "staging",
    PUBLIC_URL: "https://pay.example",
    DATABASE_URL: "postgres://engine@10.0.0.3/engine",
    SESSION_SECRET: "3f5c0d7be91a42688e1f5b7a9c0d2e4f",
    INGEST_SECRET: "a1b2c3d4e5f60718293a4b5c6d7e8f90",
    CALLBACK_SECRETS_KEY: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
    WALLET_FILE: "/etc/engine/public-wallet.json",
    SIGNER_SOCKET: "/run/engine-signer/signer.sock",
    TRX_NODE_URLS: nodeUrls,
    ...more,
  });
  assert(answer.ok);
  return answer.config;
}

test("a development chain outside development is refused with a line for the operator", async () => {
  const dataDir = await Deno.makeTempDir();
  const chain = await startDevChain({ network: "TRX", port: 0, dataDir, blockMs: 0, solidLag: 3 });
  const wallet = await createWallet({
    file: `${dataDir}/wallet.json`,
    passphrase: crypto.randomUUID(),
    passphraseIsRandom: true,
    networks: ["TRX"],
  });
  try {
    await assertRejects(
      () => openChains(staging(chain.url), wallet),
      UnusableChain,
      "TRX_NODE_URLS",
    );
  } finally {
    await chain.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
});

test("the folder of an older development chain is refused with a line for the operator", async () => {
  const DATA_DIR = await Deno.makeTempDir();
  const loaded = loadConfig({ DATA_DIR });
  assert(loaded.ok);
  await Deno.mkdir(`${DATA_DIR}/dev-chain-TRX`);
  await Deno.writeTextFile(`${DATA_DIR}/dev-chain-TRX/chain.sqlite`, "");
  // the port of the version before is free
  await Deno.writeTextFile(`${DATA_DIR}/dev-chain-TRX.port`, "1024");
  try {
    const networks = { TRX: WALLET.networks.TRX!, TRX_SHASTA: WALLET.networks.TRX! };
    const error = await assertRejects(
      () => openChains(loaded.config, { ...WALLET, networks }),
      UnusableChain,
      "is of an older version, begin with another data folder",
    );
    assertMatch(error.message, /^[^\n]+$/);
  } finally {
    await Deno.remove(DATA_DIR, { recursive: true });
  }
});

test("a development chain whose port another program has takes another port", async () => {
  const DATA_DIR = await Deno.makeTempDir();
  const loaded = loadConfig({ DATA_DIR });
  assert(loaded.ok);
  const wallet = await createWallet({
    file: `${DATA_DIR}/wallet.json`,
    passphrase: crypto.randomUUID(),
    passphraseIsRandom: true,
    networks: ["TRX", "TRX_SHASTA"],
  });
  const other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await Deno.writeTextFile(`${DATA_DIR}/dev-chain-TRX.port`, String(other.addr.port));
  try {
    const chains = await openChains(loaded.config, wallet);
    const url = chains.devNodes.get("TRX")?.url ?? "";
    await chains.close();
    assertMatch(url, /^http:\/\/127\.0\.0\.1:\d+/);
    assertNotEquals(new URL(url).port, String(other.addr.port));
  } finally {
    other.close();
    await Deno.remove(DATA_DIR, { recursive: true });
  }
});

test("in development only the networks of DEV_CHAINS get a chain of their own", async () => {
  const DATA_DIR = await Deno.makeTempDir();
  const loaded = loadConfig({ DATA_DIR, DEV_CHAINS: "TRX_SHASTA" });
  assert(loaded.ok);
  const wallet = await createWallet({
    file: `${DATA_DIR}/wallet.json`,
    passphrase: crypto.randomUUID(),
    passphraseIsRandom: true,
    networks: ["TRX_SHASTA"],
  });
  try {
    const chains = await openChains(loaded.config, wallet);
    const opened = [...chains.chains.keys()];
    await chains.close();
    assertEquals(opened, ["TRX_SHASTA"]);
    assertEquals([...chains.devNodes.keys()], opened);
  } finally {
    await Deno.remove(DATA_DIR, { recursive: true });
  }
});

test("a network that the wallet has no account of is refused with a line for the operator", async () => {
  await assertRejects(
    () => openChains(staging("http://127.0.0.1:1"), { ...WALLET, networks: {} }),
    UnusableChain,
    "no account for it: TRX",
  );
});

test("a development chain behind a proxy that hides what it is has the wrong first block", async () => {
  const dataDir = await Deno.makeTempDir();
  const chain = await startDevChain({ network: "TRX", port: 0, dataDir, blockMs: 0, solidLag: 3 });
  // forwards what a full node serves, and nothing that only a development chain has
  await using proxy = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname.startsWith("/dev")) return new Response(null, { status: 404 });
      return await fetch(chain.url + pathname + search, {
        method: request.method,
        headers: { "content-type": "application/json" },
        ...(request.method === "GET" ? {} : { body: await request.text() }),
      });
    },
  );
  const wallet = await createWallet({
    file: `${dataDir}/wallet.json`,
    passphrase: crypto.randomUUID(),
    passphraseIsRandom: true,
    networks: ["TRX"],
  });
  const chains = await openChains(staging(`http://127.0.0.1:${proxy.addr.port}`), wallet);
  try {
    const nodes = chains.nodes.get("TRX");
    assertEquals(nodes?.genesis, PROFILES.TRX.identity);
    assertEquals(nodes?.states.map(({ state }) => state), ["wrong-chain"]);
    await assertRejects(async () => await chains.chains.get("TRX")?.solid(), ChainUnavailable);
    // and a database that has read another chain is refused
    await using database = await testDatabase();
    await storeGenesis(database.sql, "TRX", "0".repeat(64));
    await assertRejects(
      () => storeNodes(database.sql, chains.nodes, true),
      UnusableChain,
      "has read another chain of TRX",
    );
  } finally {
    await chains.close();
    await chain.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
});

test("a rehearsal takes a development chain for the test network, never for the main one", async () => {
  const dataDir = await Deno.makeTempDir();
  const of = (network: string) =>
    startDevChain({ network, port: 0, dataDir, blockMs: 0, solidLag: 3 });
  const [main, shasta] = [await of("TRX"), await of("TRX_SHASTA")];
  const wallet = await createWallet({
    file: `${dataDir}/wallet.json`,
    passphrase: crypto.randomUUID(),
    passphraseIsRandom: true,
    networks: ["TRX", "TRX_SHASTA"],
  });
  const only = { TRX_SHASTA_NODE_URLS: shasta.url, TRX_SHASTA_USDT_CONTRACT: shasta.usdt };
  try {
    await assertRejects(
      () => openChains(staging("", only), wallet),
      UnusableChain,
      "Cannot use a development chain outside development: TRX_SHASTA_NODE_URLS",
    );
    const rehearsal = { ...only, REHEARSAL: "on" };
    const chains = await openChains(staging("", rehearsal), wallet);
    assertEquals(chains.devNodes.size, 0);
    assert((await chains.chains.get("TRX_SHASTA")?.solid()) !== undefined);
    await chains.close();
    await assertRejects(
      () => openChains(staging(main.url, rehearsal), wallet),
      UnusableChain,
      "Cannot use a development chain outside development: TRX_NODE_URLS",
    );
  } finally {
    await main.stop();
    await shasta.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
});

/** A node that takes requests and never answers. */
function startBlackHole() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const held: Deno.Conn[] = [];
  const serving = (async () => {
    for await (const connection of listener) held.push(connection);
  })();
  const { port } = listener.addr as Deno.NetAddr;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
      for (const connection of held) connection.close();
    },
  };
}

test("a network whose nodes are silent does not hold up the start of the others", async () => {
  const dataDir = await Deno.makeTempDir();
  const shasta = await startDevChain({
    network: "TRX_SHASTA",
    port: 0,
    dataDir,
    blockMs: 0,
    solidLag: 3,
  });
  const wallet = await createWallet({
    file: `${dataDir}/wallet.json`,
    passphrase: crypto.randomUUID(),
    passphraseIsRandom: true,
    networks: ["TRX", "TRX_SHASTA"],
  });
  const silent = startBlackHole();
  try {
    const config = staging(silent.url, {
      TRX_SHASTA_NODE_URLS: shasta.url,
      TRX_SHASTA_USDT_CONTRACT: shasta.usdt,
      REHEARSAL: "on",
    });
    const chains = await openChains(config, wallet);
    // its first question has not even failed
    const node = chains.nodes.get("TRX")?.states[0];
    assertEquals([node?.failure, node?.callsToday], [null, 1]);
    assertEquals([...chains.chains.keys()].sort(), ["TRX", "TRX_SHASTA"]);
    assert(await chains.chains.get("TRX_SHASTA")?.solid() !== undefined);
    await assertRejects(async () => await chains.chains.get("TRX")?.solid(), ChainUnavailable);
    await chains.close();
  } finally {
    await silent[Symbol.asyncDispose]();
    await shasta.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
});
testNeeding({ net: true, read: true, write: true, run: true, env: true })(
  "a rehearsal takes a development chain of Ethereum by its own number, and doctor says what the service finds",
  async () => {
    const dataDir = await Deno.makeTempDir();
    const development = developmentOf("SEP");
    assert(development !== null && development !== undefined);
    const chain = await development.start({
      network: "SEP",
      port: 0,
      dataDir,
      blockMs: 0,
      solidLag: 3,
    });
    const wallet = await createWallet({
      file: `${dataDir}/wallet.json`,
      passphrase: crypto.randomUUID(),
      passphraseIsRandom: true,
      networks: ["SEP"],
    });
    const only = {
      SEP_NODE_URLS: chain.url,
      SEP_USDT_CONTRACT: chain.usdt,
      SEP_USDC_CONTRACT: chain.usdc ?? "",
    };
    const numbered = async (config: ReturnType<typeof staging>) =>
      (await seeNodes(config)).map(({ isNumbered }) => isNumbered);
    try {
      const rehearsal = staging("", { ...only, REHEARSAL: "on" });
      const chains = await openChains(rehearsal, wallet);
      assert((await chains.chains.get("SEP")?.solid()) !== undefined);
      assertEquals(chains.signerNetworks.map(({ isRehearsal }) => isRehearsal), [true]);
      assertEquals(chains.devNodes.size, 0);
      await chains.close();
      assertEquals(await numbered(rehearsal), [{ ok: true, value: true }]);
      assertEquals(await numbered(staging("", only)), [{ ok: true, value: false }]);
    } finally {
      await chain.stop();
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);
