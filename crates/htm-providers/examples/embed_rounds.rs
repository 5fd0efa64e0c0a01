//! Embeds the same texts as often as it is asked to, and says how long each time took: ours, for
//! `scripts/bench_embed.py`, which takes turns with other runtimes.
//!
//!     embed_rounds MODEL_DIR TEXTS.jsonl BATCH [VECTORS]
//!
//! TEXTS has a JSON string on each line. The texts go to the embedder as the embed-worker sends them, BATCH at a time
//! as they come. Each line on standard input is a round and is answered by its seconds; VECTORS gets the last round's,
//! in f32 of little endian.

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::Instant;

use htm_core::provider::Purpose;
use htm_providers::local::{self, LocalSettings};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model_dir, texts, batch, vectors @ ..] = arguments.as_slice() else {
        return Err("usage: embed_rounds MODEL_DIR TEXTS.jsonl BATCH [VECTORS]".into());
    };
    let texts: Vec<String> = std::fs::read_to_string(texts)?
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, serde_json::Error>>()?;
    let batch: usize = batch.parse()?;
    let embedder =
        local::embedder(LocalSettings { model_dir: PathBuf::from(model_dir), ..LocalSettings::default() })?;
    embedder.embed(&texts[..texts.len().min(batch)], Purpose::Document).await?;
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        line?;
        let start = Instant::now();
        let mut embeddings = Vec::with_capacity(texts.len());
        for batch in texts.chunks(batch) {
            embeddings.extend(embedder.embed(batch, Purpose::Document).await?);
        }
        println!("{}", start.elapsed().as_secs_f64());
        if let [path, ..] = vectors {
            let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
            for component in embeddings.iter().flat_map(|embedding| &embedding.vector) {
                file.write_all(&component.to_le_bytes())?;
            }
        }
    }
    Ok(())
}
