import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { testApi } from "../support/api.ts";
import { DATABASE, testNeeding } from "../support/permissions.ts";

const test = testNeeding(DATABASE);

const ENTRY = fileURLToPath(new URL("../../app/commands/webhooks.ts", import.meta.url));

/** Runs the command under the permissions of its task. */
function start(args: readonly string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-net", "--allow-read", ENTRY, ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

test("webhooks listen registers itself, prints what arrives, verified, and puts the earlier URL back", async () => {
  await using api = await testApi();
  const { id, key } = await api.addMerchant();
  const [row] = await api.sql`SELECT webhook_secret FROM book.merchant WHERE merchant_id = ${id}`;
  const dataDir = await Deno.makeTempDir({ prefix: "engine-listen-" });
  const merchant = { id, apiKey: key, webhookSecret: row?.webhook_secret };
  await Deno.writeTextFile(
    `${dataDir}/dev-credentials.json`,
    JSON.stringify({ baseUrl: api.url, merchant }),
  );
  const found = (await api.call("GET", `/api/merchants/${id}`, { key })).body;
  const earlier = { webhookUrl: found.webhookUrl, webhookEnabled: found.webhookEnabled };
  const child = start(["listen", "--port", "0", "--register", "--data", dataDir]);
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  const untilPrinted = async (text: string) => {
    while (!printed.includes(text)) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`Cannot go on as the command ended: ${printed}`);
      printed += value;
    }
  };
  try {
    await untilPrinted("Registered as");
    const path = `/api/merchants/${id}/webhook/test`;
    const genuine = await api.call("POST", path, { key });
    assertEquals(genuine.body.success, true);
    await untilPrinted("VERIFIED");
    assertStringIncludes(printed, `webhook.test  ${genuine.body.eventId}  VERIFIED`);
    await untilPrinted(`"eventId": "${genuine.body.eventId}"`);
    await api.call("POST", `/api/merchants/${id}/webhook/rotate-secret`, {
      key,
      body: { overlapHours: 0 },
    });
    assertEquals((await api.call("POST", path, { key })).body.success, false);
    await untilPrinted("WRONG SIGNATURE");
    const profile = async () => (await api.call("GET", `/api/merchants/${id}`, { key })).body;
    assertMatch((await profile()).webhookUrl, /^http:\/\/127\.0\.0\.1:\d+\/callbacks$/);
    child.kill("SIGINT");
    assertEquals((await child.status).code, 0);
    const { webhookUrl, webhookEnabled } = await profile();
    assertEquals({ webhookUrl, webhookEnabled }, earlier);
  } finally {
    if (await Promise.race([child.status, null]) === null) child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    await child.stderr.cancel();
    await Deno.remove(dataDir, { recursive: true });
  }
});

test("webhooks says what it needs where there is no service", async () => {
  const { code, stderr } = await start(["listen", "--port", "0", "--data", "/nowhere"]).output();
  assertEquals(code, 2);
  assertStringIncludes(new TextDecoder().decode(stderr), "/nowhere/dev-credentials.json");
});
