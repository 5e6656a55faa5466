import { readMultipart, readUrlEncoded } from '../../src/protocols/torchserve/forms';

const TYPE = 'multipart/form-data; boundary=B';
const TEXT = 'a film — 喜悦';

function multipart(body: string | Buffer, type = TYPE): string | undefined {
  return readMultipart(Buffer.from(body), type, ['data', 'body']).get('data')?.toString();
}

/** Every combination of one of each list. */
function combinations(...lists: readonly (readonly string[])[]): readonly string[][] {
  return lists.reduce<string[][]>(
    (all, list) => all.flatMap((before) => list.map((one) => [...before, one])),
    [[]],
  );
}

it('reads every form that RFC 2046, 2183 and 7578 allow', () => {
  const forms = combinations(
    ['', 'a preamble\r\n', '\r\n', 'a preamble\r\n--Bother\r\n'],
    ['', ' ', '\t ', '    '],
    [
      'Content-Disposition: form-data; name="data"',
      'Content-Disposition: form-data; name=data',
      'content-disposition:form-data;name=data',
      'CONTENT-DISPOSITION: FORM-DATA; NAME="data"',
      "Content-Disposition: form-data; name=data; filename=a.txt; filename*=utf-8''a.txt",
      'Content-Disposition: form-data;\r\n name="data";\r\n\tfilename="a; \\"b\\".txt"',
      'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=data',
      'Content-Disposition: form-data; name=data\r\nContent-Transfer-Encoding: 8bit',
    ],
    ['', ' ', '\t'],
    ['', '\r\n', '\r\nan epilogue\r\n--B\r\n', '\r\n--B--\r\n'],
  );
  const wrong = forms.filter(([preamble, padding, headers, end, epilogue]) => {
    const form = `${preamble}--B${padding}\r\n${headers}\r\n\r\n${TEXT}\r\n--B--${end}${epilogue}`;
    return multipart(form) !== TEXT || multipart(form.replaceAll('\r\n', '\n')) !== TEXT;
  });
  expect(wrong).toEqual([]);
  expect(forms.length).toBeGreaterThan(1000);
});

it.each([
  TYPE,
  'multipart/form-data; boundary="B"',
  'Multipart/Form-Data; charset=utf-8; BOUNDARY=B',
  'multipart/form-data;boundary=B;x=y',
])('finds the boundary of %j', (type) => {
  const form = '--B\r\nContent-Disposition: form-data; name=data\r\n\r\nx\r\n--B--';
  expect(multipart(form, type)).toBe('x');
});

it('takes the first part of a name, and what lies between its boundaries as it is', () => {
  const part = (name: string, content: string): string =>
    `--B\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${content}\r\n`;
  for (const content of ['', '\r\n', '\r\n\r\n', 'a\r\n--Bother\r\nb', ' --B', '\ufeffx', 'a\0b']) {
    const form = `${part('other', 'x')}${part('data', content)}${part('data', 'y')}--B--`;
    expect(multipart(form)).toBe(content);
  }
  // A boundary may hold what is special in a pattern.
  const odd = part('data', 'x').replace('--B', '--a.b+(c)?').concat('--a.b+(c)?--');
  expect(multipart(odd, 'multipart/form-data; boundary="a.b+(c)?"')).toBe('x');
});

const DISPOSITION = 'Content-Disposition: form-data; name=data';

it.each([
  ['', TYPE],
  ['x', TYPE],
  [`--B\r\n${DISPOSITION}\r\n\r\nx`, TYPE],
  [`--B\r\n${DISPOSITION}\r\n\r\nx\r\n--B\r\n`, TYPE],
  [`x--B\r\n${DISPOSITION}\r\n\r\nx\r\n`, TYPE],
  ['--B--', 'multipart/form-data'],
  ['--B--', 'multipart/form-data; boundary='],
  ['--B--', `multipart/form-data; boundary=${'B'.repeat(71)}`],
  [`--B\r\n${DISPOSITION}\r\nContent-Transfer-Encoding: base64\r\n\r\neA==\r\n--B--`, TYPE],
  [`--B\r\nX: ${'y'.repeat(9000)}\r\n${DISPOSITION}\r\n\r\nx\r\n--B--`, TYPE],
  [`${`--B\r\n${DISPOSITION}\r\n\r\nx\r\n`.repeat(101)}--B--`, TYPE],
])('rejects what is no such form: %j', (body, type) => {
  expect(() => multipart(body.slice(0, 20_000), type)).toThrow(/^(body: .*)$/);
});

it.each(['--B--', '--B\r\n--B--', '--B\r\n\r\nx\r\n--B--', '--B\r\nX: y\r\n\r\nx\r\n--B--'])(
  'finds no field in %j',
  (body) => {
    expect(multipart(body)).toBeUndefined();
  },
);

it('decodes forms to bytes, as URLSearchParams does to text', () => {
  const read = (form: string | Buffer): Buffer | undefined =>
    readUrlEncoded(Buffer.from(form), ['data', 'body']).get('data');
  const forms = [
    ...['data=x', 'a=b&data=x+y%20z', 'd%61ta=x', 'data', 'data=', 'data=x&data=y', '&&data=a=b&'],
    ...[`data=${TEXT}`, `data=${encodeURIComponent(TEXT)}`, 'data=%', 'data=%4', 'data=%zz%41'],
  ];
  for (const form of forms) {
    expect([form, read(form)?.toString()]).toEqual([form, new URLSearchParams(form).get('data')]);
  }
  expect(read('body=x')).toBeUndefined();
  expect(read('data=%ff%fe')).toEqual(Buffer.from([0xff, 0xfe]));
  expect(read(Buffer.from([...Buffer.from('data='), 0xff]))).toEqual(Buffer.from([0xff]));
});
