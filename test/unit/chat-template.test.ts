import { fillTemplate } from '../../src/models/chat/pair-template';
import { renderPair } from '../../src/models/chat/render';

const PAIR = '{{ messages[-2].content }} / {{ messages[-1].content }}';

interface Options {
  readonly system?: string;
  readonly isStructured?: boolean;
  readonly variables?: Readonly<Record<string, unknown>>;
}

function render(source: string, options: Options = {}) {
  const chat = { file: 'chat_template.jinja', source, tokens: { bos_token: '<s>' } };
  return renderPair(chat, { system: '', isStructured: false, variables: {}, ...options });
}

const fill = (source: string, options: Options, query: string, document: string) =>
  fillTemplate(render(source, options), query, document);

describe('a chat template', () => {
  it('inserts contents as they are, special tokens and Jinja included', () => {
    expect(fill(`{{ bos_token }}${PAIR}`, {}, ' {{ x }}\n', '<s> $& \u{1F600}')).toBe(
      '<s> {{ x }}\n / <s> $& \u{1F600}',
    );
  });

  it('removes surrounding whitespace as str.strip of Python', () => {
    const template = '[{{ messages[0].content | trim }}|{{ messages[1].content.rstrip() }}]';
    const [query, document] = ['\x1c\x85 a b\u3000\n', '\ufeff c \t'];
    expect(fill(template, {}, query, document)).toBe('[a b|\ufeff c]');
  });

  it('contains the system message and the variables', () => {
    const template = `{{ messages[0].content }}{{ task }}{{ add_generation_prompt }} ${PAIR}`;
    const options = { system: 'Find it.', variables: { task: 7, add_generation_prompt: true } };
    expect(fill(template, options, 'q', 'd')).toBe('Find it.7true q / d');
  });

  it('reads structured contents', () => {
    const template = '{% for m in messages %}{{ m.content[0].text }}\n{% endfor %}';
    expect(fill(template, { isStructured: true }, 'q', 'd')).toBe('q\nd\n');
  });

  it('may repeat a content', () => {
    expect(fill(`${PAIR} {{ messages[0].content }}`, {}, 'q', 'd')).toBe('q / d q');
  });
});

describe('a template that is rejected', () => {
  const doubled = (start: string, grow: string) =>
    `${PAIR}{% set ns = namespace(x=${start}) %}{% for i in range(60) %}{% set ns.x = ${grow} %}{% endfor %}{{ ns.x }}`;
  const loop = '{% for a in range(9999) %}';

  it.each([
    ['without the query', 'x {{ messages[1].content }}', /role "query", found none. Add/],
    ['without the document', '{{ messages[0].content }}', /role "document", found none/],
    ['that changes a content', `${PAIR}{{ messages[0].content | upper }}`, /changes them or dep/],
    [
      'that depends on a content',
      `${PAIR}{% if messages[0].content %}!{% endif %}`,
      /changes them or depends on them/,
    ],
    ['that is no Jinja', `${PAIR}{% if %}`, /^chat_template.jinja: fails: /],
    ['that raises', `{{ raise_exception('no\\nroles') }}`, /fails: no roles$/],
    ['of the date', `${PAIR}{{ strftime_now('%Y') }}`, /scores would depend on the date/],
    ['with code', `${PAIR}{{ ''.constructor.constructor('return 1')() }}`, /fails: Cannot call/],
    ['of many values', `${PAIR}{{ range(1000000000) }}`, /range\(\) has more than 10000 values/],
    ['of an endless step', `${PAIR}{{ range(0, 1, 0) }}`, /range\(\) has more than/],
    ['of a long text', doubled("'a'", 'ns.x ~ ns.x'), /fails: Invalid string length/],
    [
      'of many characters',
      `${PAIR}{% for i in range(9999) %}${' '.repeat(64)}{% endfor %}`,
      /renders \d+ characters, expected at most/,
    ],
    ['of many turns', `${PAIR}${loop.repeat(4)}${'{% endfor %}'.repeat(4)}`, /takes longer than/],
    ['nested deeply', `${PAIR}{{ ${'('.repeat(20_000)}`, /fails: /],
    ['recursive', '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}', /fails: /],
  ])('%s', (_, source, message) => {
    expect(() => render(source)).toThrow(message);
    expect(() => render(source)).toThrow(/^chat_template\.jinja: /);
  });
});
