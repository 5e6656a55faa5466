// What the nodes of an exported program may ask for.
import type { HostileCase, Json } from './case';
import { node, nodesOf, programCase, value, values } from './exported-archive';

type Call = readonly [name: string, call: Json, error: RegExp, failsAt?: 'request'];

const x = value('x');
const weight = value('p_features_4_weight');
const ints = (...as_ints: readonly number[]): Json => ({ as_ints });
const int = (as_int: number): Json => ({ as_int });
const NOT = (name: string): RegExp =>
  new RegExp(
    `torch\\.ops\\.${name} \\(node hostile\\):? is (not allowed|never allowed|not in this LibTorch|not supported|no operator)`,
  );
const refused = (target: string, inputs: Record<string, Json> = { self: x }): Call => [
  `of ${target}`,
  node(target, inputs),
  NOT(target.replace(/^torch\.ops\./, '').replaceAll('.', '\\.')),
];

const REFUSED: readonly Call[] = [
  refused('aten.set_.source_Storage'),
  refused('aten.set_.source_Tensor', { self: x, source: weight }),
  refused('aten.from_file.default', { filename: { as_string: '/etc/passwd' }, size: int(100) }),
  refused('aten.save.default'),
  refused('aten.resize_.default', { self: x, size: ints(1_000_000) }),
  refused('aten.manual_seed.default', { seed: int(1) }),
  refused('aten._reshape_alias.default', { self: x, size: ints(1_000_000), stride: ints(1000) }),
  refused('aten.relu.nothing'),
  refused('aten.nothing.default'),
  refused('torch.ops.prim.Print.default'),
  refused('torch.ops.quantized.linear.default'),
  refused('torch.ops.my_library.my_operator.default'),
  [
    'of os.system',
    node('os.system', { command: { as_string: 'true' } }),
    /os\.system \(node hostile\):? is an unknown operator/,
  ],
  ['of aten alone', node('aten', {}), /aten \(node hostile\):? is an unknown operator/],
  ['of an operator without a name', node('', {}), /\(node hostile\):? is an unknown operator/],
  [
    'of an operator of a line break',
    node('torch.ops.aten.a\nb\u001b[2J', {}),
    /torch\.ops\.aten\.a.{1,20}b.*\(node hostile\)/,
  ],
  [
    'of an operator of a name of 5 MB',
    node(`torch.ops.aten.${'a'.repeat(5 << 20)}`, {}),
    /torch\.ops\.aten\.a{100,3000}/,
  ],
  [
    'of _operator.getitem',
    node('_operator.getitem', { 0: x }),
    /_operator\.getitem \(node hostile\):? is an unknown operator/,
  ],
];

