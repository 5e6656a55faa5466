import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DEPLOY, readDeployed } from '../helpers/deployed';
import { Folder } from '../helpers/files';
import { post } from '../helpers/http';
import { type Scrape, scrape } from '../helpers/metrics';
import { FIRST, newDirectory, removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { freePort } from '../helpers/ports';
import { EEG_MODEL, ROOT, type Service, startService, textModel } from '../helpers/service';
import { SERVICE_CASES } from '../helpers/services';
import { until } from '../helpers/until';

const ALERTS = path.join(DEPLOY, 'prometheus', 'alerts.yml');
/** Metrics that only text models have. */
const OF_TEXTS = /tokenization|truncated|result_cache/;
/** And that only directories of models have. */
const OF_DIRECTORIES = /load_failed|guard|serve_files|openai_batch/;

const { it: itWithPrometheus, describe: describeWithPrometheus } = needs('prometheus');

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly gridPos: {
    readonly h: number;
    readonly w: number;
    readonly x: number;
    readonly y: number;
  };
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(
  readFileSync(path.join(DEPLOY, 'grafana', 'libtorch-serve.json'), 'utf8'),
) as { readonly panels: readonly Panel[] };
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr })),
);

/** Of a guard: one that finds something, and one that cannot run. */
const CHECKS = [
  { type: 'patterns', name: 'data', action: 'redact', kinds: ['email'] },
  { type: 'text-classification', name: 'gone', model: 'nobody', action: 'flag', labels: { A: 0 } },
];

let sentiment: Service;
let eeg: Service;
let models: Service;
const files = new Folder();

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  directory.signal('waves');
  directory.write('odd/model.json', '{"weight": "all"}');
  directory.write('guard.json', JSON.stringify({ checks: CHECKS }));
  const grpc = async () => ({ GRPC_PORT: String(await freePort()) });
  [sentiment, eeg, models] = await Promise.all([
    startService('sentiment', { env: { ...textModel('bert-single-label'), ...(await grpc()) } }),
    startService('eeg', { env: { EEG_MODEL_PATH: EEG_MODEL, ...(await grpc()) } }),
    directory.start({ env: { ...(await grpc()), FILES_DIR: files.path } }),
  ]);
});

afterAll(removeDirectories);
afterAll(() => files.remove());

async function askAll(): Promise<void> {
  for (const { name, path: route, body, refused } of SERVICE_CASES) {
    for (const service of [name === 'eeg' ? eeg : sentiment, models]) {
      await Promise.all([1, 2, 3].map(() => post(service, route, body)));
      await post(service, route, refused);
    }
  }
  await post(models, '/guard', { text: 'I am ann@example.org.' });
}

function promtool(args: readonly string[], input?: string) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

function metricNames(text: string): readonly string[] {
  return [...new Set(text.match(/\b(?:libtorch_serve|process)_[a-z_]+\b/g))];
}

function namesIn({ samples }: Scrape): ReadonlySet<string> {
  return new Set(samples.map(({ name }) => name));
}

itWithPrometheus('promtool has nothing to say against the metrics', async () => {
  await askAll();
  for (const service of [sentiment, eeg, models]) {
    const { text } = await scrape(service);
    // TorchServe's are named as TorchServe has named them.
    const ours = text.replaceAll(/^(# \w+ )?ts_.*\n/gm, '');
    expect(promtool(['check', 'metrics'], ours)).toEqual({ status: 0, output: '' });
  }
});

itWithPrometheus.each([
  ['check', 'config', 'prometheus.yml'],
  ['check', 'config', 'prometheus-compose.yml'],
  ['check', 'rules', 'alerts.yml'],
  ['test', 'rules', 'alerts.test.yml'],
  ['test', 'rules', 'alerts-in-days.test.yml'],
])('promtool %s %s %s', (verb, what, file) => {
  const { status, output } = promtool([verb, what, path.join(DEPLOY, 'prometheus', file)]);
  expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
});

it('every alert has a test', () => {
  const alerts = [...readFileSync(ALERTS, 'utf8').matchAll(/- alert: (\w+)/g)].map(
    ([, name]) => name,
  );
  const tests = ['alerts.test.yml', 'alerts-in-days.test.yml']
    .map((file) => readFileSync(path.join(DEPLOY, 'prometheus', file), 'utf8'))
    .join('\n');
  const tested = [...tests.matchAll(/alertname: (\w+)/g)].map(([, name]) => name);
  expect(alerts.length).toBeGreaterThan(5);
  expect([...new Set(tested)].sort()).toEqual([...alerts].sort());
});

it.each<readonly [string, string]>([
  ['the dashboard', queries.map(({ expr }) => expr).join('\n')],
  ['the alerts', readFileSync(ALERTS, 'utf8')],
  ...['guides/monitor.md', 'reference/metrics.md'].map(
    (page) => [page, readFileSync(path.join(ROOT, 'docs', page), 'utf8')] as const,
  ),
])('%s names metrics that there are', async (_, text) => {
  await askAll();
  const ofAll = namesIn(await scrape(models));
  const ofTexts = namesIn(await scrape(sentiment));
  const ofWindows = namesIn(await scrape(eeg));
  const has = (names: ReadonlySet<string>, name: string): boolean =>
    [name, `${name}_bucket`].some((each) => names.has(each));
  const names = metricNames(text);
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => !has(ofAll, name))).toEqual([]);
  const ofOne = names.filter((name) => !OF_DIRECTORIES.test(name));
  expect(ofOne.filter((name) => !has(ofTexts, name))).toEqual([]);
  expect(ofOne.filter((name) => !OF_TEXTS.test(name) && !has(ofWindows, name))).toEqual([]);
});

