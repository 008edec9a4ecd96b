/**
 * The functions of `@std/testing/bdd` that the tests use, with the same names and meanings, for as
 * long as the registry that package lives in cannot be relied on. `deno.json` maps
 * `@std/testing/bdd` here.
 *
 * @module
 */

/** A hook or a test; `Deno.test` waits for what it returns. */
type Body = () => void | Promise<void>;

/** A group while its body declares it. */
interface Suite {
  readonly name: string;
  readonly steps: (Suite | { readonly name: string; readonly body: Body })[];
  readonly hooks: Record<"beforeAll" | "afterAll" | "beforeEach" | "afterEach", Body[]>;
}

let current: Suite | null = null;

/**
 * Declares a group of tests. Its body declares them at once and waits for nothing.
 *
 * @param name of the group, before the names of its tests
 */
export function describe(name: string, body: () => void): void {
  const outer = current;
  const suite: Suite = {
    name,
    steps: [],
    hooks: { beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] },
  };
  current = suite;
  try {
    body();
  } finally {
    current = outer;
  }
  if (outer === null) Deno.test(name, (t) => run(suite, t, []));
  else outer.steps.push(suite);
}

/** Declares a test, in a group or alone. */
export function it(name: string, body: Body): void {
  if (current === null) Deno.test(name, body);
  else current.steps.push({ name, body });
}

/** Runs something once before the tests of a group. @throws outside a group */
export function beforeAll(body: Body): void {
  hooksOf("beforeAll").push(body);
}

/** Runs something once after the tests of a group, whether they passed or not. @throws outside a group */
export function afterAll(body: Body): void {
  hooksOf("afterAll").push(body);
}

/** Runs something before each test of a group and of the groups in it. @throws outside a group */
export function beforeEach(body: Body): void {
  hooksOf("beforeEach").push(body);
}

/** Runs something after each test of a group and of the groups in it. @throws outside a group */
export function afterEach(body: Body): void {
  hooksOf("afterEach").push(body);
}

function hooksOf(kind: keyof Suite["hooks"]): Body[] {
  if (current === null) throw new Error(`Cannot add a hook as it is in no group: ${kind}`);
  return current.hooks[kind];
}

async function run(suite: Suite, t: Deno.TestContext, outer: readonly Suite[]): Promise<void> {
  const within = [...outer, suite];
  try {
    for (const hook of suite.hooks.beforeAll) await hook();
    for (const step of suite.steps) {
      await t.step(
        step.name,
        "body" in step ? () => runTest(step.body, within) : (inner) => run(step, inner, within),
      );
    }
  } finally {
    for (const hook of suite.hooks.afterAll) await hook();
  }
}

/** One test between its hooks: those before from the outermost group in, those after back out. */
async function runTest(body: Body, within: readonly Suite[]): Promise<void> {
  try {
    for (const { hooks } of within) for (const hook of hooks.beforeEach) await hook();
    await body();
  } finally {
    for (const { hooks } of within.toReversed()) for (const hook of hooks.afterEach) await hook();
  }
}
