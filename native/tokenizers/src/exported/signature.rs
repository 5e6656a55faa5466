//! Signature of a program: inputs, outputs and the names of its weights.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess};
use serde_json::Value;
use serde_json::value::RawValue;

use super::argument::ScalarType;
use super::bridge::{Argument, ArgumentKind, GraphInput, InputKind, Size, UserInput};
use super::json::{Alternative, Number, deserialize_alternatives, dimensions, read, unsupported};
use errors::{Result, bail, ensure};

deserialize_alternatives!(InputSpec, UserArgument, OutputSpec, WrittenSize);

/// Entries that are parsed on demand.
pub type RawEntries<'a> = BTreeMap<String, &'a RawValue>;

#[derive(Deserialize)]
pub struct Signature {
    pub input_specs: Vec<InputSpec>,
    pub output_specs: Vec<OutputSpec>,
}

pub enum InputSpec {
    /// Name of a weight, buffer or constant.
    Tensor(String),
    Constant(Argument),
    /// Name of a tensor that the caller passes.
    User(String),
    /// Name of a number that the caller passes.
    UserNumber(String),
}

impl Alternative for InputSpec {
    fn read<'de, A: MapAccess<'de>>(kind: &str, map: &mut A) -> Result<Self, A::Error> {
        #[derive(Deserialize)]
        struct Tensor {
            parameter_name: Option<String>,
            buffer_name: Option<String>,
            tensor_constant_name: Option<String>,
        }
        #[derive(Deserialize)]
        struct Constant {
            value: Argument,
        }
        #[derive(Deserialize)]
        struct User {
            arg: UserArgument,
        }
        let name = match kind {
            "parameter" => map.next_value::<Tensor>()?.parameter_name,
            "buffer" => map.next_value::<Tensor>()?.buffer_name,
            "tensor_constant" => map.next_value::<Tensor>()?.tensor_constant_name,
            "constant_input" => return Ok(Self::Constant(map.next_value::<Constant>()?.value)),
            "user_input" => return Ok(map.next_value::<User>()?.arg.0),
            _ => return Err(unsupported(kind)),
        };
        name.map(Self::Tensor)
            .ok_or_else(|| A::Error::custom(format!("has no {kind}_name")))
    }
}

struct UserArgument(InputSpec);

impl Alternative for UserArgument {
    fn read<'de, A: MapAccess<'de>>(kind: &str, map: &mut A) -> Result<Self, A::Error> {
        let argument = Argument::read(kind, map)?;
        Ok(Self(match (argument.kind, kind) {
            (ArgumentKind::Value, "as_tensor") => InputSpec::User(argument.text),
            (ArgumentKind::Value, _) => InputSpec::UserNumber(argument.text),
            _ => InputSpec::Constant(argument),
        }))
    }
}

pub struct OutputSpec {
    /// False: the output updates a buffer.
    pub is_user: bool,
}

impl Alternative for OutputSpec {
    fn read<'de, A: MapAccess<'de>>(kind: &str, map: &mut A) -> Result<Self, A::Error> {
        let is_user = kind == "user_output";
        map.next_value().map(|IgnoredAny| Self { is_user })
    }
}

/// Metadata of tensors, and ranges of their symbolic sizes.
pub struct Values<'a> {
    pub tensors: RawEntries<'a>,
    pub ranges: RawEntries<'a>,
}

const TENSORS: &str = "graph_module.graph.tensor_values";
const RANGES: &str = "range_constraints";

