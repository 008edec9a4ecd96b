import { createHmac } from "node:crypto";
import { z } from "zod";

/** One delivery as it arrived. */
export interface Delivery {
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
  readonly signatureIsRight: boolean;
}

/** A merchant's endpoint on loopback. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** Sets the secret that signatures are checked with; must be set before the first delivery. */
  secret: string;
}

const Payload = z.object({ eventId: z.string() });

/** Opens an endpoint that acknowledges everything. */
export function openReceiver(): Receiver {
  const deliveries: Delivery[] = [];
  let secret = "";
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = await request.text();
      const payload = Payload.parse(JSON.parse(body));
      // checked with nothing but the contract's words: HMAC-SHA256 of the body, in hexadecimal digits
      const expected = createHmac("sha256", secret).update(body).digest("hex");
      deliveries.push({
        event: request.headers.get("x-webhook-event") ?? "",
        eventId: payload.eventId,
        body,
        signatureIsRight: request.headers.get("x-webhook-signature") === expected,
      });
      return Response.json({ ok: true });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/hook`,
    deliveries,
    get secret() {
      return secret;
    },
    set secret(value: string) {
      secret = value;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
