/** `libtorch-serve inspect`: what a model takes and gives, and why it would be refused. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ModelReport } from '../../src/commands/inspect/inspect-model';
import { MANIFEST, manifest, writeArchive } from '../helpers/archive';
import { Folder } from '../helpers/files';
import { EEG_MODEL } from '../helpers/service';

const ROOT = path.resolve(__dirname, '../..');
const FIXTURES = path.join(ROOT, 'test/fixtures');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function inspect(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(ROOT, 'dist/main.js'), 'inspect', ...args],
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

async function report(place: string): Promise<ModelReport> {
  const { stdout } = await inspect(path.join(FIXTURES, place), '--json');
  return JSON.parse(stdout);
}

describe('inspect', () => {
  test('tells of an exported signal model', async () => {
    const { code, stdout } = await inspect(path.join(FIXTURES, 'exported/signals/plain-cnn.pt2'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/kind +exported, saved by PyTorch 2\.15\.0/);
    expect(stdout).toMatch(/input +x: float32 \[1 to 64, 1, 256\]/);
    expect(stdout).toMatch(/operators +aten\.batch_norm\.default × 2/);
    expect(stdout).toMatch(/batches +requests share a run/);
    expect(stdout).toMatch(/loads +yes/);
  });

  test('tells why a model cannot be served', async () => {
    const file = path.join(FIXTURES, 'exported/signals/two-inputs.pt2');
    const { code, stdout } = await inspect(file);
    expect(code).toBe(1);
    expect(stdout).toMatch(/input +x: .*\n +input +y: /);
    expect(stdout).toMatch(/load error +two-inputs\.pt2: takes 2 inputs \(x, y\)/);
  });

  test('names operators that are refused', async () => {
    const { program, problem } = await report('eeg/reads-file.pt');
    const refused = program?.operators.filter((operator) => operator.problem);
    expect(refused).toEqual([{ name: 'aten::from_file', count: 1, problem: 'is not allowed' }]);
    expect(problem).toMatch('aten::from_file is not allowed');
  });

  test.each([
    ['models/exported-gpt2', 'exported', ['input_ids', 'attention_mask']],
    ['models/torchscript-traced-bert', 'torchscript', ['input_ids', 'attention_mask']],
  ])('tells of the text model in %s', async (place, kind, inputs) => {
    const { service, program, loaded, problem } = await report(place);
    expect({ service, kind: program?.kind, problem }).toEqual({
      service: 'sentiment',
      kind,
      problem: null,
    });
    expect(program?.inputs.slice(0, 2).map(({ name }) => name)).toEqual(inputs);
    expect(program?.weightCount).toBeGreaterThan(1000);
    expect(loaded?.batching).toBe(true);
  });

  test('tells of weights that our own code runs', async () => {
    const { kind, files, program, loaded } = await report('models/bert-single-label');
    expect({ kind, program }).toEqual({ kind: 'bert', program: null });
    expect(files[0]?.name).toMatch(/safetensors|bin/);
    expect(loaded?.numOutputs).toBe(3);
  });

  test.each([
    ['gliner/deberta-marker-v0', 'LABEL BYTES [any], SCORE FP32 [any], OFFSETS UINT32 [any, 2], E'],
    ['gliclass/bert-mlp', 'PROBABILITIES FP32 [any], OPTION_COUNT UINT32 [any]\n'],
    ['embeddings/splade/albert', 'WEIGHTS FP32 [any, 420]\n'],
    ['tagging/privacy-filter', '13 numbers: O, B-private_person, '],
    ['models/bert-regression-bin', '1 number: STARS\n'],
  ])('names the outputs of %s', async (place, outputs) => {
    const { stdout } = await inspect(path.join(FIXTURES, place));
    expect(stdout).toContain(`outputs     ${outputs}`);
    expect(stdout).not.toMatch(/[:,] *$/m);
  });

  test('a file is what its folder is', async () => {
    const { service } = await report('models/exported-gpt2/model.pt2');
    expect(service).toBe('sentiment');
  });

  describe('an archive', () => {
    const folder = new Folder();
    const model = { 'waves.pt': readFileSync(EEG_MODEL), 'notes.py': 'raise SystemExit' };
    const file = path.join(folder.path, 'waves.mar');

    afterAll(() => folder.remove());

    test('is told with its model', async () => {
      const served = { serializedFile: 'waves.pt', handler: 'image_classifier' };
      await writeArchive(file, { [MANIFEST]: manifest(served), ...model });
      const { code, stdout } = await inspect(file);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^waves\.mar\n +archive +waves 1\.0, handler image_classifier\n/);
      expect(stdout).toMatch(/entry +waves\.pt, 14\.2 kB\n +entry +notes\.py, 16 bytes\n/);
      expect(stdout).toMatch(/kind +torchscript\n(?:.*\n)*? +loads +yes\n$/);
      const told = JSON.parse((await inspect(file, '--json')).stdout);
      expect(told).toMatchObject({ model: { service: 'eeg', problem: null }, problem: null });
    });

    test('that needs Python is told with why it is refused', async () => {
      const served = { serializedFile: 'waves.pt', handler: 'notes.py' };
      await writeArchive(file, { [MANIFEST]: manifest(served), ...model });
      const { code, stdout } = await inspect(file);
      expect(code).toBe(1);
      expect(stdout).toMatch(/entry +notes\.py/);
      expect(stdout).toMatch(
        /load error +waves\.mar: .*model\.handler: "notes\.py" is not supported/,
      );
    });

    test('that is none cannot be read', async () => {
      const { code, stderr } = await inspect(folder.put('none.mar', 'no zip'));
      expect(code).toBe(1);
      expect(stderr).toMatch(/^libtorch-serve inspect: none\.mar: cannot be read: /);
    });
  });

  test.each([
    [['no-such-model.pt2'], 1],
    [['no-such-archive.mar'], 1],
    [[], 2],
    [['x.pt2', '--no-such-setting', '1'], 2],
  ])('%j ends with %i and says why', async (args, expected) => {
    const { code, stderr } = await inspect(...args);
    expect(code).toBe(expected);
    expect(stderr).toMatch(/^libtorch-serve inspect: \S/);
    expect(stderr).not.toMatch(/\n +at /);
  });
});
