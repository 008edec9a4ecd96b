import { createHmac } from "node:crypto";

/** An event as a merchant's endpoint received it. */
export interface Told {
  readonly type: string;
  readonly body: string;
}

/** The endpoints of all merchants: `url/<merchant id>`. */
export interface SoakReceiver extends AsyncDisposable {
  readonly url: string;
  /** Secrets by merchant; must be there before a merchant's first event. */
  readonly secrets: Map<string, string>;
  /** By event id. */
  readonly told: ReadonlyMap<string, Told>;
  /** Payouts of which an end was told. */
  readonly ended: number;
  /** Deliveries, repeated ones included. */
  readonly deliveries: number;
  /** Faults of deliveries, as sentences. */
  readonly faults: readonly string[];
}

/** Opens endpoints that acknowledge everything and check it with nothing but the contract's words. */
export function openSoakReceiver(): SoakReceiver {
  const secrets = new Map<string, string>();
  const told = new Map<string, Told>();
  const faults: string[] = [];
  let deliveries = 0;
  let ended = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = await request.text();
      const merchantId = new URL(request.url).pathname.slice(1);
      const eventId = request.headers.get("x-webhook-id") ?? "";
      const type = request.headers.get("x-webhook-event") ?? "";
      const secret = secrets.get(merchantId) ?? "";
      const signature = createHmac("sha256", secret).update(body).digest("hex");
      if (request.headers.get("x-webhook-signature") !== signature) {
        faults.push(`event ${eventId} has a wrong signature`);
      }
      const known = told.get(eventId);
      if (known !== undefined && (known.body !== body || known.type !== type)) {
        faults.push(`event ${eventId} was delivered with two contents`);
      }
      if (known === undefined && /^withdrawal\.(confirmed|failed)$/.test(type)) ended++;
      told.set(eventId, { type, body });
      deliveries++;
      return Response.json({ ok: true });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    secrets,
    told,
    get ended() {
      return ended;
    },
    get deliveries() {
      return deliveries;
    },
    faults,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
