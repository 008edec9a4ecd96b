import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Envelope } from "../../chains/chain.ts";
import { SignerUnavailable, type SignRequest } from "../../chains/signer.ts";
import {
  frameOf,
  FrameReader,
  parseRequest,
  ProtocolError,
  REQUEST_BYTES,
  type SignerStatus,
} from "../../chains/signer/socket_protocol.ts";
import { listenSocket } from "../../chains/signer/listen_socket.ts";
import {
  serveSocket,
  type SocketBounds,
  type SocketHandler,
} from "../../chains/signer/serve_socket.ts";
import { createSocketSigner, type SocketSigner } from "../../chains/signer/socket_client.ts";
import { until } from "../support/books.ts";
import { testNeeding } from "../support/permissions.ts";
import { requestOf } from "../support/sign_request.ts";

const test = testNeeding({ net: true, read: true, write: true, run: true });

const ENVELOPE: Envelope = {
  network: "TRX",
  fields: { fee_limit: 1 },
  diesAfter: 5,
  nonce: null,
  expiresAt: 5,
};
const BOUNDS: SocketBounds = { connections: 4, frameMs: 300, idleMs: 60_000 };
const WELL: SignerStatus = {
  walletId: "wal_1",
  fingerprint: "print",
  paused: false,
  pauseNote: "",
  reachesDatabase: true,
  uncapped: [],
  spent: {},
};

function requests(...ids: string[]): SignRequest[] {
  return ids.map((outgoingId) => requestOf(outgoingId, ENVELOPE));
}

/** A signer that signs everything but what is called `hang`, on a socket that may come and go. */
class Desk implements AsyncDisposable {
  status: SignerStatus = WELL;
  asked = 0;
  readonly #released = Promise.withResolvers<void>();
  #server: { close(boundMs: number): Promise<void> } | null = null;
  readonly #clients: SocketSigner[] = [];

  constructor(readonly folder: string, readonly path = `${folder}/signer.sock`) {}

  async listen(bounds: SocketBounds = BOUNDS): Promise<void> {
    const handler: SocketHandler = {
      status: () => Promise.resolve(this.status),
      live: (outgoingIds) =>
        Promise.resolve(outgoingIds.map((outgoingId) => ({
          outgoingIds: [outgoingId],
          signed: { txid: `tx-${outgoingId}`, bytes: "{}", expiresAt: 7 },
          numbered: null,
        }))),
      sign: async (asked) => {
        this.asked++;
        if (asked.some(({ outgoingIds }) => outgoingIds.includes("hang"))) {
          await this.#released.promise;
        }
        return asked.map(({ outgoingIds, envelope: { expiresAt } }) => ({
          outgoingIds,
          signed: { txid: `tx-${outgoingIds}`, bytes: "{}", expiresAt },
        }));
      },
    };
    this.#server = serveSocket(await listenSocket(this.path), handler, bounds);
  }

  /** Lets what hangs go on. */
  release(): void {
    this.#released.resolve();
  }

  async close(boundMs = 0): Promise<void> {
    await this.#server?.close(boundMs);
    this.#server = null;
  }

  client(timeoutMs = 5_000): SocketSigner {
    const client = createSocketSigner({
      path: this.path,
      fingerprint: "print",
      timeoutMs,
      pollMs: 20,
      longestPauseMs: 50,
    });
    this.#clients.push(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

async function setUp(): Promise<Desk> {
  const folder = await Deno.makeTempDir();
  await Deno.chmod(folder, 0o700);
  return new Desk(folder);
}

const isWell = (client: SocketSigner) => until(() => client.trouble === null);

/** Sends bytes, and answers what comes back until the signer hangs up. */
async function abuse(desk: Desk, ...parts: readonly Uint8Array[]): Promise<string[]> {
  const connection = await Deno.connect({ transport: "unix", path: desk.path });
  const answers: string[] = [];
  const reader = new FrameReader(REQUEST_BYTES);
  try {
    for (const part of parts) {
      for (let sent = 0; sent < part.length;) {
        sent += await connection.write(part.subarray(sent)).catch(() => part.length);
      }
    }
    const buffer = new Uint8Array(4_096);
    for (;;) {
      const count = await connection.read(buffer).catch(() => null);
      if (count === null) return answers;
      answers.push(...reader.push(buffer.subarray(0, count)));
    }
  } finally {
    connection.close();
  }
}

const text = (value: unknown) => frameOf(typeof value === "string" ? value : JSON.stringify(value));
const header = (length: number) => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, length);
  return bytes;
};

