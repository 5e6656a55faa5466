/** Texts of which a tokenizer leaves nothing: one that adds no special tokens, and drops a character. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TextClassifier } from '../../src/tasks/capabilities';
import { TaskModel } from '../../src/tasks/task-model';
import { textClassification } from '../../src/tasks/text-classification/text-classification-task';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const NOTHING = '~~~';
const NO_TOKEN = {
  code: 'INFERENCE_FAILED',
  message: expect.stringMatching(/^the tokenizer returned no tokens for the text$/),
};

/** Of a model that classifies by the first token, and of one that takes the mean of all. */
describe.each(['modernbert-float16', 'modernbert-mean-biases-bfloat16'])('%s', (model) => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'no-tokens-'));
  let classifier: TextClassifier & Pick<TaskModel, 'close'>;

  beforeAll(async () => {
    cpSync(path.join(FIXTURES, 'models', model), directory, { recursive: true });
    const file = path.join(directory, 'tokenizer.json');
    const tokenizer = JSON.parse(readFileSync(file, 'utf8'));
    const normalizer = { type: 'Replace', pattern: { String: '~' }, content: '' };
    writeFileSync(file, JSON.stringify({ ...tokenizer, normalizer, post_processor: null }));
    // One batch of all that waits.
    classifier = await TaskModel.load(textClassification, directory, {
      ...SCHEDULING,
      workers: 1,
      maxQueueDelayMs: 200,
    });
  });

  afterAll(async () => {
    await classifier.close();
    rmSync(directory, { recursive: true });
  });

  it('fails such a text, alone and in company, and no other', async () => {
    await expect(classifier.run(NOTHING, {})).rejects.toMatchObject(NO_TOKEN);
    const alone = await classifier.run('good film', {});
    const [first, nothing, second] = await Promise.allSettled([
      classifier.run('good film', {}),
      classifier.run(NOTHING, {}),
      classifier.run('a bad one', {}),
    ]);
    expect(nothing).toMatchObject({ status: 'rejected', reason: NO_TOKEN });
    expect(first).toMatchObject({ value: { scores: alone.scores } });
    expect(second.status).toBe('fulfilled');
  });
});
