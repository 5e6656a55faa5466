//! Structure-aware JSON mutator: changes one value and keeps the JSON valid.

use serde_json::{Map, Value, json};

use crate::random::{Random, mutate_bytes};

/// Returns `None` if the text is not a JSON object.
pub fn mutate(text: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(text).ok()?;
    if !value.is_object() {
        return None;
    }
    let mut all = Vec::new();
    collect(&value, &mut all);
    let other = all[random.below(all.len())].clone();
    let mut place = random.below(all.len());
    change_at(&mut value, &mut place, &mut |node| {
        change(node, &other, random)
    });
    let mut text = value.to_string().into_bytes();
    // Repeats a key.
    if let (true, Value::Object(map)) = (random.below(16) == 0, &value) {
        if let Some((key, _)) = map.iter().nth(random.below(map.len())) {
            let entry = format!("{}:{other},", json!(key));
            text.splice(1..1, entry.into_bytes());
        }
    }
    Some(text)
}

fn collect<'a>(value: &'a Value, all: &mut Vec<&'a Value>) {
    all.push(value);
    match value {
        Value::Array(list) => list.iter().for_each(|each| collect(each, all)),
        Value::Object(map) => map.values().for_each(|each| collect(each, all)),
        _ => {}
    }
}

/// Applies `change` to the value at position `place` in document order. Returns false if there are fewer values.
fn change_at(value: &mut Value, place: &mut usize, change: &mut impl FnMut(&mut Value)) -> bool {
    if *place == 0 {
        change(value);
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(list) => list.iter_mut().any(|each| change_at(each, place, change)),
        Value::Object(map) => map.values_mut().any(|each| change_at(each, place, change)),
        _ => false,
    }
}

fn change(node: &mut Value, other: &Value, random: &mut Random) {
    match random.below(8) {
        0 => *node = simple(random),
        1 => *node = other.clone(),
        2 => {
            for _ in 0..[1, 2, 60, 140][random.below(4)] {
                *node = if random.below(2) == 0 {
                    json!([node])
                } else {
                    json!({"normalizers": [node]})
                };
            }
        }
        _ => change_content(node, other, random),
    }
}

fn simple(random: &mut Random) -> Value {
    let all = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(-1),
        json!(1),
        json!(255),
        json!(u32::MAX),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(0.5),
        json!(-1e308),
        json!(1e16),
        json!(""),
        json!(" "),
        json!("a"),
        json!("▁"),
        json!("\u{0}"),
        json!([]),
        json!({}),
    ];
    all[random.below(all.len())].clone()
}

fn change_content(node: &mut Value, other: &Value, random: &mut Random) {
    match node {
        Value::String(text) => {
            let mut bytes = std::mem::take(text).into_bytes();
            mutate_bytes(&mut bytes);
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        Value::Array(list) if !list.is_empty() => {
            let index = random.below(list.len());
            match random.below(4) {
                0 => drop(list.remove(index)),
                1 => list.insert(index, list[index].clone()),
                2 => list.insert(index, other.clone()),
                _ => {
                    let last = list.len() - 1;
                    list.swap(index, last);
                }
            }
        }
        Value::Object(map) if !map.is_empty() => change_entry(map, other, random),
        _ => *node = simple(random),
    }
}

fn change_entry(map: &mut Map<String, Value>, other: &Value, random: &mut Random) {
    let key = map
        .keys()
        .nth(random.below(map.len()))
        .cloned()
        .unwrap_or_default();
    match random.below(3) {
        0 => drop(map.remove(&key)),
        1 => drop(map.insert(key, other.clone())),
        _ => {
            let value = map.remove(&key).unwrap_or_default();
            let mut bytes = key.into_bytes();
            mutate_bytes(&mut bytes);
            map.insert(String::from_utf8_lossy(&bytes).into_owned(), value);
        }
    }
}
