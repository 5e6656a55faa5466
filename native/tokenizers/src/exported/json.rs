//! Typed JSON reader. Errors contain the location: `graph_module.graph.nodes[3].target: expected a string`.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde_json::Value;

use serde_path_to_error::Segment;

use crate::json::walk;
use errors::{Result, anyhow};

/// Deserializes JSON. `path`: location of the JSON in the document; empty: the document itself.
pub fn read<'de, T: Deserialize<'de>>(path: &str, json: &'de str) -> Result<T> {
    let mut json = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let mut problem = problem(error.inner());
        let is_null = error.inner().to_string().starts_with("invalid type: null");
        let mut segments: Vec<&Segment> = error.path().iter().collect();
        if let (true, Some(Segment::Map { key })) = (is_null, segments.last()) {
            problem = format!("has no {key}");
            segments.pop();
        }
        let mut path = path.to_owned();
        for segment in segments {
            let dot = if path.is_empty() { "" } else { "." };
            path += &match segment {
                Segment::Seq { index } => format!("[{index}]"),
                segment => format!("{dot}{segment}"),
            };
        }
        let colon = if path.is_empty() { "" } else { ": " };
        anyhow!("{path}{colon}{problem}")
    })
}

/// serde's message in JSON terms.
fn problem(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = match message.rfind(" at line ") {
        Some(end) if error.is_data() => &message[..end],
        _ => &message,
    };
    let quoted = |start: &str| message.strip_prefix(start)?.strip_suffix('`');
    if let Some(field) = quoted("missing field `") {
        return format!("has no {field}");
    }
    let is_type = message.starts_with("invalid ");
    match message.rsplit_once(", expected ").filter(|_| is_type) {
        None => message.to_owned(),
        Some((_, expected)) => format!(
            "expected {}",
            match expected {
                "i64" => "an integer",
                "a sequence" => "an array",
                "a map" => "an object",
                "a boolean" => "true or false",
                structure if structure.starts_with("struct ") => "an object",
                other => other,
            }
        ),
    }
}

/// Fails with line and column for invalid JSON, nesting deeper than 128 and repeated keys.
pub fn require_valid(json: &[u8]) -> Result<&str> {
    walk(json, true, &mut |_, _| ())?;
    Ok(std::str::from_utf8(json)?)
}

/// A type whose JSON is an object with one entry, whose key selects the variant.
pub trait Alternative: Sized {
    /// Reads the entry's value. Fails for an unknown key.
    fn read<'de, A: MapAccess<'de>>(kind: &str, map: &mut A) -> Result<Self, A::Error>;
}

/// Implements `Deserialize` for an `Alternative`.
macro_rules! deserialize_alternatives {
    ($($name:ty),*) => { $(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::exported::json::OneEntry(PhantomData))
            }
        }
    )* };
}
pub(super) use deserialize_alternatives;

pub struct OneEntry<T>(pub PhantomData<T>);

impl<'de, T: Alternative> Visitor<'de> for OneEntry<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let wrong = |count| A::Error::custom(format!("expected one entry, found {count}"));
        let kind = map.next_key::<String>()?.ok_or_else(|| wrong(0))?;
        let read = T::read(&kind, &mut map)?;
        let mut count = 1;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            count += 1;
        }
        if count == 1 {
            Ok(read)
        } else {
            Err(wrong(count))
        }
    }
}

pub fn unsupported<E: serde::de::Error>(kind: &str) -> E {
    E::custom(format!("unsupported kind {kind}"))
}

/// A number, or one of the strings "Infinity", "-Infinity" and "NaN".
#[derive(Clone, Copy)]
pub struct Number(pub f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let number = match value.as_str() {
            None => value.as_f64(),
            Some("Infinity") => Some(f64::INFINITY),
            Some("-Infinity") => Some(f64::NEG_INFINITY),
            Some("NaN") => Some(f64::NAN),
            Some(_) => None,
        };
        let found = match value {
            Value::Null => Unexpected::Unit,
            _ => Unexpected::Other("another value"),
        };
        let number = number.ok_or_else(|| D::Error::invalid_type(found, &"a number"));
        number.map(Self)
    }
}

/// Reads `null` as the default value.
pub fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads sizes or strides, at most as many as LibTorch supports.
pub fn dimensions<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    const MAX: usize = 64;
    let list = Vec::deserialize(deserializer)?;
    if list.len() > MAX {
        return Err(D::Error::custom(format!(
            "expected {MAX} dimensions or fewer"
        )));
    }
    Ok(list)
}
