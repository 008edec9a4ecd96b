/**
 * Composition root of the worker that calls merchants' endpoints.
 *
 * @module
 */

import { serveSender } from "../../webhooks/serve_sender.ts";

serveSender();
