// Uses the engines as another program would, and prints what came of it, one line of JSON each.
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const { EegEngine, SentimentEngine } = require(path.join(ROOT, 'dist', 'index.js'));

const FIXTURES = path.join(ROOT, 'test', 'fixtures');
const bert = path.join(FIXTURES, 'models', 'bert-single-label');
const signal = Array.from({ length: 256 }, (_, i) => Math.sin(i / 5) * 20);
const outlier = signal.map((value, i) => (i === 9 ? 1e6 : value));

async function show(name, promise) {
  const line = await promise.then(
    (result) => ({ result }),
    ({ name, code, index, message }) => ({ error: { name, code, index, message } }),
  );
  console.log(JSON.stringify({ name, ...line }));
}

async function main() {
  await show('no model', SentimentEngine.load({ modelDirectory: '/nonexistent/model' }));
  await show('no window', EegEngine.load({ modelPath: '/nonexistent/eeg.pt' }));
  await show('wrong option', SentimentEngine.load({ workers: 0 }));
  const wrong = {
    workers: -1,
    threadsPerWorker: -1,
    maxBatchTokens: -1,
    maxBatchRequests: -1,
    maxQueueDelayMs: -1,
    maxQueueRequests: -1,
    inferenceTimeoutMs: -1,
    allowedOperators: ['as_strided'],
    maxQueueWaitMs: -1,
  };
  await show('every option wrong', EegEngine.load(wrong));

  const options = { modelDirectory: bert, workers: 1, maxQueueDelayMs: 500, maxQueueRequests: 3 };
  const sentiment = await SentimentEngine.load(options);
  await show('one', sentiment.classify('Good.'));
  await show('empty', sentiment.classify(''));
  await show('none', sentiment.classifyBatch([]));
  await show('not a text', sentiment.classifyBatch(['a', 5]));
  const short = ({ label, score, truncated }) => ({ label, score, truncated });
  const [text, textPair] = require(path.join(FIXTURES, 'pairs', 'texts.json')).pairs[0];
  const pair = sentiment.classifyBatch([
    { text, textPair },
    { text, textPair: '' },
  ]);
  await show(
    'pair',
    pair.then((all) => all.map(short)),
  );
  await show('one short', sentiment.classify(text).then(short));
  const [good, bad] = ['good ', 'bad '].map((word) => word.repeat(60));
  const cut = [
    { text: `${good}x`, textPair: `${bad}x` },
    { text: 'good', textPair: `${bad}x`, truncation: 'only_second' },
    { text: `${good}x`, textPair: `${bad}x`, truncationSide: 'left' },
  ];
  await show(
    'cut',
    (async () => {
      const answers = [];
      for (const one of cut) answers.push(short(await sentiment.classify(one)));
      return answers;
    })(),
  );
  await show('no first text', sentiment.classifyBatch(['a', { textPair: 'b' }]));
  await show('not a pair', sentiment.classify({ text: 'a', textPair: 5 }));
  await show('no strategy', sentiment.classify({ text: 'a', truncation: 'shortest_first' }));
  await show('no side', sentiment.classify({ text: 'a', truncationSide: 'middle' }));
  const whole = { truncation: 'do_not_truncate' };
  await show('not to be cut', sentiment.classify({ text: good, ...whole }));
  await show(
    'one not to be cut',
    sentiment.classifyBatch(['a', { text: good, textPair: bad, ...whole }]),
  );
  const three = sentiment.classifyBatch(['a', 'b', 'c']);
  await show('too many', sentiment.classifyBatch(['d']));
  await show(
    'three',
    three.then((all) => all.length),
  );
  await show('late', sentiment.classifyBatch(['a'], { timeoutMs: 1 }));
  const controller = new AbortController();
  const cancelled = sentiment.classifyBatch(['a', 'b'], { signal: controller.signal });
  controller.abort();
  await show('cancelled', cancelled);
  await sentiment.close();
  await show('closed', sentiment.classify('a'));

  const modelPath = path.join(FIXTURES, 'eeg', 'raises-on-large-input.pt');
  const eeg = await EegEngine.load({ modelPath });
  await show(
    'window',
    eeg.classify(Float32Array.from(signal)).then((one) => Object.keys(one.probabilities)),
  );
  await show('raises', eeg.classifyBatch([signal, outlier]));
  await show('short', eeg.classifyBatch([signal, [1]]));
  await show('infinite', eeg.classify(signal.with(3, Number.POSITIVE_INFINITY)));
  await eeg.close();
}

main();
