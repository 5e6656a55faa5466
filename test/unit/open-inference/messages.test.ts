import {
  type ModelInferRequest,
  readInferRequest,
  writeInferResponse,
} from '../../../src/protocols/open-inference/grpc/messages';

const NO_CONTENTS = { fp32_contents: [], fp64_contents: [], bytes_contents: [] };

const INPUT: ModelInferRequest['inputs'][number] = {
  name: 'T',
  datatype: 'FP32',
  shape: [2],
  parameters: {},
  contents: { ...NO_CONTENTS, fp32_contents: [1, 2] },
};

/** As @grpc/proto-loader reads it: what was not sent is there, and empty. */
function message(more: Partial<ModelInferRequest>): ModelInferRequest {
  return {
    model_name: 'm',
    model_version: '',
    id: '',
    parameters: {},
    inputs: [INPUT],
    outputs: [],
    raw_input_contents: [],
    ...more,
  };
}

describe('a ModelInferRequest', () => {
  it('is read with what is said, and what is not', () => {
    expect(readInferRequest(message({}))).toEqual({
      id: '',
      timeoutMs: null,
      inputs: [
        { name: 'T', datatype: 'FP32', shape: [2], contents: { form: 'typed', values: [1, 2] } },
      ],
      outputs: null,
    });
    expect(
      readInferRequest(
        message({
          id: '42',
          parameters: {
            timeout: { uint64_param: 2500 },
            priority: { uint64_param: 3 },
            sequence_id: { int64_param: 0 },
          },
          outputs: [
            { name: 'A', parameters: {} },
            { name: 'B', parameters: { classification: { int64_param: 2 } } },
          ],
        }),
      ),
    ).toMatchObject({
      id: '42',
      timeoutMs: 2.5,
      outputs: [
        { name: 'A', classification: 0, binary: null },
        { name: 'B', classification: 2, binary: null },
      ],
    });
  });

  it('has its raw contents in the order of the inputs', () => {
    const raw_input_contents = [Buffer.from('a'), Buffer.from('b')];
    const inputs = [
      { ...INPUT, contents: null },
      { ...INPUT, name: 'U', contents: null },
    ];
    const read = readInferRequest(message({ inputs, raw_input_contents }));
    expect(read.inputs.map(({ name, contents }) => [name, contents])).toEqual([
      ['T', { form: 'raw', bytes: Buffer.from('a') }],
      ['U', { form: 'raw', bytes: Buffer.from('b') }],
    ]);
  });

  it.each([
    ['BYTES', { bytes_contents: [Buffer.from('a')] }, [Buffer.from('a')]],
    ['FP64', { fp64_contents: [1.5] }, [1.5]],
    ['FP32', { fp64_contents: [1.5] }, []],
  ])('has typed contents of %s where they belong', (datatype, contents, values) => {
    const inputs = [{ ...INPUT, datatype, contents: { ...NO_CONTENTS, ...contents } }];
    expect(readInferRequest(message({ inputs })).inputs[0]?.contents).toEqual({
      form: 'typed',
      values,
    });
  });

  it.each<[Partial<ModelInferRequest>, string]>([
    [
      { parameters: { timeout: { int64_param: -1 } } },
      'parameters.timeout: expected a whole number, at least 0',
    ],
    [
      { parameters: { timeout: { string_param: '5' } } },
      'parameters.timeout: expected a whole number, at least 0',
    ],
    [
      { parameters: { sequence_id: { string_param: 's' } } },
      'parameters.sequence_id: sequences are not supported',
    ],
    [
      { parameters: { sequence_start: { bool_param: true } } },
      'parameters.sequence_start: sequences are not supported',
    ],
    [
      { outputs: [{ name: 'A', parameters: { classification: { int64_param: -2 } } }] },
      'outputs[0].parameters.classification: expected a whole number, at least 0',
    ],
    [
      { outputs: [{ name: 'A', parameters: { shared_memory_region: { string_param: 'r' } } }] },
      'outputs[0].parameters.shared_memory_region: shared memory is not supported',
    ],
    [
      { inputs: [{ ...INPUT, parameters: { shared_memory_region: { string_param: 'r' } } }] },
      'inputs[0].parameters.shared_memory_region: shared memory is not supported',
    ],
    [
      { raw_input_contents: [Buffer.alloc(8), Buffer.alloc(8)] },
      'raw_input_contents: expected one element for each of the 1 inputs, or none',
    ],
    [
      { raw_input_contents: [Buffer.alloc(8)] },
      'inputs[0].contents: expected none beside raw_input_contents',
    ],
  ])('is refused as %j', (more, problem) => {
    expect(() => readInferRequest(message(more))).toThrow(problem);
  });
});

it('answers raw or typed, as it was asked', () => {
  const answer = {
    inferences: [],
    outputs: [
      { name: 'L', datatype: 'BYTES', shape: [1], values: ['é'] },
      { name: 'S', datatype: 'FP32', shape: [1], values: Float32Array.of(0.5) },
    ],
  } as const;
  const common = { model_name: 'm', model_version: '1', id: '7' };
  expect(writeInferResponse(message({ id: '7' }), { name: 'm', version: '1' }, answer)).toEqual({
    ...common,
    outputs: [
      {
        name: 'L',
        datatype: 'BYTES',
        shape: [1],
        contents: { bytes_contents: [Buffer.from('é')] },
      },
      { name: 'S', datatype: 'FP32', shape: [1], contents: { fp32_contents: [0.5] } },
    ],
  });
  const raw = message({ id: '7', raw_input_contents: [Buffer.alloc(8)] });
  expect(writeInferResponse(raw, { name: 'm', version: '1' }, answer)).toEqual({
    ...common,
    outputs: [
      { name: 'L', datatype: 'BYTES', shape: [1] },
      { name: 'S', datatype: 'FP32', shape: [1] },
    ],
    raw_output_contents: [
      Buffer.from([2, 0, 0, 0, 0xc3, 0xa9]),
      Buffer.from(Float32Array.of(0.5).buffer),
    ],
  });
});
