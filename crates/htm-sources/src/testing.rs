//! Helpers of the sources' tests.

use htm_core::Result;
use serde_json::Value;

use crate::{Counts, Foreign, Item, Source, Why};

/// The items of a source up to its end or its error.
pub(crate) async fn read_all(source: &mut dyn Source) -> (Vec<Item>, Result<Counts>) {
    let mut items = Vec::new();
    loop {
        match source.next().await {
            Ok(Some(item)) => items.push(item),
            Ok(None) => return (items, Ok(source.counts())),
            Err(error) => return (items, Err(error)),
        }
    }
}

pub(crate) fn memories(items: &[Item]) -> Vec<&Foreign> {
    let memories = items.iter().filter_map(|item| match item {
        Item::Memory(memory) => Some(&**memory),
        Item::Left(_) => None,
    });
    memories.collect()
}

/// The items that are left out, sorted.
pub(crate) fn left(items: &[Item]) -> Vec<(&str, &str, Why)> {
    let left = items.iter().filter_map(|item| match item {
        Item::Left(left) => Some((left.subject, left.id.as_str(), left.why)),
        Item::Memory(_) => None,
    });
    let mut left: Vec<_> = left.collect();
    left.sort();
    left
}

/// Puts a value at a place of a tree, counted from its root.
pub(crate) fn replace(tree: &mut Value, place: usize, value: &Value) {
    fn walk(tree: &mut Value, number: &mut usize, place: usize, value: &Value) {
        if *number == place {
            *tree = value.clone();
        }
        *number += 1;
        match tree {
            Value::Array(list) => list.iter_mut().for_each(|it| walk(it, number, place, value)),
            Value::Object(object) => object.values_mut().for_each(|it| walk(it, number, place, value)),
            _ => {}
        }
    }
    walk(tree, &mut 0, place, value);
}

/// Reads a file whose tree has a value of another type somewhere, whole and cut, and asserts that an error has a code of
/// sources.
pub(crate) fn is_read_or_refused(
    open: impl Fn(&str) -> Result<Box<dyn Source>>,
    mut tree: Value,
    place: usize,
    kind: usize,
    cut: usize,
) {
    use serde_json::json;
    let values = [json!(null), json!(-1), json!("x"), json!([]), json!({}), json!([{"text": 3}])];
    replace(&mut tree, place, &values[kind % values.len()]);
    let text = tree.to_string();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for bytes in [text.as_bytes(), &text.as_bytes()[..cut.min(text.len())]] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let read = open(file.path().to_str().unwrap())
            .and_then(|mut source| runtime.block_on(read_all(&mut *source)).1);
        if let Err(error) = read {
            assert!(error.code().starts_with("source_"), "{error}");
        }
    }
}
