/**
 * A serving process, from the outside.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import type { Figures, ServeArgs, Serving } from "./side.ts";

/** A running `serve.ts`. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  figures(): Promise<Figures>;
  /** Waits until no request is being answered, at most 20 s. */
  settled(): Promise<Figures>;
}

const SETTLE_MS = 20_000;
const START_MS = 20_000;

/** Starts a serving process and waits until it listens. */
export async function startServer(args: ServeArgs): Promise<ServerProcess> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      ...await engineFlags(),
      "--no-prompt",
      // the database's Unix socket takes all three
      "--allow-net",
      "--allow-read",
      "--allow-write",
      "--allow-env",
      "--allow-sys",
      fileURLToPath(new URL("./serve.ts", import.meta.url)),
      JSON.stringify(args),
    ],
    stdout: "piped",
    stdin: "null",
  }).spawn();
  const serving: Serving = JSON.parse(await firstLine(child.stdout));
  const figures = async (): Promise<Figures> => {
    const answer = await fetch(serving.figuresUrl, { signal: AbortSignal.timeout(SETTLE_MS) });
    return await answer.json();
  };
  return {
    url: serving.url,
    figures,
    settled: async () => {
      const end = Date.now() + SETTLE_MS;
      for (;;) {
        const now = await figures();
        if (now.inFlight === 0) return now;
        if (Date.now() > end) {
          throw new Error(`Cannot go on as requests do not end: ${now.inFlight}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

/** The flags of V8 that `deno task start` sets, so that the bench runs what people run. */
export async function engineFlags(): Promise<readonly string[]> {
  const text = await Deno.readTextFile(new URL("../../deno.json", import.meta.url));
  const settings: { readonly tasks: { readonly start: string } } = JSON.parse(text);
  return settings.tasks.start.match(/--v8-flags=\S+/g) ?? [];
}

export async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  const bound = setTimeout(() => reader.cancel(), START_MS);
  let text = "";
  try {
    while (!text.includes("\n")) {
      const { value, done } = await reader.read();
      if (done) throw new Error("Cannot measure as a serving process did not start");
      text += value;
    }
  } finally {
    clearTimeout(bound);
  }
  return text.slice(0, text.indexOf("\n"));
}
