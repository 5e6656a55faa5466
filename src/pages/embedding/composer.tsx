import { AskForm, FillIn, Select, TextArea } from '../shared/ask-form';
import { plural } from '../shared/format';
import { info } from '../shared/info';
import { embedding, lines, list, MOST_LINES, promptName } from './state';

const EXAMPLE = [
  'The film was a delight from start to finish.',
  'I enjoyed every minute of this movie.',
  'Two hours of my life that I will never get back.',
  'It rains in the mountains until Thursday.',
  'Tomorrow will be sunny and dry.',
  'How do I bake bread without yeast?',
  'A recipe for soda bread.',
  'Les acteurs sont merveilleux.',
  'The train to Warsaw is late again.',
];

/** Where the lines go in. */
export function Composer() {
  const prompts = info.value?.model.prompts ?? [];
  const amount = plural(lines.value.length, 'line');
  return (
    <AskForm
      asked={embedding}
      verb="Compare"
      busy="Comparing…"
      amount={
        lines.value.length > MOST_LINES ? `${amount}; the first ${MOST_LINES} are compared` : amount
      }
      below={
        <FillIn
          label="Compare an example"
          onClick={() => {
            list.value = EXAMPLE.join('\n');
            embedding.ask().catch(reportError);
          }}
        />
      }
    >
      <TextArea
        id="lines"
        label="Texts, one on each line"
        rows={9}
        placeholder="Paste a list here"
        value={list}
      />
      {prompts.length > 0 && (
        <Select
          id="prompt"
          label="Prompt before each line"
          value={promptName}
          options={[['', "the model's own"], ...prompts.map((name) => [name, name] as const)]}
        />
      )}
    </AskForm>
  );
}
