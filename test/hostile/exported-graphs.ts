// The graph of an exported program: values, nodes, graphs inside, and what the signature says.
import type { HostileCase, Json } from './case';
import { graph, graphOf, node, nodesOf, programCase, value, values } from './exported-archive';

type Case = readonly [
  name: string,
  edit: (program: Json) => unknown,
  error: RegExp,
  failsAt?: 'request',
];

const MEGABYTES = 1 << 20;
const ENDLESS = 'of a loop without end';
const CNN = 'plain-cnn';
const relu = (from: string, to: string): Json =>
  node('aten.relu.default', { self: value(from) }, [value(to)]);
const inFront =
  (...nodes: readonly Json[]) =>
  (program: Json): void =>
    void nodesOf(program).unshift(...nodes);
const specs = (program: Json): Json => program.graph_module.signature;
const call = (program: Json): Json => program.graph_module.module_call_graph[0];

const VALUES: readonly Case[] = [
  [
    'of a cycle',
    inFront(relu('b', 'a'), relu('a', 'b')),
    /hostile: takes the value b, which nothing before it gives/,
  ],
  [
    'of a node that takes itself',
    inFront(relu('a', 'a')),
    /hostile: takes the value a, which nothing before it gives/,
  ],
  [
    'in another order',
    (program) => void nodesOf(program).reverse(),
    /takes the value \w+, which nothing before it gives/,
  ],
  [
    'of a value that nobody gives',
    inFront(relu('nothing', 'a')),
    /hostile: takes the value nothing, which nothing before/,
  ],
  [
    'of two values of one name',
    inFront(relu('x', 'a'), relu('x', 'a')),
    /two values have the name a$/,
  ],
  [
    'of a value named as an input',
    inFront(relu('x', 'p_features_0_weight')),
    /two values have the name p_features_0_weight/,
  ],
  [
    'of two inputs of one name',
    (program) => {
      graphOf(program).inputs[1] = graphOf(program).inputs[0];
    },
    /two values have the name p_features_0_weight/,
  ],
  [
    'of more results than the operator has',
    inFront(node('aten.relu.default', { self: value('x') }, [value('a'), value('b')])),
    /torch\.ops\.aten\.relu\.default \(node hostile\): names 2 results, but the operator has 1/,
  ],
  [
    'of fewer results than the operator has',
    inFront(node('aten.max.dim', { self: value('x'), dim: { as_int: 0 } }, [value('a')])),
    /aten\.max\.dim \(node hostile\): names 1 results, but the operator has 2/,
  ],
  [
    'of no result',
    inFront(node('aten.relu.default', { self: value('x') }, [])),
    /names 0 results, but the operator has 1/,
  ],
  [
    'of a list for a tensor',
    inFront(node('aten.relu.default', { self: value('x') }, [values('a')])),
    /names a list for a tensor, or the reverse/,
  ],
  [
    'of a tensor for a list',
    inFront(node('aten.chunk.default', { self: value('x'), chunks: { as_int: 2 } }, [value('a')])),
    /names a list for a tensor, or the reverse/,
  ],
  [
    'of more tensors than a list has',
    inFront(
      node('aten.chunk.default', { self: value('x'), chunks: { as_int: 2 }, dim: { as_int: 2 } }, [
        values('a', 'b', 'c'),
      ]),
    ),
    /hostile: gave 2 tensors, expected 3/,
    'request',
  ],
  [
    'of a result that is a number',
    inFront(node('aten.relu.default', { self: value('x') }, [{ as_int: 1 }])),
    /gives what is neither a tensor nor a number/,
  ],
  [
    'of a result inside a result',
    inFront(
      node('aten.chunk.default', { self: value('x'), chunks: { as_int: 2 } }, [
        { as_nested_tensors: [[{ name: 'a' }]] },
      ]),
    ),
    /gives what is neither a tensor nor a number/,
  ],
  [
    'of a list that is given to a tensor',
    inFront(node('aten.relu.default', { self: values('x', 'x') })),
    /hostile\)?: unexpected list/,
    'request',
  ],
  [
    'of a number that is given to a list of tensors',
    inFront(node('aten.cat.default', { tensors: { as_ints: [1, 2] } })),
    /hostile\): a list holds Int/,
  ],
  [
    'of 100,001 nodes',
    inFront(...Array.from({ length: 100_001 }, (_, i) => relu('x', `n${i}`))),
    /graph_module\.graph\.nodes: 100012 nodes in all graphs, expected at most 100000/,
  ],
  [
    'of a million nodes',
    (program) => {
      graphOf(program).nodes = Array(1_000_000).fill({});
    },
    /1000000 nodes in all graphs, expected at most 100000/,
  ],
  [
    'of 180,000 nodes in three graphs',
    (program) => {
      const inner = (i: number): Json =>
        graph(
          [],
          [],
          Array.from({ length: 60_000 }, (_, k) => ({
            target: 't',
            inputs: [],
            outputs: [],
            name: `${i}-${k}`,
          })),
        );
      inFront(
        ...Array.from({ length: 3 }, (_, i) =>
          node(
            'higher_order.wrap_with_set_grad_enabled',
            { 0: { as_bool: false }, 1: inner(i) },
            [],
          ),
        ),
      )(program);
    },
    /nodes in all graphs, expected at most 100000/,
  ],
];