it('the panels of the dashboard have places of their own', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const taken = new Set<string>();
  for (const { title, gridPos } of dashboard.panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect([title, taken.has(`${x} ${y}`)]).toEqual([title, false]);
        taken.add(`${x} ${y}`);
      }
    }
  }
});

/** What prometheus-adapter asks in Kubernetes, with what it puts into the templates here. */
function adapterQueries(): readonly string[] {
  const [{ rules }] = readDeployed('kubernetes/components/autoscaled/prometheus-adapter.yaml') as [
    { readonly rules: readonly { readonly seriesQuery: string; readonly metricsQuery: string }[] },
  ];
  return rules.map(({ seriesQuery, metricsQuery }) =>
    metricsQuery
      .replaceAll('<<.Series>>', seriesQuery.replace(/\{.*/, ''))
      .replaceAll('<<.LabelMatchers>>', 'job=~".+"')
      .replaceAll('<<.GroupBy>>', 'job'),
  );
}

describeWithPrometheus('a Prometheus that scrapes all', () => {
  let folder: string;
  let origin: string;
  let server: ReturnType<typeof spawn> | undefined;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'libtorch-serve-prometheus-'));
    origin = `http://127.0.0.1:${await freePort()}`;
    const config = readFileSync(path.join(DEPLOY, 'prometheus', 'prometheus.yml'), 'utf8')
      .replaceAll('15s', '200ms')
      .replace('localhost:8000', `127.0.0.1:${sentiment.port}`)
      .replace('localhost:8001', `127.0.0.1:${eeg.port}`)
      .replace('localhost:8004', `127.0.0.1:${models.port}`)
      .replaceAll(/^ {2}# {1,3}(?=- job_name|static_configs| {2}- targets)/gm, (comment) =>
        comment.replace('# ', ''),
      );
    writeFileSync(path.join(folder, 'prometheus.yml'), config);
    writeFileSync(path.join(folder, 'alerts.yml'), readFileSync(ALERTS));
    server = spawn(
      'prometheus',
      [
        `--config.file=${path.join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${path.join(folder, 'data')}`,
        `--web.listen-address=${new URL(origin).host}`,
      ],
      { stdio: 'ignore' },
    );
  });

  afterAll(async () => {
    if (server) {
      const ended = new Promise((resolve) => server?.on('close', resolve));
      server.kill('SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  async function api(route: string): Promise<unknown> {
    const response = await fetch(`${origin}/api/v1/${route}`);
    const { status, data, error } = (await response.json()) as Record<string, unknown>;
    if (status !== 'success') throw new Error(`${route}: ${error}`);
    return data;
  }

  async function count(expr: string): Promise<number> {
    const query = expr
      .replaceAll('$__rate_interval', '1m')
      .replaceAll('$job', '.+')
      .replaceAll('$instance', '.+')
      .replaceAll(/\$(model|version)\b/g, '.*');
    const { result } = (await api(`query?query=${encodeURIComponent(query)}`)) as {
      readonly result: readonly unknown[];
    };
    return result.length;
  }

  /** Until so many series are what `expr` selects. */
  async function untilThere(expected: number, expr: string): Promise<void> {
    const isSo = async () => (await count(expr)) === expected;
    await until(`${expected} of ${expr}`, () => isSo().catch(() => false), { everyMs: 100 });
  }

  it('finds all up, its rules in order, and data for every panel', async () => {
    await untilThere(3, 'up == 1');
    await askAll();
    await untilThere(4, 'libtorch_serve_inputs_total{outcome="completed"} > 2');
    // A rate needs two scrapes with the series in it.
    await untilThere(4, 'rate(libtorch_serve_inputs_total[1m]) > 0');
    const empty: string[] = [];
    for (const { title, expr } of queries) {
      if ((await count(expr)) === 0) empty.push(`${title}: ${expr}`);
    }
    expect(empty).toEqual([]);
    expect(await Promise.all(adapterQueries().map(count))).toEqual([3]);

    const { groups } = (await api('rules')) as {
      readonly groups: readonly {
        readonly rules: readonly { readonly name: string; readonly health: string }[];
      }[];
    };
    const health = groups.flatMap(({ rules }) => rules.map(({ name, health }) => [name, health]));
    expect(health.length).toBeGreaterThan(5);
    expect(health.filter(([, state]) => state === 'err')).toEqual([]);
  });
});
