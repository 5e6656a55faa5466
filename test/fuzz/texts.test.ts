import { type Answer, analyze } from '../helpers/http';
import { threadCpuMs } from '../helpers/process-figures';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { budgeted, report, SEED } from './budget';
import { WORST_TEXTS, worstText } from './worst-texts';

/** By what they do to a text, and the tokenizer of a model of test/fixtures that does it. */
const ALL_FAMILIES = {
  'WordPiece, lower case (shipped)': {},
  'WordPiece, lower case (BERT)': textModel('bert-single-label'),
  'WordPiece, cased (BERT)': textModel('bert-cased-vocab-txt-sharded-float16'),
  'WordPiece (MPNet)': textModel('mpnet-far-positions-float16'),
  'byte-level BPE (RoBERTa)': textModel('roberta-one-label'),
  'byte-level BPE (ModernBERT)': textModel('modernbert-float16'),
  'Unigram, NFKD (ALBERT)': textModel('albert-one-shared-layer'),
  'Unigram (CamemBERT)': textModel('camembert-two-labels-float16-bin'),
  'Unigram (XLM-RoBERTa)': textModel('xlm-roberta-multi-label-sharded'),
  'Unigram, NFC (DeBERTa)': textModel('deberta-v2-as-v3-float16'),
};
const OF_CI = [
  'WordPiece, lower case (BERT)',
  'byte-level BPE (RoBERTa)',
  'Unigram, NFKD (ALBERT)',
];
const FAMILIES = Object.entries(ALL_FAMILIES).filter(([name]) =>
  budgeted({ ci: OF_CI.includes(name), standard: true, long: true }),
);

/** Of a text, in bytes of UTF-8: the larger, and a quarter of it. */
const LARGE = budgeted({ ci: 64 * 1024, standard: 1024 ** 2, long: 4 * 1024 ** 2 });
const SMALL = LARGE / 4;
/** How often each is asked: the best counts. */
const TIMES = budgeted({ ci: 1, standard: 3, long: 5 });
/** Four times the text: 4 in linear time, 16 in quadratic. */
const MOST_RATIO = 10;
/** Below it nothing can be told, ms. */
const NOISE_MS = 20;
/** What must be left to do while short texts are answered, ms. */
const BUSY_MS = 2000;
const MOST_BUSY = 40;

afterAll(killAll);

/** What tokenizing it took of a processor, whatever else the machine did; the best of some times, ms. */
async function timeOf(service: Service, text: string): Promise<number> {
  const now = () => threadCpuMs(service.child.pid as number, ['tokenization', 'long texts']);
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TIMES; i++) {
    const before = now();
    await ask(service, text);
    best = Math.min(best, now() - before);
  }
  return best;
}

async function ask(service: Service, text: string): Promise<Answer> {
  const answer = await analyze(service, text);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text.slice(0, 300)}`);
  const { input_text } = answer.json as { readonly input_text: string };
  if (input_text !== text) throw new Error('the text did not come back as it was sent');
  return answer;
}

describe.each(FAMILIES)('%s', (family, env) => {
  let service: Service;
  /** Of the large texts. */
  let slowest = { kind: '', ms: 0 };

  beforeAll(async () => {
    const limits = { BODY_LIMIT: '64mb', BODY_MEMORY: '1024mb', REQUEST_TIMEOUT_MS: '600000' };
    service = await startService('sentiment', { env: { ...env, ...limits } });
  });

  it.each(WORST_TEXTS)('takes no more than linear time for: %s', async (kind) => {
    const small = await timeOf(service, worstText(kind, SMALL, SEED));
    const large = await timeOf(service, worstText(kind, LARGE, SEED));
    if (large > slowest.ms) slowest = { kind, ms: large };
    if (large > NOISE_MS) expect(large / small).toBeLessThan(MOST_RATIO);
  });

  it('answers short texts while the slowest of them are worked on', async () => {
    const text = worstText(slowest.kind, LARGE, SEED);
    const count = Math.min(MOST_BUSY, Math.ceil(BUSY_MS / slowest.ms) + 1);
    let left = count;
    const long = Array.from({ length: count }, () => ask(service, text).finally(() => left--));
    const shortMs: number[] = [];
    const leftAfter: number[] = [];
    for (let i = 0; i < 10; i++) {
      const start = performance.now();
      await ask(service, `good ${i}`);
      shortMs.push(performance.now() - start);
      leftAfter.push(left);
    }
    await Promise.all(long);
    report(`texts, ${family}`, {
      bytes: LARGE,
      slowest,
      abreast: count,
      leftAfterShort: leftAfter,
      shortMs: shortMs.map(Math.round),
    });
    // Where it is all done in no time, nobody could be held up.
    if (count < MOST_BUSY) expect(left === 0 && (leftAfter[0] as number) > 0).toBe(true);
  });
});
