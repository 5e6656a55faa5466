/** How LibTorch is fetched, from an index on the loopback and in wheels that hold next to nothing. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeWheel, PackageIndex, pinOf, startProxy, type Wheel } from '../helpers/package-index';
import { ROOT } from '../helpers/service';
import { until } from '../helpers/until';

const NAME = `${process.platform}-${process.arch}`;
const LIBRARIES = ['libtorch_cpu.so', 'libc10.so'];
const LOCK = JSON.parse(
  readFileSync(path.join(ROOT, 'scripts/libtorch/libtorch.json'), 'utf8'),
) as {
  readonly version: string;
};
const HEADER = ['MAJOR', 'MINOR', 'PATCH']
  .map((part, index) => `#define TORCH_VERSION_${part} ${LOCK.version.split('.')[index]}\n`)
  .join('');

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let temporary: string;
let index: PackageIndex;
let torch: Wheel;
let runtime: Wheel;

const cache = () => path.join(temporary, 'cache', 'libtorch-serve');
const folder = () => path.join(cache(), `libtorch-${LOCK.version}-${NAME}`);

/** Of 300 kB, so that there is something to break off. */
function torchFiles(): Readonly<Record<string, string | Buffer>> {
  const noise = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i * 31) >> 7));
  return {
    'torch/include/torch/headeronly/version.h': HEADER,
    'torch/include/ATen/core/Tensor.h': '#pragma once\n',
    [`torch/lib/${LIBRARIES[0]}`]: noise,
    'torch/lib/libtorch_python.so': 'not needed',
  };
}

/** The scripts as they are, with another lock file. */
function install(wheels: readonly Wheel[]): void {
  const scripts = path.join(temporary, 'libtorch');
  cpSync(path.join(ROOT, 'scripts/libtorch'), scripts, { recursive: true });
  const platforms = { [NAME]: { libraries: LIBRARIES, wheels: wheels.map(pinOf) } };
  writeFileSync(
    path.join(scripts, 'libtorch.json'),
    JSON.stringify({ version: LOCK.version, platforms }),
  );
  if (!existsSync(path.join(temporary, 'node_modules')))
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(temporary, 'node_modules'));
}

beforeAll(async () => {
  torch = await makeWheel('torch', torchFiles());
  runtime = await makeWheel('small-runtime', { [`small/lib/${LIBRARIES[1]}`]: 'not libc10' });
});

beforeEach(async () => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'libtorch-'));
  index = new PackageIndex([torch, runtime]);
  await index.listen();
  install([torch, runtime]);
});
afterEach(() => {
  index.close();
  rmSync(temporary, { recursive: true });
});

/** The settings of nobody but the test. */
function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    PATH: temporary,
    HOME: temporary,
    XDG_CACHE_HOME: path.join(temporary, 'cache'),
    PIP_CONFIG_FILE: os.devNull,
    PIP_INDEX_URL: index.address,
    ...env,
  };
}

function start(env: NodeJS.ProcessEnv = {}) {
  const script = path.join(temporary, 'libtorch', 'resolve.mjs');
  return spawn(process.execPath, [script], { env: environment(env) });
}

async function fetchIt(env: NodeJS.ProcessEnv = {}): Promise<Result> {
  return resultOf(start(env));
}

/** As scripts/build-native.mjs, which compiles with it, and not always for this machine. */
async function fetchWanted(wanted: object, env: NodeJS.ProcessEnv = {}): Promise<Result> {
  const script = JSON.stringify(path.join(temporary, 'libtorch', 'resolve.mjs'));
  const code = `const { resolveLibtorch } = await import(${script});
    console.log(await resolveLibtorch(${JSON.stringify(wanted)}));`;
  const args = ['--input-type=module', '-e', code];
  return resultOf(spawn(process.execPath, args, { env: environment(env) }));
}