const WRONG: readonly Call[] = [
  [
    'of an argument that is missing',
    node('aten.relu.default', {}),
    /torch\.ops\.aten\.relu\.default \(node hostile\): has no argument self/,
  ],
  [
    'of an argument too many',
    node('aten.relu.default', { self: x, other: x }),
    /has arguments that the operator does not take/,
  ],
  [
    'of an argument twice',
    {
      ...node('aten.relu.default', { self: x }),
      inputs: [
        { name: 'self', arg: x, kind: 1 },
        { name: 'self', arg: x, kind: 1 },
      ],
    },
    /has arguments that the operator does not take/,
  ],
  ['of a text for a tensor', node('aten.relu.default', { self: { as_string: 'x' } }), /hostile/],
  ['of None for a tensor', node('aten.relu.default', { self: { as_none: [] } }), /hostile/],
  [
    'of a tensor for a number',
    node('aten.flatten.using_ints', { self: x, start_dim: x }),
    /hostile/,
    'request',
  ],
  [
    'of texts for numbers',
    node('aten.view.default', { self: x, size: { as_strings: ['a'] } }),
    /hostile\): a list holds String/,
  ],
  [
    'of numbers for tensors',
    node('aten.stack.default', { tensors: { as_floats: [1, 2] } }),
    /hostile\)?: .*a list holds Double/,
  ],
  [
    'of lists inside a list',
    node('aten.view.default', { self: x, size: { as_int_lists: [[1], [2]] } }),
    /hostile: lists inside lists are not supported/,
  ],
  [
    'of a dimension that is not there',
    node('aten.sum.dim_IntList', { self: x, dim: ints(7) }),
    /hostile: Dimension out of range/,
    'request',
  ],
  [
    'of a dimension of -2^62',
    node('aten.select.int', { self: x, dim: int(-(2 ** 62)), index: int(0) }),
    /hostile: Dimension out of range/,
    'request',
  ],
  [
    'of an index that is not there',
    node('aten.select.int', { self: weight, dim: int(0), index: int(1e9) }),
    /hostile: .*index 1000000000 out of range|hostile: .*out of range/,
  ],
  [
    'of a negative size',
    node('aten.zeros.default', { size: ints(-5) }),
    /hostile: zeros: Dimension size must be non-negative/,
  ],
  [
    'of sizes that overflow',
    node('aten.zeros.default', { size: ints(2 ** 40, 2 ** 40) }),
    /hostile.*(overflow|too large|numel)/i,
  ],
  [
    'of a petabyte',
    node('aten.ones.default', { size: ints(2 ** 48) }),
    /forward\(\) asked for more than 1024 MiB of memory in the load-time check/,
  ],
  [
    'of numbers to 1e15',
    node('aten.arange.default', { end: { as_float: 1e15 } }),
    /forward\(\) asked for more than 1024 MiB of memory in the load-time check/,
  ],
  [
    'of an image of 2^60',
    node('aten.eye.default', { n: int(2 ** 30) }),
    /forward\(\) asked for more than 1024 MiB of memory in the load-time check/,
  ],
  [
    'of a step of 0',
    node('aten.arange.start_step', { start: int(0), end: int(5), step: int(0) }),
    /hostile.*step must be nonzero/,
  ],
  [
    'of a window of 2^40',
    node('aten.hann_window.default', { window_length: int(2 ** 40) }),
    /forward\(\) asked for more than 1024 MiB of memory/,
  ],
  [
    'of padding beyond memory',
    node('aten.constant_pad_nd.default', { self: x, pad: ints(0, 2 ** 44) }),
    /forward\(\) asked for more than 1024 MiB of memory in the load-time check/,
  ],
  [
    'of a convolution of a stride of 0',
    node('aten.conv1d.default', {
      input: x,
      weight: value('p_features_0_weight'),
      stride: ints(0),
    }),
    /hostile.*non-positive stride/,
    'request',
  ],
  [
    'of a convolution of -3 groups',
    node('aten.conv1d.default', {
      input: x,
      weight: value('p_features_0_weight'),
      groups: int(-3),
    }),
    /hostile.*groups/,
    'request',
  ],
  [
    'of a view outside of its memory',
    node('aten.as_strided.default', { self: x, size: ints(1000), stride: ints(100_000) }),
    /hostile.*out of bounds for storage/,
    'request',
  ],
  [
    'of a view outside of a weight',
    node('aten.as_strided.default', { self: weight, size: ints(1000), stride: ints(100_000) }),
    /hostile.*out of bounds for storage/,
  ],
  [
    'of a view of negative strides',
    node('aten.as_strided.default', { self: weight, size: ints(4), stride: ints(-4) }),
    /hostile.*[Nn]egative strides/,
  ],
  [
    'of a type that is a number',
    node('aten.zeros.default', { size: ints(3), dtype: int(100) }),
    /hostile: dtype: expected a type of numbers/,
  ],
  [
    'of a layout that is a number',
    node('aten.zeros.default', { size: ints(3), layout: int(100) }),
    /hostile: layout: expected a layout/,
  ],
  [
    'of a memory format that is a number',
    node('aten.clone.default', { self: x, memory_format: int(100) }),
    /hostile: memory_format: expected a memory format/,
  ],
  [
    'of an embedding outside of its table',
    node('aten.embedding.default', {
      weight: value('p_classifier_weight'),
      indices: { as_int: 1e12 },
    }),
    /hostile: index out of range in self/,
  ],
  [
    'of lengths that are not as many as rows',
    node(
      'aten._weight_norm_interface.default',
      {
        v: value('p_classifier_weight'),
        g: value('p_features_0_bias'),
        dim: int(1),
      },
      [value('a'), value('b')],
    ),
    /hostile: the lengths are not as many as there are rows/,
    'request',
  ],
  [
    'of fewer statistics than channels',
    node(
      'aten._native_batch_norm_legit_no_training.default',
      {
        input: weight,
        weight: { as_none: [] },
        bias: { as_none: [] },
        running_mean: value('p_classifier_bias'),
        running_var: value('p_classifier_bias'),
        momentum: { as_float: 0.1 },
        eps: { as_float: 1e-5 },
      },
      [value('a'), value('b'), value('c')],
    ),
    /hostile: statistics or weights are not as many as there are channels/,
    'request',
  ],
  [
    'of an LSTM with weights of another one',
    node(
      'aten.lstm.input',
      {
        input: weight,
        hx: values('p_features_4_weight', 'p_features_4_weight'),
        params: values('p_classifier_bias', 'p_classifier_bias'),
        has_biases: { as_bool: false },
        num_layers: int(1 << 30),
        dropout: { as_float: 0 },
        train: { as_bool: false },
        bidirectional: { as_bool: false },
        batch_first: { as_bool: false },
      },
      [value('a'), value('b'), value('c')],
    ),
    /hostile: the states are not as many as there are layers/,
    'request',
  ],
  [
    'of a result that is written into a weight',
    node('aten.add.out', { self: x, other: x, out: weight }),
    /torch\.ops\.aten\.add\.out \(node hostile\) is never allowed/,
  ],
  [
    'of pieces that are written into weights',
    node(
      'aten.unsafe_split.Tensor_out',
      { self: weight, split_size: int(12), dim: int(0), out: values('p_features_4_weight') },
      [],
    ),
    /torch\.ops\.aten\.unsafe_split\.Tensor_out \(node hostile\) is never allowed/,
  ],
  [
    'of a layout that is not dense',
    node('aten.zeros.default', { size: ints(3), layout: { as_layout: 6 } }),
    /hostile: layout: expected a dense layout|as_layout: expected a dense layout/,
  ],
  [
    'of queries without heads',
    node(
      'aten._scaled_dot_product_flash_attention_for_cpu.default',
      {
        query: x,
        key: x,
        value: x,
      },
      [value('a'), value('b')],
    ),
    /hostile: queries, keys and values have shapes that do not fit each other/,
    'request',
  ],
  [
    'of a transform of half of what it needs',
    node('aten._fft_c2r.default', {
      self: x,
      dim: ints(2),
      normalization: int(0),
      last_dim_size: int(100_000_000),
    }),
    /hostile: the input is not half as long as the result/,
    'request',
  ],
  [
    'of a layer that looks at no lengths',
    node('aten.mkldnn_rnn_layer.default', {}),
    NOT('aten\\.mkldnn_rnn_layer\\.default'),
  ],
  [
    'of a division of sizes by zero',
    node('_operator.floordiv', { 0: int(1), 1: int(0) }),
    /the arithmetic on sizes failed/,
    'request',
  ],
  [
    'of sizes whose power overflows',
    node('_operator.pow', { 0: int(9), 1: int(1e9) }),
    /the arithmetic on sizes failed: an overflow/,
    'request',
  ],
  [
    'of sizes shifted by 2^62',
    node('_operator.lshift', { 0: int(1), 1: int(2 ** 62) }),
    /the arithmetic on sizes failed: an overflow/,
    'request',
  ],
  [
    'of a sum of a tensor',
    node('_operator.add', { 0: x, 1: int(1) }),
    /the arithmetic on sizes failed: expected an integer/,
    'request',
  ],
  [
    'of arithmetic on one size',
    node('_operator.add', { 0: int(1) }),
    /_operator\.add \(node hostile\): has 1 arguments/,
  ],
  [
    'of a root that is no integer',
    node('math.trunc', { 0: { as_float: 'Infinity' } }),
    /the arithmetic on sizes failed: a number is no integer/,
    'request',
  ],
  [
    'of a condition that does not hold',
    node(
      'aten._assert_scalar.default',
      { self: { as_bool: false }, assert_msg: { as_string: 'a\nb' } },
      [],
    ),
    /hostile: a\\u000ab/,
    'request',
  ],
];

