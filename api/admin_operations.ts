/**
 * What administrators and resellers call, each under its operation id.
 *
 * @module
 */

import { createMerchant, getMerchants } from "./admin_merchants.ts";
import {
  createAdminKey,
  createApiKey,
  getAdminKeys,
  getApiKeys,
  revokeAdminKey,
  revokeApiKey,
  rotateAdminKey,
  rotateApiKey,
} from "./api_keys.ts";

/** Operations of administrators and resellers. */
export const ADMIN_OPERATIONS = {
  getApiKeys,
  createApiKey,
  rotateApiKey,
  revokeApiKey,
  getAdminKeys,
  createAdminKey,
  rotateAdminKey,
  revokeAdminKey,
  createMerchant,
  getMerchants,
};
