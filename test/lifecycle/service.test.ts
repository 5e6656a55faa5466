import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { startHolding } from '../helpers/holding';
import { type Address, analyze, request } from '../helpers/http';
import { untilQueued } from '../helpers/metrics';
import { killAll, NodeProcess, ROOT, startService, textModel } from '../helpers/service';
import { times } from '../helpers/times';

const SCRIPTS = path.join(__dirname, 'scripts');
const MODEL = textModel('bert-single-label');
const PRELOAD_THROW = ['--require', path.join(SCRIPTS, 'preload-throw.cjs')];

afterAll(killAll);

/** Keeps eight requests under way until they fail; resolves with the statuses that came. */
async function load(service: Address): Promise<readonly number[]> {
  const statuses: number[] = [];
  const one = async (): Promise<void> => {
    for (;;) statuses.push((await analyze(service, 'good film')).status);
  };
  await Promise.all(Array.from({ length: 8 }, () => one().catch(() => undefined)));
  return statuses;
}

describe('a service that is told to stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('by %s while idle ends with 0', async (signal) => {
    const service = await startService('sentiment', { env: MODEL });
    service.kill(signal);
    expect(await service.exit).toEqual({ code: 0, signal: null });
    expect(service.logs.map(({ msg }) => msg)).toEqual([
      'model loaded',
      'listening',
      'stopping',
      'stopped',
    ]);
    expect(service.stderr).toBe('');
  });

  it('under load answers 200 or 503 to the last and ends with 0', async () => {
    const service = await startService('sentiment', { env: MODEL });
    const statuses = load(service);
    await service.waitForLog(({ status }) => status === 200);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(new Set(await statuses)).toContain(200);
    expect((await statuses).filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(service.stderr).toBe('');
  });

  it('while it loads its model ends with 0', async () => {
    const service = new NodeProcess({
      nodeArgs: ['--require', path.join(SCRIPTS, 'preload-stop-early.cjs')],
      args: ['sentiment'],
      env: { ...MODEL, HOST: '127.0.0.1', PORT: '0' },
    });
    expect(await service.exit).toEqual({ code: 0, signal: null });
    expect(service.logs.map(({ msg }) => msg)).toContain('stopping');
    expect(service.logs.at(-1)?.msg).toBe('stopped');
  });

  it('serves on, and ends with 0, when nobody reads its log any more', async () => {
    const service = await startService('sentiment', { env: MODEL });
    service.child.stdout?.destroy();
    for (let i = 0; i < 50; i++) {
      expect((await analyze(service, 'good')).status).toBe(200);
    }
    service.kill('SIGTERM');
    expect(await service.exit).toEqual({ code: 0, signal: null });
    expect(service.stderr).toBe('');
  });

  // [what the reader does with a pipe that is full]: the write that waits for it fails, or goes on waiting.
  it.each(['goes', 'stays'])(
    'ends with 0 when the reader of its log falls behind and %s',
    async (then) => {
      const service = await startService('sentiment', { env: { ...MODEL, LOG_LEVEL: 'debug' } });
      service.child.stdout?.pause();
      const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
      // About 1 MB of log lines.
      await times(4000, () => request(service, { path: '/health', agent }));
      agent.destroy();
      if (then === 'goes') service.child.stdout?.destroy();
      service.kill('SIGTERM');
      const exit = new Promise((resolve) => {
        service.child.once('exit', (code, signal) => resolve({ code, signal }));
      });
      expect(await exit).toEqual({ code: 0, signal: null });
      service.child.stdout?.resume();
    },
  );

  // What keeps these two is a request that waits a minute for company.
  const HELD = { ...MODEL, MAX_QUEUE_DELAY_MS: '60000', MAX_QUEUE_REQUESTS: '1' };

  it('twice ends by force, with 128 + the signal', async () => {
    const service = await startService('sentiment', { env: HELD });
    const held = analyze(service, 'good');
    held.catch(() => undefined);
    await untilQueued(service, 1);
    await service.beginStop('SIGINT');
    expect(await service.insist('SIGINT')).toEqual({ code: 130, signal: null });
    await expect(held).rejects.toThrow();
    expect(service.logs.at(-1)).toMatchObject({
      level: 'fatal',
      msg: 'forced exit: second signal, SIGINT',
    });
  });

  it('twice during SHUTDOWN_DELAY_MS ends by force, too', async () => {
    const service = await startService('sentiment', {
      env: { ...MODEL, SHUTDOWN_DELAY_MS: '600000', SHUTDOWN_TIMEOUT_MS: '1200000' },
    });
    await service.beginStop();
    expect(await service.insist('SIGTERM')).toEqual({ code: 143, signal: null });
  });

  it('by one signal that comes twice, as from npm, still answers what it has', async () => {
    const service = await startHolding(2000, {});
    const held = analyze(service, 'good');
    await untilQueued(service, 1);
    service.kill('SIGTERM');
    service.kill('SIGINT');
    expect((await held).status).toBe(200);
    expect(await service.exit).toEqual({ code: 0, signal: null });
  });

  it('for longer than SHUTDOWN_TIMEOUT_MS ends by force, with 1', async () => {
    const service = await startService('sentiment', {
      env: { ...HELD, SHUTDOWN_TIMEOUT_MS: '100' },
    });
    const held = analyze(service, 'good');
    held.catch(() => undefined);
    await untilQueued(service, 1);
    expect(await service.stop()).toEqual({ code: 1, signal: null });
    await expect(held).rejects.toThrow();
    expect(service.logs.at(-1)).toMatchObject({
      level: 'fatal',
      msg: 'forced exit: not stopped within 100 ms (SHUTDOWN_TIMEOUT_MS)',
    });
  });
});

