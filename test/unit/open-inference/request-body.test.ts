import { readInferRequest } from '../../../src/protocols/open-inference/request-body';

const INPUT = { name: 'T', datatype: 'BYTES', shape: [1], data: ['a'] };

function read(body: unknown, rest = Buffer.alloc(0), header?: string) {
  const json = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return readInferRequest(
    Buffer.concat([json, rest]),
    header ?? (rest.length > 0 ? String(json.length) : undefined),
  );
}

describe('an inference request', () => {
  it('is read with what is said, and what is not', () => {
    expect(read({ inputs: [INPUT] })).toEqual({
      id: '',
      timeoutMs: null,
      inputs: [
        { name: 'T', datatype: 'BYTES', shape: [1], contents: { form: 'json', data: ['a'] } },
      ],
      outputs: null,
      binaryOutputs: false,
    });
    expect(
      read({
        id: '42',
        parameters: { timeout: 1500, binary_data_output: true, priority: 3, other: {} },
        inputs: [{ ...INPUT, other: 1, parameters: { other: 1 } }],
        outputs: [
          { name: 'A' },
          { name: 'B', parameters: { binary_data: false, classification: 2, other: null } },
        ],
        other: [],
      }),
    ).toMatchObject({
      id: '42',
      timeoutMs: 1.5,
      outputs: [
        { name: 'A', classification: 0, binary: null },
        { name: 'B', classification: 2, binary: false },
      ],
      binaryOutputs: true,
    });
  });

  it('takes the data of binary inputs in their order', () => {
    const { data, ...binary } = INPUT;
    const request = read(
      {
        inputs: [
          { ...binary, name: 'A', parameters: { binary_data_size: 2 } },
          INPUT,
          { ...binary, name: 'B', parameters: { binary_data_size: 0 } },
          { ...binary, name: 'C', parameters: { binary_data_size: 3 } },
        ],
      },
      Buffer.from('aaccc'),
    );
    expect(request.inputs.map(({ contents }) => contents)).toEqual([
      { form: 'raw', bytes: Buffer.from('aa') },
      { form: 'json', data: ['a'] },
      { form: 'raw', bytes: Buffer.alloc(0) },
      { form: 'raw', bytes: Buffer.from('ccc') },
    ]);
  });

  it('takes an empty list of outputs, and a timeout of 0, for none', () => {
    expect(read({ inputs: [INPUT], outputs: [], parameters: { timeout: 0 } })).toMatchObject({
      outputs: null,
      timeoutMs: null,
    });
  });

  it('takes a sequence of 0 for none', () => {
    const parameters = { sequence_id: 0, sequence_start: false, sequence_end: false };
    expect(read({ inputs: [INPUT], parameters }).inputs).toHaveLength(1);
  });

  it.each<[unknown, string]>([
    ['', 'body: is required'],
    ['{', 'body: is not valid JSON'],
    ['[1]', 'body: expected an object'],
    [{}, 'inputs: is required'],
    [{ inputs: {} }, 'inputs: expected an array of tensors'],
    [{ inputs: Array(17).fill(INPUT) }, 'inputs: expected at most 16 elements'],
    [{ inputs: Array(100_000).fill(null) }, 'inputs: expected at most 16 elements'],
    [{ inputs: [null] }, 'inputs[0]: expected an object'],
    [{ inputs: [{ ...INPUT, name: 5 }] }, 'inputs[0].name: expected a string'],
    [{ inputs: [INPUT, { ...INPUT, datatype: undefined }] }, 'inputs[1].datatype: is required'],
    [{ inputs: [{ ...INPUT, shape: 3 }] }, 'inputs[0].shape: expected an array of whole numbers'],
    [
      { inputs: [{ ...INPUT, shape: [-1] }] },
      'inputs[0].shape[0]: expected a whole number, at least 0',
    ],
    [
      { inputs: [{ ...INPUT, shape: [1.5] }] },
      'inputs[0].shape[0]: expected a whole number, at least 0',
    ],
    [
      { inputs: [{ ...INPUT, shape: ['1'] }] },
      'inputs[0].shape[0]: expected a whole number, at least 0',
    ],
    [
      '{"inputs":[{"name":"T","datatype":"BYTES","shape":[18446744073709551616],"data":[]}]}',
      'inputs[0].shape[0]: expected a whole number, at least 0',
    ],
    [
      { inputs: [{ ...INPUT, shape: Array(9).fill(1) }] },
      'inputs[0].shape: expected at most 8 elements',
    ],
    [{ inputs: [{ ...INPUT, data: undefined }] }, 'inputs[0].data: is required'],
    [{ inputs: [{ ...INPUT, parameters: 1 }] }, 'inputs[0].parameters: expected an object'],
    [
      { inputs: [{ ...INPUT, parameters: { binary_data_size: 1 } }] },
      'inputs[0]: expected data or parameters.binary_data_size, not both',
    ],
    [
      { inputs: [{ ...INPUT, data: undefined, parameters: { binary_data_size: -1 } }] },
      'inputs[0].parameters.binary_data_size: expected a whole number, at least 0',
    ],
    [
      { inputs: [{ ...INPUT, data: undefined, parameters: { binary_data_size: 5 } }] },
      'inputs[0].parameters.binary_data_size: is 5, but 0 bytes of the body are left',
    ],
    [
      { inputs: [{ ...INPUT, parameters: { shared_memory_region: 'r' } }] },
      'inputs[0].parameters.shared_memory_region: shared memory is not supported',
    ],
    [{ inputs: [INPUT], id: 5 }, 'id: expected a string'],
    [{ inputs: [INPUT], parameters: [] }, 'parameters: expected an object'],
    [
      { inputs: [INPUT], parameters: { timeout: -1 } },
      'parameters.timeout: expected a whole number, at least 0',
    ],
    [
      { inputs: [INPUT], parameters: { timeout: '5' } },
      'parameters.timeout: expected a whole number, at least 0',
    ],
    [
      { inputs: [INPUT], parameters: { sequence_id: 7 } },
      'parameters.sequence_id: sequences are not supported',
    ],
    [
      { inputs: [INPUT], parameters: { sequence_start: true } },
      'parameters.sequence_start: sequences are not supported',
    ],
    [
      { inputs: [INPUT], parameters: { binary_data_output: 1 } },
      'parameters.binary_data_output: expected true or false',
    ],
    [{ inputs: [INPUT], outputs: [{}] }, 'outputs[0].name: is required'],
    [
      { inputs: [INPUT], outputs: [{ name: 'A', parameters: { classification: 1.5 } }] },
      'outputs[0].parameters.classification: expected a whole number, at least 0',
    ],
    [
      { inputs: [INPUT], outputs: [{ name: 'A', parameters: { shared_memory_region: 'r' } }] },
      'outputs[0].parameters.shared_memory_region: shared memory is not supported',
    ],
  ])('is refused as %j', (body, message) => {
    let said = '';
    try {
      read(body);
    } catch (error) {
      said = (error as Error).message;
    }
    expect(said.slice(0, message.length)).toBe(message);
  });

  it('is refused where its parts do not add up to the body', () => {
    const binary = { ...INPUT, data: undefined, parameters: { binary_data_size: 2 } };
    expect(() => read({ inputs: [binary] }, Buffer.from('abc'))).toThrow(
      'body: 1 unexpected bytes after the input data',
    );
    expect(() => read({ inputs: [binary] }, Buffer.from('a'))).toThrow(
      'inputs[0].parameters.binary_data_size: is 2, but 1 bytes of the body are left',
    );
    const huge = { ...binary, parameters: { binary_data_size: Number.MAX_SAFE_INTEGER } };
    expect(() => read({ inputs: [binary, huge] }, Buffer.from('ab'))).toThrow(
      'inputs[1].parameters.binary_data_size: is 9007199254740991, but 0 bytes of the body are left',
    );
  });

  it.each(['-1', '1.5', '1e2', ' 1', '', '0x10', '99999999999999999999', '1000'])(
    'is refused where its JSON is said to have %j bytes',
    (header) => {
      expect(() => read({ inputs: [INPUT] }, Buffer.alloc(1), header)).toThrow(
        /^Inference-Header-Content-Length: expected a number of bytes, at most the \d+ of the body$/,
      );
    },
  );
});
