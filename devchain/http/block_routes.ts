/** Routes that read blocks. @module */

import type { Answer, NodeRequest, Route } from "./route.ts";
import { NOTHING, topOf } from "./route.ts";

const LIMIT = 100;
/** More than a block has before its transactions. */
const HEADER_BYTES = 2_048;

/** Paths that read blocks. */
export const BLOCK_ROUTES: Readonly<Record<string, Route>> = {
  getnowblock: both((request) => blockAt(request, topOf(request))),
  getblockbynum: both((request) => blockAt(request, request.params.int("num"))),
  getblockbyid: both((request) => {
    const block = request.node.store.blockById(request.params.hash("value"));
    return block === undefined ? NOTHING : blockAt(request, block.height);
  }),
  getblock: both(getBlock),
  getblockbylimitnext: both((request) => {
    const start = request.params.int("startNum");
    const end = request.params.int("endNum");
    if (start < 0 || end <= start || end - start > LIMIT) return NOTHING;
    return blocks(request, start, Math.min(end - 1, topOf(request)));
  }),
  getblockbylatestnum: both((request) => {
    const count = request.params.int("num");
    if (count <= 0 || count >= LIMIT) return NOTHING;
    return blocks(request, Math.max(0, topOf(request) - count + 1), topOf(request));
  }),
  gettransactioncountbyblocknum: both((request) => {
    const height = request.params.int("num");
    const block = height > topOf(request) ? undefined : request.node.store.block(height);
    return { json: { count: block?.txids.length ?? -1 } };
  }),
};

function both(answer: (request: NodeRequest) => Answer): Route {
  return { answer, solidity: true, get: true };
}

function blockAt(request: NodeRequest, height: number): Answer {
  if (height > topOf(request)) return NOTHING;
  const bytes = request.node.store.body(height);
  return bytes === null ? NOTHING : { bytes };
}

/** A block by height or id, without transactions unless `detail` is set. */
function getBlock(request: NodeRequest): Answer {
  const { store } = request.node;
  const wanted = request.params.text("id_or_num");
  let height: number | undefined;
  if (wanted === "") height = topOf(request);
  else if (/^\d+$/.test(wanted) && wanted.length < 16) height = Number(wanted);
  else if (/^[0-9a-f]{64}$/i.test(wanted)) height = store.blockById(wanted.toLowerCase())?.height;
  else return { json: { Error: "id_or_num is illegal" } };
  if (height === undefined || height > topOf(request)) return NOTHING;
  const bytes = store.body(height, request.params.flag("detail") ? Infinity : HEADER_BYTES);
  if (bytes === null) return NOTHING;
  if (request.params.flag("detail")) return { bytes };
  const [header = "", transactions] = new TextDecoder().decode(bytes).split(',"transactions":');
  return { json: JSON.parse(transactions === undefined ? header : `${header}}`) };
}

function blocks(request: NodeRequest, first: number, last: number): Answer {
  const parts: Uint8Array[] = [new TextEncoder().encode('{"block":[')];
  for (let height = first; height <= last; height++) {
    const body = request.node.store.body(height);
    if (body === null) continue;
    if (parts.length > 1) parts.push(COMMA);
    parts.push(body);
  }
  parts.push(new TextEncoder().encode("]}"));
  return { bytes: concat(parts) };
}

const COMMA = new TextEncoder().encode(",");

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
