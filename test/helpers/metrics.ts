import type http from 'node:http';
import { request } from './http';
import type { Service } from './service';
import { until } from './until';

const LINE = /^(?<name>[a-z_]+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What one GET /metrics answered. */
export class Scrape {
  readonly text: string;
  readonly samples: readonly Sample[];

  constructor(text: string) {
    this.text = text;
    this.samples = text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(parseSample);
  }

  /** Of the series with these labels and no others; undefined: there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const wanted = JSON.stringify(Object.entries(labels).sort());
    return this.samples.find(
      (sample) =>
        sample.name === name && JSON.stringify(Object.entries(sample.labels).sort()) === wanted,
    )?.value;
  }

  /** Values of a family by one of its labels. */
  byLabel(name: string, label: string): Readonly<Record<string, number>> {
    return Object.fromEntries(
      this.samples
        .filter((sample) => sample.name === name)
        .map(({ labels, value }) => [labels[label], value]),
    );
  }

  /** Requests by `<route> <status>`, scrapes left out. */
  get requests(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      this.samples
        .filter(({ name }) => name === 'libtorch_serve_http_requests_total')
        .filter(({ labels }) => labels.route !== '/metrics')
        .map(({ labels, value }) => [`${labels.route} ${labels.status}`, value]),
    );
  }
}

function parseSample(line: string): Sample {
  const { name, labels, value } = LINE.exec(line)?.groups ?? {};
  if (name === undefined) throw new Error(`not the text format: ${line}`);
  return {
    name,
    labels: Object.fromEntries([...(labels ?? '').matchAll(LABEL)].map(([, k, v]) => [k, v])),
    value: Number(value?.replace('Inf', 'Infinity')),
  };
}

export async function scrape(
  service: Service,
  agent?: http.Agent,
  headers: http.OutgoingHttpHeaders = {},
): Promise<Scrape> {
  const answer = await request(service, {
    path: '/metrics',
    headers,
    ...(agent && { agent }),
  });
  const { status, text } = answer;
  if (status !== 200) throw new Error(`GET /metrics: ${status} ${text}`);
  expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  return new Scrape(text);
}

/** Looks at the metrics until `isSo`; the first that are. */
export function untilScraped(
  what: string,
  service: Service,
  isSo: (seen: Scrape) => boolean,
  look: (service: Service) => Promise<Scrape> = scrape,
): Promise<Scrape> {
  return until(`${what}, by /metrics`, async () => {
    const seen = await look(service);
    return isSo(seen) && seen;
  });
}

/** Resolves when exactly so many inputs are in the queue. */
export function untilQueued(service: Service, count: number, look = scrape): Promise<Scrape> {
  const isSo = (seen: Scrape) => seen.value('libtorch_serve_queue_inputs') === count;
  return untilScraped(`${count} inputs in the queue`, service, isSo, look);
}

/** Resolves when no connection but that of the scrape itself is open. */
export function untilAlone(service: Service, look = scrape): Promise<Scrape> {
  const isSo = (seen: Scrape) => seen.value('libtorch_serve_http_connections') === 1;
  return untilScraped('the end of all other connections', service, isSo, look);
}
