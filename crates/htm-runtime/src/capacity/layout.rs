//! The pages of PostgreSQL and pgvector, as far as the size of a vector decides how many fit.
//!
//! Sources: "Database Page Layout" and "TOAST" in PostgreSQL's manual; `hnsw.h` of pgvector 0.8.

const PAGE: f64 = 8192.0;
/// A page without its header.
const HEAP_USABLE: f64 = PAGE - 24.0;
/// A page of an HNSW index without header and special space.
const HNSW_USABLE: f64 = HEAP_USABLE - 8.0;
/// The pointer to a row, at the beginning of its page.
const ITEM: f64 = 4.0;
/// A larger row is stored in parts, those in a table of their own (TOAST).
const TOAST_THRESHOLD: f64 = 2032.0;
/// The most data of one part.
const TOAST_CHUNK: f64 = 1996.0;
/// A part's header, with the vector's number and the part's.
const TOAST_HEADER: f64 = 36.0;
/// The index entry of a part.
const TOAST_INDEX: f64 = 23.0;
/// The pointer that a row has in place of a vector in parts.
const TOAST_POINTER: f64 = 18.0;
/// The header of a `halfvec`; each dimension has two bytes.
const HALFVEC_HEADER: f64 = 8.0;
/// An element of an HNSW index without its vector.
const HNSW_ELEMENT: f64 = 72.0;
/// The list of the neighbours of an element, for m = 16: 32 of the lowest level, with its header. An element in sixteen
/// has more, on higher levels.
const HNSW_NEIGHBOURS: f64 = 200.0;

/// The bytes of a row of `htm.embeddings_N` with its share of the page. `row` is the row without the vector.
pub(super) fn vector_row(row: f64, dimensions: u32) -> f64 {
    let vector = HALFVEC_HEADER + 2.0 * f64::from(dimensions);
    if row + vector <= TOAST_THRESHOLD {
        return share(aligned(row + vector) + ITEM, HEAP_USABLE);
    }
    let data = vector - ITEM;
    let full = (data / TOAST_CHUNK).floor();
    let rest = data - full * TOAST_CHUNK;
    let part = |data: f64| aligned(TOAST_HEADER + data) + ITEM;
    let parts = full * part(TOAST_CHUNK) + if rest > 0.0 { part(rest) } else { 0.0 };
    let number = full + f64::from(u8::from(rest > 0.0));
    share(aligned(row + TOAST_POINTER) + ITEM, HEAP_USABLE) + share(parts, HEAP_USABLE) + number * TOAST_INDEX
}

/// The bytes of a vector in its HNSW index, with its share of the page.
pub(super) fn hnsw_entry(dimensions: u32) -> f64 {
    let element = aligned(HNSW_ELEMENT + HALFVEC_HEADER + 2.0 * f64::from(dimensions)) + ITEM;
    let neighbours = HNSW_NEIGHBOURS + ITEM;
    match element + neighbours <= HNSW_USABLE {
        true => share(element + neighbours, HNSW_USABLE),
        // The element has a page, and its neighbours another.
        false => 2.0 * PAGE,
    }
}

/// The share of a page that an entry takes. Room too small for a further entry stays free.
fn share(entry: f64, usable: f64) -> f64 {
    match entry <= usable {
        true => PAGE / (usable / entry).floor(),
        false => entry * PAGE / usable,
    }
}

/// Rows begin at multiples of 8.
fn aligned(bytes: f64) -> f64 {
    (bytes / 8.0).ceil() * 8.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured with 10,000 random vectors a row, PostgreSQL 18.6 and pgvector 0.8: the table with TOAST, the index.
    const MEASURED: [(u32, f64, f64); 9] = [
        (64, 205.0, 436.0),
        (256, 631.0, 833.0),
        (384, 911.0, 1171.0),
        (512, 1171.0, 1367.0),
        (768, 1638.0, 2049.0),
        (1024, 2863.0, 2732.0),
        (1536, 4228.0, 4097.0),
        (3072, 8369.0, 8193.0),
        (4000, 8452.0, 16385.0),
    ];

    #[test]
    fn vectors_take_what_was_measured() {
        for (dimensions, table, index) in MEASURED {
            let [table, index] =
                [vector_row(60.0, dimensions) / table, hnsw_entry(dimensions) / index].map(|it| it - 1.0);
            assert!(table.abs() < 0.03, "{dimensions} dimensions: the table is off by {table:.3}");
            assert!(index.abs() < 0.03, "{dimensions} dimensions: the index is off by {index:.3}");
        }
    }
}
