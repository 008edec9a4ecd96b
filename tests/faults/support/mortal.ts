import type { Credentials, Service, StartOptions } from "../../support/service.ts";

/**
 * A service as stories of deaths see it: the real one in a process of its own, or a node in the process
 * of the test.
 */
export interface Mortal extends Pick<Service, "sql" | "arm" | "ended" | "kill9"> {
  readonly credentials: Pick<Credentials, "baseUrl" | "merchant"> & {
    readonly chains: { readonly TRX: Pick<Credentials["chains"]["TRX"], "url" | "usdt"> };
  };
  /** Starts it; resolves when it serves or has died. Returns the milliseconds that took. */
  start(options?: Pick<StartOptions, "crashAt">): Promise<number>;
}
