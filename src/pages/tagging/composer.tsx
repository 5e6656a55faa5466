import { AskForm, Check, characters, Examples, Select, TextArea } from '../shared/ask-form';
import { isOutsideShown, isReadWhole, type Strategy, strategy, tagging, text } from './state';

const STRATEGIES: readonly (readonly [Strategy, string])[] = [
  ['none', 'none: each token by itself'],
  ['simple', 'simple: neighbouring tokens of one label'],
  ['first', 'first: words, by their first token'],
  ['average', 'average: words, by the mean of their tokens'],
  ['max', 'max: words, by their surest token'],
];

const EXAMPLES = [
  'Ada Lovelace lived in London and wrote to Charles Babbage.',
  'Marie Curie 🔬 moved from Warsaw to Paris in 1891.',
  'The Beatles recorded “Yesterday” at Abbey Road for EMI.',
];

/** Where the text goes in. */
export function Composer() {
  return (
    <AskForm
      asked={tagging}
      verb="Tag"
      busy="Tagging…"
      amount={characters(text.value)}
      below={
        <Examples
          examples={EXAMPLES}
          onChoose={(example) => {
            text.value = example;
            tagging.ask().catch(reportError);
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
      <Select id="strategy" label="How tokens become spans" value={strategy} options={STRATEGIES} />
      <Check label="Read long texts whole, in windows" value={isReadWhole} />
      <Check label="Also what has no label (O)" value={isOutsideShown} />
    </AskForm>
  );
}
