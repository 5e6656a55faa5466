import type { Family, Sample } from './family';

/** Content type of the text format of Prometheus. */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Writes metrics in the text format of Prometheus. */
export function expose(families: readonly Family[]): string {
  return families.map(exposeFamily).join('\n');
}

function exposeFamily({ name, help, type, read }: Family): string {
  const lines = read().map((sample) => exposeSample(sample, name));
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function exposeSample({ metricName, labels, value }: Sample, family: string): string {
  const pairs = Object.entries(labels).map(
    ([key, label]) => `${key}="${escapeLabel(String(label))}"`,
  );
  const labelled = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return `${metricName ?? family}${labelled} ${value}\n`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
