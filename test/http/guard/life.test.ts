/** The guard while its service runs: reloading of its file, metrics, and what is not logged. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Folder } from '../../helpers/files';
import { post, request } from '../../helpers/http';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import type { Service } from '../../helpers/service';
import { until } from '../../helpers/until';

const EMAIL = 'ann.lee@example.org';

const elsewhere = new Folder();

afterAll(async () => {
  await removeDirectories();
  elsewhere.remove();
});

const fileOf = (kinds: readonly string[], more: object = {}) =>
  JSON.stringify({
    checks: [{ type: 'patterns', name: 'data', action: 'redact', kinds }],
    ...more,
  });

async function guarded(service: Service, text: string): Promise<string> {
  const { status, json } = await post(service, '/guard', { text });
  if (status !== 200) return `${status} ${(json as { detail: string }).detail}`;
  return (json as { texts: string[] }).texts[0] as string;
}

it('a bad file is said and stops nothing else; SIGHUP reads it again, and a bad one leaves what was', async () => {
  const directory = newDirectory();
  directory.text('first', 'bert-single-label');
  directory.write('guard.json', '{"checks": [{"type": "patterns", "name": "data"}]}');
  const service = await directory.start();
  const problem =
    'guard.json: checks.0.action: Invalid option: expected one of "block"|"redact"|"flag"';
  expect(await guarded(service, EMAIL)).toBe(`500 The guard is not loaded: ${problem}`);
  expect((await post(service, '/models/first/analyze', { text: 'a' })).status).toBe(200);
  expect(service.logs).toContainEqual(
    expect.objectContaining({ level: 'error', msg: `The guard is not loaded: ${problem}` }),
  );
  const metric = async () => (await request(service, { path: '/metrics' })).text;
  expect(await metric()).toContain('libtorch_serve_guard_loaded 0');
  directory.write('guard.json', fileOf(['email']));
  service.child.kill('SIGHUP');
  await until('it redacts', async () => (await guarded(service, EMAIL)) === '<EMAIL_1>');
  expect(await metric()).toContain('libtorch_serve_guard_loaded 1');
  directory.write('guard.json', 'no JSON');
  service.child.kill('SIGHUP');
  await service.waitForLog(({ msg }) => msg.includes('guard.json: is not JSON'));
  expect(await guarded(service, EMAIL)).toBe('<EMAIL_1>');
  directory.remove('guard.json');
  service.child.kill('SIGHUP');
  await until('it is gone', async () => (await guarded(service, EMAIL)).startsWith('404'));
});

it('GUARD_FILE may lie elsewhere, and MODELS_WATCH reads it when it changes', async () => {
  const directory = newDirectory();
  directory.text('first', 'bert-single-label');
  directory.write('guard.json', fileOf(['card']));
  const file = path.join(elsewhere.path, 'other.json');
  writeFileSync(file, fileOf(['iban']));
  const service = await directory.start({ env: { GUARD_FILE: file, MODELS_WATCH: 'true' } });
  expect(await guarded(service, EMAIL)).toBe(EMAIL);
  writeFileSync(file, fileOf(['email']));
  await until('it redacts', async () => (await guarded(service, EMAIL)) === '<EMAIL_1>');
});

it('where there is none, there is no such path', async () => {
  const directory = newDirectory();
  directory.text('first', 'bert-single-label');
  expect(await guarded(await directory.start(), EMAIL)).toMatch(/^404 /);
});

it('counts responses, and neither log nor metrics hold anything of a text', async () => {
  const directory = newDirectory();
  directory.text('first', 'bert-single-label');
  const checks = [
    { type: 'patterns', name: 'data', action: 'redact', kinds: ['email'] },
    {
      type: 'text-classification',
      name: 'gone',
      model: 'nobody',
      action: 'flag',
      labels: { LABEL_0: 0.5 },
      on_error: 'allow',
    },
  ];
  directory.write('guard.json', JSON.stringify({ checks }));
  const service = await directory.start({ env: { LOG_LEVEL: 'trace' } });
  const secret = 'Zanzibarquux';
  const hidden = `${secret} ${EMAIL} ${Buffer.from(`${secret} again and again`).toString('base64')}`;
  const ids = Array.from({ length: 24 }, (_, i) => `guard-${i}`);
  const answers = await Promise.all(
    ids.map((id) =>
      request(service, {
        method: 'POST',
        path: '/guard',
        body: JSON.stringify({ text: hidden, map: true }),
        headers: { 'content-type': 'application/json', 'x-request-id': id, connection: 'close' },
      }),
    ),
  );
  for (const { status, json } of answers) {
    expect(status).toBe(200);
    expect(json).toMatchObject({ action: 'redact', map: { '<EMAIL_1>': EMAIL } });
  }
  const lines = await Promise.all(ids.map((id) => service.lineOf(id)));
  expect(lines).toHaveLength(ids.length);
  const { text: metrics } = await request(service, { path: '/metrics' });
  expect(metrics).toContain('libtorch_serve_guard_responses_total{action="redact"} 24');
  expect(metrics).toContain('libtorch_serve_guard_checks_total{check="data",outcome="found"} 24');
  expect(metrics).toContain('libtorch_serve_guard_checks_total{check="gone",outcome="failed"} 24');
  for (const written of [metrics, service.stdout, service.stderr]) {
    expect(written).not.toMatch(/Zanzibar|ann\.lee|WmFuemliYXI/i);
  }
});
