import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import type { Rule } from "../harness.ts";

/** See the name of each. */
export function addressRules(rule: Rule): void {
  rule("derived addresses are valid, distinct and the same every time", ({ chain }) => {
    const addresses = Array.from({ length: 50 }, (_, index) => chain.deriveAddress(index));
    assertEquals(new Set(addresses).size, addresses.length);
    for (const [index, address] of addresses.entries()) {
      assertEquals(chain.address(address), address);
      assertEquals(chain.deriveAddress(index), address);
    }
    assertEquals(chain.address(chain.hotWallet), chain.hotWallet);
    assertFalse(addresses.includes(chain.hotWallet));
    return Promise.resolve();
  });

  rule("an index outside its range is refused", ({ chain }) => {
    for (const index of [-1, 0.5, Number.NaN, 2 ** 31]) {
      assertThrows(() => chain.deriveAddress(index), RangeError);
    }
    return Promise.resolve();
  });

  rule("a token's own contract is no destination: it gives nothing back", ({ chain }) => {
    for (const contract of chain.capabilities.contracts?.values() ?? []) {
      const asEvent = contract.replace(/^0x|^41(?=.{40}$)/, "").toLowerCase();
      assertEquals(chain.address(chain.addressOf(asEvent)), null);
    }
    return Promise.resolve();
  });

  rule("what is no address is not taken for one", ({ chain, notAddresses }) => {
    for (const text of ["", " ", "0", ...notAddresses]) {
      assertEquals(chain.address(text), null, text);
    }
    return Promise.resolve();
  });
}
