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

/// An export of one or several files.
pub(crate) struct Export {
    kind: Kind,
    parts: VecDeque<Part>,
    open: Option<Elements>,
    /// The number of elements that were read.
    number: u64,
    items: VecDeque<Item>,
    counts: Counts,
}

impl Export {
    pub(crate) fn new(kind: Kind, parts: Vec<Part>) -> Self {
        Self {
            kind,
            parts: parts.into(),
            open: None,
            number: 0,
            items: VecDeque::new(),
            counts: Counts::new(),
        }
    }

    /// Reads an element. One that cannot be read stops nothing, unless it is the first, which shows that the file is of
    /// another system.
    fn element(&mut self, text: &[u8]) -> Result<()> {
        let Kind { subject, read, .. } = self.kind;
        self.number += 1;
        let number = self.number;
        let read = match serde_json::from_slice::<Value>(text) {
            Ok(element) => read(&element, &mut self.counts),
            Err(error) => Err(format!("is no JSON ({error})")),
        };
        match read {
            Ok(items) => self.items.extend(items),
            Err(what) if number == 1 => {
                let message = format!("the first {subject} {what}");
                return Err(Error::new(codes::SOURCE_UNRECOGNISED, message));
            }
            Err(what) => {
                let left = Left::new(subject, format!("number {number}"), Why::Unreadable);
                self.items.push_back(Item::Left(left.detail(format!("it {what}"))));
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Source for Export {
    async fn next(&mut self) -> Result<Option<Item>> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Ok(Some(item));
            }
            let Some(elements) = &mut self.open else {
                let Some(part) = self.parts.pop_front() else { return Ok(None) };
                self.open = Some(Elements::open(part.open()?, &part.name, self.kind.lists)?);
                continue;
            };
            match elements.next()? {
                Some(text) => self.element(&text)?,
                None => self.open = None,
            }
        }
    }

    fn counts(&self) -> Counts {
        self.counts.clone()
    }
}
