/**
 * Figures that Prometheus reads: each is computed when it asks.
 *
 * @module
 */

import { Counter, Gauge, type Registry } from "prom-client";

/** Help text of a figure, and how it is read; null: there is no value now. */
type Figure<Source> = readonly [help: string, read: (source: Source) => number | null];

/** Figures by name. */
type Figures<Source> = Readonly<Record<string, Figure<Source>>>;

/** A source of figures after the value of its label, or the values of its labels. */
type Labelled<Source> = readonly [value: string | readonly string[], Source];

/**
 * Registers gauges which share their labels.
 *
 * @param labelNames names of the labels
 * @param sources yields what has the figures, each with the values of its labels
 */
export function registerGauges<Source>(
  registry: Registry,
  labelNames: readonly string[],
  sources: () => Iterable<Labelled<Source>> | Promise<Iterable<Labelled<Source>>>,
  figures: Figures<Source>,
): void {
  for (const [name, [help, read]] of Object.entries(figures)) {
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        const found = await sources();
        this.reset();
        for (const [key, source] of found) {
          const value = read(source);
          const values = typeof key === "string" ? [key] : key;
          const labels = labelNames.map((label, index) => [label, values[index] ?? ""]);
          if (value !== null) this.set(Object.fromEntries(labels), value);
        }
      },
    });
  }
}

/** Registers gauges without labels. */
export function registerSingleGauges(registry: Registry, figures: Figures<void>): void {
  registerGauges(registry, [], () => [[[], undefined]], figures);
}

/** Registers counters without labels. */
export function registerCounters(
  registry: Registry,
  figures: Readonly<Record<string, readonly [help: string, read: () => number]>>,
): void {
  for (const [name, [help, read]] of Object.entries(figures)) {
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }
}
