import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DEPLOY, SHUTDOWN_S, unknownSettings } from '../helpers/deployed';
import { Folder } from '../helpers/files';
import { post, request } from '../helpers/http';
import { needs } from '../helpers/needs';
import { killAll, MAIN, NodeProcess, ROOT, startService } from '../helpers/service';
import { SERVICE_CASES } from '../helpers/services';
import { until } from '../helpers/until';

const UNIT = path.join(DEPLOY, 'systemd', 'libtorch-serve@.service');
const text = readFileSync(UNIT, 'utf8');

const { it: itWithSystemd } = needs('systemd');
const { it: itWithBoth } = needs('strace', 'systemd');

const folder = new Folder();

afterAll(async () => {
  await killAll();
  folder.remove();
});

/** All that the unit says of a key, words in their order. */
function setting(key: string): readonly string[] {
  const lines = [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))];
  return lines.flatMap(([, words = '']) => words.split(' ')).filter(Boolean);
}

function analyze(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

/** The groups of system calls, and what is in each, other groups resolved. */
function systemCalls(group: string): ReadonlySet<string> {
  const lines = analyze('--no-pager', 'syscall-filter', group).split('\n').slice(1);
  const words = lines.map((line) => line.trim()).filter((line) => line && !line.startsWith('#'));
  return new Set(words.flatMap((word) => (word.startsWith('@') ? [...systemCalls(word)] : [word])));
}

/** Of SystemCallFilter: the first line allows, one that begins with ~ takes away. */
function allowedCalls(): ReadonlySet<string> {
  const allowed = new Set<string>();
  for (const [, no, names = ''] of text.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    const calls = names.split(' ').flatMap((name) => [...systemCalls(name)]);
    for (const call of calls) no ? allowed.delete(call) : allowed.add(call);
  }
  return allowed;
}

/** What a service asked of the kernel from its start to its end, with answers given between. */
async function traceOf(which: (typeof SERVICE_CASES)[number]): Promise<string> {
  const file = path.join(folder.path, `${which.name}.trace`);
  // -D: strace is beside the service and not above it, so that signals come to the service.
  const options = ['-D', '-f', '-q', '-o', file, process.execPath];
  const service = await startService(which.name, {
    ...which.options,
    program: 'strace',
    nodeArgs: options,
  });
  expect((await post(service, which.path, which.body)).status).toBe(200);
  expect((await request(service, { path: '/metrics' })).status).toBe(200);
  expect((await service.stop()).code).toBe(0);
  const ended = new RegExp(`^${service.child.pid} +\\+\\+\\+ exited with 0`, 'm');
  return until('the end of the trace', () => {
    const trace = readFileSync(file, 'utf8');
    return ended.test(trace) && trace;
  });
}

itWithSystemd('systemd takes the unit as it is', () => {
  const script = '/opt/libtorch-serve/node_modules/libtorch-serve/dist/main.js';
  expect(text).toContain(`ExecStart=/usr/bin/node ${script} $SERVICE\n`);
  const here = text.replace(`/usr/bin/node ${script}`, `${process.execPath} ${MAIN}`);
  const unit = folder.put('libtorch-serve@.service', here, 0o644);
  expect(analyze('verify', '--man=no', unit)).toBe('');
});

itWithSystemd('its exposure is what it says', () => {
  const report = analyze('--no-pager', 'security', '--offline=true', UNIT);
  const [, exposure] = /Overall exposure level for \S+: (\d+\.\d)/.exec(report) ?? [];
  const stated = /`systemd-analyze security` rates this unit (\d+\.\d)/;
  expect(exposure).toBe(stated.exec(text)?.[1]);
  expect(Number(exposure)).toBeLessThan(2);
  const page = readFileSync(path.join(ROOT, 'docs/guides/deploy-systemd.md'), 'utf8');
  expect(page).toContain(`\`systemd-analyze security\` rates it ${exposure} of 10`);
});

itWithBoth.each(SERVICE_CASES)('it allows what $name asks of the kernel', async (which) => {
  const trace = await traceOf(which);
  const calls = new Set([...trace.matchAll(/^\d+ +(\w+)\(/gm)].map(([, call = '']) => call));
  const allowed = allowedCalls();
  expect(calls.size).toBeGreaterThan(40);
  expect(allowed.has('mount')).toBe(false);
  expect([...calls].filter((call) => !allowed.has(call))).toEqual([]);

  const families = new Set([...trace.matchAll(/ socket\((AF_\w+)/g)].map(([, name = '']) => name));
  expect(families.size).toBeGreaterThan(0);
  const allowedFamilies = setting('RestrictAddressFamilies');
  expect([...families].filter((family) => !allowedFamilies.includes(family))).toEqual([]);
});

it('has files of settings that are settings, of replicas that nginx asks', () => {
  const folderOf = path.dirname(UNIT);
  const files = readdirSync(folderOf).filter((name) => name.endsWith('.env'));
  expect(files.sort()).toEqual(['eeg.env', 'models.env', 'sentiment-a.env', 'sentiment-b.env']);
  const given = files.map((file) => {
    const lines = readFileSync(path.join(folderOf, file), 'utf8').matchAll(/^(\w+)=(.*)$/gm);
    return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
  });
  for (const { SERVICE, ...settings } of given) {
    expect(['eeg', 'models', 'sentiment']).toContain(SERVICE);
    expect(unknownSettings(Object.keys(settings))).toEqual([]);
  }
  const conf = readFileSync(path.join(DEPLOY, 'nginx', 'libtorch-serve.conf'), 'utf8');
  const upstream = [...conf.matchAll(/^ +server 127\.0\.0\.1:(\d+) /gm)].map(([, port]) => port);
  const replicas = given.filter(({ SERVICE }) => SERVICE === 'sentiment');
  expect(replicas.map(({ PORT }) => PORT)).toEqual(upstream);
});

it('does not start a service again whose settings are wrong, and waits for one that drains', async () => {
  const wrong = new NodeProcess({ args: ['sentiment'], env: { PORT: 'none' } });
  const { code } = await wrong.exit;
  expect(setting('RestartPreventExitStatus')).toEqual([String(code)]);
  const [seconds] = setting('TimeoutStopSec').map(Number);
  expect(seconds).toBeGreaterThan(SHUTDOWN_S);
});
