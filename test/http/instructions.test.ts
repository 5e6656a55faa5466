/**
 * What multiplies follows from the processor and the settings INSTRUCTION_SET and ATTENTION_DTYPE, and is told: in
 * the log, in GET /info and in the labels of model_info.
 */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { INSTRUCTION_SETS } from '../../src/settings/settings';
import { type GoldenTexts, readFixture } from '../helpers/golden';
import { post, request } from '../helpers/http';
import { scrape } from '../helpers/metrics';
import {
  killAll,
  MAIN,
  NodeProcess,
  ROOT,
  type Service,
  startService,
  textModel,
} from '../helpers/service';

const CLASSIFY = path.join(ROOT, 'test', 'golden', 'scripts', 'classify-in-dtype.cjs');
const SHIPPED = path.join(ROOT, 'models', 'sentiment');
const LIMITS = execFileSync(process.execPath, ['scripts/instructions.mjs'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .trim()
  .split('\n');
/** The kernel that multiplies float32. */
const KERNELS: Readonly<Record<string, string>> = { portable: 'portable', avx2: 'avx2' };

afterAll(killAll);

interface Products {
  readonly linear: string;
  readonly attention?: string;
  readonly instructions: string;
}

/** Where all three say the same. */
async function productsOf(service: Service): Promise<Products> {
  const { json } = await request(service, { path: '/info' });
  const { products } = (json as { model: { products: Products } }).model;
  const logged = service.logs.find(({ msg }) => msg === 'model loaded')?.products;
  expect(logged).toEqual({ attention: '', ...products });
  const { samples } = await scrape(service);
  const info = samples.find(({ name }) => name === 'libtorch_serve_model_info');
  expect(info?.labels).toMatchObject({ attention: '', ...products });
  return products;
}

function refusalOf(env: Readonly<Record<string, string>>): Promise<readonly [unknown, string]> {
  const started = new NodeProcess({
    script: MAIN,
    args: ['sentiment'],
    env: { ...textModel('bert-single-label'), PORT: '0', ...env },
  });
  return started.exit.then((exit) => [exit, started.stderr]);
}

/** Every bit of the scores of a process of its own. */
async function scoresIn(dtype: string, env: Readonly<Record<string, string>> = {}) {
  const { texts } = readFixture<GoldenTexts>('shipped-sentiment.json');
  const running = new NodeProcess({ script: CLASSIFY, args: [dtype, SHIPPED], env });
  running.child.stdin?.end(JSON.stringify(texts.slice(0, 20).map(({ text }) => text)));
  expect(await running.exit).toEqual({ code: 0, signal: null });
  return JSON.parse(running.stdout) as { readonly answers?: unknown; readonly error?: string };
}

it('a machine has the limits up to its highest', () => {
  expect(LIMITS).toEqual(INSTRUCTION_SETS.slice(0, LIMITS.length));
});

describe.each(LIMITS)('INSTRUCTION_SET=%s', (limit) => {
  it('is kept to, by texts and by signals, and told', async () => {
    const kernel = KERNELS[limit] ?? 'avx512';
    const texts = await startService('sentiment', { args: ['--instruction-set', limit] });
    expect(await productsOf(texts)).toEqual({
      linear: `float32 ${kernel}`,
      attention: `float32 ${kernel}`,
      instructions: limit,
    });
    const { json } = await post(texts, '/analyze', { text: 'A warm, funny film.' });
    expect(json).toMatchObject({ label: 'POSITIVE' });
    await texts.stop();
    const cwd = path.join(ROOT, 'models', 'eeg');
    const signals = await startService('eeg', { cwd, env: { INSTRUCTION_SET: limit } });
    expect(await productsOf(signals)).toEqual({ linear: `float32 ${kernel}`, instructions: limit });
    await signals.stop();
  });
});

it('more than the machine has, or what is no limit, ends with one line that says what it has', async () => {
  const usage = { code: 2, signal: null };
  const beyond = INSTRUCTION_SETS[LIMITS.length];
  if (beyond) {
    const line =
      `libtorch-serve: INSTRUCTION_SET: expected one of ${LIMITS.join(', ')} (supported by this machine), ` +
      `received "${beyond}"\n`;
    expect(await refusalOf({ INSTRUCTION_SET: beyond })).toEqual([usage, line]);
    const { error } = await scoresIn('float32', { INSTRUCTION_SET: beyond });
    expect(`libtorch-serve: ${error}\n`).toBe(line);
  }
  const [exit, stderr] = await refusalOf({ INSTRUCTION_SET: 'avx3' });
  expect(exit).toEqual(usage);
  expect(stderr).toMatch(/^libtorch-serve: INSTRUCTION_SET: expected one of portable, .*avx3.*\n$/);
});

it('ATTENTION_DTYPE=bfloat16 is refused with DTYPE=float32, on every processor', async () => {
  const [exit, stderr] = await refusalOf({ ATTENTION_DTYPE: 'bfloat16' });
  expect(exit).toEqual({ code: 2, signal: null });
  expect(stderr).toBe(
    'libtorch-serve: ATTENTION_DTYPE: bfloat16 cannot be used on this processor: with DTYPE=float32 all products are ' +
      'float32. Unset ATTENTION_DTYPE\n',
  );
});

describe.each(['float32', 'bfloat16', 'int8', 'int8-vnni'])('DTYPE=%s', (dtype) => {
  it('a process that starts anew answers the same bits', async () => {
    const first = await scoresIn(dtype);
    expect(await scoresIn(dtype)).toEqual(first);
  });
});

// On Intel processors bfloat16 is served only if ATTENTION_DTYPE=bfloat16 asks for it.
describe.each(['bfloat16', 'int8'])('ATTENTION_DTYPE=bfloat16 and DTYPE=%s', (dtype) => {
  const limit = ['amx', 'avx512-bf16', 'avx2', 'portable'].find((name) => LIMITS.includes(name));
  const isAmx = limit === 'amx';
  const env = { DTYPE: dtype, ATTENTION_DTYPE: 'bfloat16', INSTRUCTION_SET: String(limit) };

  it('are taken and told, or refused where there are no instructions for them', async () => {
    if (limit !== 'amx' && limit !== 'avx512-bf16') {
      const [exit, stderr] = await refusalOf(env);
      expect(exit).toEqual({ code: 2, signal: null });
      expect(stderr).toMatch(
        /^libtorch-serve: (DTYPE: bfloat16|ATTENTION_DTYPE: bfloat16|DTYPE: int8) cannot be used on this processor: .+AVX/,
      );
      return;
    }
    const service = await startService('sentiment', { env });
    expect(await productsOf(service)).toEqual({
      linear: `${dtype} ${isAmx ? 'amx' : { bfloat16: 'avx512-bf16', int8: 'avx512-vnni' }[dtype]}`,
      attention: `bfloat16 ${limit}`,
      instructions: limit,
    });
    await service.stop();
  });
});
