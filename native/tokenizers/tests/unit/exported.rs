use serde_json::{Value, json};

use super::bridge::{ArgumentKind, ExportedProgram, InputKind};
use super::{read_program, read_stored_tensors};

/// A program with one input and one node.
fn program() -> Value {
    let tensor = |name: &str| json!({"as_tensor": {"name": name}});
    let node = json!({
        "target": "torch.ops.aten.relu.default",
        "inputs": [{"name": "self", "arg": tensor("x"), "kind": 1}],
        "outputs": [tensor("y")],
        "metadata": {"stack_trace": "of no use"},
        "is_hop_single_tensor_return": null
    });
    let size = json!({"as_expr": {"expr_str": "Symbol('s77', positive=True, integer=True)"}});
    json!({
        "schema_version": {"major": 8, "minor": 20},
        "torch_version": "2.15.0+cpu",
        "range_constraints": {"s77": {"min_val": 2, "max_val": null}},
        "guards_code": ["L['x'].size()[0] >= 2"],
        "graph_module": {
            "graph": {
                "inputs": [tensor("w"), tensor("x")],
                "outputs": [tensor("y")],
                "nodes": [node],
                "tensor_values": {
                    "x": {"dtype": 7, "sizes": [size, {"as_int": 3}]},
                    "y": {"dtype": 99}
                }
            },
            "signature": {
                "input_specs": [
                    {"parameter": {"arg": {"name": "w"}, "parameter_name": "linear.weight"}},
                    {"user_input": {"arg": tensor("x")}}
                ],
                "output_specs": [{"user_output": {"arg": tensor("y")}}]
            },
            "module_call_graph": [{"signature": {"out_spec": json!([1, {
                "type": "builtins.dict",
                "context": "[\"logits\"]",
                "children_spec": [{"type": null, "context": null, "children_spec": []}]
            }]).to_string()}}]
        }
    })
}

fn read(program: &Value) -> Result<ExportedProgram, String> {
    read_program(program.to_string().as_bytes()).map_err(|error| error.to_string())
}

fn message(document: &str) -> String {
    read_program(document.as_bytes())
        .err()
        .expect("an error")
        .to_string()
}

/// Error of a program in which one value is replaced.
fn with(pointer: &str, value: Value) -> String {
    let mut program = program();
    *program.pointer_mut(pointer).expect("a value") = value;
    read(&program).err().expect("an error")
}

#[test]
fn a_program_is_read() {
    let read = read(&program()).expect("a program");
    assert_eq!(read.made_by, "PyTorch 2.15.0");
    assert_eq!(read.guards, ["L['x'].size()[0] >= 2"]);
    assert!(read.inputs[0].kind == InputKind::Tensor && read.inputs[1].kind == InputKind::User);
    assert_eq!(read.inputs[0].tensor, "linear.weight");
    let user = &read.user_inputs[0];
    assert_eq!((user.name.as_str(), user.scalar_type), ("x", 7));
    let sizes = user.sizes.iter();
    let sizes: Vec<_> = sizes
        .map(|size| (size.symbol.as_str(), size.min, size.max))
        .collect();
    assert_eq!(sizes, [("s77", 2, i64::MAX), ("", 3, 3)]);
    assert_eq!(
        (read.outputs[0].index, read.outputs[0].name.as_str()),
        (0, "logits")
    );
    let node = &read.graph.nodes[0];
    assert_eq!(
        (node.name.as_str(), node.target.as_str()),
        ("", "torch.ops.aten.relu.default")
    );
    assert_eq!(
        (
            node.inputs[0].name.as_str(),
            node.inputs[0].arg.text.as_str()
        ),
        ("self", "x")
    );
}

#[test]
fn arguments_are_of_their_kind() {
    let read = |argument: Value| {
        let mut program = program();
        program["graph_module"]["graph"]["outputs"] = json!([argument]);
        let mut graph = read(&program).expect("a program").graph;
        graph.outputs.remove(0)
    };
    let kinds = |argument: Value| -> Vec<ArgumentKind> {
        read(argument).items.iter().map(|item| item.kind).collect()
    };
    assert_eq!(read(json!({"as_int": -3})).integer, -3);
    assert_eq!(read(json!({"as_float": 2})).number, 2.0);
    assert_eq!(
        read(json!({"as_float": "-Infinity"})).number,
        f64::NEG_INFINITY
    );
    // The value is rounded to the nearest float64, not below the minimum of float32.
    let least = read(json!({"as_float": -3.402_823_466_385_288_6e38})).number;
    assert_eq!(least, f64::from(f32::MIN));
    assert_eq!(read(json!({"as_bool": true})).integer, 1);
    let complex = read(json!({"as_complex": {"real": 1, "imag": -0.5}}));
    assert_eq!((complex.number, complex.imaginary), (1.0, -0.5));
    assert_eq!(
        read(json!({"as_nested_tensors": [[{"name": "a"}]]})).items[0].items[0].text,
        "a"
    );
    let optional =
        json!({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "a"}}]});
    assert_eq!(kinds(optional), [ArgumentKind::None, ArgumentKind::Value]);
    let symbolic = json!({"as_sym_ints": [{"as_name": "s"}, {"as_int": 4}]});
    assert_eq!(
        kinds(symbolic),
        [ArgumentKind::Value, ArgumentKind::Integer]
    );
    let inner = json!({"name": "g", "graph": {"inputs": [], "outputs": [], "nodes": []}});
    assert_eq!(read(json!({"as_graph": inner})).graph.len(), 1);
}

