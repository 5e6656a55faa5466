//! Traversal of any JSON document, in document order.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Calls `see` with the key and the value of each string in an object. Fails with line and column for invalid JSON,
/// nesting deeper than 128 and, if `are_keys_unique`, for repeated keys.
pub fn walk(
    json: &[u8],
    are_keys_unique: bool,
    see: &mut dyn FnMut(&str, &str),
) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_slice(json);
    let root = Walk {
        key: "",
        are_keys_unique,
        see,
    };
    root.deserialize(&mut json)?;
    json.end()
}

struct Walk<'a> {
    key: &'a str,
    are_keys_unique: bool,
    see: &'a mut dyn FnMut(&str, &str),
}

impl Walk<'_> {
    fn below<'b>(&'b mut self, key: &'b str) -> Walk<'b> {
        Walk {
            key,
            see: self.see,
            are_keys_unique: self.are_keys_unique,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Visitor methods for values without strings.
macro_rules! pass_over {
    ($($visit:ident($($value:ty)?)),*) => { $(
        fn $visit<E>(self $(, _: $value)?) -> Result<(), E> {
            Ok(())
        }
    )* };
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    pass_over!(visit_unit());
    pass_over!(
        visit_bool(bool),
        visit_i64(i64),
        visit_u64(u64),
        visit_f64(f64)
    );

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        (self.see)(self.key, text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self.below(""))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut keys = HashSet::new();
        let mut repeated = None;
        while let Some(key) = map.next_key::<String>()? {
            map.next_value_seed(self.below(&key))?;
            if !self.are_keys_unique {
                continue;
            }
            if let Some(key) = keys.replace(key) {
                repeated.get_or_insert(key);
            }
        }
        match repeated {
            None => Ok(()),
            Some(key) => Err(A::Error::custom(format!("{key}: repeated key"))),
        }
    }
}
