import { assertEquals } from "@std/assert";
import { SCRIPT_CODE, USDC_CODE, USDT_CODE } from "../../devchain/evm/contracts/code.ts";
import { needs } from "../support/permissions.ts";
import { compileContracts } from "./support/compile.ts";

Deno.test({
  name: "the code of the development chain's contracts is what the compiler makes of their sources",
  ignore: needs({ read: true, env: true, sys: true }),
  fn: async () => {
    const { Usdt, Usdc, Script } = await compileContracts();
    assertEquals(USDT_CODE, Usdt?.code);
    assertEquals(USDC_CODE, Usdc?.code);
    assertEquals(SCRIPT_CODE, Script?.code);
    // genesis.ts writes these places of the storage
    const shared = { totalSupply: "0:0", balanceOf: "1:0", flags: "3:0", owner: "4:0" };
    for (const layout of [Usdt?.layout, Usdc?.layout]) {
      assertEquals({ ...layout, ...shared, decimals: "4:20" }, layout);
    }
  },
});
