/**
 * The interface over real HTTP and real PostgreSQL, where every response is compared with the API
 * reference before the test sees it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { type TestApi, testApi } from "../../support/api.ts";
import { responseFaults } from "./documented.ts";

/** Starts an interface, see `testApi`. */
export async function contractApi(
  overrides: Parameters<typeof testApi>[0] = {},
): Promise<TestApi> {
  const api = await testApi(overrides);
  return {
    ...api,
    call: async (method, path, options) => {
      const called = await api.call(method, path, options);
      assertEquals(responseFaults(method, path, called), [], `${method} ${path}`);
      return called;
    },
  };
}
