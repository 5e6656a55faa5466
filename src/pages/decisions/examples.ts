import type { StateFormat } from './decision-state';
import { type EditedQuestion, newItem, newQuestion } from './questions';

export interface Example {
  readonly state: string;
  readonly format: StateFormat;
  /** Creates the questions: each use of the example needs new ids. */
  readonly questions: () => readonly EditedQuestion[];
}

/** Examples by the text of their button. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  'Support ticket: refund, topic and urgency': {
    state:
      'My parcel came a week late, and the box was open. I have a party tomorrow. Please send my money back.',
    format: 'text',
    questions: () => [
      newQuestion({ name: 'refund', instructions: 'The customer wants their money back.' }),
      newQuestion({
        type: 'choice',
        name: 'topic',
        instructions: 'What is the message about?',
        options: [
          newItem('delivery', 'A parcel is late, lost or damaged.'),
          newItem('price', 'The price or an invoice is wrong.'),
          newItem('praise', 'The customer is satisfied.'),
        ],
      }),
      newQuestion({
        type: 'score',
        name: 'urgency',
        instructions: 'How urgent is the message?',
        levels: [
          newItem('', 'It can wait.'),
          newItem('', 'It needs a reply this week.'),
          newItem('', 'It needs a reply today.'),
        ],
      }),
    ],
  },
  'Log record as JSON: severity and responsible team': {
    state: `{
  "service": "checkout",
  "status": 503,
  "retries": 3,
  "message": "connection to the payment provider timed out"
}`,
    format: 'json',
    questions: () => [
      newQuestion({
        name: 'outage',
        whenTrue: 'Customers cannot pay.',
        whenFalse: 'Customers are not affected.',
      }),
      newQuestion({
        type: 'choice',
        name: 'team',
        instructions: 'Which team is responsible?',
        options: [newItem('payments'), newItem('network'), newItem('search')],
      }),
    ],
  },
};
