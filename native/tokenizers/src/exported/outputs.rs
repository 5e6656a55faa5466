//! Outputs of a program, and their names in the exported module's result.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::bridge::UserOutput;
use super::json::{or_default, read, require_valid};
use super::signature::OutputSpec;
use errors::{At, Result, bail, ensure};

const CALLS: &str = "graph_module.module_call_graph";

/// User outputs. `calls`: module calls, the outermost one first.
pub fn outputs(specs: &[OutputSpec], calls: &[&RawValue]) -> Result<Vec<UserOutput>> {
    let specs = specs.iter().enumerate();
    let indices = specs
        .filter(|(_, spec)| spec.is_user)
        .map(|(index, _)| index);
    let indices: Vec<usize> = indices.collect();
    let names = match calls.first() {
        Some(call) => output_names(call)?,
        None => Vec::new(),
    };
    let names = if names.len() == indices.len() {
        names
    } else {
        (0..indices.len()).map(|index| index.to_string()).collect()
    };
    let outputs = indices.into_iter().zip(names);
    let outputs = outputs.map(|(index, name)| UserOutput { index, name });
    Ok(outputs.collect())
}

/// Output names of the outermost module's call. Empty if unknown.
fn output_names(call: &RawValue) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Call {
        signature: Option<CallSignature>,
    }
    #[derive(Deserialize)]
    struct CallSignature {
        out_spec: String,
    }
    let mut names = Vec::new();
    let call: Call = read(&format!("{CALLS}[0]"), call.get())?;
    if let Some(signature) = call.signature {
        let leaves = collect_outputs(&signature.out_spec, &mut names);
        leaves.at(format_args!("{CALLS}[0].signature.out_spec"))?;
    }
    Ok(names)
}

fn collect_outputs(spec: &str, names: &mut Vec<String>) -> Result<()> {
    require_valid(spec.as_bytes())?;
    let Ok(parts) = read::<Vec<&RawValue>>("", spec) else {
        bail!("expected an object or an array");
    };
    ensure!(parts.len() > 1, "has no entry 1");
    let tree: Tree = read("[1]", parts[1].get())?;
    tree.collect_leaves("[1]", "", names)
}

/// A tuple, list, dictionary or dataclass; without a type: a single value.
#[derive(Deserialize)]
struct Tree {
    r#type: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "or_default")]
    context: Value,
    children_spec: Vec<Tree>,
}

/// Maximum length of an output name in bytes.
const MAX_NAME: usize = 1000;

impl Tree {
    fn collect_leaves(&self, path: &str, name: &str, leaves: &mut Vec<String>) -> Result<()> {
        ensure!(
            name.len() <= MAX_NAME,
            "{path}: output name of more than {MAX_NAME} bytes"
        );
        if self.r#type.is_none() {
            leaves.push(name.to_owned());
            return Ok(());
        }
        let keys = self.keys();
        for (index, child) in self.children_spec.iter().enumerate() {
            let key = keys
                .as_ref()
                .map_or_else(|| index.to_string(), |keys| keys[index].clone());
            let name = if name.is_empty() {
                key
            } else {
                format!("{name}.{key}")
            };
            child.collect_leaves(&format!("{path}.children_spec[{index}]"), &name, leaves)?;
        }
        Ok(())
    }

    /// Keys of a dictionary or dataclass, from its context; `None` for a tuple and for an unknown context.
    fn keys(&self) -> Option<Vec<String>> {
        let count = self.children_spec.len();
        let context: Vec<Value> = serde_json::from_str(self.context.as_str()?).ok()?;
        // The context of a dictionary is a list of keys; the context of a dataclass starts with that list.
        let keys = match context {
            keys if keys.len() == count => keys,
            begins => serde_json::from_value(begins.into_iter().next()?).ok()?,
        };
        let keys = keys.into_iter().map(|key| key.as_str().map(str::to_owned));
        keys.collect::<Option<Vec<_>>>()
            .filter(|keys| keys.len() == count)
    }
}