describe('a service with an error that nobody caught', () => {
  it.each([
    ['SIGUSR2', 'thrown by the test'],
    ['SIGHUP', 'rejected by the test'],
  ] as const)(
    '(%s) logs it once, answers what it has, and ends with 1',
    async (signal, message) => {
      const service = await startService('sentiment', { env: MODEL, nodeArgs: PRELOAD_THROW });
      const statuses = load(service);
      await service.waitForLog(({ status }) => status === 200);
      service.kill(signal);
      expect(await service.exit).toEqual({ code: 1, signal: null });
      const fatal = service.logs.filter(({ level }) => level === 'fatal');
      expect(fatal).toEqual([
        expect.objectContaining({
          msg: 'uncaught error',
          err: expect.objectContaining({ message }),
        }),
      ]);
      expect((await statuses).filter((status) => status !== 200 && status !== 503)).toEqual([]);
      expect(service.logs.at(-1)?.msg).toBe('stopped');
    },
  );
});

describe('a service that cannot start', () => {
  const run = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
    const service = new NodeProcess({ args, env: { HOST: '127.0.0.1', ...env } });
    return { ...(await service.exit), stderr: service.stderr };
  };

  it.each([
    ['exit', 5, /^$/],
    ['throw', 1, /thrown by the test/],
  ] as const)('while LibTorch is being opened ends in order, by %s', async (way, code, stderr) => {
    const service = new NodeProcess({
      nodeArgs: ['--require', path.join(SCRIPTS, 'preload-end-early.cjs')],
      args: ['sentiment'],
      env: { ...MODEL, END_BY: way },
    });
    expect(await service.exit).toEqual({ code, signal: null });
    expect(service.stderr).toMatch(stderr);
  });

  it('because its port is in use says so and ends with 1', async () => {
    const other = net.createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as net.AddressInfo;
    expect(await run(['sentiment'], { ...MODEL, PORT: String(port) })).toEqual({
      code: 1,
      signal: null,
      stderr: `libtorch-serve: PORT: ${port} is in use on 127.0.0.1\n`,
    });
    await new Promise((resolve) => other.close(resolve));
  });

  it('because its host is no address of this machine says so and ends with 1', async () => {
    expect(await run(['sentiment'], { ...MODEL, HOST: '192.0.2.1', PORT: '0' })).toEqual({
      code: 1,
      signal: null,
      stderr: 'libtorch-serve: HOST: "192.0.2.1" is not an address of this machine\n',
    });
  });

  it('because of settings lists all that is wrong and ends with 2', async () => {
    expect(await run(['sentiment', '--colour=red'], { PORT: 'abc', WORKERS: '-1' })).toEqual({
      code: 2,
      signal: null,
      stderr:
        'libtorch-serve: --colour: unknown setting; see --help\n' +
        'libtorch-serve: PORT: expected an integer from 0 to 65535, received "abc"\n' +
        'libtorch-serve: WORKERS: expected an integer from 1 to 1024, received "-1"\n',
    });
  });
});

describe('the command line', () => {
  it('knows --help and --version', async () => {
    const help = new NodeProcess({ args: ['--help'] });
    expect(await help.exit).toEqual({ code: 0, signal: null });
    expect(help.stdout).toMatch(/^Usage: libtorch-serve COMMAND/);
    const version = new NodeProcess({ args: ['--version'] });
    await version.exit;
    const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    expect(version.stdout).toBe(`${manifest.version}\n`);
  });

  it('warns about more threads than cores, and serves', async () => {
    const service = await startService('sentiment', { env: { ...MODEL, WORKERS: '1000' } });
    expect(service.logs[0]).toMatchObject({ level: 'warn' });
    expect((await request(service, { path: '/health' })).status).toBe(200);
    await service.stop();
  });
});
