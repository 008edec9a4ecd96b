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
import { shownNetwork } from "../http/formats.ts";
import { staffRoute } from "../http/route.ts";

/** Answer to reading blocks again. */
const rescanResult = z.object({
  network: shownNetwork,
  from: z.int(),
  to: z.int(),
  blocks: z.int().min(0).meta({ description: "Read from the first one on; fewer: ask again" }),
  merchants: z.int().min(0).meta({ description: "Merchants with payments in them" }),
});

const RESCAN_EXAMPLE = {
  network: "TRX",
  from: 1_000,
  to: 1_999,
  blocks: 1_000,
  merchants: 3,
};

/** Blocks of one request. */
const MOST_BLOCKS = 1_000;
/** Bound of one request; what was read until then stays written. */
const RESCAN_MS = 60_000;

const height = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

/** `POST /api/admin/chains/{network}/rescan`. */
export const rescanChain = staffRoute({
  method: "POST",
  path: "/api/admin/chains/{network}/rescan",
  summary: `Read solid blocks again and book what was missed; at most ${MOST_BLOCKS} at once`,
  access: { scope: "admin", anyOf: ["admin:treasury"] },
  rateCategory: "none",
  body: z.strictObject({ from: height, to: height }),
  responses: {
    200: { description: "What was read", schema: rescanResult, example: RESCAN_EXAMPLE },
  },
  errors: ["record_not_found", "validation_failed"],
  handler: async ({ body, ...request }, context) => {
    const { sql, merchants, chains } = context;
    const network = request.params.network ?? "";
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
    const audit = hubAudit(
      { ...request, merchantId: null },
      "chain.rescan",
      network,
      context,
      null,
      {
        from,
        to,
      },
    );
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
    const { blocks, merchants: told } = outcome;
    return ok({ network, from, to, blocks, merchants: told });
  },
});
