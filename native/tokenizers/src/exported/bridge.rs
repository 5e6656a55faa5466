//! What C++ sees of programs of torch.export: plain data, of which nothing is looked up yet.

use crate::bridge::{Guarded, guard};

#[cxx::bridge(namespace = "tokenizers")]
mod ffi {
    /// What an `Argument` is, and which of its fields says it.
    #[derive(Debug, Default)]
    pub enum ArgumentKind {
        #[default]
        None,
        /// A tensor, or a number that is known when the graph runs: `text` is its name.
        Value,
        /// Of `items`.
        List,
        Integer,
        Number,
        /// `integer`: 0 or 1.
        Boolean,
        Text,
        /// Of `number` and `imaginary`.
        Complex,
        /// `integer` numbers them from 1 on, as the three below torch/_export/serde/schema.py does.
        ScalarType,
        MemoryFormat,
        /// That of dense tensors.
        Layout,
        /// The processor.
        Device,
        /// The one of `graph`.
        Graph,
    }

    #[derive(Default)]
    pub struct Argument {
        kind: ArgumentKind,
        integer: i64,
        number: f64,
        imaginary: f64,
        text: String,
        items: Vec<Argument>,
        graph: Vec<ExportedGraph>,
    }

    #[derive(Deserialize)]
    pub struct NamedArgument {
        name: String,
        arg: Argument,
    }

    #[derive(Deserialize)]
    pub struct ExportedNode {
        /// Since schema 8.15; before, a node has no name but that of what it gives.
        #[serde(default, deserialize_with = "super::super::json::or_default")]
        name: String,
        target: String,
        inputs: Vec<NamedArgument>,
        outputs: Vec<Argument>,
    }

    #[derive(Deserialize)]
    pub struct ExportedGraph {
        inputs: Vec<Argument>,
        outputs: Vec<Argument>,
        nodes: Vec<ExportedNode>,
    }

    pub enum InputKind {
        /// A weight, a buffer or a constant of the file.
        Tensor,
        Constant,
        /// The next one of `user_inputs`.
        User,
    }

    /// Of the outermost graph.
    pub struct GraphInput {
        kind: InputKind,
        tensor: String,
        constant: Argument,
    }

    /// One dimension, both ends included. Where symbols are equal, sizes are; empty: it is fixed.
    pub struct Size {
        symbol: String,
        least: i64,
        most: i64,
    }

    pub struct UserInput {
        name: String,
        /// Numbered as an `Argument` is.
        scalar_type: i64,
        sizes: Vec<Size>,
    }

    /// One of the outermost graph's outputs, by its index: "logits", "1.0"; empty: it is the only one.
    pub struct UserOutput {
        index: usize,
        name: String,
    }

    pub struct ExportedProgram {
        /// "PyTorch 2.15.0"; empty: the file does not say.
        made_by: String,
        inputs: Vec<GraphInput>,
        user_inputs: Vec<UserInput>,
        outputs: Vec<UserOutput>,
        /// Conditions under which the program was exported.
        guards: Vec<String>,
        graph: ExportedGraph,
    }

    /// How a tensor lies in a record of bytes; offset and strides in elements.
    pub struct StoredTensor {
        name: String,
        record: String,
        /// Numbered as an `Argument` is.
        scalar_type: i64,
        offset: i64,
        sizes: Vec<i64>,
        strides: Vec<i64>,
    }

    extern "Rust" {
        /// The JSON of a program of torch.export.
        fn read_exported_program(json: &[u8]) -> Result<ExportedProgram>;
        /// The JSON of its weights or constants.
        fn read_stored_tensors(json: &[u8]) -> Result<Vec<StoredTensor>>;
    }
}

pub use ffi::*;

fn read_exported_program(json: &[u8]) -> Guarded<ExportedProgram> {
    guard(|| super::read_program(json))
}

fn read_stored_tensors(json: &[u8]) -> Guarded<Vec<StoredTensor>> {
    guard(|| super::read_stored_tensors(json))
}
