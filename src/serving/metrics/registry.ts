import type { Registry } from 'prom-client';
import type { Family } from './family';

/**
 * prom-client's registry, which writes the text format, and nothing else of it. Its index would also
 * load ninety files (some tens of ms of the start), among them @opentelemetry/api; its counters and
 * histograms take about a microsecond for each value, and a request has five of them. Ours are read
 * when they are scraped (`Family`).
 */
const Implementation = require('prom-client/lib/registry') as new () => Registry;

export const CONTENT_TYPE = new Implementation().contentType;

/** In the text format. */
export function expose(families: readonly Family[]): Promise<string> {
  const registry = new Implementation();
  for (const { name, help, type, read } of families) {
    const metric = { name, help, type, get: async () => ({ name, help, type, values: read() }) };
    // All that the registry asks of a metric is its name and `get`.
    registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]);
  }
  return registry.metrics();
}
