//! Reader of the JSON files of torch.export. Source: torch/_export/serde/schema.py, version 8.20.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use argument::{STRIDED, ScalarType};
use bridge::{ExportedGraph, ExportedProgram, StoredTensor};
use errors::{At, Result, bail, ensure};
use json::{dimensions, read, require_valid};
use signature::{RawEntries, Signature, Values};

mod argument;
mod bridge;
mod json;
mod outputs;
mod signature;
#[cfg(test)]
#[path = "../tests/unit/exported.rs"]
mod tests;

const SCHEMA_MAJOR: i64 = 8;

/// Maximum number of nodes in all graphs of a file. The largest classifiers have about 10,000.
const MAX_NODES: usize = 100_000;

/// Maximum number of guard conditions. Models have two or three per input.
const MAX_GUARDS: usize = 1000;

#[derive(Deserialize)]
struct Version<'a> {
    #[serde(borrow)]
    schema_version: Option<&'a RawValue>,
    torch_version: Option<String>,
}

#[derive(Deserialize)]
struct SchemaVersion {
    major: i64,
}

#[derive(Deserialize)]
struct Program<'a> {
    #[serde(borrow)]
    graph_module: GraphModule<'a>,
    #[serde(borrow)]
    range_constraints: RawEntries<'a>,
    /// Written since PyTorch 2.9.
    guards_code: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct GraphModule<'a> {
    #[serde(borrow)]
    graph: &'a RawValue,
    signature: Signature,
    #[serde(borrow)]
    module_call_graph: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct GraphParts<'a> {
    #[serde(borrow)]
    tensor_values: RawEntries<'a>,
    nodes: Vec<IgnoredAny>,
}

/// Reads a complete program. Errors contain the location in the JSON.
pub fn read_program(json: &[u8]) -> Result<ExportedProgram> {
    let json = require_valid(json).at("its graph is not valid JSON")?;
    require_object(json)?;
    program(json)
}

/// serde would also read structures from arrays.
fn require_object(json: &str) -> Result<()> {
    let is_object = json.trim_ascii_start().starts_with('{');
    ensure!(is_object, "expected an object");
    Ok(())
}

fn program(json: &str) -> Result<ExportedProgram> {
    // The version is checked first: the structure of other versions is unknown.
    let version: Version = read("", json)?;
    let made_by = version.torch_version.as_deref().map(made_by);
    let made_by = made_by.unwrap_or_default();
    const VERSION: &str = "schema_version";
    let Some(schema) = version.schema_version.map(RawValue::get) else {
        bail!("has no schema_version");
    };
    require_object(schema).at(VERSION)?;
    require_known(read::<SchemaVersion>(VERSION, schema)?.major, &made_by)?;
    let program: Program = read("", json)?;
    let module = program.graph_module;
    const GRAPH: &str = "graph_module.graph";
    let parts: GraphParts = read(GRAPH, module.graph.get())?;
    let values = Values {
        tensors: parts.tensor_values,
        ranges: program.range_constraints,
    };
    let outputs = outputs::outputs(&module.signature.output_specs, &module.module_call_graph)?;
    let mut user_inputs = Vec::new();
    let specs = module.signature.input_specs.into_iter();
    let inputs = specs.map(|spec| values.input(spec, &mut user_inputs));
    let inputs = inputs.collect::<Result<_>>()?;
    let guards = program.guards_code.unwrap_or_default();
    ensure!(
        guards.len() <= MAX_GUARDS,
        "guards_code: expected at most {MAX_GUARDS} conditions"
    );
    require_max_nodes(parts.nodes.len())?;
    let graph: ExportedGraph = read(GRAPH, module.graph.get())?;
    require_max_nodes(count_nodes(&graph))?;
    Ok(ExportedProgram {
        made_by,
        inputs,
        user_inputs,
        outputs,
        guards,
        graph,
    })
}

fn require_max_nodes(count: usize) -> Result<()> {
    ensure!(
        count <= MAX_NODES,
        "graph_module.graph.nodes: {count} nodes in all graphs, expected at most {MAX_NODES}"
    );
    Ok(())
}

/// Name and version of the exporter, without the build suffix.
fn made_by(version: &str) -> String {
    let release = version.split('+').next().unwrap_or_default();
    let release: String = release.chars().take(40).collect();
    format!("PyTorch {release}")
}

fn require_known(major: i64, made_by: &str) -> Result<()> {
    let by = if made_by.is_empty() { "" } else { ", by " };
    ensure!(
        major == SCHEMA_MAJOR,
        "is of version {major} of torch.export's schema{by}{made_by}, expected {SCHEMA_MAJOR}: \
         export the model again with PyTorch 2.6 to 2.15"
    );
    Ok(())
}

/// Number of nodes, including those of nested graphs.
fn count_nodes(graph: &ExportedGraph) -> usize {
    let arguments = graph.nodes.iter().flat_map(|node| {
        let inputs = node.inputs.iter().map(|input| &input.arg);
        inputs.chain(&node.outputs)
    });
    let inside = arguments.flat_map(|argument| &argument.graph);
    graph.nodes.len() + inside.map(count_nodes).sum::<usize>()
}

#[derive(Deserialize)]
struct Stored<'a> {
    #[serde(borrow)]
    config: RawEntries<'a>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    use_pickle: bool,
    path_name: String,
    #[serde(borrow)]
    tensor_meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TensorMeta {
    dtype: ScalarType,
    layout: i64,
    storage_offset: Integer,
    #[serde(deserialize_with = "dimensions")]
    sizes: Vec<Integer>,
    #[serde(deserialize_with = "dimensions")]
    strides: Vec<Integer>,
}

#[derive(Deserialize)]
struct Integer {
    as_int: i64,
}

/// Reads the JSON of weights or constants, which PyTorch 2.9 and later store in one record per storage.
pub fn read_stored_tensors(json: &[u8]) -> Result<Vec<StoredTensor>> {
    let json = require_valid(json)?;
    require_object(json)?;
    let stored: Stored = read("", json)?;
    let entries = stored.config.into_iter();
    let tensors = entries.map(|(name, json)| stored_tensor(name, json.get()));
    tensors.collect()
}

fn stored_tensor(name: String, json: &str) -> Result<StoredTensor> {
    let path = format!("config.{name}");
    let payload: Payload = read(&path, json)?;
    ensure!(
        !payload.use_pickle,
        "{path}: is pickled. Pickled objects are not supported, because loading them executes code"
    );
    let Some(meta) = payload.tensor_meta else {
        bail!("{path}: has no tensor_meta");
    };
    let path = format!("{path}.tensor_meta");
    let meta: TensorMeta = read(&path, meta.get())?;
    ensure!(meta.layout == STRIDED, "{path}: expected a dense tensor");
    let integers = |list: Vec<Integer>| list.into_iter().map(|size| size.as_int).collect();
    Ok(StoredTensor {
        name,
        record: payload.path_name,
        scalar_type: meta.dtype.0,
        offset: meta.storage_offset.as_int,
        sizes: integers(meta.sizes),
        strides: integers(meta.strides),
    })
}
