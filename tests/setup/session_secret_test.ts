import { assertEquals, assertMatch } from "@std/assert";
import { loadConfig } from "../../app/config/config.ts";
import { sessionSecret } from "../../app/open/data_folder.ts";
import { testNeeding } from "../support/permissions.ts";

const test = testNeeding({ read: true, write: true });

function configOf(env: Record<string, string>) {
  const answer = loadConfig(env);
  if (!answer.ok) throw new Error(`Cannot test as the settings are wrong: ${answer.faults}`);
  return answer.config;
}

test("in development the secret of hosted pages is made once, kept, and its owner's alone", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const config = configOf({ DATA_DIR: folder });
    const made = await sessionSecret(config);
    assertMatch(made, /^[0-9a-f]{64}$/);
    assertEquals(await sessionSecret(config), made);
    const { mode } = await Deno.stat(`${folder}/session-secret`);
    assertEquals((mode ?? 0) & 0o777, 0o600);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

test("a configured secret is used as it is, and nothing is kept", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const secret = "0123456789abcdef0123456789abcdef";
    const config = configOf({ DATA_DIR: folder, SESSION_SECRET: secret });
    assertEquals(await sessionSecret(config), secret);
    assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
