//! Names that stand twice in a header: of those the crate takes the last.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::error::{Error, Result};

/// A header that is no JSON object is left to its reader.
pub fn require_unique(header: &[u8]) -> Result<()> {
    let mut json = serde_json::Deserializer::from_slice(header);
    match json.deserialize_map(Names).ok().flatten() {
        None => Ok(()),
        Some(name) => Err(Error::new(format!(
            "tensor `{name}`: stands there more than once"
        ))),
    }
}

/// The first name that another one repeats.
struct Names;

impl<'de> Visitor<'de> for Names {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<Map: MapAccess<'de>>(
        self,
        mut map: Map,
    ) -> std::result::Result<Self::Value, Map::Error> {
        let mut names = HashSet::new();
        let mut repeated = None;
        while let Some(name) = map.next_key::<String>()? {
            map.next_value::<IgnoredAny>()?;
            if repeated.is_none() && !names.insert(name.clone()) {
                repeated = Some(name);
            }
        }
        Ok(repeated)
    }
}