const SHAPES_OF_JSON: readonly Case[] = [
  [
    'without nodes',
    (program) => {
      delete graphOf(program).nodes;
    },
    /graph_module\.graph: has no nodes/,
  ],
  [
    'of nodes that are an object',
    (program) => {
      graphOf(program).nodes = {};
    },
    /graph_module\.graph\.nodes: expected an array/,
  ],
  ['of a node that is null', inFront(null), /graph_module\.graph\.nodes\[0\]: expected an object/],
  [
    'of a target that is a number',
    inFront({ target: 5, inputs: [], outputs: [] }),
    /nodes\[0\]\.target: expected a string/,
  ],
  [
    'of an argument of no kind',
    inFront(node('aten.relu.default', { self: {} })),
    /nodes\[0\]\.inputs\[0\]\.arg: expected one entry, found 0/,
  ],
  [
    'of an argument of two kinds',
    inFront(node('aten.relu.default', { self: { as_int: 1, as_float: 2 } })),
    /arg: expected one entry, found 2/,
  ],
  [
    'of an argument of an unknown kind',
    inFront(node('aten.relu.default', { self: { as_code: 'import os' } })),
    /arg: unsupported kind as_code/,
  ],
  [
    'of an argument of a class',
    inFront(node('aten.relu.default', { self: { as_custom_obj: { name: 'a', class_fqn: 'b' } } })),
    /unsupported kind as_custom_obj/,
  ],
  [
    'of an argument of the wrong type',
    inFront(node('aten.relu.default', { self: { as_int: 'x' } })),
    /arg\.as_int: expected an integer/,
  ],
  [
    'of an integer beyond 64 bits',
    inFront(node('aten.relu.default', { self: { as_int: 1e25 } })),
    /arg\.as_int: expected an integer/,
  ],
  [
    'of an unknown type of numbers',
    inFront(node('aten.zeros.default', { size: { as_ints: [1] }, dtype: { as_scalar_type: 99 } })),
    /unknown type of numbers 99/,
  ],
  [
    'of an unknown memory format',
    inFront(
      node('aten.clone.default', { self: value('x'), memory_format: { as_memory_format: 9 } }),
    ),
    /unknown memory format 9/,
  ],
  [
    'of an unknown layout',
    inFront(node('aten.zeros.default', { size: { as_ints: [1] }, layout: { as_layout: -1 } })),
    /unknown layout -1/,
  ],
  [
    'of more inputs than its signature',
    (program) => void graphOf(program).inputs.push(value('y')),
    /its graph has 18 inputs, but its signature 17/,
  ],
  [
    'of an input that is a number',
    (program) => {
      graphOf(program).inputs[0] = { as_int: 3 };
    },
    /its graph has a constant where a tensor is expected/,
  ],
  [
    'of an input that is a list',
    (program) => {
      graphOf(program).inputs[16] = values('x');
    },
    /its graph has a constant where a tensor is expected/,
  ],
  [
    'without outputs',
    (program) => {
      graphOf(program).outputs = [];
    },
    /its graph lacks outputs that its signature names/,
  ],
  [
    'of an output that nobody gives',
    (program) => {
      graphOf(program).outputs = [value('nothing')];
    },
    /the output: takes the value nothing, which nothing before it gives/,
  ],
  [
    'of an output that is a number',
    (program) => {
      graphOf(program).outputs = [{ as_int: 5 }];
    },
    /./,
  ],
  [
    'of an output that is a list',
    (program) => {
      graphOf(program).outputs = [values('linear')];
    },
    /the output: unexpected list/,
  ],
  [
    'of an output that is a graph',
    (program) => {
      graphOf(program).outputs = [graph([], [], [])];
    },
    /the output: unexpected graph/,
  ],
];

