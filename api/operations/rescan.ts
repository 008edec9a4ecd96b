/**
 * Ranges of blocks that are read again.
 *
 * @module
 */

import { z } from "zod";
import { rescanBlocks } from "../../actors/watcher/rescan_blocks.ts";
import { writeAudit } from "../../ledger/audit.ts";
import { isNetwork } from "../../ledger/money/pair.ts";
import { readCursor } from "../../ledger/watcher/cursor.ts";
import { hubAudit } from "../http/admin_command.ts";
import { ok } from "../http/answer.ts";
import { cannotBelieveAs, whyStopped } from "../http/checks.ts";
import { notFound, validationFailed } from "../http/errors.ts";
import { eg } from "../http/example.ts";
import * as f from "../http/fields.ts";
import { adminRoute } from "../http/route.ts";
import { shown } from "../http/shown.ts";

const rescanResult = z.object({
  network: f.network,
  from: eg(z.int(), 1_000),
  to: eg(z.int(), 1_999),
  blocks: eg(
    z.int().min(0).meta({ description: "Read from the first one on; fewer: ask again" }),
    1_000,
  ),
  merchants: eg(z.int().min(0).meta({ description: "Merchants with payments in them" }), 3),
});

/** Blocks of one request. */
const MOST_BLOCKS = 1_000;
/** Bound of one request; what was read until then stays written. */
const RESCAN_MS = 60_000;

const height = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

export const rescanChain = adminRoute({
  at: "POST /api/admin/chains/{network}/rescan",
  summary: `Read solid blocks again and book what was missed; at most ${MOST_BLOCKS} at once`,
  anyOf: ["admin:treasury"],
  body: z.strictObject({ from: height, to: height }),
  responses: { 200: { description: "What was read", schema: rescanResult } },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ body, ...request }, context) => {
    const { sql, merchants, chains } = context;
    const network = request.params.network;
    const chain = isNetwork(network) ? chains.get(network) : undefined;
    if (chain === undefined || !isNetwork(network)) return notFound;
    const { from, to } = body;
    if (to < from) {
      return validationFailed("to", "The range ends before it starts", "reversed_range");
    }
    if (to - from >= MOST_BLOCKS) {
      return validationFailed("to", `At most ${MOST_BLOCKS} blocks at once`, "too_big");
    }
    const cursor = await readCursor(sql, network, "solid");
    if (cursor === null || to > cursor.height) {
      const passed = cursor?.height ?? 0;
      return validationFailed("to", `The scan itself has only passed block ${passed}`, "too_big");
    }
    // what is done changes nothing that is known, so the intention is all there is to keep
    const accountable = { ...request, merchantId: null };
    const audit = hubAudit(accountable, "chain.rescan", network, context, null, { from, to });
    await writeAudit(sql, audit);
    const outcome = await rescanBlocks(
      {
        sql,
        chain,
        network,
        stopped: whyStopped(context, network),
        wake: (merchantId) => merchants.wake(merchantId),
      },
      from,
      to,
      AbortSignal.timeout(RESCAN_MS),
    );
    if (outcome.kind === "in_doubt") {
      return cannotBelieveAs(outcome, `${outcome.blocks} blocks were read again and no more`);
    }
    return ok(shown(rescanResult, { ...outcome, network, from, to }));
  },
});
