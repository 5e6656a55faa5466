/** Values of each kind in the surroundings in which people write them; the search for others is tests/unit of native/guard. */
import { Guard } from '../../../src/index';

const KINDS = ['email', 'card', 'iban', 'ip', 'phone', 'url'];
let guard: Guard;

beforeAll(async () => {
  const check = { type: 'patterns', name: 'data', action: 'redact', kinds: KINDS };
  guard = await Guard.load({ file: { checks: [check] } });
});

afterAll(() => guard.close());

it.each([
  ['IP:192.0.2.1', 'IP:<IP_1>'],
  ['...10.0.0.1', '...<IP_1>'],
  ['10.0.0.1:10.0.0.2', '<IP_1>:<IP_2>'],
  ['10.0.0.1..10.0.0.9', '<IP_1>..<IP_2>'],
  ['10.0.0.1:8080:tcp', '<IP_1>:8080:tcp'],
  ['src:10.0.0.1:443 dst:10.0.0.2:50123', 'src:<IP_1>:443 dst:<IP_2>:50123'],
  ['IP 10.0.0.1.54321 > 10.0.0.2.443', 'IP <IP_1>.54321 > <IP_2>.443'],
  ['host:2001:db8::1', 'host:<IP_1>'],
  ['::ffff:192.0.2.1:80', '<IP_1>:80'],
  ['服务器10.0.0.1的日志', '服务器<IP_1>的日志'],
  ['10\u30020\uff610\uff0e1', '<IP_1>'],
  ['+491701234567 10115 Berlin', '<PHONE_1> 10115 Berlin'],
  ['+49 30 12345678 (2024)', '<PHONE_1> (2024)'],
  ['+491701234567\n2024-05-01', '<PHONE_1>\n2024-05-01'],
  ['+49 30 / 12345678', '<PHONE_1>'],
  ['at 12:45 4690 7439 1500 0808 exp 12/27', 'at 12:45 <CARD_1> exp 12/27'],
  ['4690\r\n7439\r\n1500\r\n0808', '<CARD_1>'],
  ['ann@example.xn--p1ai', '<EMAIL_1>'],
  ['"ann lee"@example.org,', '<EMAIL_1>,'],
  ['ann@example\u3002org', '<EMAIL_1>'],
  ['ann@example.org\u3002再见', '<EMAIL_1>\u3002再见'],
  ['ann&#64;example&period;org', '<EMAIL_1>'],
  ['mail%3Aann%40example.org&x=1', 'mail%3A<EMAIL_1>&x=1'],
  ['{"to": "ann\\u0040example.org"}', '{"to": "<EMAIL_1>"}'],
  ['tel=%2B49+30+12345678&x=%20', 'tel=<PHONE_1>&x=%20'],
  ['https:\\/\\/example.org\\/x', '<URL_1>'],
  ['ann\u2800@example.org', '<EMAIL_1>'],
])('%j is redacted to %j', async (text, expected) => {
  const { texts, map } = await guard.check(text);
  expect(texts[0]).toBe(expected);
  expect(Guard.restore(texts[0] as string, map)).toBe(text);
});

it('the same value hidden twice is redacted twice', async () => {
  const hidden = Buffer.from('ann.lee@example.org').toString('base64');
  const { texts } = await guard.check(`${hidden} and ${hidden}`);
  expect(texts[0]).not.toMatch(/YW5u|bGVl/);
});

it('of escapes in a text nothing is redacted but what was found', async () => {
  const text = 'C:\\new\\10 &amp; 100%20 ann%40example.org \\n&lt;b&gt;';
  const { texts, findings } = await guard.check(text);
  expect(texts[0]).toBe(text.replace('ann%40example.org', '<EMAIL_1>'));
  expect(findings.map(({ variant }) => variant)).toContain('decoded');
});
