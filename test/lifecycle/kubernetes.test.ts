import { readdirSync } from 'node:fs';
import path from 'node:path';
import { readEnvironment } from '../../src/settings/environment';
import { SETTINGS } from '../../src/settings/settings';
import { DEPLOY, readDeployed, SHUTDOWN_S, unknownSettings } from '../helpers/deployed';
import { request } from '../helpers/http';
import { FIRST, newDirectory, removeDirectories } from '../helpers/models-directory';
import { EEG_MODEL, ROOT, type Service, startService, textModel } from '../helpers/service';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string | number };
  readonly periodSeconds: number;
  readonly failureThreshold?: number;
}

interface Container {
  readonly args?: readonly string[];
  readonly ports: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly resources: Readonly<Record<'requests' | 'limits', { cpu: string; memory: string }>>;
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly [Container];
        readonly volumes: readonly Claim[];
      };
    };
  };
}

interface Runtime {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly supportedModelFormats: readonly { readonly name: string; readonly version: string }[];
    readonly containers: readonly [Container];
  };
}

interface InferenceService {
  readonly spec: {
    readonly predictor: {
      readonly terminationGracePeriodSeconds: number;
      readonly model: {
        readonly runtime: string;
        readonly modelFormat: { readonly name: string; readonly version: string };
      };
    };
  };
}

interface Claim {
  readonly persistentVolumeClaim?: { readonly readOnly?: boolean };
}

const BASE = 'kubernetes/base/deployment.yaml';
const [deployment] = readDeployed(BASE) as readonly [Deployment];
const pod = deployment.spec.template.spec;
const runtimes = readDeployed('kubernetes/kserve/runtimes.yaml') as readonly Runtime[];
const services = readDeployed('kubernetes/kserve/services.yaml') as readonly InferenceService[];
const containers: readonly (readonly [string, Container])[] = [
  [BASE, pod.containers[0]],
  ...runtimes.map(({ metadata, spec }) => [metadata.name, spec.containers[0]] as const),
];

let running: Readonly<Record<'sentiment' | 'eeg' | 'models', Service>>;

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  const [sentiment, eeg, models] = await Promise.all([
    startService('sentiment', { env: textModel('bert-single-label') }),
    startService('eeg', { env: { EEG_MODEL_PATH: EEG_MODEL } }),
    directory.start(),
  ]);
  running = { sentiment, eeg, models };
});

afterAll(removeDirectories);

describe.each(containers)('%s', (_, container) => {
  const settings = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));

  it('sets what the service knows', () => {
    expect(unknownSettings(Object.keys(settings))).toEqual([]);
    for (const [name, value] of Object.entries(settings)) {
      const { parse } = SETTINGS[name as keyof typeof SETTINGS];
      expect(() => parse(value, readEnvironment(ROOT))).not.toThrow();
    }
    expect(container.ports.map(({ containerPort }) => String(containerPort))).toEqual([
      settings.PORT ?? SETTINGS.PORT.default,
    ]);
    expect(Number(settings.SHUTDOWN_DELAY_MS) / 1000).toBeLessThan(SHUTDOWN_S);
  });

  it('asks paths that answer, and waits for a model to be loaded', async () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const [port] = container.ports;
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect(httpGet.port).toBe(port?.name ?? port?.containerPort);
      for (const service of Object.values(running)) {
        const { status } = await request(service, { path: httpGet.path });
        expect([httpGet.path, status]).toEqual([httpGet.path, 200]);
      }
    }
    const { periodSeconds, failureThreshold = 3 } = startupProbe;
    const trialS = Number(SETTINGS.INFERENCE_TIMEOUT_MS.default) / 1000;
    expect(periodSeconds * failureThreshold).toBeGreaterThan(trialS);
    // Before the port closes, some probes have seen that it is not ready.
    const { periodSeconds: each, failureThreshold: times = 3 } = readinessProbe;
    expect(Number(settings.SHUTDOWN_DELAY_MS)).toBeGreaterThanOrEqual((each * times - 1) * 1000);
  });

  it('asks for the cores that it is limited to, whole ones, which WORKERS are', () => {
    const { requests, limits } = container.resources;
    expect(requests.cpu).toBe(limits.cpu);
    expect(limits.cpu).toMatch(/^\d+$/);
    expect(settings).not.toHaveProperty('WORKERS');
  });
});

