import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { KEY_PATTERN, mintApiKey, parseApiKey } from "../../api/http/key_ring.ts";

Deno.test("a minted key names its environment and carries 256 bits and a checksum", () => {
  for (const environment of ["development", "staging", "production"] as const) {
    const key = mintApiKey(environment);
    assertMatch(key, new RegExp(`^sk_${environment}_[0-9A-Za-z]{49}$`));
    assertMatch(key, KEY_PATTERN);
    assertEquals(parseApiKey(key), environment);
    assertNotEquals(key, mintApiKey(environment));
  }
});

Deno.test("a key with any one character changed is no key", () => {
  const key = mintApiKey("development");
  for (let i = 0; i < key.length; i++) {
    const other = key[i] === "A" ? "B" : "A";
    assertEquals(parseApiKey(key.slice(0, i) + other + key.slice(i + 1)), null, `at ${i}`);
  }
  for (const text of ["", "sk_development_", key + "0", key.slice(1), ` ${key}`, `${key}\n`]) {
    assertEquals(parseApiKey(text), null);
  }
});
