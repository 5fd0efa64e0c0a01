//! Documents: loaded, loaded again, listed, unloaded, found.

#[path = "documents/command.rs"]
mod command;
#[path = "documents/found.rs"]
mod found;
#[path = "documents/gone.rs"]
mod gone;
#[path = "documents/loaded.rs"]
mod loaded;
#[path = "documents/random.rs"]
mod random;

use htm_core::{Caller, Document, Htm, LoadedDocument, Node};
use htm_documents::{Cutting, read};

/// Small passages, none of them put together with others.
const CUTTING: Cutting = Cutting { size: 300, overlap: 0, least: 0 };

const GUIDE: &str = "---\ntitle: The guide\ntags: [manual]\n---\n# Airships\n\nAn airship floats.\n\n## Mooring\n\nA mast \
                     holds the zeppelin.\n\n## Fuel\n\nHydrogen burns, helium does not.\n";

fn document(path: &str, text: &str) -> Document {
    let read = read(path, text.as_bytes(), &CUTTING).unwrap();
    read.document(path, text.len() as u64, &Default::default(), &[]).0
}

async fn load(htm: &Htm, path: &str, text: &str) -> LoadedDocument {
    htm.load_document(&document(path, text), &Caller::Handle).await.unwrap()
}

/// Passages that were written, kept and forgotten.
fn counts(loaded: &LoadedDocument) -> (u64, u64, u64) {
    (loaded.written, loaded.kept, loaded.forgotten)
}

async fn passages(htm: &Htm, path: &str) -> Vec<Node> {
    htm.passages(None, path, None, 1_000).await.unwrap()
}

fn texts(nodes: &[Node]) -> Vec<&str> {
    nodes.iter().map(|node| node.content.split("\n\n").last().unwrap_or_default()).collect()
}
