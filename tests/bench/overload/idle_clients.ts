/**
 * Clients that cost attention and send next to nothing: half of them have asked once and stay
 * connected, half send a head a byte at a time. Who is hung up on comes back. Run as a program.
 *
 * @module
 */

/** Clients to be. */
export interface IdleClients {
  readonly hostname: string;
  readonly port: number;
  readonly clients: number;
}

const PAUSE_MS = 1_000;
const HEAD = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n";

const encoder = new TextEncoder();

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** One client, for ever. */
async function stay({ hostname, port }: IdleClients, isSlow: boolean, first: () => void) {
  const buffer = new Uint8Array(1_024);
  for (;;) {
    try {
      using connection = await Deno.connect({ hostname, port });
      first();
      if (!isSlow) {
        await connection.write(encoder.encode(`${HEAD}\r\n`));
        while (await connection.read(buffer) !== null);
      } else {
        await connection.write(encoder.encode(HEAD));
        for (;;) {
          await pause(PAUSE_MS);
          await connection.write(encoder.encode("x"));
        }
      }
    } catch (error) {
      // hung up on, or refused: both are the server's right
      if (!(error instanceof Error)) throw error;
    }
    await pause(PAUSE_MS);
  }
}

if (import.meta.main) {
  const asked: IdleClients = JSON.parse(Deno.args[0] ?? "null");
  let connected = 0;
  const there = Promise.withResolvers<void>();
  for (let n = 0; n < asked.clients; n++) {
    let isCounted = false;
    void stay(asked, n % 2 === 1, () => {
      if (isCounted) return;
      isCounted = true;
      if (++connected === asked.clients) there.resolve();
    });
    if (n % 50 === 49) await pause(20);
  }
  await there.promise;
  // deno-lint-ignore no-console -- the bench reads it
  console.log(JSON.stringify({ connected }));
}
