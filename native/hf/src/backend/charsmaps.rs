//! The compiled normalization rules in a tokenizer.json that the crate will read itself.
//!
//! The crate takes such rules by the name of their key, with or without a "type" beside it, and of a
//! key that stands there twice the first value where the second is null. So all of them are checked,
//! as they are written and wherever they stand.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::TOKENIZER;
use crate::error::{Error, Result};
use crate::sentencepiece::charsmap;

const KEY: &str = "precompiled_charsmap";

/// `json`: the file.
pub fn check_all(json: &[u8]) -> Result<()> {
    let all: Node =
        serde_json::from_slice(json).map_err(|error| Error::in_file(TOKENIZER, error))?;
    all.charsmaps.iter().try_for_each(|encoded| check(encoded))
}

fn check(encoded: &str) -> Result<()> {
    let problem =
        |cause: &dyn fmt::Display| Error::in_file(TOKENIZER, format!("normalizer: {KEY}: {cause}"));
    let bytes = base64::decode(encoded).map_err(|error| problem(&error))?;
    charsmap::check(&bytes).map_err(|error| problem(&error))
}

/// A JSON value.
#[derive(Default)]
struct Node {
    /// Of a string.
    text: Option<String>,
    /// In everything below.
    charsmaps: Vec<String>,
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<Node, E> {
        Ok(Node::default())
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<Node, E> {
        Ok(Node::default())
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<Node, E> {
        Ok(Node::default())
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Node, E> {
        Ok(Node::default())
    }

    fn visit_unit<E>(self) -> std::result::Result<Node, E> {
        Ok(Node::default())
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Node, E> {
        Ok(Node {
            text: Some(text.to_owned()),
            charsmaps: Vec::new(),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Node, A::Error> {
        let mut all = Node::default();
        while let Some(each) = list.next_element::<Node>()? {
            all.charsmaps.extend(each.charsmaps);
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Node, A::Error> {
        let mut all = Node::default();
        while let Some((key, value)) = map.next_entry::<String, Node>()? {
            all.charsmaps.extend(value.charsmaps);
            all.charsmaps.extend(value.text.filter(|_| key == KEY));
        }
        Ok(all)
    }
}
