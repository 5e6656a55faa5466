import { signal } from '@preact/signals';
import { TagClient, type TagOptions } from '../../client';
import { plural } from '../shared/format';
import { info } from '../shared/info';
import { MarkedText } from '../shared/marked-text';
import { startTaskPage } from '../shared/page';
import {
  Checkbox,
  characters,
  Examples,
  RequestForm,
  Select,
  TextArea,
} from '../shared/request-form';
import { createRequest } from '../shared/request-state';
import { RequestResultCard } from '../shared/result-card';
import { SpanLegend, SpanTable } from '../shared/span-results';

type Strategy = NonNullable<TagOptions['strategy']> | typeof DEFAULT;

const DEFAULT = 'default';
const STRATEGIES: readonly (readonly [Strategy, string])[] = [
  [DEFAULT, 'default of the model'],
  ['none', 'none: one span per token'],
  ['simple', 'simple: adjacent tokens with the same label'],
  ['first', 'first: words, label of the first token'],
  ['average', 'average: words, mean score of the tokens'],
  ['max', 'max: words, label of the token with the highest score'],
];
const EXAMPLES = [
  'Ada Lovelace lived in London and wrote to Charles Babbage.',
  'Marie Curie 🔬 moved from Warsaw to Paris in 1891.',
  'The Beatles recorded “Yesterday” at Abbey Road for EMI.',
];
/** Overlap of the windows of a long text, relative to the maximum length of the model. */
const STRIDE_RATIO = 1 / 4;

const text = signal('');
const strategy = signal<Strategy>(DEFAULT);
const showsOutside = signal(false);
const usesWindows = signal(true);

const tagging = createRequest(
  TagClient,
  () =>
    text.value.trim() === ''
      ? null
      : {
          text: text.value,
          ...(strategy.value !== DEFAULT && { strategy: strategy.value }),
          ...(showsOutside.value && { ignoreLabels: [] }),
          ...(usesWindows.value && {
            stride: Math.floor((info.value?.model.max_length ?? 0) * STRIDE_RATIO),
          }),
        },
  (client, { text, ...options }) => client.tag(text, options),
);

function Composer() {
  return (
    <RequestForm
      form={tagging}
      verb="Tag"
      busy="Tagging…"
      amount={characters(text.value)}
      below={
        <Examples
          examples={EXAMPLES}
          onChoose={(example) => {
            text.value = example;
            tagging.submit().catch(reportError);
          }}
        />
      }
    >
      <TextArea
        id="text"
        label="Text"
        rows={5}
        placeholder="Type or paste a text with names, places or dates"
        value={text}
      />
      <Select id="strategy" label="Aggregation strategy" value={strategy} options={STRATEGIES} />
      <Checkbox label="Read long texts in overlapping windows" value={usesWindows} />
      <Checkbox label="Include tokens outside of entities (O)" value={showsOutside} />
    </RequestForm>
  );
}

function Results() {
  return (
    <RequestResultCard
      request={tagging}
      empty="The text with its entities, and a table of their scores and offsets."
      announce={({ body: { tags } }) => plural(tags.length, 'span')}
    >
      {({ input, body: { tags } }) => (
        <>
          <SpanLegend spans={tags} toneOf={toneOf} />
          <MarkedText
            name="Text with entities"
            text={input.text}
            marks={tags.map((tag) => ({ ...tag, tone: toneOf(tag.label) }))}
          />
          {tags.length > 0 && <SpanTable text={input.text} spans={tags} toneOf={toneOf} />}
        </>
      )}
    </RequestResultCard>
  );
}

/** CSS class of a label's color. `B-PER`, `I-PER` and `PER` share one; colors repeat after six labels. */
function toneOf(label: string): string {
  if (label === 'O') return 'tone-rest';
  const modelLabels = info.value?.model.labels ?? [];
  const entity = (name: string): string => name.slice(name.indexOf('-') + 1);
  const entities = [...new Set(modelLabels.map(entity))].filter((name) => name !== 'O');
  const index = entities.indexOf(modelLabels.includes(label) ? entity(label) : label);
  return `tone-${Math.max(0, index) % 6}`;
}

startTaskPage('Token classification', Composer, Results);
