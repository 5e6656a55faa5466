import { batch } from '@preact/signals';
import { AskForm, FillIn, TextArea, TextLine } from '../shared/ask-form';
import { plural } from '../shared/format';
import { documents, list, query, reranking } from './state';

const EXAMPLE = {
  query: 'How long is the film?',
  documents: [
    'The cast is wonderful; the script, sadly, is not.',
    'It was shot in Iceland over one summer.',
    'With a running time of 142 minutes it never drags.',
    'Tickets are twelve euros, eight for students.',
    'You will sit there for more than two hours, and not notice.',
    'The director has made three short films before.',
  ],
};

/** Where the query and the documents go in. */
export function Composer() {
  return (
    <AskForm
      asked={reranking}
      verb="Rank"
      busy="Ranking…"
      amount={plural(documents.value.length, 'document')}
      below={
        <FillIn
          label="Rank an example"
          onClick={() => {
            batch(() => {
              query.value = EXAMPLE.query;
              list.value = EXAMPLE.documents.join('\n');
            });
            reranking.ask().catch(reportError);
          }}
        />
      }
    >
      <TextLine
        id="query"
        label="Query"
        placeholder="What the documents are to answer"
        value={query}
      />
      <TextArea
        id="documents"
        label="Documents, one on each line"
        rows={9}
        placeholder="Paste a list here"
        value={list}
      />
    </AskForm>
  );
}