test("several clients sign over one socket, each hears its own answers", async () => {
  await using desk = await setUp();
  await desk.listen();
  const clients = [desk.client(), desk.client(), desk.client()];
  await Promise.all(clients.map(isWell));
  const answers = await Promise.all(
    clients.flatMap((client, n) => [client.sign(requests(`a${n}`, `b${n}`)), client.sign([])]),
  );
  assertEquals(answers.map((batch) => batch.flatMap(({ outgoingIds }) => outgoingIds)), [
    ["a0", "b0"],
    [],
    ["a1", "b1"],
    [],
    ["a2", "b2"],
    [],
  ]);
  const { mode } = await Deno.stat(desk.path);
  assertEquals((mode ?? 0) & 0o777, 0o600);
});

test("what breaks the protocol is cut off, asks for nothing, and harms nobody else", async () => {
  await using desk = await setUp();
  await desk.listen();
  const client = desk.client();
  await isWell(client);
  const sign = { id: 1, op: "sign", requests: requests("out_1") };
  const abuses: Record<string, readonly Uint8Array[]> = {
    "an oversized frame": [header(REQUEST_BYTES + 1)],
    "an enormous frame": [header(0xffff_ffff), new Uint8Array(100)],
    "an empty frame": [header(0)],
    "garbage": [crypto.getRandomValues(new Uint8Array(500)).map((byte) => byte | 0x80)],
    "no UTF-8": [header(2), new Uint8Array([0xc3, 0x28])],
    "no JSON": [text("{")],
    "half a frame": [text(sign).subarray(0, 40)],
    "half a header": [header(7).subarray(0, 2)],
    "another verb": [text({ id: 1, op: "resume" })],
    "the export of a key": [text({ id: 1, op: "status", wallet: "hot" })],
    "a destination of its own": [
      text({ ...sign, requests: [{ ...sign.requests[0], destination: "thief" }] }),
    ],
    "too many requests": [
      text({ ...sign, requests: requests(...Array.from({ length: 1_001 }, () => "out_1")) }),
    ],
    "no id": [text({ op: "status" })],
    "an envelope that is none": [
      text({ ...sign, requests: [{ outgoingId: "out_1", envelope: { network: "TRX" } }] }),
    ],
  };
  await Promise.all(
    Object.values(abuses).slice(0, 3).map((parts) => abuse(desk, ...parts)),
  );
  for (const [what, parts] of Object.entries(abuses)) {
    assertEquals(await abuse(desk, ...parts), [], what);
  }
  assertEquals(desk.asked, 0);
  assertEquals((await client.sign(requests("out_1"))).length, 1);
});

test("frames that arrive in pieces or together are read all the same", () => {
  const frames = ["a", "ü".repeat(1_000), "{}"];
  const bytes = new Uint8Array(frames.flatMap((frame) => [...frameOf(frame)]));
  for (const size of [1, 3, 7, bytes.length]) {
    const reader = new FrameReader(5_000);
    const read: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      read.push(...reader.push(bytes.subarray(at, at + size)));
    }
    assertEquals(read, frames);
    assertEquals(reader.isPartial, false);
  }
});

test("a request is read as exactly what it is", async () => {
  const sign = { id: 3, op: "sign", requests: requests("out_1") } as const;
  assertEquals(parseRequest(JSON.stringify(sign)), sign);
  await assertRejects(
    () => Promise.try(parseRequest, JSON.stringify({ ...sign, id: 0 })),
    ProtocolError,
  );
});

