/** A reading thread that ends as soon as it is told anything, as if by a fault of ours. */
globalThis.addEventListener("message", (event) => {
  const port = event instanceof MessageEvent ? event.ports[0] : undefined;
  if (port === undefined) return;
  port.onmessage = () => {
    throw new Error("a fault of the thread");
  };
});
