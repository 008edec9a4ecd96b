import { createHmac } from "node:crypto";

/** Shares of an endpoint's failures, by kind. */
const FAILURES = { error: 0.09, unacknowledged: 0.02, noJson: 0.01, late: 0.002 } as const;
/** Longer than the deliveries of these merchants may take. */
const LATE_MS = 1_400;
/** Events that are never acknowledged, one of so many. */
const HOPELESS = 500;

/** One event as it arrived. */
export interface Arrival {
  readonly merchantId: string;
  readonly type: string;
  readonly body: string;
  attempts: number;
  acknowledged: boolean;
}

/** The endpoints of all merchants, in one server. */
export interface FailingReceiver extends AsyncDisposable {
  urlOf(merchantId: string): string;
  /** The secret of each merchant. */
  readonly secrets: Map<string, string>;
  readonly arrived: ReadonlyMap<string, Arrival>;
  readonly requests: number;
  /** Deliveries that must never arrive, as sentences. */
  readonly faults: readonly string[];
}

/**
 * Opens endpoints that fail at random and check everything that arrives with nothing but what the
 * contract says.
 *
 * @param draw numbers in [0, 1)
 */
export function openFailingReceiver(draw: () => number): FailingReceiver {
  const secrets = new Map<string, string>();
  const arrived = new Map<string, Arrival>();
  const faults: string[] = [];
  const delays = new Set<ReturnType<typeof setTimeout>>();
  let requests = 0;

  const check = (merchantId: string, headers: Headers, bytes: Uint8Array): Arrival => {
    const secret = secrets.get(merchantId) ?? "";
    const body = new TextDecoder().decode(bytes);
    const { eventId } = JSON.parse(body) as { readonly eventId: string };
    const timestamp = headers.get("webhook-timestamp") ?? "";
    const hex = createHmac("sha256", secret).update(bytes).digest("hex");
    if (headers.get("x-webhook-signature") !== hex) {
      faults.push(`the signature of ${eventId} is wrong`);
    }
    const standard = createHmac("sha256", secret.slice("whsec_".length), { encoding: "base64" })
      .update(`${eventId}.${timestamp}.`).update(bytes).digest("base64");
    if (headers.get("webhook-signature") !== `v1,${standard}`) {
      faults.push(`the standard signature of ${eventId} is wrong`);
    }
    if (headers.get("x-webhook-id") !== eventId) {
      faults.push(`the header of ${eventId} has another id`);
    }
    const known = arrived.get(eventId);
    if (known !== undefined) {
      if (known.body !== body) faults.push(`${eventId} came with other bytes`);
      return known;
    }
    const type = headers.get("x-webhook-event") ?? "";
    const fresh = { merchantId, type, body, attempts: 0, acknowledged: false };
    arrived.set(eventId, fresh);
    return fresh;
  };

  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      let bytes: Uint8Array;
      try {
        bytes = await request.bytes();
      } catch (error) {
        // the service was killed while it sent
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Http) {
          return new Response(null, { status: 400 });
        }
        throw error;
      }
      requests++;
      const merchantId = new URL(request.url).pathname.slice(1);
      const one = check(merchantId, request.headers, bytes);
      one.attempts++;
      if (isHopeless(one.body)) return new Response("never", { status: 503 });
      let drawn = draw();
      if ((drawn -= FAILURES.error) < 0) return new Response("no", { status: 500 });
      if ((drawn -= FAILURES.unacknowledged) < 0) return Response.json({ ok: false });
      if ((drawn -= FAILURES.noJson) < 0) return new Response("thanks");
      if ((drawn -= FAILURES.late) < 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(() => (delays.delete(timer), resolve()), LATE_MS);
          delays.add(timer);
        });
        // the sender has given up by now: for it this is a time-out
        return Response.json({ ok: true });
      }
      one.acknowledged = true;
      return Response.json({ ok: true });
    },
  );
  return {
    urlOf: (merchantId) => `http://127.0.0.1:${server.addr.port}/${merchantId}`,
    secrets,
    arrived,
    get requests() {
      return requests;
    },
    faults,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Chosen by what is sent, so that every delivery of an event meets the same. */
function isHopeless(body: string): boolean {
  return createHmac("sha256", "hopeless").update(body).digest().readUInt32BE() % HOPELESS === 0;
}
