//! The lists of an export in JSON, read element by element: conversations, memories.

use std::collections::VecDeque;

use async_trait::async_trait;
use htm_core::{Error, Result};
use serde_json::Value;

use crate::elements::Elements;
use crate::files::Part;
use crate::foreign::{Item, Left, Why};
use crate::{Counts, Source, codes};

/// How the elements of an export are read.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// The kind of an element: `conversation`, `memory`.
    pub(crate) subject: &'static str,
    /// The fields that may have the list, in a file that is an object.
    pub(crate) lists: &'static [&'static str],
    /// Reads the items of an element, and counts its contents by kind. The error describes an unexpected element.
    pub(crate) read: fn(&Value, &mut Counts) -> std::result::Result<Vec<Item>, String>,
}

/// The number of elements after which a file counts as another system's, if none could be understood.
const STRANGE: usize = 1_000;

/// An export of one or several files. One that cannot be read, or not to its end, does not stop the others.
pub(crate) struct Export {
    kind: Kind,
    parts: VecDeque<Part>,
    /// The name of the file that was opened last.
    name: String,
    open: Option<File>,
    /// The number of elements that were read.
    number: u64,
    items: VecDeque<Item>,
    counts: Counts,
    /// The first error of a file, which ends the export after the other files.
    error: Option<Error>,
}

/// A file that is read.
struct File {
    elements: Elements,
    /// Whether an element was understood.
    is_known: bool,
    /// The elements before the first one that was understood.
    strange: Vec<(Left, String)>,
}

impl Export {
    pub(crate) fn new(kind: Kind, parts: Vec<Part>) -> Self {
        Self {
            kind,
            parts: parts.into(),
            name: String::new(),
            open: None,
            number: 0,
            items: VecDeque::new(),
            counts: Counts::new(),
            error: None,
        }
    }

    /// Opens a file.
    fn begin(&mut self, part: &Part) -> Result<()> {
        let elements = Elements::open(part.open()?, &part.name, self.kind.lists)?;
        self.open = Some(File { elements, is_known: false, strange: Vec::new() });
        Ok(())
    }

    /// Reads an element of the open file, or closes the file at its end.
    fn step(&mut self) -> Result<()> {
        let Some(file) = &mut self.open else { return Ok(()) };
        let Some(text) = file.elements.next()? else { return self.close() };
        let Kind { subject, read, .. } = self.kind;
        self.number += 1;
        let read = match serde_json::from_slice::<Value>(&text) {
            Ok(element) => read(&element, &mut self.counts),
            Err(error) => Err(format!("is no JSON ({error})")),
        };
        match read {
            Ok(items) => {
                file.is_known = true;
                self.items.extend(file.strange.drain(..).map(|(left, _)| Item::Left(left)));
                self.items.extend(items);
            }
            Err(what) => {
                let left = Left::new(subject, format!("number {}", self.number), Why::Unreadable);
                let left = left.detail(format!("it {what}"));
                match file.is_known {
                    true => self.items.push_back(Item::Left(left)),
                    false => file.strange.push((left, what)),
                }
                if file.strange.len() >= STRANGE {
                    return self.close();
                }
            }
        }
        Ok(())
    }

    /// Closes the file. A file of which no element was understood is of another system.
    fn close(&mut self) -> Result<()> {
        let Some(File { strange, .. }) = self.open.take() else { return Ok(()) };
        let Some((_, what)) = strange.into_iter().next() else { return Ok(()) };
        let message = format!("{}: the first {} {what}", self.name, self.kind.subject);
        Err(Error::new(codes::SOURCE_UNRECOGNISED, message))
    }

    /// Keeps the first error for the end. An import ends with one error: those of further files are listed.
    fn fail(&mut self, error: Error) {
        if self.error.is_none() {
            self.error = Some(error);
            return;
        }
        let left = Left::new("file", self.name.as_str(), Why::Unreadable);
        self.items.push_back(Item::Left(left.detail(error.to_string())));
    }
}

#[async_trait]
impl Source for Export {
    async fn next(&mut self) -> Result<Option<Item>> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Ok(Some(item));
            }
            if self.open.is_some() {
                if let Err(error) = self.step() {
                    self.open = None;
                    self.fail(error);
                }
                continue;
            }
            let Some(part) = self.parts.pop_front() else { return self.error.take().map_or(Ok(None), Err) };
            self.name.clone_from(&part.name);
            if let Err(error) = self.begin(&part) {
                self.fail(error);
            }
        }
    }

    fn counts(&self) -> Counts {
        self.counts.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{left, memories, read_all};
    use crate::{System, open};

    fn list(ids: &[&str]) -> String {
        let memory = |id: &&str| json!({"id": id, "memory": format!("The text of {id}.")});
        Value::Array(ids.iter().map(memory).collect()).to_string()
    }

    /// The ids of what comes, what does not, and the error at the end.
    async fn read(files: &[(&str, String)]) -> (Vec<String>, Vec<Item>, Option<Error>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let location = folder.path().to_str().unwrap();
        let mut source = open(System::Mem0, location, &crate::SourceOptions::default()).await.unwrap();
        let (items, end) = read_all(&mut *source).await;
        let ids = memories(&items).iter().map(|it| it.id.clone()).collect();
        (ids, items, end.err())
    }

    #[tokio::test]
    async fn a_file_that_is_cut_does_not_stop_those_after_it() {
        let whole = list(&["b1", "b2"]);
        let cut = whole[..whole.len() - 5].to_owned();
        let (ids, items, error) = read(&[
            ("a.json", list(&["a1"])),
            ("b.json", cut),
            ("c.json", list(&["c1"])),
            ("d.json", "no list".into()),
        ])
        .await;
        assert_eq!(ids, ["a1", "b1", "c1"]);
        let error = error.unwrap();
        assert_eq!(error.code(), "source_damaged");
        assert!(error.to_string().contains("b.json"), "{error}");
        let [("file", further, Why::Unreadable)] = left(&items)[..] else { panic!("{items:?}") };
        assert!(further.ends_with("d.json"), "{further}");
    }

    #[tokio::test]
    async fn a_first_element_that_cannot_be_read_stops_nothing() {
        let first = json!([{"id": "m0", "memory": null}, {"id": "m1", "memory": "It comes."}]);
        let (ids, items, error) = read(&[("a.json", first.to_string())]).await;
        assert_eq!((ids.len(), left(&items)), (1, vec![("memory", "number 1", Why::Unreadable)]));
        assert!(error.is_none());
        let strange = json!([{"text": "x"}, {"text": "y"}]).to_string();
        let (ids, items, error) = read(&[("a.json", strange), ("b.json", list(&["b1"]))]).await;
        assert_eq!((ids, items.len()), (vec!["b1".to_owned()], 1));
        let error = error.unwrap();
        assert_eq!(error.code(), "source_unrecognised");
        assert!(error.to_string().contains("the first memory has no text"), "{error}");
    }

    #[tokio::test]
    async fn a_cut_file_is_damaged_whatever_its_first_elements_are() {
        let (ids, _, error) = read(&[("a.json", r#"[{"text": "x"}, {"te"#.into())]).await;
        assert!(ids.is_empty());
        assert_eq!(error.unwrap().code(), "source_damaged");
    }
}
