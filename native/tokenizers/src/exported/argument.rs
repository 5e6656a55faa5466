//! Arguments of graph nodes: operands, results and constants.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess};
use std::marker::PhantomData;

use super::bridge::{Argument, ArgumentKind as Kind, ExportedGraph};
use super::json::{Alternative, Number, deserialize_alternatives, unsupported};

deserialize_alternatives!(Argument, Symbolic, OptionalTensor);

impl Alternative for Argument {
    fn read<'de, A: MapAccess<'de>>(kind: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match kind {
            "as_none" => map.next_value().map(|IgnoredAny| Self::default())?,
            "as_tensor" => value(map.next_value()?),
            "as_tensors" => list(map.next_value()?, value),
            "as_optional_tensor" => map.next_value::<OptionalTensor>()?.0,
            "as_optional_tensors" => list(map.next_value()?, |OptionalTensor(tensor)| tensor),
            "as_nested_tensors" => list(map.next_value()?, |row| list(row, value)),
            "as_int" => integer(map.next_value()?),
            "as_ints" => list(map.next_value()?, integer),
            "as_int_lists" => list(map.next_value()?, |row| list(row, integer)),
            "as_float" => number(map.next_value()?),
            "as_floats" => list(map.next_value()?, number),
            "as_float_lists" => list(map.next_value()?, |row| list(row, number)),
            "as_bool" => boolean(map.next_value()?),
            "as_bools" => list(map.next_value()?, boolean),
            "as_string" => text(map.next_value()?),
            "as_strings" => list(map.next_value()?, text),
            "as_complex" => {
                let Complex { real, imag } = map.next_value()?;
                Self {
                    imaginary: imag.0,
                    kind: Kind::Complex,
                    ..number(real)
                }
            }
            "as_sym_int" | "as_sym_float" | "as_sym_bool" => map.next_value::<Symbolic>()?.0,
            "as_sym_ints" | "as_sym_floats" | "as_sym_bools" => {
                list(map.next_value()?, |Symbolic(number)| number)
            }
            "as_scalar_type" => coded(Kind::ScalarType, map.next_value::<ScalarType>()?),
            "as_memory_format" => coded(Kind::MemoryFormat, map.next_value::<Choice<4>>()?),
            "as_layout" => coded(Kind::Layout, map.next_value::<Choice<STRIDED>>()?),
            // Any device is read as the CPU: the device in the file is that of the export.
            "as_device" => map.next_value().map(|IgnoredAny| of(Kind::Device))?,
            "as_graph" => Self {
                graph: vec![map.next_value::<OfGraph>()?.graph],
                ..of(Kind::Graph)
            },
            _ => return Err(unsupported(kind)),
        })
    }
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Complex {
    real: Number,
    imag: Number,
}

#[derive(Deserialize)]
struct OfGraph {
    graph: ExportedGraph,
}

/// A number, or the name of a symbolic number.
struct Symbolic(Argument);

impl Alternative for Symbolic {
    fn read<'de, A: MapAccess<'de>>(kind: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(Self(match kind {
            "as_name" => map.next_value().map(|name| value(Named { name }))?,
            "as_int" => integer(map.next_value()?),
            "as_float" => number(map.next_value()?),
            "as_bool" => boolean(map.next_value()?),
            _ => return Err(A::Error::custom(format!("unknown kind of number {kind}"))),
        }))
    }
}

struct OptionalTensor(Argument);

impl Alternative for OptionalTensor {
    fn read<'de, A: MapAccess<'de>>(kind: &str, map: &mut A) -> Result<Self, A::Error> {
        match kind {
            "as_none" => map.next_value().map(|IgnoredAny| Self(Argument::default())),
            _ => map.next_value().map(|named| Self(value(named))),
        }
    }
}

/// Enumeration value of the file, from 1 to `COUNT`.
#[derive(Deserialize)]
#[serde(try_from = "i64")]
pub struct Choice<const COUNT: i64>(pub i64);

/// Data types that are supported.
pub type ScalarType = Choice<13>;

/// Layout of dense tensors, the last value. LibTorch operators terminate the process for other layouts.
pub const STRIDED: i64 = 7;

impl<const COUNT: i64> TryFrom<i64> for Choice<COUNT> {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        let what = match COUNT {
            4 => "memory format",
            STRIDED => "layout",
            _ => "type of numbers",
        };
        match (1..=COUNT).contains(&number) {
            true if COUNT == STRIDED && number != STRIDED => {
                Err("expected a dense layout".to_owned())
            }
            true => Ok(Self(number)),
            false => Err(format!("unknown {what} {number}")),
        }
    }
}

fn of(kind: Kind) -> Argument {
    Argument {
        kind,
        ..Argument::default()
    }
}

fn coded<const COUNT: i64>(kind: Kind, Choice(integer): Choice<COUNT>) -> Argument {
    Argument {
        integer,
        ..of(kind)
    }
}

fn list<T>(list: Vec<T>, item: impl Fn(T) -> Argument) -> Argument {
    Argument {
        items: list.into_iter().map(item).collect(),
        ..of(Kind::List)
    }
}

fn value(named: Named) -> Argument {
    Argument {
        text: named.name,
        ..of(Kind::Value)
    }
}

fn integer(integer: i64) -> Argument {
    Argument {
        integer,
        ..of(Kind::Integer)
    }
}

fn boolean(flag: bool) -> Argument {
    Argument {
        integer: i64::from(flag),
        ..of(Kind::Boolean)
    }
}

fn number(Number(number): Number) -> Argument {
    Argument {
        number,
        ..of(Kind::Number)
    }
}

fn text(text: String) -> Argument {
    Argument {
        text,
        ..of(Kind::Text)
    }
}
