/**
 * Bounds of connections from outside: how many, how many of one client, and how long each part of a
 * request may take. A connection costs a descriptor, and without descriptors nothing works any more:
 * no database, no nodes, no callbacks.
 *
 * @module
 */

import type { Config } from "../config/config.ts";

/** Bounds of the connections of one listener. Times in milliseconds. */
export interface ConnectionBounds {
  /** Connections at most. */
  readonly total: number;
  /** Connections of one client address at most; trusted proxies are exempt. */
  readonly perAddress: number;
  /** Until the first request's head is there. */
  readonly headMs: number;
  /** Between two requests; also the time for the head of every later request. */
  readonly idleMs: number;
  /** Until a request's body is there, from the end of its head. */
  readonly bodyMs: number;
  /** Until an answer was taken. */
  readonly sendMs: number;
  /** The same when the service stops, which a client that takes nothing must not hold up. */
  readonly stopMs: number;
}

/** Bounds of the parts of a request. A proxy must give up idle connections sooner. */
export const TIME_BOUNDS = {
  headMs: 10_000,
  idleMs: 75_000,
  bodyMs: 20_000,
  sendMs: 60_000,
  stopMs: 5_000,
} as const;

/** Connections of operators' tools at most, on an address of their own. */
const OPERATORS = 64;

/** Of the descriptors, the share that clients may use; the rest is for everything else. */
const SHARE = 0.5;

/** The share of callbacks, and what they can use at most. */
const CALLBACK_SHARE = 0.25;
const CALLBACKS = 2_048;

/** Descriptors with which callbacks have all the connections that they can use. */
export const CALLBACK_DESCRIPTORS = CALLBACKS / CALLBACK_SHARE;

/** Connections for callbacks at most, those under way and idle ones together. */
export function callbackConnections(descriptors: number): number {
  return Math.max(1, Math.min(CALLBACKS, Math.floor(descriptors * CALLBACK_SHARE)));
}

/** Descriptors with which the settings' connections are all granted. */
export function descriptorsWanted({ connections }: Pick<Config, "connections">): number {
  return Math.ceil(connections.total / SHARE);
}

/**
 * Bounds for the API's listener.
 *
 * @param descriptors that the process can have
 */
export function merchantBounds(
  config: Pick<Config, "connections">,
  descriptors: number,
): ConnectionBounds {
  const total = Math.max(1, Math.min(config.connections.total, Math.floor(descriptors * SHARE)));
  // one client must leave room for the others, however low the limit of the process is
  const perAddress = Math.max(1, Math.min(config.connections.perAddress, Math.ceil(total / 2)));
  return { total, perAddress, ...TIME_BOUNDS };
}

/** Bounds for the listener of health and metrics. */
export function operatorBounds(): ConnectionBounds {
  return { total: OPERATORS, perAddress: OPERATORS, ...TIME_BOUNDS };
}
