import { assertEquals } from "@std/assert";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { needs } from "../support/permissions.ts";

/** Asks a server for balances, verifies a callback, and prints both. */
const PROGRAM = `
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { PaymentsClient, PaymentsError } from "./client.mjs";
import { verify } from "./webhook_receiver.mjs";
const server = createServer((request, response) => {
  const isOpen = request.url === "/api/balance";
  response.writeHead(isOpen ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(isOpen ? { balances: [] } : { error: "Not found", code: "not_found" }));
}).listen(0, "127.0.0.1", async () => {
  const baseUrl = "http://127.0.0.1:" + server.address().port;
  const payments = new PaymentsClient({ baseUrl, apiKey: "sk_test" });
  const { balances } = await payments.call("GET /api/balance");
  const code = await payments.call("GET /api/deposits").catch((error) =>
    error instanceof PaymentsError ? error.code : String(error)
  );
  const verdict = verify({}, new Uint8Array(), ["whsec_x"], Date.now());
  console.log(JSON.stringify({ balances, code, verdict }));
  server.close();
});
`;

/** Takes the types off, as Node does by itself from 22.18 on; our types of Node's modules lag behind. */
function stripped(source: string): string {
  const strip: unknown = Reflect.get(nodeModule, "stripTypeScriptTypes");
  if (typeof strip !== "function") throw new TypeError("Cannot take types off without Deno 2.9");
  return String(strip(source));
}

/** True where the machine has Node 20 or later. */
async function hasNode(): Promise<boolean> {
  try {
    const { stdout } = await new Deno.Command("node", { args: ["--version"] }).output();
    return Number(new TextDecoder().decode(stdout).match(/^v(\d+)/)?.[1] ?? 0) >= 20;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const isBare = needs({ read: true, write: true, run: true, net: true });
const isMissing = !isBare && !await hasNode();

Deno.test({
  name: `client: it runs on Node${
    isMissing ? " (skipped: there is no Node 20 or later here)" : ""
  }`,
  ignore: isBare || isMissing,
  fn: async () => {
    const folder = await Deno.makeTempDir({ prefix: "client-node-" });
    try {
      for (const name of ["client", "webhook_receiver"]) {
        const source = await Deno.readTextFile(new URL(`../../client/${name}.ts`, import.meta.url));
        await Deno.writeTextFile(join(folder, `${name}.mjs`), stripped(source));
      }
      await Deno.writeTextFile(join(folder, "program.mjs"), PROGRAM);
      const { stdout, stderr } = await new Deno.Command("node", {
        args: ["program.mjs"],
        cwd: folder,
      })
        .output();
      const told = new TextDecoder();
      assertEquals(
        [told.decode(stdout), told.decode(stderr)],
        ['{"balances":[],"code":"not_found","verdict":"wrong signature"}\n', ""],
      );
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
