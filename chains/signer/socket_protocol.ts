/**
 * The messages of the signer's socket: `sign`, `live` and `status`, and nothing else. Each is JSON in a
 * frame: four bytes with the length of what follows (big-endian), then that many bytes of UTF-8 text.
 * Neither side believes the other: both parse.
 *
 * @module
 */

import { z } from "zod";
import { NETWORKS } from "../../ledger/money/pair.ts";
import {
  LARGEST_BATCH,
  type RememberedSignature,
  type SignAnswer,
  type SignRequest,
} from "../signer.ts";

const HEADER_BYTES = 4;

/** A peer that does not keep to the protocol; there is nothing to answer it. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** A text as a frame. */
export function frameOf(text: string): Uint8Array<ArrayBuffer> {
  const body = new TextEncoder().encode(text);
  const frame = new Uint8Array(HEADER_BYTES + body.length);
  new DataView(frame.buffer).setUint32(0, body.length);
  frame.set(body, HEADER_BYTES);
  return frame;
}

/** Cuts a stream into frames. Memory is taken for one frame, and only up to the limit. */
export class FrameReader {
  readonly #limit: number;
  readonly #header = new Uint8Array(HEADER_BYTES);
  #body: Uint8Array | null = null;
  /** Bytes of the header, or of the body where there is one. */
  #filled = 0;

  /** @param limit most bytes of one frame */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True if a frame has begun and not ended. */
  get isPartial(): boolean {
    return this.#filled > 0 || this.#body !== null;
  }

  /**
   * Takes what arrived.
   *
   * @returns the texts of the frames that it completed
   * @throws {ProtocolError} when a frame is empty, larger than the limit, or no UTF-8
   */
  push(bytes: Uint8Array): string[] {
    const frames: string[] = [];
    for (let offset = 0; offset < bytes.length;) {
      const target = this.#body ?? this.#header;
      const part = bytes.subarray(offset, offset + target.length - this.#filled);
      target.set(part, this.#filled);
      this.#filled += part.length;
      offset += part.length;
      if (this.#filled < target.length) break;
      this.#filled = 0;
      if (this.#body === null) {
        this.#body = new Uint8Array(this.#announced());
      } else {
        frames.push(textOf(this.#body));
        this.#body = null;
      }
    }
    return frames;
  }

  #announced(): number {
    const length = new DataView(this.#header.buffer).getUint32(0);
    if (length > 0 && length <= this.#limit) return length;
    throw new ProtocolError(`Cannot read a frame as its size is out of bounds: ${length}`);
  }
}

function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new ProtocolError("Cannot read a frame as it is no UTF-8");
  }
}

/** Bytes of one frame to the signer: a full batch is half of it. */
export const REQUEST_BYTES = 1024 * 1024;
/** Bytes of one frame from the signer: a full batch of signed contract calls is half of it. */
export const RESPONSE_BYTES = 4 * 1024 * 1024;

const id = z.int().min(1);
const outgoingId = z.string().min(1).max(100);
/** More than any transaction carries. */
const outgoingIds = z.array(outgoingId).min(1).max(100);
const whole = z.int().min(0).nullable();

const requestSchema = z.discriminatedUnion("op", [
  z.strictObject({
    id,
    op: z.literal("sign"),
    requests: z.array(z.strictObject({
      outgoingIds,
      purpose: z.enum(["pay", "cancel"]),
      envelope: z.strictObject({
        network: z.enum(NETWORKS),
        fields: z.record(z.string().max(50), z.union([z.string().max(200), z.number()])),
        diesAfter: whole,
        nonce: whole,
        expiresAt: whole,
      }),
    })).max(LARGEST_BATCH),
  }),
  z.strictObject({
    id,
    op: z.literal("live"),
    outgoingIds: z.array(outgoingId).max(LARGEST_BATCH),
  }),
  z.strictObject({ id, op: z.literal("status") }),
]);
/** From the service to the signer. */
export type SocketRequest =
  | { readonly id: number; readonly op: "sign"; readonly requests: readonly SignRequest[] }
  | { readonly id: number; readonly op: "live"; readonly outgoingIds: readonly string[] }
  | { readonly id: number; readonly op: "status" };

const signedSchema = z.strictObject({
  outgoingIds,
  signed: z.strictObject({
    txid: z.string().min(1).max(200),
    bytes: z.string().min(1),
    expiresAt: whole,
  }),
});
const rememberedSchema = signedSchema.extend({
  numbered: z.strictObject({
    payer: z.union([z.literal("hot"), z.int().min(0)]),
    nonce: z.int().min(0),
    purpose: z.enum(["pay", "cancel"]),
  }).nullable(),
});

const answerSchema = z.union([
  signedSchema,
  z.strictObject({
    outgoingIds,
    refused: z.enum([
      "unknown-intent",
      "not-queued",
      "not-together",
      "wrong-nonce",
      "paused",
      "locked",
      "no-signer",
      "wrong-network",
      "wrong-destination",
      "bad-envelope",
      "over-limit",
    ]),
    message: z.string(),
  }),
]);

const statusSchema = z.strictObject({
  walletId: z.string(),
  /** Digest of the wallet's public keys. */
  fingerprint: z.string(),
  paused: z.boolean(),
  /** The note of its pause; empty where none was given, or it is not paused. */
  pauseNote: z.string(),
  /** True if its own connection to the database works. */
  reachesDatabase: z.boolean(),
  /** Tokens without a cap per transaction and per day, such as `USDT/TRX`. */
  uncapped: z.array(z.string()),
  /** Sums that were signed away in the last day, by asset and network. */
  spent: z.record(z.string(), z.string()),
});
export type SignerStatus = Readonly<z.infer<typeof statusSchema>>;

const responseSchema = z.union([
  z.strictObject({ id, answers: z.array(answerSchema).max(LARGEST_BATCH) }),
  z.strictObject({ id, remembered: z.array(rememberedSchema) }),
  z.strictObject({ id, status: statusSchema }),
  z.strictObject({ id, failed: z.string() }),
]);
/** From the signer to the service. */
export type SocketResponse =
  & { readonly id: number }
  & (
    | { readonly answers: readonly SignAnswer[] }
    | { readonly remembered: readonly RememberedSignature[] }
    | { readonly status: SignerStatus }
    | { readonly failed: string }
  );

/** @throws {ProtocolError} when it is no request */
export function parseRequest(text: string): SocketRequest {
  return parse(requestSchema, text);
}

/** @throws {ProtocolError} when it is no response */
export function parseResponse(text: string): SocketResponse {
  return parse(responseSchema, text);
}

function parse<T>(schema: z.ZodType<T>, text: string): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new ProtocolError("Cannot read a frame as it is no JSON");
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ProtocolError(
    `Cannot read a frame as it is not understood: ${issue?.path.join(".")} ${issue?.message}`,
  );
}
