/**
 * What deploy/ has for containers and clusters, read by the programs that will read it; the last line is
 * `N passed, N failed`. Needs Go (1.26) and Python 3; the first time builds and fetches for minutes.
 *
 *   build     kustomize makes each overlay
 *   schema    kubernetes-validate, against the schemas of the newest Kubernetes that it has
 *   kserve    KServe's own SDK reads runtimes and services
 *   compose   compose-go, the reader of docker compose
 *   grafana   Grafana's own SDK reads the dashboard
 *   cluster   a real API server (kube-apiserver, etcd) is given all of it
 *
 * Usage: node scripts/test-deploy.mjs [part …], default: all
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ApiServer } from './deploy/api-server.mjs';
import { applyAlerts, applyAll, prepare, refuses } from './deploy/cluster.mjs';
import { program, python, ROOT, run } from './deploy/tools.mjs';

const KUBERNETES = path.join(ROOT, 'deploy/kubernetes');
const OVERLAYS = readdirSync(path.join(KUBERNETES, 'overlays')).map((name) => `overlays/${name}`);
const SCHEMAS = '1.37';

const counts = { passed: 0, failed: 0 };

async function check(what, isSo) {
  try {
    const seen = await isSo();
    counts.passed += 1;
    console.log(`ok      ${what}${seen ? `: ${seen}` : ''}`);
  } catch (error) {
    counts.failed += 1;
    console.log(`FAILED  ${what}: ${error.message}`);
  }
}

const kustomize = (folder) => run(program('kustomize'), ['build', path.join(KUBERNETES, folder)]);
const kinds = (text) => text.match(/^kind: .*/gm).map((line) => line.slice('kind: '.length));

const PARTS = {
  build: async () => {
    for (const folder of [...OVERLAYS, 'kserve']) {
      await check(`kustomize build ${folder}`, () => kinds(kustomize(folder)).join(', '));
    }
  },
  schema: async () => {
    const validate = (input) =>
      run(
        path.join(path.dirname(python()), 'kubernetes-validate'),
        ['--strict', '-k', SCHEMAS, '-'],
        {
          input,
        },
      );
    for (const folder of OVERLAYS) {
      await check(`kubernetes-validate ${folder}, Kubernetes ${SCHEMAS}`, () => {
        const said = validate(kustomize(folder));
        return `${said.match(/ passed /g)?.length} objects`;
      });
    }
    await check('kubernetes-validate refuses an unknown field', () =>
      refused(
        () => validate(kustomize('overlays/eeg').replace('maxSurge:', 'maxSuge:')),
        /maxSuge/,
      ),
    );
  },
  kserve: async () => {
    const read = (input) =>
      run(python(), [path.join(ROOT, 'test/deploy/kserve.py')], { input }).trim();
    await check('KServe SDK', () => read(kustomize('kserve')));
    await check('KServe SDK refuses an unknown field', () =>
      refused(
        () => read(kustomize('kserve').replace('storageUri:', 'storage_uri:')),
        /storage_uri/,
      ),
    );
  },
  compose: async () => {
    const file = path.join(ROOT, 'deploy/compose.yaml');
    const read = (env) => run(program('compose'), [file], { env: { ...process.env, ...env } });
    await check('compose-go', () => {
      const { services } = JSON.parse(read({ GRAFANA_PASSWORD: 'test' }));
      return Object.keys(services).join(', ');
    });
    await check('compose-go asks for the password of Grafana', () =>
      refused(() => read({ GRAFANA_PASSWORD: '' }), /GRAFANA_PASSWORD/),
    );
  },
  grafana: async () => {
    const dashboard = readFileSync(path.join(ROOT, 'deploy/grafana/libtorch-serve.json'), 'utf8');
    const read = (input) =>
      run(python(), [path.join(ROOT, 'test/deploy/dashboard.py')], { input }).trim();
    await check('Grafana SDK', () => read(dashboard));
    await check('Grafana SDK refuses an unknown field', () =>
      refused(() => read(dashboard.replace('"fieldConfig"', '"fieldConfg"')), /fieldConfg/),
    );
  },
  cluster: async () => {
    const server = new ApiServer();
    try {
      await check('kube-apiserver starts', () =>
        server.start({ etcd: program('etcd'), 'kube-apiserver': program('kube-apiserver') }),
      );
      await check('definitions of the Prometheus operator', () => prepare(server));
      for (const folder of OVERLAYS) {
        await check(`kube-apiserver takes ${folder}, its Pods as "restricted"`, () =>
          applyAll(server, kustomize(folder)),
        );
      }
      await check('kube-apiserver takes the alerts as a PrometheusRule', () => applyAlerts(server));
      await check('kube-apiserver refuses an unknown field', () =>
        refuses(server, kustomize('overlays/eeg')),
      );
    } finally {
      await server.stop();
    }
  },
};

function refused(act, pattern) {
  try {
    act();
  } catch ({ message }) {
    if (pattern.test(message)) return;
    throw new Error(message);
  }
  throw new Error('it was taken');
}

const asked = process.argv.slice(2);
const unknown = asked.filter((part) => !Object.hasOwn(PARTS, part));
if (unknown.length > 0) {
  console.error(`${unknown.join(', ')}: expected ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
for (const part of asked.length > 0 ? asked : Object.keys(PARTS)) await PARTS[part]();
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;
