/** What is closed keeps no native memory, though it is still referred to, and says so when it is used. */
import path from 'node:path';
import { Guard, TextClassifier } from '../../src';
import type { addon } from '../../src/native/addon';
import { Engine } from '../../src/native/engine';
import { Patterns } from '../../src/native/patterns';
import { textClassification } from '../../src/tasks/text-classification/text-classification-task';
import { Folder } from '../helpers/files';
import { writeLargeModel } from '../helpers/large-model';
import { weightMaps } from '../helpers/process-figures';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES, killAll, NodeProcess } from '../helpers/service';

const UNCLOSED = 16;
const folder = new Folder();

beforeAll(() => writeLargeModel(path.join(folder.path, 'large'), 2));
afterAll(async () => {
  await killAll();
  folder.remove();
});

const mapsOf = (name: string) => weightMaps(process.pid).filter((file) => file.includes(name));

const loadLarge = () =>
  Engine.load(textClassification.read(path.join(folder.path, 'large')).source, SCHEDULING);

it('unmaps the weights when it is closed, though the engine is referred to', async () => {
  const engine = await loadLarge();
  expect(mapsOf(folder.path)).toHaveLength(1);
  await engine.close();
  expect(mapsOf(folder.path)).toEqual([]);
  await engine.close();
});

/** V8 knows what they take: it would not collect a dozen small objects before long. */
it('collects engines that nobody closes', async () => {
  const script = path.join(__dirname, 'scripts', 'unclosed.cjs');
  const args = [path.join(folder.path, 'large'), String(UNCLOSED)];
  const process_ = new NodeProcess({ script, args });
  expect(await process_.exit).toEqual({ code: 0, signal: null });
  const mapped = JSON.parse(process_.stdout) as readonly number[];
  expect(mapped).toHaveLength(UNCLOSED);
  expect(Math.max(...mapped)).toBeLessThan(6);
});

it('throws or refuses, whatever a closed engine is asked', async () => {
  const engine = await loadLarge();
  const { native } = engine as unknown as {
    readonly native: Awaited<ReturnType<ReturnType<typeof addon>['load']>>;
  };
  const { vocabulary } = engine;
  await engine.close();
  await expect(engine.infer('a')).rejects.toMatchObject({ code: 'DRAINING' });
  await expect(engine.inferAll(['a'])).rejects.toMatchObject({ code: 'DRAINING' });
  expect(() => engine.inferEach(['a'], 0, [])).toThrow(
    expect.objectContaining({ code: 'DRAINING' }) as unknown as Error,
  );
  expect(engine.admissionError(0)).toMatchObject({ code: 'DRAINING' });
  expect(() => vocabulary?.token(1)).toThrow('the model is closed: load it again');
  expect(() => vocabulary?.join(['a'])).toThrow('the model is closed: load it again');
  expect(native.submit(1, 'a', 0)).toMatchObject({ code: 'DRAINING' });
  expect(native.admission(0)).toMatchObject({ code: 'DRAINING' });
  native.cancel(1);
  native.drop();
  native.setWeight(2);
  expect(native.stuckMs()).toBe(0);
  expect(native.stats()).toMatchObject({ queueRequests: 0 });
  expect(native.description).toMatchObject({ backend: 'text-encoder' });
  await native.close();
});

it('closes an engine that the package exports', async () => {
  const modelDirectory = path.join(FIXTURES, 'models', 'bert-single-label');
  const classifier = await TextClassifier.load({ modelDirectory });
  const answering = classifier.classify('a film');
  await classifier.close();
  await expect(answering).resolves.toMatchObject({ truncated: false });
  await expect(classifier.classify('a film')).rejects.toMatchObject({ code: 'DRAINING' });
  expect(mapsOf('bert-single-label')).toEqual([]);
});

it('frees patterns behind the looks that are under way', async () => {
  const patterns = await Patterns.compile([{ isKind: false, text: 'a+b' }]);
  const options = {
    normalized: false,
    decoded: false,
    joined: false,
    maxVariants: 1,
    maxMatches: 9,
  };
  const look = () => patterns.scan(['aab'], { ...options, timeoutMs: 0 });
  const looking = look();
  await patterns.close();
  await patterns.close();
  expect(Array.from((await looking).matches)).toEqual([0, 0, 0, 3]);
  expect(look).toThrow('the patterns are closed: compile them again');
});

it('closes a guard of the package behind its checks', async () => {
  const check = { type: 'patterns', name: 'data', action: 'redact', kinds: ['email'] };
  const guard = await Guard.load({ file: { checks: [check] } });
  const checking = guard.check('ann.lee@example.org');
  await guard.close();
  await expect(checking).resolves.toMatchObject({ texts: ['<EMAIL_1>'] });
  await expect(guard.check('a')).rejects.toMatchObject({ code: 'DRAINING' });
});
