import { readInput } from '../../src/protocols/openai/decision-input';

const TEXT = { type: 'input_text', text: 'It rains.' };
const JSON_PART = { type: 'input_json', data: { a: 1, b: [true, null] } };

it.each<[string, unknown, string, 'left' | 'right']>([
  ['a text', 'It rains.', 'It rains.', 'right'],
  ['a message', [{ role: 'user', content: 'It rains.' }], 'It rains.', 'right'],
  ['a part', [{ role: 'user', content: [TEXT] }], 'It rains.', 'right'],
  [
    'parts',
    [{ role: 'user', content: [TEXT, JSON_PART] }],
    'It rains.\n{"a": 1, "b": [true, null]}',
    'right',
  ],
  [
    'messages',
    [
      { type: 'message', role: 'system', content: 'Rain' },
      { role: 'user', content: [TEXT, TEXT] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
    ],
    'system: Rain\nuser: It rains.\nIt rains.\nassistant: Yes.\nassistant: No.',
    'left',
  ],
  [
    'tools',
    [
      { type: 'function_call', call_id: '1', name: 'f', arguments: '{"a": 1}' },
      { type: 'function_call_output', call_id: '1', output: [TEXT] },
      { type: 'custom_tool_call', call_id: '2', name: 'g', input: 'x' },
      { type: 'custom_tool_call_output', call_id: '2', output: 'y' },
    ],
    'function_call f: {"a": 1}\nfunction_call_output: It rains.\ncustom_tool_call g: x\ncustom_tool_call_output: y',
    'left',
  ],
])('reads %s', (_, input, state, truncationSide) => {
  expect(readInput(input)).toEqual({ state, truncationSide });
});
