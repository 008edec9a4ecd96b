/**
 * Figures that Prometheus reads: each is computed when it asks.
 *
 * @module
 */

import { Counter, Gauge, type Registry } from "prom-client";
import { type MetricName, metricOf } from "../../api/http/metric_table.ts";

/** Readers of figures by the names of their metrics; what reads null has no value now. */
type Figures<Source> = Readonly<Partial<Record<MetricName, (source: Source) => number | null>>>;

/** A source of figures after the value of its label, or the values of its labels. */
type Labelled<Source> = readonly [value: string | readonly string[], Source];

/**
 * Registers figures which share their labels.
 *
 * @param sources yields what has the figures, each with the values of its labels
 */
export function registerFigures<Source>(
  registry: Registry,
  sources: () => Iterable<Labelled<Source>> | Promise<Iterable<Labelled<Source>>>,
  figures: Figures<Source>,
): void {
  for (const [name, read] of Object.entries(figures)) {
    const { type, labelNames, help } = metricOf(name);
    const shown = async () => {
      const found = await sources();
      return [...found].flatMap(([key, source]) => {
        const value = read(source);
        if (value === null) return [];
        const values = typeof key === "string" ? [key] : key;
        const labels = labelNames.map((label, index) => [label, values[index] ?? ""]);
        return [{ labels: Object.fromEntries(labels), value }];
      });
    };
    const options = { name, help, labelNames, registers: [registry] };
    if (type === "counter") {
      new Counter({
        ...options,
        async collect() {
          const all = await shown();
          this.reset();
          for (const { labels, value } of all) this.inc(labels, value);
        },
      });
    } else {
      new Gauge({
        ...options,
        async collect() {
          const all = await shown();
          this.reset();
          for (const { labels, value } of all) this.set(labels, value);
        },
      });
    }
  }
}

/** Registers figures without labels. */
export function registerSingle(registry: Registry, figures: Figures<void>): void {
  registerFigures(registry, () => [[[], undefined]], figures);
}