export const EXPORTED_OPERATORS: readonly HostileCase[] = [...REFUSED, ...WRONG].map(
  ([name, call, error, failsAt]) =>
    programCase(
      `an exported program ${name}`,
      'plain-cnn',
      (program) => void nodesOf(program).unshift(call),
      error,
      failsAt,
    ),
);

const call =
  (added: Json) =>
  (program: Json): void =>
    void nodesOf(program).unshift(added);

/** Changes after which a run writes where the file lies mapped: each has a copy of its own. */
export const WRITES: readonly (readonly [name: string, edit: (program: Json) => void])[] = [
  ['a weight', call(node('aten.mul_.Scalar', { self: weight, other: int(2) }))],
  ['its input', call(node('aten.add_.Scalar', { self: x, other: int(2) }))],
  [
    'a view of a weight',
    (program) =>
      void nodesOf(program).unshift(
        node('aten.view.default', { self: weight, size: ints(-1) }),
        node('aten.fill_.Scalar', { self: value('hostile'), value: int(1) }, [value('filled')]),
      ),
  ],
  [
    'statistics, as a normalization in training does',
    (program) => {
      for (const { target, inputs } of nodesOf(program)) {
        if (target !== 'torch.ops.aten.batch_norm.default') continue;
        inputs.find(({ name }: Json) => name === 'training').arg = { as_bool: true };
      }
    },
  ],
];
