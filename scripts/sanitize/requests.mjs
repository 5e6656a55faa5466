/** What a service under sanitizers is asked: one request of every kind, with the status that is due. */

const text = (words) => Array.from({ length: words }, (_, i) => ['a', 'good', 'film'][i % 3]);
const signal = (length) => Array.from({ length }, (_, i) => 20 * Math.sin(i / 5));

const COMMON = [
  { what: '', path: '/health', status: 200 },
  { what: '', path: '/ready', status: 200 },
  { what: '', path: '/info', status: 200 },
  { what: '', path: '/metrics', status: 200 },
  { what: '', path: '/openapi.json', status: 200 },
  { what: '', path: '/', status: 200 },
  { what: '', path: '/nowhere', status: 404 },
];

function sentiment() {
  const one = (what, body, status, more) => ({ what, path: '/analyze', body, status, ...more });
  const list = (what, texts, status, more) => ({
    what,
    path: '/analyze/batch',
    body: { texts },
    status,
    ...more,
  });
  return [
    ...COMMON,
    one('a word', { text: 'good' }, 200),
    one('a sentence', { text: 'A warm, funny film that never outstays its welcome.' }, 200),
    one('a page', { text: text(200).join(' ') }, 200),
    one('a text that is cut', { text: text(2000).join(' ') }, 200),
    one('a text of the other lane', { text: text(6000).join(' ') }, 200),
    one('one endless word', { text: 'x'.repeat(20_000) }, 200),
    one('other scripts', { text: 'Ein schöner Film — 良い映画 👍🏽 \u0301\ud800' }, 200),
    one('white space', { text: ' \n' }, 400),
    one('no text', {}, 422),
    one('no JSON', '{"text":', 422),
    one('a client that leaves', { text: text(400).join(' ') }, 0, { cancelAfterMs: 5 }),
    list('three texts', ['good', 'bad', text(100).join(' ')], 200),
    list('no text among texts', ['good', ''], 400),
    list('forty texts', text(40), 200),
    list('a client that leaves', text(40), 0, { cancelAfterMs: 5 }),
  ];
}

function eeg() {
  const one = (what, body, status, more) => ({ what, path: '/predict', body, status, ...more });
  const list = (what, signals, status, more) => ({
    what,
    path: '/predict/batch',
    body: { signals },
    status,
    ...more,
  });
  return [
    ...COMMON,
    one('a window', { signal: signal(256) }, 200),
    one('a window and its patient', { signal: signal(256), patient_id: 'p-1' }, 200),
    one('zeros', { signal: signal(256).fill(0) }, 200),
    one('large numbers', { signal: signal(256).map((value) => value * 1e300) }, 200),
    one('a window too short', { signal: signal(255) }, 400),
    one('no number', { signal: [...signal(255), 'a'] }, 422),
    one('no JSON', '{"signal":[', 422),
    one('a client that leaves', { signal: signal(256) }, 0, { cancelAfterMs: 2 }),
    list('three windows', [signal(256), signal(256), signal(256)], 200),
    list(
      'twenty windows',
      Array.from({ length: 20 }, () => signal(256)),
      200,
    ),
    list('one too short among them', [signal(256), signal(255)], 400),
    list(
      'a client that leaves',
      Array.from({ length: 20 }, () => signal(256)),
      0,
      {
        cancelAfterMs: 5,
      },
    ),
  ];
}

export const REQUESTS = { sentiment: sentiment(), eeg: eeg() };
