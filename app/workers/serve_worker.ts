/**
 * The worker's side of {@linkcode WorkerClient}.
 *
 * @module
 */

import type { FromWorker, Result, ToWorker } from "./worker_client.ts";

/** Results that are sent together, and the time for which one waits for others, milliseconds. */
const RESULTS_TOGETHER = 32;
const RESULTS_WAIT_MS = 2;

/** Work that runs in a worker. */
export interface WorkerTask<Request, Response, Ready = null> {
  /** Returned by the client's `ready`. */
  readonly ready: Ready;
  /** @param id the one that `cancel` names */
  call(request: Request, id: number): Promise<Response>;
  /** Ends calls early; each has its response all the same. */
  cancel?(ids: readonly number[]): void;
  close?(): Promise<void> | void;
}

/** Asks the service, and waits for its reply. */
export type Ask = (question: unknown) => Promise<unknown>;

/** Serves the client that started this worker. @param start a failure is reported to the client */
export function serveWorker<Settings, Request, Response, Ready>(
  start: (
    settings: Settings,
    ask: Ask,
  ) => Promise<WorkerTask<Request, Response, Ready>> | WorkerTask<Request, Response, Ready>,
): void {
  globalThis.addEventListener("message", (event) => {
    const port = event instanceof MessageEvent ? event.ports[0] : undefined;
    if (port !== undefined) serve(port, start);
  }, { once: true });
}

function serve<Settings, Request, Response, Ready>(
  port: MessagePort,
  start: (
    settings: Settings,
    ask: Ask,
  ) => Promise<WorkerTask<Request, Response, Ready>> | WorkerTask<Request, Response, Ready>,
): void {
  const post = (message: FromWorker): void => port.postMessage(message);
  const asked = new Map<number, (reply: unknown) => void>();
  let task: WorkerTask<Request, Response, Ready> | null = null;
  let nextQuestion = 1;
  let underWay = 0;
  let results: Result[] = [];
  let waiting: ReturnType<typeof setTimeout> | undefined;

  const ask: Ask = (question) =>
    new Promise((resolve) => {
      const id = nextQuestion++;
      asked.set(id, resolve);
      post({ kind: "question", id, question });
    });

  const flush = () => {
    clearTimeout(waiting);
    waiting = undefined;
    if (results.length > 0) post({ kind: "results", results });
    results = [];
  };

  const resultOf = async (id: number, request: Request): Promise<Result> => {
    try {
      if (task === null) throw new Error("Cannot serve a call as the worker has not started");
      return { id, response: await task.call(request, id), fault: null };
    } catch (error) {
      // sent and not thrown: that would end the worker, and the other calls with it
      return { id, response: null, fault: textOf(error) };
    }
  };

  const call = async (id: number, request: Request) => {
    underWay++;
    const result = await resultOf(id, request);
    results.push(result);
    underWay--;
    // what ends at about the same time is sent together; the last waits for nothing
    if (underWay === 0 || results.length === RESULTS_TOGETHER) setImmediate(flush);
    else waiting ??= setTimeout(flush, RESULTS_WAIT_MS);
  };

  const handle = async (message: ToWorker): Promise<void> => {
    switch (message.kind) {
      case "start":
        try {
          task = await start(message.settings as Settings, ask);
          post({ kind: "ready", ready: task.ready });
        } catch (error) {
          post({ kind: "start-failed", message: textOf(error) });
        }
        return;
      case "calls":
        for (const { id, request } of message.calls) void call(id, request as Request);
        return;
      case "cancel":
        return task?.cancel?.(message.ids);
      case "reply":
        asked.get(message.id)?.(message.reply);
        asked.delete(message.id);
        return;
      case "close":
        await task?.close?.();
        post({ kind: "closed" });
        port.close();
        globalThis.close();
        return;
      default:
        message satisfies never;
    }
  };
  // one after the other: what arrives while the task starts is for the task
  let last = Promise.resolve();
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if (data.kind === "reply") void handle(data);
    else last = last.then(() => handle(data));
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
