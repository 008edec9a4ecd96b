/** A stand-in for parts that are named while something is wired, and never asked: whatever is read of it is it again. */
// deno-lint-ignore no-explicit-any -- it stands for every type
export function anything(): any {
  const one: unknown = new Proxy(() => one, {
    get: (_, name) => name === Symbol.toPrimitive ? () => 0 : one,
  });
  return one;
}
