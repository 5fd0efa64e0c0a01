//! The vectors of an ontology's terms, kept in a file: to embed them takes a tagger seconds at each start.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use tempfile::NamedTempFile;

use crate::hash::fnv1a;

/// The most files in the directory, each for one model and one ontology. The oldest are deleted.
const MOST_FILES: usize = 8;
const EXTENSION: &str = "safetensors";
const VECTORS: &str = "vectors";
const MADE_OF: &str = "made_of";

/// The file for a model and the lines that it embeds.
pub(super) struct KeptTerms {
    dir: PathBuf,
    /// All that the vectors depend on.
    made_of: String,
}

impl KeptTerms {
    /// The file in `dir`. It is another one as soon as a file of the model has another size or time.
    pub(super) fn new(dir: &Path, model_dir: &Path, lines: &[String]) -> io::Result<Self> {
        let mut made_of = format!("htm {}\n{}\n", env!("CARGO_PKG_VERSION"), model_dir.display());
        describe(model_dir, &mut made_of)?;
        made_of.push_str(&lines.join("\n"));
        Ok(Self { dir: dir.to_owned(), made_of })
    }

    /// The vectors; none if they are not kept, or not as they were written.
    pub(super) fn read(&self, dimensions: usize) -> Option<Vec<Vec<f32>>> {
        let bytes = fs::read(self.path()).ok()?;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).ok()?;
        if metadata.metadata().as_ref()?.get(MADE_OF) != Some(&self.made_of) {
            return None;
        }
        let file = SafeTensors::deserialize(&bytes).ok()?;
        let tensor = file.tensor(VECTORS).ok().filter(|it| it.dtype() == Dtype::F32)?;
        let (numbers, _) = tensor.data().as_chunks::<4>();
        let numbers: Vec<f32> = numbers.iter().map(|it| f32::from_le_bytes(*it)).collect();
        let vectors: Vec<Vec<f32>> = numbers.chunks(dimensions).map(<[f32]>::to_vec).collect();
        // After a crash of the machine a file may have its length and not its bytes.
        let is_unit = |it: &Vec<f32>| (it.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 0.01;
        vectors.iter().all(is_unit).then_some(vectors)
    }

    /// Keeps the vectors. What was there stays until all of it is written.
    pub(super) fn write(&self, vectors: &[Vec<f32>]) -> io::Result<()> {
        let dimensions = vectors.first().map_or(0, Vec::len);
        let bytes: Vec<u8> = vectors.iter().flatten().flat_map(|it| it.to_le_bytes()).collect();
        let tensor = TensorView::new(Dtype::F32, vec![vectors.len(), dimensions], &bytes);
        let metadata = HashMap::from([(MADE_OF.to_owned(), self.made_of.clone())]);
        let file = safetensors::serialize([(VECTORS, tensor.map_err(io::Error::other)?)], Some(metadata));
        fs::create_dir_all(&self.dir)?;
        let new = NamedTempFile::new_in(&self.dir)?;
        fs::write(new.path(), file.map_err(io::Error::other)?)?;
        new.persist(self.path())?;
        self.delete_oldest()
    }

    fn path(&self) -> PathBuf {
        self.dir.join(format!("terms-{:016x}.{EXTENSION}", fnv1a(self.made_of.as_bytes())))
    }

    fn delete_oldest(&self) -> io::Result<()> {
        let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("terms-") && path.extension().is_some_and(|it| it == EXTENSION) {
                files.push((fs::metadata(&path)?.modified()?, path));
            }
        }
        files.sort();
        let many = files.len().saturating_sub(MOST_FILES);
        files[..many].iter().try_for_each(|(_, path)| fs::remove_file(path))
    }
}

/// Adds the name, the size and the time of each file of a directory.
fn describe(dir: &Path, told: &mut String) -> io::Result<()> {
    let mut paths = fs::read_dir(dir)?.map(|it| Ok(it?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        let found = fs::metadata(&path)?;
        if found.is_dir() {
            describe(&path, told)?;
        } else {
            let since = found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
            told.push_str(&format!("{} {} {}\n", path.display(), found.len(), since.as_nanos()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(dir: &Path, lines: &[&str]) -> KeptTerms {
        let lines: Vec<String> = lines.iter().map(|&it| it.to_owned()).collect();
        KeptTerms::new(&dir.join("cache"), &dir.join("model"), &lines).unwrap()
    }

    fn model() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("model/1_Pooling")).unwrap();
        fs::write(dir.path().join("model/1_Pooling/config.json"), "{}").unwrap();
        dir
    }

    const VECTORS: [[f32; 2]; 2] = [[0.6, 0.8], [-1.0, 0.0]];

    #[test]
    fn they_are_read_as_they_were_written() {
        let dir = model();
        let terms = kept(dir.path(), &["one", "two"]);
        assert_eq!(terms.read(2), None);
        let vectors = VECTORS.map(Vec::from);
        terms.write(&vectors).unwrap();
        assert_eq!(kept(dir.path(), &["one", "two"]).read(2), Some(vectors.to_vec()));
        assert_eq!(kept(dir.path(), &["one", "three"]).read(2), None, "of other lines");
        fs::write(dir.path().join("model/1_Pooling/config.json"), "{ }").unwrap();
        assert_eq!(kept(dir.path(), &["one", "two"]).read(2), None, "of another model");
    }

    #[test]
    fn what_is_damaged_is_not_read() {
        let dir = model();
        let terms = kept(dir.path(), &["one", "two"]);
        terms.write(&VECTORS.map(Vec::from)).unwrap();
        let whole = fs::read(terms.path()).unwrap();
        fs::write(terms.path(), &whole[..whole.len() - 4]).unwrap();
        assert_eq!(terms.read(2), None);
        let zeros = [&whole[..whole.len() - 8], &[0; 8]].concat();
        fs::write(terms.path(), zeros).unwrap();
        assert_eq!(terms.read(2), None);
        fs::write(terms.path(), "").unwrap();
        assert_eq!(terms.read(2), None);
        terms.write(&VECTORS.map(Vec::from)).unwrap();
        assert!(terms.read(2).is_some());
    }

    #[test]
    fn the_oldest_files_are_deleted() {
        let dir = model();
        for number in 0..MOST_FILES + 2 {
            kept(dir.path(), &[&number.to_string()]).write(&VECTORS.map(Vec::from)).unwrap();
        }
        assert_eq!(fs::read_dir(dir.path().join("cache")).unwrap().count(), MOST_FILES);
        assert!(kept(dir.path(), &[&(MOST_FILES + 1).to_string()]).read(2).is_some());
    }
}