test("more peers than allowed are turned away, the others go on", async () => {
  await using desk = await setUp();
  await desk.listen({ ...BOUNDS, connections: 1 });
  const client = desk.client();
  await isWell(client);
  assertEquals(await abuse(desk, text({ id: 1, op: "status" })), []);
  assertEquals((await client.sign(requests("out_1"))).length, 1);
});

test("a peer that does nothing is hung up on", async () => {
  await using desk = await setUp();
  await desk.listen({ ...BOUNDS, idleMs: 50 });
  assertEquals(await abuse(desk), []);
});

test("a lost signer is an outage: what was under way rejects, and it is found again", async () => {
  await using desk = await setUp();
  const client = desk.client();
  await assertRejects(() => client.sign([]), SignerUnavailable, "Cannot sign as the signer");
  await desk.listen();
  await isWell(client);
  const hanging = client.sign(requests("hang"));
  const rejected = assertRejects(() => hanging, SignerUnavailable);
  await until(() => desk.asked === 1);
  const closing = desk.close();
  await rejected;
  assert(client.trouble !== null);
  desk.release();
  await closing;
  await desk.listen();
  await isWell(client);
  assertEquals((await client.sign(requests("out_1")))[0]?.outgoingIds, ["out_1"]);
});

test("an answer that comes too late does not count", async () => {
  await using desk = await setUp();
  await desk.listen();
  const client = desk.client(1_000);
  await isWell(client);
  await assertRejects(() => client.sign(requests("hang")), SignerUnavailable, "within 1000 ms");
});

test("a signer that stops finishes what it has begun", async () => {
  await using desk = await setUp();
  await desk.listen();
  const client = desk.client();
  await isWell(client);
  const signing = client.sign(requests("hang"));
  await until(() => desk.asked === 1);
  const closing = desk.close(5_000);
  desk.release();
  assertEquals((await signing).length, 1);
  await closing;
});

const troubles: Record<string, { readonly status: Partial<SignerStatus>; readonly says: string }> =
  {
    "is paused": {
      status: { paused: true, pauseNote: "key leaked" },
      says: "paused (key leaked)",
    },
    "cannot reach its database": { status: { reachesDatabase: false }, says: "database" },
    "has another wallet": { status: { fingerprint: "other" }, says: "another wallet" },
  };
for (const [what, { status, says }] of Object.entries(troubles)) {
  test(`a signer that ${what} is not asked, and is used again when that is over`, async () => {
    await using desk = await setUp();
    desk.status = { ...WELL, ...status };
    await desk.listen();
    const client = desk.client();
    await until(() => client.trouble?.includes(says) === true);
    await assertRejects(() => client.sign(requests("out_1")), SignerUnavailable, says);
    assertEquals(desk.asked, 0);
    desk.status = WELL;
    await isWell(client);
    assertEquals((await client.sign(requests("out_1"))).length, 1);
  });
}

test("a stale socket is replaced, a live one and another file are not", async () => {
  await using desk = await setUp();
  await desk.listen();
  await assertRejects(() => listenSocket(desk.path), Error, "another signer does");
  const client = desk.client();
  await isWell(client);
  // what a killed process leaves behind
  const stale = `${desk.folder}/stale.sock`;
  await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `Deno.listen({ transport: "unix", path: ${
        JSON.stringify(stale)
      } }); Deno.kill(Deno.pid, "SIGKILL");`,
    ],
  }).output();
  assertEquals((await Deno.lstat(stale)).isSocket, true);
  (await listenSocket(stale)).close();
  const file = `${desk.folder}/file`;
  await Deno.writeTextFile(file, "kept");
  await assertRejects(() => listenSocket(file), Error, "is no socket");
  assertEquals(await Deno.readTextFile(file), "kept");
});

test("a socket in a folder that others may enter is refused", async () => {
  await using desk = await setUp();
  await Deno.chmod(desk.folder, 0o711);
  await assertRejects(() => desk.listen(), Error, "others may enter");
});