impl Values<'_> {
    /// Converts an input specification. Tensors that the caller passes are added to `users`.
    pub fn input(&self, spec: InputSpec, users: &mut Vec<UserInput>) -> Result<GraphInput> {
        let (kind, tensor, constant) = match spec {
            InputSpec::Tensor(name) => (InputKind::Tensor, name, Argument::default()),
            InputSpec::Constant(constant) => (InputKind::Constant, String::new(), constant),
            InputSpec::User(name) => {
                users.push(self.user_input(name)?);
                (InputKind::User, String::new(), Argument::default())
            }
            InputSpec::UserNumber(name) => bail!(
                "input {name}: is a number of each run, expected a tensor. Export the model with a constant"
            ),
        };
        Ok(GraphInput {
            kind,
            tensor,
            constant,
        })
    }

    fn user_input(&self, name: String) -> Result<UserInput> {
        #[derive(Deserialize)]
        struct Meta {
            dtype: ScalarType,
            #[serde(deserialize_with = "dimensions")]
            sizes: Vec<WrittenSize>,
        }
        let Some(meta) = self.tensors.get(&name) else {
            bail!("{TENSORS}: has no {name}");
        };
        let meta: Meta = read(&format!("{TENSORS}.{name}"), meta.get())?;
        let sizes = meta.sizes.into_iter().enumerate().map(|(index, size)| {
            let expression = match size {
                WrittenSize::Fixed(size) => return Ok(size),
                WrittenSize::Expression(expression) => expression,
            };
            let Some(symbol) = symbol_in(&expression) else {
                let start: String = expression.chars().take(100).collect();
                bail!(
                    "input {name}: dimension {index} depends on other dimensions ({start}). Export the \
                     model with an independent or a fixed size for each dimension"
                );
            };
            self.range(symbol.to_owned())
        });
        Ok(UserInput {
            sizes: sizes.collect::<Result<_>>()?,
            scalar_type: meta.dtype.0,
            name,
        })
    }

    fn range(&self, symbol: String) -> Result<Size> {
        #[derive(Deserialize)]
        struct Range {
            min_val: Option<i64>,
            max_val: Option<MaxSize>,
        }
        let mut size = Size {
            symbol,
            min: 0,
            max: i64::MAX,
        };
        let Some(json) = self.ranges.get(&size.symbol).map(|range| range.get()) else {
            return Ok(size);
        };
        let path = format!("{RANGES}.{}", size.symbol);
        let Some(range) = read::<Option<Range>>(&path, json)? else {
            return Ok(size);
        };
        size.min = range.min_val.unwrap_or(size.min);
        size.max = range.max_val.map_or(size.max, |max| max.0);
        ensure!(
            size.min <= size.max,
            "{path}: the minimum is above the maximum"
        );
        Ok(size)
    }
}

/// Returns s77 for "Symbol('s77', positive=True, integer=True)"; `None` for other expressions.
fn symbol_in(expression: &str) -> Option<&str> {
    let (symbol, rest) = expression.strip_prefix("Symbol('")?.split_once('\'')?;
    (expression.find(')') == Some(expression.len() - 1) && !rest.is_empty()).then_some(symbol)
}

enum WrittenSize {
    Fixed(Size),
    Expression(String),
}

impl Alternative for WrittenSize {
    fn read<'de, A: MapAccess<'de>>(kind: &str, map: &mut A) -> Result<Self, A::Error> {
        #[derive(Deserialize)]
        struct Expression {
            expr_str: String,
        }
        match kind {
            "as_int" => match map.next_value()? {
                size if size < 0 => Err(A::Error::custom("is below 0")),
                size => Ok(Self::Fixed(Size {
                    symbol: String::new(),
                    min: size,
                    max: size,
                })),
            },
            "as_expr" => {
                let expression = map.next_value::<Expression>()?;
                Ok(Self::Expression(expression.expr_str))
            }
            _ => Err(A::Error::custom("has no as_expr")),
        }
    }
}

/// Maximum of a range. PyTorch 2.6 writes a number above 64 bits for "unlimited".
struct MaxSize(i64);

impl<'de> Deserialize<'de> for MaxSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let number = Number::deserialize(&value).map_err(D::Error::custom)?;
        match value.as_i64() {
            _ if number.0 >= 9e18 => Ok(Self(i64::MAX)),
            Some(max) => Ok(Self(max)),
            None => Err(D::Error::custom("expected an integer")),
        }
    }
}
