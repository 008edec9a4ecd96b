// deno-lint-ignore-file no-console -- a command speaks to its operator on the terminal
/**
 * `deno task webhooks listen`: an endpoint on this machine that prints what arrives, verified, and
 * acknowledges it; for trying callbacks with the development service.
 *
 * @module
 */

import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { z } from "zod";
import { type ReceivedHeaders, verify } from "../../client/webhook_receiver.ts";
import { wholeNumber } from "./command.ts";

const USAGE = `Usage: deno task webhooks listen [options]
  --port PORT      default 9000; 0 lets the system choose
  --register       sets the demo merchant's webhook to this endpoint, and puts the
                   earlier one back when it is stopped
  --data DIR       where the service keeps dev-credentials.json, default ./.data
  --secret SECRET  verifies with this secret instead of the demo merchant's
  --answer STATUS  answers with this status instead of acknowledging, to see retries`;

/** Bound of the registration of the endpoint. */
const REGISTER_MS = 10_000;

const Credentials = z.object({
  baseUrl: z.string(),
  merchant: z.object({ id: z.string(), apiKey: z.string(), webhookSecret: z.string() }),
});

/** @throws {Error} with a message for the operator */
function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      port: { type: "string", default: "9000" },
      register: { type: "boolean", default: false },
      data: { type: "string", default: "./.data" },
      secret: { type: "string" },
      answer: { type: "string", default: "200" },
    },
  });
  if (positionals.join(" ") !== "listen") {
    throw new Error(`Cannot do this as there is only "listen": ${positionals.join(" ")}`);
  }
  return {
    ...values,
    port: wholeNumber("--port", values.port, 0, 65_535),
    answer: wholeNumber("--answer", values.answer, 200, 599),
  };
}

/** @throws {Error} with a message for the operator */
async function readCredentials(dataDir: string) {
  const path = `${dataDir}/dev-credentials.json`;
  try {
    return Credentials.parse(JSON.parse(await Deno.readTextFile(path)));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(
      `Cannot find the development service's credentials as it was not started here: ${path}`,
    );
  }
}

/** The part of a merchant's profile that says where its callbacks go. */
const Webhook = z.object({ webhookUrl: z.string().nullable(), webhookEnabled: z.boolean() });
type Webhook = z.infer<typeof Webhook>;

/**
 * Reads the merchant's webhook, or sets it where one is given.
 *
 * @throws {Error} with a message for the operator
 */
async function webhook(
  { baseUrl, merchant }: z.infer<typeof Credentials>,
  next?: Webhook,
): Promise<Webhook> {
  const response = await fetch(`${baseUrl}/api/merchants/${merchant.id}`, {
    method: next === undefined ? "GET" : "PATCH",
    headers: { "authorization": merchant.apiKey, "content-type": "application/json" },
    ...(next === undefined ? {} : { body: JSON.stringify(next) }),
    signal: AbortSignal.timeout(REGISTER_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`Cannot register the endpoint as the service refuses: ${text}`);
  return Webhook.parse(JSON.parse(text));
}

/**
 * Sets the merchant's webhook to this endpoint until the command receives a signal to stop; then the
 * earlier one is put back, unless another one was set meanwhile.
 */
async function register(url: string, credentials: z.infer<typeof Credentials>): Promise<void> {
  const earlier = await webhook(credentials);
  await webhook(credentials, { webhookUrl: url, webhookEnabled: true });
  const putBack = async () => {
    try {
      const { webhookUrl } = await webhook(credentials);
      if (webhookUrl === url) await webhook(credentials, earlier);
      console.log(`Put back: ${webhookUrl === url ? earlier.webhookUrl ?? "no URL" : webhookUrl}`);
      Deno.exit(0);
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      Deno.exit(1);
    }
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, putBack);
}

/** Prints a delivery. */
function show(headers: ReceivedHeaders, body: string, verdict: string): void {
  const [event, id] = [headers["x-webhook-event"], headers["x-webhook-id"]];
  console.log(`\n${new Date().toISOString()}  ${event}  ${id}  ${verdict.toUpperCase()}`);
  try {
    console.log(JSON.stringify(JSON.parse(body), null, 2));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    console.log(body);
  }
}

async function listen(options: ReturnType<typeof readOptions>): Promise<void> {
  const credentials = options.secret === undefined || options.register
    ? await readCredentials(options.data)
    : null;
  const secret = options.secret ?? credentials?.merchant.webhookSecret ?? "";
  const server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", async () => {
      const bytes = new Uint8Array(
        await new Blob(chunks.map((chunk) => chunk.slice())).arrayBuffer(),
      );
      const verdict = verify(request.headers, bytes, [secret], Date.now());
      show(request.headers, new TextDecoder().decode(bytes), verdict);
      const isGenuine = verdict === "verified";
      response.writeHead(isGenuine ? options.answer : 401, { "content-type": "application/json" });
      response.end(JSON.stringify({ ok: isGenuine && options.answer < 300 }));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  const url = `http://127.0.0.1:${port}/callbacks`;
  console.log(`Listening on ${url}`);
  if (credentials !== null && options.register) {
    await register(url, credentials);
    console.log(
      `Registered as the webhook of ${credentials.merchant.id} at ${credentials.baseUrl}`,
    );
  }
}

if (import.meta.main) {
  try {
    await listen(readOptions(Deno.args));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error(USAGE);
    Deno.exit(2);
  }
}
