//! Interface of exported programs to C++: plain data, without resolved references.

use errors::{FfiResult, catch};

#[cxx::bridge(namespace = "tokenizers")]
mod ffi {
    /// Kind of an `Argument`. Determines which fields are set.
    #[derive(Debug, Default)]
    pub enum ArgumentKind {
        #[default]
        None,
        /// A tensor or a symbolic number; `text` is its name.
        Value,
        /// A list of `items`.
        List,
        Integer,
        Number,
        /// `integer` is 0 or 1.
        Boolean,
        Text,
        /// `number` and `imaginary` are set.
        Complex,
        /// `integer` is the value in torch/_export/serde/schema.py, from 1, as for memory formats and layouts.
        ScalarType,
        MemoryFormat,
        /// Layout of dense tensors.
        Layout,
        /// The CPU.
        Device,
        /// A graph, the only element of `graph`.
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
        /// Present since schema 8.15; older nodes are named by their results.
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
        /// A weight, buffer or constant of the file.
        Tensor,
        Constant,
        /// The next element of `user_inputs`.
        User,
    }

    /// An input of the outermost graph.
    pub struct GraphInput {
        kind: InputKind,
        tensor: String,
        constant: Argument,
    }

    /// Range of a dimension, both ends inclusive. Dimensions with the same symbol have the same size; an empty symbol
    /// means a fixed size.
    pub struct Size {
        symbol: String,
        min: i64,
        max: i64,
    }

    pub struct UserInput {
        name: String,
        /// Data type, numbered as in `ArgumentKind::ScalarType`.
        scalar_type: i64,
        sizes: Vec<Size>,
    }

    /// An output of the outermost graph, by index. The name is for example "logits" or "1.0"; empty if there is only
    /// one output.
    pub struct UserOutput {
        index: usize,
        name: String,
    }

    pub struct ExportedProgram {
        /// For example "PyTorch 2.15.0"; empty if unknown.
        made_by: String,
        inputs: Vec<GraphInput>,
        user_inputs: Vec<UserInput>,
        outputs: Vec<UserOutput>,
        /// Conditions on the inputs under which the program was exported.
        guards: Vec<String>,
        graph: ExportedGraph,
    }

    /// Location of a tensor in a record of bytes; offset and strides in elements.
    pub struct StoredTensor {
        name: String,
        record: String,
        /// Data type, numbered as in `ArgumentKind::ScalarType`.
        scalar_type: i64,
        offset: i64,
        sizes: Vec<i64>,
        strides: Vec<i64>,
    }

    extern "Rust" {
        /// Reads the JSON of an exported program.
        fn read_exported_program(json: &[u8]) -> Result<ExportedProgram>;
        /// Reads the JSON of its weights or constants.
        fn read_stored_tensors(json: &[u8]) -> Result<Vec<StoredTensor>>;
    }
}

pub use ffi::*;

fn read_exported_program(json: &[u8]) -> FfiResult<ExportedProgram> {
    catch(|| super::read_program(json))
}

fn read_stored_tensors(json: &[u8]) -> FfiResult<Vec<StoredTensor>> {
    catch(|| super::read_stored_tensors(json))
}
