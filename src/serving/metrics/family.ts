/** One line of the text format; `name` only where it is not the family's own. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** All that is exposed under one name, read when somebody asks for it. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly read: () => readonly Sample[];
}

type Labels = Sample['labels'];

/** Goes up only. `read`: what it stands at; where it has labels, by them. */
export function counter(
  name: string,
  help: string,
  read: () => number | readonly Sample[],
): Family {
  return { name, help, type: 'counter', read: () => samplesOf(read()) };
}

export function gauge(name: string, help: string, read: () => number | readonly Sample[]): Family {
  return { name, help, type: 'gauge', read: () => samplesOf(read()) };
}

/** A gauge that is always 1: what it says is in its labels. */
export function information(name: string, help: string, labels: Labels): Family {
  return { name, help, type: 'gauge', read: () => [{ labels, value: 1 }] };
}

/** One sample for each entry of `values`, labelled with its key beside `labels`. */
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

/** Counts by name that begin at 0, so that each is exposed before it is first counted. */
export function zeros<Name extends string | number>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
}

function samplesOf(value: number | readonly Sample[]): readonly Sample[] {
  return typeof value === 'number' ? [{ labels: {}, value }] : value;
}
