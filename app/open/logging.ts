import {
  configure,
  getConsoleSink,
  getJsonLinesFormatter,
  getTextFormatter,
} from "@logtape/logtape";
import { withoutRepeats } from "../../log/lasting_events.ts";
import type { Config } from "../config/config.ts";

/**
 * Sends logs to the standard output: as text in development, as JSON lines elsewhere. What lasts is written ever more
 * seldom, unless all details are asked for.
 */
export async function configureLogging(
  config: Pick<Config, "environment" | "logLevel">,
): Promise<void> {
  const formatter = config.environment === "development"
    ? getTextFormatter()
    : getJsonLinesFormatter({ properties: "flatten" });
  const console = getConsoleSink({ formatter });
  const isDetailed = config.logLevel === "debug" || config.logLevel === "trace";
  await configure({
    sinks: { console: isDetailed ? console : withoutRepeats(console) },
    loggers: [
      { category: ["engine"], lowestLevel: config.logLevel, sinks: ["console"] },
      { category: ["logtape"], lowestLevel: "warning", sinks: ["console"] },
    ],
  });
}
