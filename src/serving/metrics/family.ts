/** One line of the text format. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Default: the name of the family. */
  readonly metricName?: string;
}

/** A metric and its series, read on each scrape. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly read: () => readonly Sample[];
}

type Labels = Sample['labels'];
type Read = () => number | readonly Sample[];

/** @param read current value, or one sample per set of labels */
export function counter(name: string, help: string, read: Read): Family {
  return { name, help, type: 'counter', read: () => samplesOf(read()) };
}

/** @param read current value, or one sample per set of labels */
export function gauge(name: string, help: string, read: Read): Family {
  return { name, help, type: 'gauge', read: () => samplesOf(read()) };
}

/** Gauge with the constant value 1, whose labels contain the information. */
export function information(name: string, help: string, labels: Labels): Family {
  return { name, help, type: 'gauge', read: () => [{ labels, value: 1 }] };
}

/** One sample per entry of `values`, with its key as the value of `label`, in addition to `labels`. */
export function byLabel(
  label: string,
  values: Readonly<Record<string, number>>,
  labels: Labels = {},
): Sample[] {
  return Object.entries(values).map(([key, value]) => ({
    labels: { ...labels, [label]: key },
    value,
  }));
}

/** Counts by name, initially 0, so that all series are exposed from the start. */
export function zeros<Name extends string | number>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

function samplesOf(value: number | readonly Sample[]): readonly Sample[] {
  return typeof value === 'number' ? [{ labels: {}, value }] : value;
}
