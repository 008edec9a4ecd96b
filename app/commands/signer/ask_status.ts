import {
  frameOf,
  FrameReader,
  parseResponse,
  RESPONSE_BYTES,
  type SignerStatus,
} from "../../../chains/signer/socket_protocol.ts";

const BOUND_MS = 10_000;

/** Asks a signer how it is; `null` when it does not answer. */
export async function askStatus(path: string): Promise<SignerStatus | null> {
  let connection: Deno.UnixConn;
  try {
    connection = await Deno.connect({ transport: "unix", path });
  } catch (error) {
    const { NotFound, ConnectionRefused } = Deno.errors;
    if (error instanceof NotFound || error instanceof ConnectionRefused) return null;
    throw error;
  }
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    connection.close();
  }, BOUND_MS);
  try {
    await connection.write(frameOf(JSON.stringify({ id: 1, op: "status" })));
    const reader = new FrameReader(RESPONSE_BYTES);
    const buffer = new Uint8Array(4_096);
    for (;;) {
      const count = await connection.read(buffer);
      if (count === null) return null;
      for (const text of reader.push(buffer.subarray(0, count))) {
        const response = parseResponse(text);
        return "status" in response ? response.status : null;
      }
    }
  } catch (error) {
    if (isLate) return null;
    throw error;
  } finally {
    clearTimeout(timer);
    if (!isLate) connection.close();
  }
}