#[test]
fn errors_name_the_place() {
    let node = "/graph_module/graph/nodes/0";
    let path = "graph_module.graph.nodes[0]";
    let argument = |value: Value| with(&format!("{node}/inputs/0/arg"), value);
    for (found, expected) in [
        (
            with(node, Value::Null),
            format!("{path}: expected an object"),
        ),
        (
            with(&format!("{node}/target"), json!(5)),
            format!("{path}.target: expected a string"),
        ),
        (
            with(node, json!({"target": "t", "inputs": []})),
            format!("{path}: has no outputs"),
        ),
        (
            argument(json!({})),
            format!("{path}.inputs[0].arg: expected one entry, found 0"),
        ),
        (
            argument(json!({"as_int": 1, "as_float": 2})),
            format!("{path}.inputs[0].arg: expected one entry, found 2"),
        ),
        (
            argument(json!({"as_code": "import os"})),
            format!("{path}.inputs[0].arg: unsupported kind as_code"),
        ),
        (
            argument(json!({"as_ints": [1, 1e25]})),
            format!("{path}.inputs[0].arg.as_ints[1]: expected an integer"),
        ),
        (
            argument(json!({"as_float": "x"})),
            format!("{path}.inputs[0].arg.as_float: expected a number"),
        ),
        (
            argument(json!({"as_scalar_type": 99})),
            format!("{path}.inputs[0].arg.as_scalar_type: unknown type of numbers 99"),
        ),
        (
            with(
                "/graph_module/graph/tensor_values/x/sizes/1",
                json!({"as_int": -1}),
            ),
            "graph_module.graph.tensor_values.x.sizes[1]: is below 0".to_owned(),
        ),
        (
            with("/range_constraints/s77/max_val", json!(6.5)),
            "range_constraints.s77.max_val: expected an integer".to_owned(),
        ),
        (
            with(
                "/graph_module/module_call_graph/0/signature/out_spec",
                json!("[1, 7]"),
            ),
            "graph_module.module_call_graph[0].signature.out_spec: [1]: expected an object"
                .to_owned(),
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn nodes_are_counted_before_they_are_read() {
    let message = with("/graph_module/graph/nodes", json!(vec![json!({}); 100_001]));
    let expected = "graph_module.graph.nodes: 100001 nodes in all graphs, expected at most 100000";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn what_is_ambiguous_or_deep_is_no_json() {
    let start = "its graph is not valid JSON: ";
    let twice = message(r#"{"a":1,"b":{"c":2,"c":3}}"#);
    assert!(
        twice.starts_with(&format!("{start}c: repeated key at line 1")),
        "{twice}"
    );
    let deep = message(&"[".repeat(100_000));
    assert!(
        deep.starts_with(&format!("{start}recursion limit exceeded")),
        "{deep}"
    );
    assert!(message("{} x").starts_with(&format!("{start}trailing characters")));
    assert!(message("[NaN]").starts_with(&format!("{start}expected value")));
    assert_eq!(message("[]"), "expected an object");
    assert_eq!(message("[[[8]]]"), "expected an object");
}

#[test]
fn another_version_is_named_first() {
    let old = message(r#"{"schema_version":{"major":7},"torch_version":"2.5.1"}"#);
    assert!(
        old.starts_with("is of version 7 of torch.export's schema, by PyTorch 2.5.1, expected 8")
    );
}

#[test]
fn stored_tensors_are_read() {
    let tensor = json!({
        "path_name": "weight_0",
        "is_param": true,
        "use_pickle": false,
        "tensor_meta": {
            "dtype": 7, "layout": 7, "storage_offset": {"as_int": 4},
            "sizes": [{"as_int": 2}, {"as_int": 3}], "strides": [{"as_int": 3}, {"as_int": 1}]
        }
    });
    let read = |change: &dyn Fn(&mut Value)| {
        let mut json = json!({"config": {"a.weight": tensor.clone()}});
        change(&mut json["config"]["a.weight"]);
        read_stored_tensors(json.to_string().as_bytes()).map_err(|error| error.to_string())
    };
    let stored = read(&|_| ()).expect("tensors").remove(0);
    assert_eq!(
        (stored.name.as_str(), stored.record.as_str()),
        ("a.weight", "weight_0")
    );
    assert_eq!((stored.scalar_type, stored.offset), (7, 4));
    assert_eq!((stored.sizes, stored.strides), (vec![2, 3], vec![3, 1]));
    let message = |change: &dyn Fn(&mut Value)| read(change).err().expect("an error");
    let pickled = message(&|tensor| {
        tensor["use_pickle"] = true.into();
        tensor["tensor_meta"] = Value::Null;
    });
    assert!(
        pickled.starts_with("config.a.weight: is pickled. Pickled objects"),
        "{pickled}"
    );
    assert_eq!(
        message(&|tensor| tensor["tensor_meta"]["sizes"][1] = json!({"as_int": 1.5})),
        "config.a.weight.tensor_meta.sizes[1].as_int: expected an integer"
    );
    assert_eq!(
        message(&|tensor| tensor["tensor_meta"]["layout"] = json!(1)),
        "config.a.weight.tensor_meta: expected a dense tensor"
    );
    assert_eq!(
        message(&|tensor| *tensor = json!({})),
        "config.a.weight: has no use_pickle"
    );
}
