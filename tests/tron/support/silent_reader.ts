/** A reading thread that never says anything. */
globalThis.addEventListener("message", (event) => {
  const port = event instanceof MessageEvent ? event.ports[0] : undefined;
  if (port !== undefined) port.onmessage = () => {};
});