const headers = () =>
  readdirSync(path.join(folder(), 'include'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.h'))
    .sort();

async function resultOf(child: ChildProcessWithoutNullStreams): Promise<Result> {
  const text = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      text[stream] += chunk;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...text };
}

/** Of what is there of the first wheel. */
const sizeOfPart = () =>
  statSync(path.join(`${folder()}.partial`, torch.file), { throwIfNoEntry: false })?.size;

const complete = (result: Result) => {
  expect(result).toMatchObject({ code: 0, stdout: `${folder()}\n` });
  expect(readFileSync(path.join(folder(), 'lib', LIBRARIES[0] ?? ''))).toEqual(
    torchFiles()[`torch/lib/${LIBRARIES[0]}`],
  );
  expect(readdirSync(cache())).toEqual([path.basename(folder())]);
};

describe('LibTorch', () => {
  it('is the libraries that are needed, the licences, and of the headers the version', async () => {
    const result = await fetchIt();
    complete(result);
    expect(readdirSync(folder()).sort()).toEqual(['include', 'lib', 'licenses']);
    expect(readdirSync(path.join(folder(), 'lib')).sort()).toEqual([...LIBRARIES].sort());
    expect(headers()).toEqual(['torch/headeronly/version.h']);
    const licence = path.join(folder(), 'licenses', 'torch-1.0.0', 'licenses', 'LICENSE');
    expect(readFileSync(licence, 'utf8')).toBe('The licence of torch.\n');
    expect(result.stderr).toMatch(/^LibTorch: 0 of 1 MB \(100 %\)$/m);
  });

  it('is fetched once', async () => {
    complete(await fetchIt());
    const { length } = index.asked;
    complete(await fetchIt());
    expect(index.asked).toHaveLength(length);
  });

  it('is fetched with its headers where it is compiled with, and again if they are not there', async () => {
    complete(await fetchIt());
    const again = await fetchWanted({ withHeaders: true });
    complete(again);
    expect(again.stderr).toContain('fetching it again: include/ATen/core/Tensor.h is not there');
    expect(headers()).toEqual(['ATen/core/Tensor.h', 'torch/headeronly/version.h']);
    const { length } = index.asked;
    complete(await fetchWanted({ withHeaders: true }));
    complete(await fetchIt());
    expect(index.asked).toHaveLength(length);
  });

  it('is fetched for another platform, too, which LIBTORCH says nothing about', async () => {
    const other = 'linux-of-others';
    const lock = path.join(temporary, 'libtorch', 'libtorch.json');
    const { version, platforms } = JSON.parse(readFileSync(lock, 'utf8')) as {
      readonly version: string;
      readonly platforms: Readonly<Record<string, object>>;
    };
    const entries = { ...platforms, [other]: platforms[NAME] };
    writeFileSync(lock, JSON.stringify({ version, platforms: entries }));
    const place = path.join(cache(), `libtorch-${version}-${other}`);
    const { code, stdout } = await fetchWanted({ platform: other }, { LIBTORCH: temporary });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${place}\n` });
    expect(readdirSync(path.join(place, 'lib')).sort()).toEqual([...LIBRARIES].sort());
    expect(readdirSync(cache())).toEqual([path.basename(place)]);
  });

  it('is fetched by one of two processes that want it at the same time', async () => {
    let isWaiting = false;
    index.breaks = [100_000];
    index.beforeBreak = async (sent) => {
      await until(
        `${sent} bytes on disk and a second process that waits`,
        () => sizeOfPart() === sent && isWaiting,
      );
    };
    const first = fetchIt();
    await until('a file to be asked for', () => index.filesAsked.length > 0);
    const child = start();
    child.stderr.on('data', (chunk: string) => {
      isWaiting ||= chunk.includes('another process is fetching it; waiting');
    });
    complete(await resultOf(child));
    complete(await first);
    const ranges = index.filesAsked.map(({ range }) => range);
    expect(ranges).toEqual([undefined, 'bytes=100000-', undefined]); // each wheel once
  });

  it('is read from zip files of the large form', async () => {
    index.close();
    torch = await makeWheel('torch', torchFiles(), { zip64: true });
    index = new PackageIndex([torch, runtime]);
    await index.listen();
    install([torch, runtime]);
    complete(await fetchIt());
  });
});

describe('a file that is not the pinned one', () => {
  it('is refused when one byte is another, and nothing of it stays', async () => {
    torch.bytes[1000] = (torch.bytes[1000] ?? 0) ^ 1;
    index.saidHash = null;
    const { code, stderr } = await fetchIt();
    torch.bytes[1000] = (torch.bytes[1000] ?? 0) ^ 1;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /torch-1\.0\.0-py3-none-any\.whl is not the pinned one: its SHA-256 is \w{64}, expected \w{64}/,
    );
    expect(stderr).toContain(`or set LIBTORCH to an unpacked LibTorch ${LOCK.version}`);
    expect(existsSync(folder())).toBe(false);
    expect(readdirSync(`${folder()}.partial`)).toEqual([]);
  });

  it('is not even fetched when the index says another hash', async () => {
    index.saidHash = '0'.repeat(64);
    const { code, stderr } = await fetchIt();
    expect(code).toBe(1);
    expect(stderr).toMatch(/has a torch-1\.0\.0-py3-none-any\.whl that is not the pinned one/);
    expect(index.filesAsked).toEqual([]);
  });

  it('is refused by the lock file as it is committed', async () => {
    cpSync(path.join(ROOT, 'scripts/libtorch'), path.join(temporary, 'libtorch'), {
      recursive: true,
    });
    const { code, stderr } = await fetchIt();
    expect(code).toBe(1);
    expect(stderr).toMatch(/torch\/ has no torch-[\d.]+-\S+\.whl/);
  });

  it('cannot put anything beside its folder', async () => {
    index.close();
    const bytes = Buffer.from(
      torch.bytes
        .toString('latin1')
        .replaceAll('torch/include/torch/headeronly', 'torch/include/../../../../../x'),
      'latin1',
    );
    const bad = { ...torch, bytes };
    index = new PackageIndex([bad, runtime]);
    await index.listen();
    install([bad, runtime]);
    const { code, stderr } = await fetchIt();
    expect(code).toBe(1);
    expect(stderr).toMatch(/invalid relative path: torch\/include\/\.\./);
    expect(existsSync(folder())).toBe(false);
  });
});

describe('a download that breaks off', () => {
  it('is taken up where it ended', async () => {
    index.breaks = [100_000, 100_000];
    index.beforeBreak = async (sent) => {
      await until(`${sent} bytes on disk`, () => sizeOfPart() === sent);
    };
    const result = await fetchIt();
    complete(result);
    expect(result.stderr).toMatch(/the download broke off \(.+\); going on/);
    const ranges = index.filesAsked.map(({ range }) => range);
    expect(ranges).toEqual([undefined, 'bytes=100000-', 'bytes=200000-', undefined]);
  });

  it('is taken up by the next process, when the first was killed', async () => {
    index.breaks = [100_000];
    index.hangs = true;
    const child = start();
    await until('100,000 bytes on disk', () => sizeOfPart() === 100_000);
    child.kill('SIGKILL');
    await once(child, 'close');
    complete(await fetchIt());
    expect(index.filesAsked[1]).toMatchObject({ path: '/files/torch', range: 'bytes=100000-' });
  });

  it('is begun anew by a server that has no parts', async () => {
    index.breaks = [100_000];
    index.takesRanges = false;
    complete(await fetchIt());
  });

  it('is given up when nothing comes any more', async () => {
    index.breaks = Array.from({ length: 9 }, () => 0);
    const { code, stderr } = await fetchIt();
    expect(code).toBe(1);
    expect(stderr).toMatch(/LibTorch could not be fetched: http:\S+\/files\/torch: /);
    expect(index.filesAsked).toHaveLength(5);
  }, 60_000);
});

describe('the index', () => {
  const conf = (text: string) => {
    const file = path.join(temporary, 'pip.conf');
    writeFileSync(file, text);
    return { PIP_CONFIG_FILE: file, PIP_INDEX_URL: '' };
  };

  it('may answer with a page', async () => {
    index.asPage = true;
    complete(await fetchIt());
  });

  it.each<[string, () => NodeJS.ProcessEnv]>([
    ['pip.conf', () => conf(`# ours\n[global]\nindex-url = ${index.address}/\n`)],
    [
      'pip.conf, beside another one',
      () =>
        conf(
          `[global]\nindex-url = ${index.address}-of-none\n[download]\nextra_index_url =\n  ${index.address}\n`,
        ),
    ],
    [
      'the variable of uv',
      () => ({ PIP_INDEX_URL: '', UV_DEFAULT_INDEX: `ours=${index.address}` }),
    ],
    [
      'the package, as it was released',
      () => {
        writeFileSync(path.join(temporary, 'libtorch', 'default-index.txt'), `${index.address}\n`);
        return { PIP_INDEX_URL: '' };
      },
    ],
  ])('is that of %s', async (_where, set) => {
    complete(await fetchIt(set()));
  });

  it('must be named where nobody knows one', async () => {
    const { code, stderr } = await fetchIt({ PIP_INDEX_URL: '' });
    expect(code).toBe(1);
    expect(stderr).toContain('no Python package index is known: name one in PIP_INDEX_URL');
  });

  it('gets a user and a password, which nobody else sees', async () => {
    const PIP_INDEX_URL = index.address.replace('//', '//me:se%20cret@');
    const result = await fetchIt({ PIP_INDEX_URL });
    complete(result);
    const basic = `Basic ${Buffer.from('me:se cret').toString('base64')}`;
    expect(new Set(index.asked.map(({ authorization }) => authorization))).toEqual(
      new Set([basic]),
    );
    index.close();
    rmSync(folder(), { recursive: true });
    const { stderr } = await fetchIt({ PIP_INDEX_URL });
    expect(stderr).toMatch(/http:\/\/127\.0\.0\.1:\d+\/simple\/torch\/: .*ECONNREFUSED/);
    expect(result.stderr + stderr).not.toMatch(/se.*cret@|me:/);
  });

  it('is asked through a proxy, unless NO_PROXY has it', async () => {
    const proxy = await startProxy();
    try {
      const HTTP_PROXY = `http://127.0.0.1:${proxy.port}`;
      complete(await fetchIt({ HTTP_PROXY }));
      expect(new Set(proxy.asked)).toEqual(new Set([`127.0.0.1:${index.port}`]));
      for (const env of [
        { PIP_PROXY: HTTP_PROXY, NO_PROXY: '127.0.0.1' },
        { npm_config_https_proxy: HTTP_PROXY, npm_config_noproxy: '127.0.0.1' },
      ]) {
        proxy.asked.length = 0;
        rmSync(folder(), { recursive: true });
        complete(await fetchIt(env));
        expect(proxy.asked).toEqual([]);
      }
      rmSync(folder(), { recursive: true });
      complete(await fetchIt({ npm_config_https_proxy: HTTP_PROXY }));
      expect(proxy.asked).not.toEqual([]);
    } finally {
      proxy.close();
    }
  });
});

describe('without a network', () => {
  it('it comes from a folder of wheels', async () => {
    const wheels = path.join(temporary, 'wheels');
    mkdirSync(wheels);
    for (const { file, bytes } of [torch, runtime]) writeFileSync(path.join(wheels, file), bytes);
    complete(await fetchIt({ PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels }));
    expect(index.asked).toEqual([]);
  });

  it('it is the folder that LIBTORCH names, if that is one of the right version', async () => {
    complete(await fetchIt());
    const named = path.join(temporary, 'named');
    cpSync(folder(), named, { recursive: true });
    expect(await fetchIt({ LIBTORCH: named })).toMatchObject({ code: 0, stdout: `${named}\n` });
    const compiled = await fetchWanted({ withHeaders: true }, { LIBTORCH: named });
    expect(compiled.code).toBe(1);
    expect(compiled.stderr).toMatch(
      /LIBTORCH=\S+named: include\/ATen\/core\/Tensor\.h is not there/,
    );
    const header = path.join(named, 'include/torch/headeronly/version.h');
    writeFileSync(header, HEADER.replace(/MAJOR \d+/, 'MAJOR 1'));
    const { code, stderr } = await fetchIt({ LIBTORCH: named });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^libtorch: LIBTORCH=\S+named: this is LibTorch 1\.[\d.]+, expected/);
  });
});

describe('the progress', () => {
  it('is a bar on a terminal', () => {
    const module = JSON.stringify(path.join(ROOT, 'scripts/libtorch/progress.mjs'));
    const code = `const { Progress } = await import(${module});
      const progress = new Progress(2e6, { isTTY: true, write: (text) => process.stdout.write(text) });
      progress.report(1e6);
      progress.report(2e6);`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/\r\S*█{15}░{15} 1 of 2 MB \(50 %\)/);
    expect(stdout).toMatch(/█{30} 2 of 2 MB \(100 %\).*\n$/);
  });
});
