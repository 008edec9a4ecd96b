/**
 * The part of PromQL that the project's rules and dashboard are written in, read strictly and evaluated on
 * samples: what it does not know is a fault.
 *
 * @module
 */

/** One condition on a label. */
interface Matcher {
  readonly label: string;
  readonly operator: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

/** An expression. */
export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "time" }
  | {
    readonly kind: "selector";
    readonly name: string;
    readonly matchers: readonly Matcher[];
    /** Seconds; null: the newest sample alone. */
    readonly range: number | null;
  }
  | { readonly kind: "call"; readonly name: string; readonly inner: Expression }
  | {
    readonly kind: "sum";
    readonly name: string;
    readonly by: readonly string[] | null;
    readonly inner: Expression;
  }
  | {
    readonly kind: "binary";
    readonly operator: string;
    /** Labels that do not count where both sides are matched. */
    readonly ignoring: readonly string[];
    readonly left: Expression;
    readonly right: Expression;
  };

const TOKEN =
  /\s*([a-zA-Z_][a-zA-Z0-9_]*|\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|=~|!~|!=|>=|<=|==|[-+*/(){}[\],=<>])/y;
const RANGED = ["increase", "rate"];
const PLAIN = ["absent"];
const AGGREGATES = ["sum", "max", "min"];
const LEVELS = [[">", "<", ">=", "<=", "==", "!="], ["+", "-"], ["*", "/"]];
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** Reads an expression. @throws {SyntaxError} where it is none */
export function parse(text: string): Expression {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.trimEnd().length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (found === null) throw new SyntaxError(`Cannot read ${text} at ${at}`);
    tokens.push(found[1] ?? "");
  }
  const next = (): string => tokens[0] ?? "";
  const take = (wanted?: string): string => {
    const token = tokens.shift();
    if (token === undefined || (wanted !== undefined && token !== wanted)) {
      throw new SyntaxError(`Cannot read ${text}: ${token} where ${wanted ?? "more"} is expected`);
    }
    return token;
  };
  const names = (): string[] => {
    const found: string[] = [];
    take("(");
    while (next() !== ")") {
      found.push(take());
      if (next() === ",") take();
    }
    take(")");
    return found;
  };
  const selector = (name: string): Expression => {
    const matchers: Matcher[] = [];
    if (next() === "{") {
      take();
      while (next() !== "}") {
        const label = take();
        const operator = take();
        if (operator !== "=" && operator !== "!=" && operator !== "=~" && operator !== "!~") {
          throw new SyntaxError(`Cannot read ${text}: ${operator}`);
        }
        matchers.push({ label, operator, value: String(JSON.parse(take())) });
        if (next() === ",") take();
      }
      take("}");
    }
    let range: number | null = null;
    if (next() === "[") {
      take();
      const count = Number(take());
      range = count * (SECONDS[take()] ?? NaN);
      if (!(range > 0)) throw new SyntaxError(`Cannot read ${text}: its range`);
      take("]");
    }
    return { kind: "selector", name, matchers, range };
  };
  const primary = (): Expression => {
    const token = take();
    if (token === "(") {
      const inner = level(0);
      take(")");
      return inner;
    }
    if (/^\d/.test(token)) return { kind: "number", value: Number(token) };
    if (!/^[a-zA-Z_]/.test(token)) throw new SyntaxError(`Cannot read ${text}: ${token}`);
    if (token === "time") {
      take("(");
      take(")");
      return { kind: "time" };
    }
    if (AGGREGATES.includes(token)) {
      const by = next() === "by" ? (take(), names()) : null;
      take("(");
      const inner = level(0);
      take(")");
      return { kind: "sum", name: token, by, inner };
    }
    if (next() !== "(") return selector(token);
    if (![...RANGED, ...PLAIN].includes(token)) throw new SyntaxError(`Cannot call ${token}`);
    take("(");
    const inner = level(0);
    take(")");
    const hasRange = inner.kind === "selector" && inner.range !== null;
    if (RANGED.includes(token) !== hasRange) throw new SyntaxError(`Cannot read ${text}: a range`);
    return { kind: "call", name: token, inner };
  };
  const level = (depth: number): Expression => {
    const operators = LEVELS[depth];
    if (operators === undefined) return primary();
    let left = level(depth + 1);
    while (operators.includes(next())) {
      const operator = take();
      const ignoring = next() === "ignoring" ? (take(), names()) : [];
      left = { kind: "binary", operator, ignoring, left, right: level(depth + 1) };
    }
    return left;
  };
  const found = level(0);
  if (tokens.length > 0) throw new SyntaxError(`Cannot read ${text}: ${tokens.join(" ")} is left`);
  return found;
}

