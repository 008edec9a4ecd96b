/**
 * Messages between {@linkcode WorkerClient} and {@linkcode serveWorker}. What they carry is the
 * user's own and safe for a structured clone.
 *
 * @module
 */

/** From the service to a worker. */
export type ToWorker =
  | { readonly kind: "start"; readonly settings: unknown }
  | {
    readonly kind: "calls";
    readonly calls: readonly { readonly id: number; readonly request: unknown }[];
  }
  | { readonly kind: "cancel"; readonly ids: readonly number[] }
  | { readonly kind: "notify"; readonly notice: unknown }
  | { readonly kind: "reply"; readonly id: number; readonly reply: unknown }
  | { readonly kind: "close" };

/** The end of a call. `fault` is an error's message, null where there is a response. */
export interface Result {
  readonly id: number;
  readonly response: unknown;
  readonly fault: string | null;
}

/** From a worker to the service. */
export type FromWorker =
  | { readonly kind: "ready"; readonly ready: unknown }
  | { readonly kind: "start-failed"; readonly message: string }
  | { readonly kind: "results"; readonly results: readonly Result[] }
  | { readonly kind: "question"; readonly id: number; readonly question: unknown }
  | { readonly kind: "closed" };
