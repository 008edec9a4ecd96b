import { SOMEWHERE } from "../../support/books.ts";

/** Audit entry of a write-off, in tests. */
export const AUDIT = {
  id: "aud_test",
  merchantId: null,
  actor: "me",
  action: "sweep.write-off",
  subject: SOMEWHERE,
  requestId: null,
};
