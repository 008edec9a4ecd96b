import { assert, assertRejects } from "@std/assert";
import { startDevChain } from "../../devchain/start.ts";
import type { PublicWallet } from "../../chains/wallet/public_wallet.ts";
import { loadConfig } from "../../app/config/config.ts";
import { openChains, UnusableChain } from "../../app/open/open_chains.ts";
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

function staging(nodeUrls: string) {
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
  });
  assert(answer.ok);
  return answer.config;
}

test("a development chain outside development is refused with a line for the operator", async () => {
  const dataDir = await Deno.makeTempDir();
  const chain = await startDevChain({ network: "TRX", port: 0, dataDir, blockMs: 0, solidLag: 3 });
  try {
    await assertRejects(
      () => openChains(staging(chain.url), WALLET),
      UnusableChain,
      "TRX_NODE_URLS",
    );
  } finally {
    await chain.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
});

test("a network that the wallet has no account of is refused with a line for the operator", async () => {
  await assertRejects(
    () => openChains(staging("http://127.0.0.1:1"), { ...WALLET, networks: {} }),
    UnusableChain,
    "no account for it: TRX",
  );
});
