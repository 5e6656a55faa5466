import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { post } from '../helpers/http';
import { killAll, NodeProcess, ROOT, startService } from '../helpers/service';
import { until } from '../helpers/until';

const run = promisify(execFile);
const MEBIBYTE = 1024 ** 2;
const INSTALL_MS = 240_000;
const QUIET = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];

interface Pack {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** What may be in the package, and nothing else. */
const ALLOWED = [
  /^(package\.json|README\.md|LICENSE|CMakeLists\.txt|binding\.gyp)$/,
  /^dist\/(?!pages\/).*\.(js|d\.ts)$/,
  /^dist\/protocols\/(open-inference\/grpc|envoy)\/protos\/[\w/]+\.proto$/,
  /^dist\/pages\/(docs|eeg|embedding|guard|models|reranking|sentiment|tagging|zero-shot)\/[^/]+\.(html|js|css|svg|png|jpg|txt)(\.br|\.gz)?$/,
  /^models\/(eeg|sentiment)\/[^/]+\.(json|md|pt|safetensors)$/,
  /^native\/(?!test\/)(?!.*\btests?\b).*(\.(cc|h|rs|cmake)|CMakeLists\.txt|Cargo\.(toml|lock))$/,
  /^scripts\/(build-native|prerequisites)\.mjs$/,
  /^scripts\/libtorch\/[^/]+\.(mjs|cjs|json)$/,
];

let temporary: string;
let pack: Pack;
/** Of the package as it is installed. */
let installed: string;

function fixture(...names: readonly string[]): string {
  return path.join(ROOT, 'test', 'fixtures', ...names);
}

/** The sources of a folder, as git has them. */
function sources(folder: string): readonly string[] {
  const output = execFileSync('git', ['ls-files', folder], { cwd: ROOT, encoding: 'utf8' });
  return output.split('\n').filter(Boolean);
}

beforeAll(async () => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'package-'));
  const npm = async (...args: readonly string[]) =>
    (await run('npm', args, { cwd: args[0] === 'pack' ? ROOT : temporary, maxBuffer: 2 ** 24 }))
      .stdout;
  // Of the build that is there; by itself npm builds first (prepack).
  const packing = ['--ignore-scripts', '--json', '--pack-destination', temporary];
  [pack] = Object.values(JSON.parse(await npm('pack', ...packing))) as [Pack];
  writeFileSync(path.join(temporary, 'package.json'), '{"private":true}');
  await npm('install', ...QUIET, path.join(temporary, pack.filename));
  installed = path.join(temporary, 'node_modules', 'libtorch-serve');
  cpSync(path.join(ROOT, 'examples'), temporary, { recursive: true });
}, INSTALL_MS);

afterAll(async () => {
  await killAll();
  rmSync(temporary, { recursive: true });
});

