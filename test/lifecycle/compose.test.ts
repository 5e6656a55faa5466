import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { SETTINGS } from '../../src/settings/settings';
import { DEPLOY, readDeployed, SHUTDOWN_S, unknownSettings } from '../helpers/deployed';
import { post } from '../helpers/http';
import { needs } from '../helpers/needs';
import { killAll, startService } from '../helpers/service';
import { SIGNAL } from '../helpers/services';

interface ComposeService {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly stop_grace_period?: string;
}

const [compose] = readDeployed('compose.yaml') as [
  { readonly services: Readonly<Record<string, ComposeService>> },
];
const { sentiment, eeg, models, prometheus, grafana } = compose.services as Readonly<
  Record<'sentiment' | 'eeg' | 'models' | 'prometheus' | 'grafana', ComposeService>
>;

/** Of `${NAME:-default}`. */
function withDefaults(text: string): string {
  return text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
}

/** Files of this machine by where the container has them. */
function mounts({ volumes = [] }: ComposeService): ReadonlyMap<string, string> {
  const binds = volumes.map(withDefaults).filter((volume) => volume.startsWith('.'));
  return new Map(
    binds.map((volume) => {
      const [from = '', to = ''] = volume.split(':');
      return [to, path.join(DEPLOY, from)];
    }),
  );
}

/** A path of the container, on this machine. */
function here(service: ComposeService, place: string): string {
  for (const [to, from] of mounts(service)) {
    if (place === to || place.startsWith(`${to}/`)) return from + place.slice(to.length);
  }
  throw new Error(`nothing is mounted at ${place}`);
}

afterAll(killAll);

it.each([
  ['sentiment', sentiment, '/analyze', { text: 'A warm, funny film.' }],
  ['eeg', eeg, '/predict', { signal: SIGNAL, patient_id: 'p-1' }],
] as const)('starts %s with the model that it mounts', async (name, service, route, body) => {
  expect(service.command).toEqual([name]);
  expect(unknownSettings(Object.keys(service.environment ?? {}))).toEqual([]);
  const env = Object.fromEntries(
    Object.entries(service.environment ?? {}).map(([key, place]) => [key, here(service, place)]),
  );
  const started = await startService(name, { env, cwd: '/' });
  expect((await post(started, route, body)).status).toBe(200);
  await started.stop();
});

it('starts a directory of models, where that is asked for', async () => {
  const { command: [name, place = ''] = [], environment = {}, profiles } = models;
  expect([name, profiles]).toEqual(['models', ['models']]);
  expect(unknownSettings(Object.keys(environment))).toEqual([]);
  const args = [here(models, place)];
  const started = await startService('models', { args, env: environment, cwd: '/' });
  await started.waitForLog(({ msg }) => msg === 'models loaded');
  const { status } = await post(started, '/models/sentiment/analyze', { text: 'good' });
  expect(status).toBe(200);
  await started.stop();
});

it('gives the services time to drain, and leads to the port that they listen on', () => {
  for (const { stop_grace_period, ports = [] } of [sentiment, eeg, models]) {
    expect(Number(stop_grace_period?.replace(/s$/, ''))).toBeGreaterThan(SHUTDOWN_S);
    expect(ports.map((port) => port.split(':').at(-1))).toEqual([SETTINGS.PORT.default]);
  }
});

it('mounts files that there are, and shows nothing but to this machine', () => {
  for (const service of Object.values(compose.services)) {
    const missing = [...mounts(service).values()].filter((file) => !existsSync(file));
    expect(missing).toEqual([]);
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  }
});

it('has a Prometheus that asks all, and a Grafana that asks it', () => {
  const [config] = readDeployed('prometheus/prometheus-compose.yml') as [
    {
      readonly rule_files: readonly string[];
      readonly scrape_configs: readonly {
        readonly job_name: string;
        readonly static_configs?: readonly { readonly targets: readonly string[] }[];
        readonly dns_sd_configs?: readonly { readonly names: string[]; readonly port: number }[];
      }[];
    },
  ];
  const [forOneMachine] = readDeployed('prometheus/prometheus.yml') as [typeof config];
  const jobs = config.scrape_configs.map(({ job_name }) => job_name);
  const onOneMachine = forOneMachine.scrape_configs.map(({ job_name }) => job_name);
  expect(jobs).toEqual([...onOneMachine, 'libtorch-serve-models']);
  const targets = config.scrape_configs.flatMap(({ static_configs = [], dns_sd_configs = [] }) => [
    ...static_configs.flatMap((one) => one.targets),
    ...dns_sd_configs.map(({ names, port }) => `${names}:${port}`),
  ]);
  const names = ['sentiment', 'eeg', 'models'];
  expect(targets).toEqual(names.map((name) => `${name}:${SETTINGS.PORT.default}`));
  for (const file of config.rule_files) here(prometheus, `/etc/prometheus/${file}`);

  const folder = 'grafana/provisioning';
  const [{ datasources }] = readDeployed(`${folder}/datasources/prometheus.yaml`) as [
    { readonly datasources: readonly { readonly url: string }[] },
  ];
  expect(datasources.map(({ url }) => url)).toEqual(['http://prometheus:9090']);
  expect(prometheus.networks).toEqual(expect.arrayContaining([...sentiment.networks]));
  expect(prometheus.networks).toEqual(expect.arrayContaining([...grafana.networks]));

  const [{ providers }] = readDeployed(`${folder}/dashboards/libtorch-serve.yaml`) as [
    { readonly providers: readonly { readonly options: { readonly path: string } }[] },
  ];
  const provided = providers.map(({ options }) => `${options.path}/libtorch-serve.json`);
  expect(provided).toEqual([grafana.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH]);
  expect(here(grafana, provided[0] ?? '')).toBe(path.join(DEPLOY, 'grafana/libtorch-serve.json'));
});

needs('prometheus').it('gives Prometheus flags that it knows', () => {
  const help = spawnSync('prometheus', ['--help-long'], { encoding: 'utf8' });
  const flags = (prometheus.command ?? []).map((flag) => flag.replace(/=.*/, ''));
  expect(flags.length).toBeGreaterThan(1);
  expect(flags.filter((flag) => !`${help.stdout}${help.stderr}`.includes(`${flag}=`))).toEqual([]);
});
