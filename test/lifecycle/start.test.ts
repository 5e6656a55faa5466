import net from 'node:net';
import path from 'node:path';
import { Folder } from '../helpers/files';
import { killAll, NodeProcess, ROOT, textModel } from '../helpers/service';

const START = path.join(ROOT, 'scripts', 'start.mjs');

afterAll(killAll);

function start(env: Readonly<Record<string, string>>, args: readonly string[] = []): NodeProcess {
  const settings = { ...textModel('bert-single-label'), HOST: '127.0.0.1', ...env };
  return new NodeProcess({ script: START, args, env: settings });
}

function services(started: NodeProcess, message: string): readonly unknown[] {
  return started.logs
    .filter(({ msg }) => msg === message)
    .map(({ service }) => service)
    .sort();
}

describe('scripts/start.mjs', () => {
  it('serves both, and one Ctrl-C that npm passes on once more ends both with 0', async () => {
    const started = start({ PORT: '0' });
    await started.waitForLog(() => services(started, 'listening').length === 2);
    expect(services(started, 'listening')).toEqual(['eeg', 'sentiment']);
    started.kill('SIGINT');
    started.kill('SIGINT');
    expect(await started.exit).toEqual({ code: 0, signal: null });
    expect(services(started, 'stopped')).toEqual(['eeg', 'sentiment']);
  });

  it('serves one, with its flags', async () => {
    const started = start({ PORT: '1' }, ['sentiment', '--port', '0', '--log-level=debug']);
    await started.waitForLog(({ msg }) => msg === 'listening');
    expect(await started.stop()).toEqual({ code: 0, signal: null });
    expect(services(started, 'stopped')).toEqual(['sentiment']);
  });

  it('looks for files where it was started', async () => {
    const folder = new Folder();
    folder.put('keys', 'a-key-of-the-test\n');
    const env = {
      ...textModel('bert-single-label'),
      HOST: '127.0.0.1',
      PORT: '0',
      API_KEYS_FILE: 'keys',
    };
    const started = new NodeProcess({ script: START, env, cwd: folder.path });
    await started.waitForLog(() => services(started, 'listening').length === 2);
    const listening = started.logs.filter(({ msg }) => msg === 'listening');
    for (const line of listening) {
      expect(line).toMatchObject({ modelLoaded: true, access: { keys: 1 } });
    }
    await started.stop();
    folder.remove();
  });

  it('ends, with its exit code, when one of them cannot start', async () => {
    const other = net.createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as net.AddressInfo;
    const started = start({ PORT: String(port) });
    expect(await started.exit).toEqual({ code: 1, signal: null });
    expect(started.stderr).toContain(`PORT: ${port} is in use`);
    await new Promise((resolve) => other.close(resolve));
  });
});