describe('the package', () => {
  it('holds what a user needs', () => {
    const paths = new Set(pack.files.map((file) => file.path));
    const compiled = sources('src')
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .filter((name) => !name.startsWith('src/pages/'))
      .map((name) => name.replace(/^src\/(.*)\.ts$/, 'dist/$1'));
    const native = sources('native').filter((name) => !/\btests?\b|\/(examples|fuzz)\//.test(name));
    const models = [...sources('models/sentiment'), ...sources('models/eeg')];
    const expected = [
      ...compiled.flatMap((name) => [`${name}.js`, `${name}.d.ts`]),
      ...['sentiment', 'eeg', 'docs'].map((page) => `dist/pages/${page}/index.html`),
      ...native,
      ...models,
    ];
    expect(expected.filter((name) => !paths.has(name))).toEqual([]);
  });

  it('holds nothing else, and is hardly larger than the models', () => {
    const paths = pack.files.map((file) => file.path);
    expect(paths.filter((name) => !ALLOWED.some((pattern) => pattern.test(name)))).toEqual([]);
    expect(pack.size).toBeLessThan(46 * MEBIBYTE);
  });
});

describe('an installed package that is not built', () => {
  it('says what to do', async () => {
    const process_ = new NodeProcess({
      script: path.join(temporary, 'engines.mjs'),
      cwd: temporary,
    });
    expect(await process_.exit).toEqual({ code: 1, signal: null });
    expect(process_.stderr).toMatch(
      /EngineError: The native addon is not built, and the prebuilt package @libtorch-serve\/\S+ is not installed\. 1\. Run `npm install/,
    );
  });

  it(
    'has all that the native build needs',
    async () => {
      // Up to the compiler: CMake finds every source that it is told of.
      const script = path.join(installed, 'scripts', 'build-native.mjs');
      const folder = path.join(installed, 'build', 'configured');
      const code = `import(${JSON.stringify(script)}).then((m) => m.configureNative(${JSON.stringify(folder)}, {}))`;
      await run(process.execPath, ['-e', code], { cwd: temporary });
      expect(readdirSync(folder)).toContain('compile_commands.json');
    },
    INSTALL_MS,
  );
});

describe('an installed package', () => {
  beforeAll(() => {
    // As `npx libtorch-serve build` leaves it.
    const release = path.join('build', 'native', 'Release');
    mkdirSync(path.join(installed, release), { recursive: true });
    cpSync(path.join(ROOT, release), path.join(installed, release), { recursive: true });
  });

  async function outputOf(example: string, ...args: readonly string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [example, ...args], { cwd: temporary });
    return stdout;
  }

  it('runs models inside a program', async () => {
    expect(await outputOf('engines.mjs')).toBe(
      [
        'POSITIVE 0.98 NEGATIVE POSITIVE',
        'NEGATIVE false',
        'POSITIVE false',
        'CANCELLED',
        'Control',
        '',
      ].join('\n'),
    );
  });

  it('serves, and has a client', async () => {
    const script = path.join(temporary, 'node_modules', '.bin', 'libtorch-serve');
    const eegModel = path.join(installed, 'models', 'eeg', 'eeg_model.pt');
    const env = { EEG_MODEL_PATH: eegModel };
    const services = await Promise.all([
      startService('sentiment', { cwd: temporary, script }),
      startService('eeg', { cwd: temporary, script, env }),
    ]);
    const output = await outputOf('client.mjs', ...services.map(({ origin }) => origin));
    expect(output).toBe(
      [
        'POSITIVE 0.98',
        'NEGATIVE true',
        'POSITIVE true',
        '400 Text payload cannot be empty. null',
        'P001',
        '',
      ].join('\n'),
    );
    for (const service of services) {
      expect(await service.stop()).toEqual({ code: 0, signal: null });
    }
  });

  it('classifies a file of any length', async () => {
    const script = path.join(temporary, 'node_modules', '.bin', 'libtorch-serve');
    const service = await startService('sentiment', { cwd: temporary, script });
    const rows = Array.from({ length: 300 }, (_, id) => ({
      id,
      text: id === 123 ? ' ' : id % 2 === 0 ? 'Dull.' : 'A marvel.',
    }));
    const file = path.join(temporary, 'reviews.jsonl');
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const output = await outputOf('classify-file.mjs', service.origin, file);
    const labelled = rows.map((row) =>
      row.id === 123
        ? { ...row, error: '400: texts[123]: Text payload cannot be empty.' }
        : {
            ...row,
            label: row.id % 2 === 0 ? 'NEGATIVE' : 'POSITIVE',
            score: expect.any(Number),
          },
    );
    const lines = output.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(labelled);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  it('retrieves passages in one process, and keeps their vectors', async () => {
    await run('npm', ['ci', ...QUIET, '--prefix', path.join('retrieval', 'store')], {
      cwd: temporary,
    });
    const embedder = fixture('embeddings', 'sentences', 'v6-all-modes');
    const models = ['--embedder', embedder, '--reranker', fixture('models', 'roberta-one-label')];
    const kept = ['--store', path.join(temporary, 'passages.db'), '--top', '2'];
    const ask = () =>
      run(process.execPath, ['retrieval/retrieve.mjs', ...models, ...kept, 'Good.', 'Dull.'], {
        cwd: temporary,
      });
    const first = await ask();
    expect(first.stderr).toBe('12 passages embedded\n');
    const passages = readFileSync(path.join(temporary, 'retrieval', 'passages.txt'), 'utf8');
    const answers = first.stdout.trimEnd().split(/^(?=\S)/m);
    expect(answers.map((answer) => answer.split('\n')[0])).toEqual(['Good.', 'Dull.']);
    for (const answer of answers) {
      const found = [...answer.matchAll(/^ {2}(\S+) (\S+) (.+)$/gm)];
      const scores = found.map(([, score]) => Number(score));
      expect(scores).toHaveLength(2);
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      for (const [, , similarity, text] of found) {
        expect(Number(similarity)).toBeGreaterThan(0);
        expect(passages).toContain(`${text}\n`);
      }
    }
    expect(await ask()).toEqual({ stdout: first.stdout, stderr: '0 passages embedded\n' });
    const other = await run(
      process.execPath,
      [
        'retrieval/retrieve.mjs',
        ...models,
        ...kept,
        '--embedder',
        fixture('embeddings', 'encoders', 'bert'),
      ],
      { cwd: temporary },
    ).catch((error: { stderr: string }) => error);
    expect(other.stderr).toContain('passages.db: contains embeddings of');
  });

  it('guards a route of Express, and one of Fastify', async () => {
    const middleware = path.join(temporary, 'guard', 'middleware');
    await run('npm', ['ci', ...QUIET, '--prefix', middleware], { cwd: temporary });
    for (const framework of ['express', 'fastify']) {
      const script = path.join(middleware, `${framework}.mjs`);
      const process_ = new NodeProcess({ script, cwd: temporary, env: { PORT: '0' } });
      const port = await until(`${framework}.mjs`, () => {
        if (process_.stderr !== '') throw new Error(process_.stderr);
        return /^listening on http:\S+:(\d+)$/m.exec(process_.stdout)?.[1];
      });
      const ask = async (body: object) => {
        const { status, json } = await post({ port: Number(port) }, '/chat', body);
        return [status, json];
      };
      expect(await ask({ prompt: 'I am ann@example.org.' })).toEqual([
        ...[200, { answer: 'Ask <EMAIL_2>. You said: I am <EMAIL_1>.' }],
      ]);
      expect(await ask({ prompt: 'awful, a terrible waste of time' })).toEqual([
        ...[400, { error: 'blocked', checks: ['tone'] }],
      ]);
      expect((await ask({}))[0]).toBe(400);
      process_.kill('SIGTERM');
      await process_.exit;
    }
  });

  it('has types', async () => {
    const tsc = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const types = ['--typeRoots', path.join(ROOT, 'node_modules', '@types'), '--types', 'node'];
    const how = ['--strict', '--noEmit', '--allowJs', '--checkJs', '--module', 'nodenext'];
    const files = ['engines.mjs', 'client.mjs', 'classify-file.mjs', 'retrieval/retrieve.mjs'];
    const args = [tsc, ...how, '--target', 'es2023', ...types, ...files];
    await run(process.execPath, args, { cwd: temporary }).catch((error: { stdout: string }) => {
      throw new Error(error.stdout);
    });
  });
});
