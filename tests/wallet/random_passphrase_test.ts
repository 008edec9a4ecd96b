import { assertEquals, assertRejects } from "@std/assert";
import { createWallet } from "../../chains/wallet/create_wallet.ts";
import { unlockWallet } from "../../chains/wallet/unlock_wallet.ts";
import { needs } from "../support/permissions.ts";

Deno.test({
  name: "a wallet under a random passphrase is stretched less and protected as any other",
  ignore: needs({ read: true, write: true }),
  fn: async () => {
    const folder = await Deno.makeTempDir({ prefix: "engine-wallet-" });
    try {
      const file = `${folder}/wallet.json`;
      const passphrase = crypto.getRandomValues(new Uint8Array(32)).toHex();
      const wallet = await createWallet({
        file,
        passphrase,
        passphraseIsRandom: true,
        networks: ["TRX"],
      });
      const { kdf } = JSON.parse(await Deno.readTextFile(file));
      assertEquals([kdf.N, kdf.r, kdf.p], [2 ** 14, 8, 1]);
      assertEquals((await unlockWallet(file, passphrase)).walletId, wallet.walletId);
      await assertRejects(() => unlockWallet(file, `${passphrase.slice(1)}0`));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
