/**
 * A merchant's endpoint in a drill, and the secrets that its callbacks are signed with.
 *
 * @module
 */

import { verify } from "../../client/webhook_receiver.ts";
import { eventually, type Installation, type ServiceProcess } from "./installation.ts";

/** Opens an endpoint that acknowledges everything, and has the merchant's callbacks sent there. */
export async function openCallbacks(installation: Installation, service: ServiceProcess) {
  const { merchant } = installation.credentials;
  const seen: { readonly headers: Record<string, string>; readonly body: Uint8Array }[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = new Uint8Array(await request.arrayBuffer());
      const headers = Object.fromEntries(request.headers);
      if (headers["x-webhook-event"] === "webhook.test") seen.push({ headers, body });
      return Response.json({ ok: true });
    },
  );
  const answer = await installation.call(service, "PATCH", `/api/merchants/${merchant.id}`, {
    webhookUrl: `http://127.0.0.1:${server.addr.port}/callbacks`,
    webhookEnabled: true,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`Cannot set an endpoint: ${text}`);
  return {
    /** Has a test sent. Answers which of some secrets it is signed with. */
    async signers(from: ServiceProcess, secrets: readonly string[]): Promise<readonly string[]> {
      seen.length = 0;
      const path = `/api/merchants/${merchant.id}/webhook/test`;
      await (await installation.call(from, "POST", path)).body?.cancel();
      const { headers, body } = await eventually("a test callback", () => Promise.resolve(seen[0]));
      return secrets.filter((secret) => verify(headers, body, [secret], Date.now()) === "verified");
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
