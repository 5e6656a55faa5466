import type { Registry } from 'prom-client';
import type { Family } from './family';

/**
 * prom-client's registry, which writes the text format, and nothing else of it. Its index would also
 * load ninety files (some tens of ms of the start), among them @opentelemetry/api; its counters and
 * histograms take about a microsecond for each value, and a request has five of them. Ours are read
 * when they are scraped (`Family`).
 */
const Implementation = require('prom-client/lib/registry') as new () => Registry;

export function createRegistry(families: readonly Family[]): Registry {
  const registry = new Implementation();
  for (const { read, ...family } of families) {
    const metric = { ...family, get: async () => ({ ...family, values: read() }) };
    // All that the registry asks of a metric is its name and `get`.
    registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]);
  }
  return registry;
}
