//! How deep the content of a page is nested. The library follows it by recursion without a limit, and a stack that
//! overflows ends the process.

use std::collections::HashSet;

use pdf_extract::content::Content;
use pdf_extract::{Dictionary, Document, ObjectId, Stream};

/// The most forms within one another, and the most levels of the tree of pages.
const MOST: usize = 32;

/// Whether a page is nested deeper than that, or without end.
pub(super) fn is_too_deep(document: &Document, page: ObjectId) -> bool {
    let Ok(of_page) = document.get_dictionary(page) else { return false };
    let parent = |of: &&Dictionary| {
        let parent = of.get(b"Parent").and_then(|parent| parent.as_reference());
        parent.and_then(|parent| document.get_dictionary(parent)).ok()
    };
    let above: Vec<&Dictionary> = std::iter::successors(Some(of_page), parent).take(MOST + 1).collect();
    if above.len() > MOST {
        return true;
    }
    let resources = above.into_iter().find_map(|of| inner(document, of, b"Resources"));
    let (Some(resources), Ok(content)) = (resources, document.get_page_content(page)) else { return false };
    Forms { document, followed: HashSet::new() }.are_too_deep(&content, resources, MOST)
}

/// A dictionary within another one.
fn inner<'a>(document: &'a Document, of: &'a Dictionary, key: &[u8]) -> Option<&'a Dictionary> {
    document.dereference(of.get(key).ok()?).ok()?.1.as_dict().ok()
}

/// The forms of a page: contents that other contents draw.
struct Forms<'a> {
    document: &'a Document,
    /// Forms with their resources whose own forms have been followed.
    followed: HashSet<(*const Stream, *const Dictionary)>,
}

impl<'a> Forms<'a> {
    /// Whether the forms that a content draws are nested deeper than `left`.
    fn are_too_deep(&mut self, content: &[u8], resources: &'a Dictionary, left: usize) -> bool {
        let Some(forms) = inner(self.document, resources, b"XObject") else { return false };
        let Ok(content) = Content::decode(content) else { return false };
        let drawn = content.operations.iter().filter(|operation| operation.operator == "Do");
        let names: HashSet<&[u8]> = drawn.filter_map(|it| it.operands.first()?.as_name().ok()).collect();
        for name in names {
            let form = forms.get(name).and_then(|form| self.document.dereference(form));
            let Ok(form) = form.and_then(|(_, form)| form.as_stream()) else { continue };
            // A form without resources has those of the content that draws it.
            let own = inner(self.document, &form.dict, b"Resources").unwrap_or(resources);
            let followed = (std::ptr::from_ref(form), std::ptr::from_ref(own));
            if self.followed.contains(&followed) {
                continue;
            }
            let content = form.get_plain_content().unwrap_or_else(|_| form.content.clone());
            if left == 0 || self.are_too_deep(&content, own, left - 1) {
                return true;
            }
            self.followed.insert(followed);
        }
        false
    }
}
