//! A JSON document as a tree that C++ walks (`serde_json` parses it).

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, Result};

/// Entries in the order of the document.
pub enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    Number(f64),
    String(Box<str>),
    Array(Vec<Json>),
    Object(Vec<(Box<str>, Json)>),
}

/// Arrays and objects inside each other are bounded (128) by `serde_json`.
pub fn parse(document: &[u8]) -> Result<Json> {
    serde_json::from_slice(document).map_err(|error| Error::new(error.to_string()))
}

struct Reader;

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> std::result::Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Json, E> {
        Ok(Json::Integer(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "as every reader of JSON has it")]
    fn visit_u64<E>(self, value: u64) -> std::result::Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::Number(value as f64), Json::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Json, E> {
        Ok(Json::String(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> std::result::Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(value) = values.next_element()? {
            array.push(value);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Json, A::Error> {
        let mut object: Vec<(Box<str>, Json)> = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Box<str>, Json>()? {
            object.push((key, value));
        }
        let mut keys: Vec<&str> = object.iter().map(|(key, _)| &**key).collect();
        keys.sort_unstable();
        if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(A::Error::custom(format!(
                "{}: stands there more than once",
                pair[0]
            )));
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_kinds_and_order() {
        let Ok(Json::Object(entries)) = parse(br#"{"b":[1,2.5,null,true],"a":"x"}"#) else {
            panic!("expected an object");
        };
        assert_eq!(
            entries.iter().map(|(key, _)| &**key).collect::<Vec<_>>(),
            ["b", "a"]
        );
        let Json::Array(values) = &entries[0].1 else {
            panic!("expected an array");
        };
        assert!(matches!(
            values[..],
            [
                Json::Integer(1),
                Json::Number(2.5),
                Json::Null,
                Json::Bool(true)
            ]
        ));
    }

    #[test]
    fn refuses_what_is_ambiguous_or_deep() {
        let message = |document: &[u8]| parse(document).err().expect("an error").to_string();
        assert!(message(br#"{"a":1,"b":2,"a":3}"#).starts_with("a: stands there more than once"));
        assert!(message(&vec![b'['; 100_000]).starts_with("recursion limit exceeded"));
        assert!(message(b"{} x").starts_with("trailing characters"));
        assert!(message(b"[NaN]").starts_with("expected value"));
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        let Ok(Json::Number(least)) = parse(b"-3.4028234663852886e+38") else {
            panic!("expected a number");
        };
        assert_eq!(least, f64::from(f32::MIN));
    }

    #[test]
    fn large_integers_become_numbers() {
        assert!(matches!(
            parse(b"9223372036854775807"),
            Ok(Json::Integer(i64::MAX))
        ));
        assert!(matches!(parse(b"9223372036854775808"), Ok(Json::Number(_))));
    }
}
