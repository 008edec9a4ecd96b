import { assertEquals, assertThrows } from "@std/assert";
import { databaseHosts } from "../../chains/signer/signer_permissions.ts";

const hosts: Record<string, readonly string[]> = {
  "postgres://signer:secret@10.0.0.1:5433/engine": ["10.0.0.1:5433"],
  "postgresql://signer@db.internal/engine?sslmode=require": ["db.internal:5432"],
  "postgres://u:p@a:6432,b,c:7/engine": ["a:6432", "b:5432", "c:7"],
  "postgres://u:p%40ss@[::1]:5432/engine": ["[::1]:5432"],
  "postgres://localhost": ["localhost:5432"],
};
for (const [url, expected] of Object.entries(hosts)) {
  Deno.test(`the signer may reach its database and nothing else: ${expected.join(" ")}`, () => {
    assertEquals(databaseHosts(url), expected);
  });
}

Deno.test("a database without a host is refused without showing the URL", () => {
  for (const url of ["postgres:///engine?host=/run", "nonsense:secret", ""]) {
    const error = assertThrows(() => databaseHosts(url), TypeError);
    assertEquals(error.message.includes("secret"), false);
  }
});
