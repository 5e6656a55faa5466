/**
 * What deploy/ has for containers and clusters, and .github for releases, read by programs that know it; the last line is
 * `N passed, N failed`. Needs Go (1.26) and Python 3; the first time builds and fetches for minutes.
 *
 *   build     kustomize makes each overlay
 *   schema    kubernetes-validate, against the schemas of the newest Kubernetes that it has
 *   definitions  what the Prometheus operator defines, against its own definitions
 *   admission the code with which Kubernetes' API server reads, fills in and validates
 *   kserve    KServe's own SDK reads runtimes and services
 *   compose   compose-go, the reader of docker compose
 *   grafana   Grafana's own SDK reads the dashboard
 *   workflow  actionlint reads .github/workflows
 *   cluster   a real API server (kube-apiserver, etcd) is given all of it; not by default, for it takes
 *             long to build
 *
 * Usage: node scripts/test-deploy.mjs [part …], default: all but cluster
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ApiServer } from './deploy/api-server.mjs';
import { applyAlerts, applyAll, prepare, refuses } from './deploy/cluster.mjs';
import { alertsAsRule, judgeOf } from './deploy/definitions.mjs';
import { expectItsPods } from './deploy/selectors.mjs';
import { program, python, ROOT, run } from './deploy/tools.mjs';
import { PREBUILT_PLATFORMS } from './release/prebuilt.mjs';

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

const objects = (text) => parseAllDocuments(text).map((document) => document.toJS());
const ofKind = (text, kind) => objects(text).filter((object) => object.kind === kind);

const PARTS = {
  build: async () => {
    for (const folder of [...OVERLAYS, 'kserve']) {
      await check(`kustomize build ${folder}`, () => kinds(kustomize(folder)).join(', '));
    }
    for (const folder of OVERLAYS) {
      await check(`${folder}: all objects are about the Pods of its Deployment`, () =>
        expectItsPods(objects(kustomize(folder))),
      );
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
  definitions: async () => {
    const monitors = judgeOf('servicemonitors');
    for (const folder of OVERLAYS.filter((name) => name.endsWith('-autoscaled'))) {
      await check(`ServiceMonitor of ${folder}, as the Prometheus operator defines it`, () => {
        const found = ofKind(kustomize(folder), 'ServiceMonitor');
        if (found.length !== 1) throw new Error(`there are ${found.length}`);
        monitors(found[0]);
      });
    }
    await check('the alerts as a PrometheusRule, as the Prometheus operator defines it', () =>
      judgeOf('prometheusrules')(alertsAsRule()),
    );
    await check('the definition refuses an unknown field', () => {
      const [monitor] = ofKind(kustomize('overlays/eeg-autoscaled'), 'ServiceMonitor');
      monitor.spec.endpoints[0].intervall = '15s';
      return refused(() => monitors(monitor), /additional properties/);
    });
  },
  admission: async () => {
    const judge = (input) => run(program('admission'), [], { input });
    for (const folder of OVERLAYS) {
      await check(`Kubernetes' validation, and "restricted", of ${folder}`, () => {
        const said = judge(kustomize(folder));
        return `${said.match(/ is taken$/gm)?.length} objects`;
      });
    }
    const wrong = (from, to) => () => judge(kustomize('overlays/eeg-autoscaled').replace(from, to));
    for (const [what, from, to, pattern] of [
      ['an unknown field', 'maxSurge:', 'maxSuge:', /unknown field/],
      [
        'a selector of other Pods',
        'libtorch-serve\n  strategy',
        'other\n  strategy',
        /does not match template/,
      ],
      ['a port that is none', 'port: 80\n', 'port: 80000\n', /between 1 and 65535/],
      ['a Pod of root', 'runAsNonRoot: true', 'runAsNonRoot: false', /PodSecurity "restricted"/],
    ]) {
      await check(`Kubernetes' validation refuses ${what}`, () =>
        refused(wrong(from, to), pattern),
      );
    }
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
    const guard = path.join(ROOT, 'examples/guard/compose.yaml');
    const names = [
      'GUARD_KEY',
      'LITELLM_MASTER_KEY',
      'UPSTREAM_KEY',
      'UPSTREAM_MODEL',
      'UPSTREAM_URL',
    ];
    const given = Object.fromEntries(names.map((name) => [name, 'test']));
    const readGuard = (env) =>
      run(program('compose'), [guard], { env: { ...process.env, ...env } });
    await check('compose-go, a guard with LiteLLM', () => {
      const { services } = JSON.parse(readGuard(given));
      return Object.keys(services).join(', ');
    });
    for (const name of names) {
      await check(`compose-go asks for ${name}`, () =>
        refused(() => readGuard({ ...given, [name]: '' }), new RegExp(name)),
      );
    }
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
  workflow: async () => {
    const text = readFileSync(path.join(ROOT, '.github/workflows/release.yml'), 'utf8');
    const cwd = path.join(ROOT, 'test/deploy/workflow');
    const read = (input) => run('go', ['tool', 'actionlint', '-no-color', '-'], { input, cwd });
    await check('actionlint reads the workflow of releases', () => read(text).trim());
    const tests = readFileSync(path.join(ROOT, '.github/workflows/test.yml'), 'utf8');
    await check('actionlint reads the workflow of tests', () => read(tests).trim());
    await check('actionlint refuses an unknown key', () =>
      refused(() => read(text.replace('runs-on:', 'run-on:')), /"run-on"/),
    );
    await check('the workflow has a runner for each platform that an addon is released for', () => {
      const [{ jobs }] = objects(text);
      const platforms = jobs.package.strategy.matrix.include.map(({ platform }) => platform);
      const missing = PREBUILT_PLATFORMS.filter((platform) => !platforms.includes(platform));
      if (missing.length > 0) throw new Error(`none for ${missing.join(', ')}`);
      return platforms.join(', ');
    });
    await check('both build with the versions of the Dockerfile', () => {
      const dockerfile = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');
      const named = /_IMAGE=(node|rust):([\d.]+)-/g;
      const versions = [...dockerfile.matchAll(named)].map(([, name, version]) => [name, version]);
      for (const [name, version] of versions) {
        const line = name === 'node' ? `node-version: ${version}\n` : `rust:${version}-`;
        for (const workflow of [text, tests]) {
          if (!workflow.includes(line)) throw new Error(`one has no "${line.trim()}"`);
        }
      }
      return versions.map((pair) => pair.join(' ')).join(', ');
    });
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
const usual = Object.keys(PARTS).filter((part) => part !== 'cluster');
for (const part of asked.length > 0 ? asked : usual) await PARTS[part]();
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;