it('gives time to drain', () => {
  const predictors = services.map(({ spec }) => spec.predictor);
  for (const { terminationGracePeriodSeconds } of [pod, ...predictors]) {
    expect(terminationGracePeriodSeconds).toBeGreaterThan(SHUTDOWN_S);
  }
});

it('has an overlay for each service, which is started as such', () => {
  const overlays = readdirSync(path.join(DEPLOY, 'kubernetes', 'overlays')).sort();
  const names = ['eeg', 'models', 'sentiment'];
  expect(overlays).toEqual(names.flatMap((name) => [name, `${name}-autoscaled`]));
  for (const name of ['eeg', 'sentiment']) {
    const [{ patches }] = readDeployed(`kubernetes/components/${name}/kustomization.yaml`) as [
      { readonly patches: readonly { readonly patch: string }[] },
    ];
    expect(patches[0]?.patch).toContain(`value: [${name}]`);
  }
  expect(runtimes.map(({ spec }) => spec.containers[0].args)).toEqual([
    ['sentiment'],
    ['eeg'],
    ['models', '/mnt/models'],
  ]);
});

it('has an overlay for many models, on a volume that is read', () => {
  const place = 'kubernetes/components/models';
  const [{ spec }] = readDeployed(`${place}/deployment.yaml`) as readonly [Deployment];
  const { volumes, containers } = spec.template.spec;
  const [container] = containers;
  expect(container.args).toEqual(['models', '/models']);
  // MANAGEMENT_PORT is not among them.
  expect(container.env).toEqual([{ name: 'MODELS_WATCH', value: 'true' }]);
  expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/models', '/tmp']);
  expect(container.volumeMounts[0]).toMatchObject({ name: 'models', readOnly: true });
  expect(volumes).toContainEqual(
    expect.objectContaining<Claim>({
      persistentVolumeClaim: expect.objectContaining({ readOnly: true }),
    }),
  );
  const { requests, limits } = container.resources;
  expect(requests.memory).toBe(limits.memory);
});

it('names runtimes that there are, for formats that they take', () => {
  for (const { spec } of services) {
    const { runtime, modelFormat } = spec.predictor.model;
    const found = runtimes.find(({ metadata }) => metadata.name === runtime);
    expect(found?.spec.supportedModelFormats).toEqual([expect.objectContaining(modelFormat)]);
  }
  expect(services).toHaveLength(3);
});

it('scales on a metric that the adapter makes of one that there is', async () => {
  const folder = 'kubernetes/components/autoscaled';
  const [{ rules }] = readDeployed(`${folder}/prometheus-adapter.yaml`) as [
    { readonly rules: readonly { readonly seriesQuery: string; readonly name: { as: string } }[] },
  ];
  const [{ spec }] = readDeployed(`${folder}/autoscaler.yaml`) as [
    {
      readonly spec: {
        readonly metrics: readonly { readonly pods?: { readonly metric: { name: string } } }[];
      };
    },
  ];
  const names = spec.metrics.flatMap(({ pods }) => (pods ? [pods.metric.name] : []));
  expect(names).toEqual(rules.map(({ name }) => name.as));
  for (const service of Object.values(running)) {
    const { text } = await request(service, { path: '/metrics' });
    for (const { seriesQuery } of rules) {
      expect(text).toMatch(new RegExp(`\n${seriesQuery.replace(/\{.*/, '')}[ {]`));
    }
  }
});