const extent =
  (min_val: Json, max_val: Json) =>
  (program: Json): void => {
    program.range_constraints.s77 = { min_val, max_val };
  };
const sizeOfInput =
  (index: number, size: Json) =>
  (program: Json): void => {
    graphOf(program).tensor_values.x.sizes[index] = size;
  };
const expression = (expr_str: Json): Json => ({ as_expr: { expr_str, hint: { as_int: 2 } } });
const tree =
  (spec: Json) =>
  (program: Json): void => {
    call(program).signature.out_spec = typeof spec === 'string' ? spec : JSON.stringify([1, spec]);
  };
const branch = (context: Json, ...children_spec: readonly Json[]): Json => ({
  type: 'builtins.dict',
  context,
  children_spec,
});
const leaf: Json = { type: null, context: null, children_spec: [] };

const SIGNATURES: readonly Case[] = [
  [
    'of a range that is reversed',
    extent(64, 5),
    /range_constraints\.s77: the minimum is above the maximum/,
  ],
  ['of a range below 0', extent(-9, -5), /x: takes 0 windows/],
  [
    'of a range that is a text',
    extent('a', 'b'),
    /range_constraints\.s77\.min_val: expected an integer/,
  ],
  [
    'of a range of a fraction',
    extent(1, 6.5),
    /range_constraints\.s77\.max_val: expected an integer/,
  ],
  [
    'of ranges that are a list',
    (program) => {
      program.range_constraints = [];
    },
    /range_constraints: expected an object/,
  ],
  [
    'of a size below 0',
    sizeOfInput(2, { as_int: -256 }),
    /tensor_values\.x\.sizes\[2\]\.as_int: is below 0|is below 0/,
  ],
  [
    'of a size of 2^53',
    sizeOfInput(2, { as_int: 2 ** 53 }),
    /takes windows of \[.*9007199254740992/,
  ],
  [
    'of a size that is a text',
    sizeOfInput(2, { as_int: '256' }),
    /sizes\[2\].*expected an integer/,
  ],
  [
    'of an expression that explodes',
    sizeOfInput(2, expression(`${'('.repeat(100_000)}s77${'**99)'.repeat(100_000)}`)),
    /input x: dimension 2 depends on other dimensions \(\({100}\)\. Export the model with an independent/,
  ],
  [
    'of an expression of 20 MB',
    sizeOfInput(2, expression(`2**s77*${'9'.repeat(20 * MEGABYTES)}`)),
    /input x: dimension 2 depends on other dimensions \(2\*\*s77\*9+\)/,
  ],
  [
    'of an expression that runs code',
    sizeOfInput(2, expression("__import__('os').system('true')")),
    /input x: dimension 2 depends on other dimensions/,
  ],
  [
    'of an expression that is a number',
    sizeOfInput(2, expression(5)),
    /expr_str: expected a string/,
  ],
  [
    'of a symbol that never ends',
    sizeOfInput(2, expression("Symbol('s77")),
    /input x: dimension 2 depends on other dimensions/,
  ],
  [
    'of 65 dimensions',
    (program) => {
      graphOf(program).tensor_values.x.sizes = Array(65).fill({ as_int: 1 });
    },
    /tensor_values\.x\.sizes: expected 64 dimensions or fewer/,
  ],
  [
    'of an input that is not described',
    (program) => {
      delete graphOf(program).tensor_values.x;
    },
    /tensor_values: has no x/,
  ],
  [
    'of an input of an unknown kind',
    (program) => {
      specs(program).input_specs[0] = { custom_obj: {} };
    },
    /input_specs\[0\]: unsupported kind custom_obj/,
  ],
  [
    'of a token',
    (program) => {
      specs(program).input_specs[0] = { token: { arg: { name: 't' } } };
    },
    /input_specs\[0\]: unsupported kind token/,
  ],
  [
    'of a number that each run is given',
    (program) => {
      specs(program).input_specs[16] = { user_input: { arg: { as_sym_int: { as_name: 'x' } } } };
    },
    /input x: is a number of each run, expected a tensor/,
  ],
  [
    'of a weight that is not there',
    (program) => {
      specs(program).input_specs[0].parameter.parameter_name = 'nothing';
    },
    /has no tensor nothing, which its signature names/,
  ],
  [
    'of a weight of a name of 5 MB',
    (program) => {
      specs(program).input_specs[0].parameter.parameter_name = 'x'.repeat(5 * MEGABYTES);
    },
    /has no tensor x{100,3000}/,
  ],
  [
    'without an input',
    (program) => {
      specs(program).input_specs[16] = { constant_input: { name: 'x', value: { as_none: [] } } };
    },
    /conv1d: Expected Tensor but got None/,
  ],
  [
    'of two windows',
    (program) => {
      specs(program).input_specs[0] = { user_input: { arg: value('p_features_0_weight') } };
    },
    /takes 2 inputs \(p_features_0_weight, x\), expected one, the windows/,
  ],
  [
    'of windows of integers',
    (program) => {
      graphOf(program).tensor_values.x.dtype = 5;
    },
    /x: takes Long, expected a floating-point type/,
  ],
  ['of names of outputs that are no JSON', tree('[1, {'), /out_spec: EOF while parsing an object/],
  [
    'of names of outputs that are empty',
    tree('[]'),
    /graph_module\.module_call_graph\[0\]\.signature\.out_spec: has no entry 1/,
  ],
  ['of names of outputs that are a number', tree('7'), /out_spec: expected an object or an array/],
  [
    'of names of outputs 100 deep',
    tree(deepTree(100)),
    /its graph is not valid JSON: recursion limit|out_spec: recursion limit exceeded/,
  ],
  [
    'of a key of 1 MB above 100,000 outputs',
    tree(
      branch(JSON.stringify(['x'.repeat(MEGABYTES)]), {
        type: 'builtins.list',
        context: 'null',
        children_spec: Array(100_000).fill(leaf),
      }),
    ),
    /out_spec: \[1\]\.children_spec.*: output name of more than 1000 bytes/,
  ],
];

function deepTree(depth: number): Json {
  return depth === 0 ? leaf : branch('["a"]', deepTree(depth - 1));
}

const SMALL = [value('i')];
const identity = graph(SMALL, [value('o')], [relu('i', 'o')]);
const cond = (...inputs: readonly Json[]): Json =>
  node('higher_order.cond', Object.fromEntries(inputs.map((input, i) => [i, input])), [
    value('hostile'),
  ]);
const loop = (...inputs: readonly Json[]): Json =>
  node('higher_order.while_loop', Object.fromEntries(inputs.map((input, i) => [i, input])), [
    value('hostile'),
  ]);
const wrapped = (inner: Json, ...operands: readonly Json[]): Json =>
  node(
    'higher_order.wrap_with_set_grad_enabled',
    Object.fromEntries([{ as_bool: false }, inner, ...operands].map((input, i) => [i, input])),
    [value('hostile')],
  );

function nested(depth: number): Json {
  let inner: Json = relu('i', 'o');
  for (let i = 0; i < depth; i++) {
    inner = { ...wrapped(graph(SMALL, [value('o')], [inner]), value('i')), outputs: [value('o')] };
  }
  return inner;
}

const HIGHER_ORDER: readonly Case[] = [
  ['of graphs 200 deep', inFront(nested(200)), /its graph is not valid JSON: recursion limit/],
  [
    'of an operator of graphs that is unknown',
    inFront(node('higher_order.invoke_subgraph', { 0: identity })),
    /higher_order\.invoke_subgraph \(node hostile\):? is not supported/,
  ],
  [
    'of a condition without graphs',
    inFront(cond(value('x'))),
    /cond \(node hostile\):? has not two graphs and their operands/,
  ],
  [
    'of a condition of one graph',
    inFront(cond(value('x'), identity, { as_int: 1 }, values('x'))),
    /has not two graphs and their operands/,
  ],
  [
    'of a condition of fewer operands',
    inFront(cond(value('x'), identity, identity, values())),
    /gives its graphs too many or too few operands/,
  ],
  [
    'of a condition of more operands',
    inFront(cond(value('x'), identity, identity, values('x', 'x'))),
    /gives its graphs too many or too few operands/,
  ],
  [
    'of a condition of graphs of constants',
    inFront(cond(value('x'), graph([{ as_int: 1 }], [value('o')], []), identity, values('x'))),
    /./,
  ],
  [
    'of a condition of more results',
    inFront(cond(value('x'), graph(SMALL, [value('i'), value('i')], []), identity, values('x'))),
    /names 1 results, but its graph has 2/,
  ],
  [
    'of a condition that is no truth',
    inFront(cond(value('x'), identity, identity, values('x'))),
    /hostile: .*(boolean|scalar|elements)/i,
    'request',
  ],
  [
    'of a condition that is a text',
    inFront(cond({ as_string: 'yes' }, identity, identity, values('x'))),
    /hostile: /,
    'request',
  ],
  [
    'of a branch that takes what is outside',
    inFront(
      cond({ as_bool: true }, graph(SMALL, [value('o')], [relu('x', 'o')]), identity, values('x')),
    ),
    /takes the value x, which nothing before it gives/,
  ],
  [
    ENDLESS,
    inFront(loop(graph(SMALL, [{ as_bool: true }], []), identity, values('x'), values())),
    /forward\(\) did not end within 20000 ms in the load-time check/,
  ],
  [
    'of a loop without a body',
    inFront(loop(identity, { as_none: [] }, values('x'))),
    /has not two graphs and their operands/,
  ],
  [
    'of a loop of more results',
    inFront(loop(identity, graph(SMALL, [value('i'), value('i')], []), values('x'), values())),
    /gives its graphs too many or too few operands/,
  ],
  [
    'of a loop that grows',
    inFront(
      loop(
        graph(SMALL, [{ as_bool: true }], []),
        graph(
          SMALL,
          [value('o')],
          [node('aten.cat.default', { tensors: values('i', 'i') }, [value('o')])],
        ),
        values('x'),
        values(),
      ),
    ),
    /forward\(\) asked for more than 1024 MiB of memory in the load-time check/,
  ],
  [
    'of a wrapper without a graph',
    inFront(wrapped({ as_int: 1 }, value('x'))),
    /wrap_with_set_grad_enabled \(node hostile\):? has no graph/,
  ],
  [
    'of a wrapper of fewer operands',
    inFront(wrapped(identity)),
    /gives its graph too many or too few/,
  ],
  [
    'of a wrapper of other results',
    inFront(wrapped(graph(SMALL, [], []), value('x'))),
    /expected as many results as its graph has/,
  ],
  ['of a wrapper of a list', inFront(wrapped(identity, values('x'))), /is given a list/],
  [
    'of a graph for a tensor',
    inFront(node('aten.relu.default', { self: identity })),
    /hostile: unexpected graph|has no graph|./,
  ],
];

export const EXPORTED_GRAPHS: readonly HostileCase[] = [
  ...VALUES,
  ...SHAPES_OF_JSON,
  ...SIGNATURES,
  ...HIGHER_ORDER,
].map(([name, edit, error, failsAt]) => ({
  ...programCase(`an exported program ${name}`, CNN, edit, error, failsAt),
  ...(name === ENDLESS ? { mostMs: 60_000 } : {}),
}));