/** The selectors of an expression. */
export function selectorsOf(
  expression: Expression,
): readonly { readonly name: string; readonly labels: readonly string[] }[] {
  switch (expression.kind) {
    case "number":
    case "time":
      return [];
    case "selector":
      return [{ name: expression.name, labels: expression.matchers.map(({ label }) => label) }];
    case "call":
      return selectorsOf(expression.inner);
    case "sum":
      return selectorsOf(expression.inner).map(({ name, labels }) => ({
        name,
        labels: [...labels, ...(expression.by ?? [])],
      }));
    case "binary":
      return [...selectorsOf(expression.left), ...selectorsOf(expression.right)];
  }
}

/** A value with its labels. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples of the text that `/metrics` answers. */
export function samplesOf(text: string): readonly Sample[] {
  return text.split("\n").flatMap((line) => {
    const found = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found === null) return [];
    const labels = [...(found[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return [{
      name: found[1] ?? "",
      labels: Object.fromEntries(labels.map(([, label, value]) => [label, value])),
      value: Number(found[3]),
    }];
  });
}

/** Two looks at the same metrics, the earlier one at the begin of every range. */
export interface Looks {
  readonly before: readonly Sample[];
  readonly now: readonly Sample[];
}

/** The samples that an expression leaves: a rule fires where there is any. */
export function evaluate(expression: Expression, looks: Looks): readonly Sample[] {
  switch (expression.kind) {
    case "number":
      return [{ name: "", labels: {}, value: expression.value }];
    case "time":
      return [{ name: "", labels: {}, value: Date.now() / 1_000 }];
    case "selector":
      return looks.now.filter((sample) => isOf(sample, expression));
    case "call": {
      const { name, inner } = expression;
      const found = evaluate(inner, looks);
      if (name === "absent") return found.length > 0 ? [] : [{ name, labels: {}, value: 1 }];
      const earlier = evaluate(inner, { ...looks, now: looks.before });
      const range = inner.kind === "selector" ? inner.range ?? 1 : 1;
      return found.flatMap((sample) => {
        const before = earlier.find((one) => keyOf(one.labels) === keyOf(sample.labels));
        // a series that begins is no increase, as for Prometheus
        if (before === undefined) return [];
        const by = sample.value - before.value;
        return [{ ...sample, value: name === "rate" ? by / range : by }];
      });
    }
    case "sum": {
      const { by, inner, name } = expression;
      const groups = Map.groupBy(
        evaluate(inner, looks),
        ({ labels }) =>
          keyOf(Object.fromEntries((by ?? []).map((one) => [one, labels[one] ?? ""]))),
      );
      return [...groups.values()].map((group) => {
        const values = group.map(({ value }) => value);
        const sum = values.reduce((total, value) => total + value, 0);
        const value = name === "max"
          ? Math.max(...values)
          : name === "min"
          ? Math.min(...values)
          : sum;
        return { name, labels: group[0]?.labels ?? {}, value };
      });
    }
    case "binary": {
      const { operator, ignoring, left, right } = expression;
      const matched = (labels: Sample["labels"]) =>
        keyOf(
          Object.fromEntries(Object.entries(labels).filter(([one]) => !ignoring.includes(one))),
        );
      const rights = evaluate(right, looks);
      return evaluate(left, looks).flatMap((sample) => {
        const other = rights.length === 1
          ? rights[0]
          : rights.find((one) => matched(one.labels) === matched(sample.labels));
        if (other === undefined) return [];
        const [a, b] = [sample.value, other.value];
        const kept: Readonly<Record<string, boolean>> = {
          ">": a > b,
          "<": a < b,
          ">=": a >= b,
          "<=": a <= b,
          "==": a === b,
          "!=": a !== b,
        };
        if (operator in kept) return kept[operator] === true ? [sample] : [];
        const made: Readonly<Record<string, number>> = {
          "+": a + b,
          "-": a - b,
          "*": a * b,
          "/": a / b,
        };
        return [{
          ...sample,
          labels: { ...other.labels, ...sample.labels },
          value: made[operator] ?? NaN,
        }];
      });
    }
  }
}

function keyOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).toSorted());
}

function isOf(
  sample: Sample,
  { name, matchers }: Extract<Expression, { readonly kind: "selector" }>,
): boolean {
  return sample.name === name && matchers.every(({ label, operator, value }) => {
    const own = sample.labels[label] ?? "";
    const isLike = new RegExp(`^(?:${value})$`).test(own);
    switch (operator) {
      case "=":
        return own === value;
      case "!=":
        return own !== value;
      case "=~":
        return isLike;
      case "!~":
        return !isLike;
    }
  });
}
