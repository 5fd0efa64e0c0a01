//! The vectors of an ontology's terms, kept in a file. A tagger needs seconds to embed them, at each start.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
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

/// The lines that are embedded anew, to compare the kept vectors with what the model makes of them now.
const COMPARED: usize = 8;
/// The least cosine of two vectors of one line. Threads and processors round differently.
const LEAST_COSINE: f32 = 0.9999;

/// The file for a model's name and the lines that it embeds.
pub(super) struct KeptTerms {
    dir: PathBuf,
    made_of: String,
    lines: usize,
}

impl KeptTerms {
    /// The file in `dir`.
    pub(super) fn new(dir: &Path, model: &str, lines: &[String]) -> Self {
        Self { dir: dir.to_owned(), made_of: format!("{model} {lines:?}"), lines: lines.len() }
    }

    /// The vectors; none if they are not kept, or not as they were written. They may be of a former model of this name:
    /// [`are_of`](Self::are_of) tells.
    pub(super) fn read(&self, dimensions: usize) -> Option<Vec<Vec<f32>>> {
        let bytes = fs::read(self.path()).ok()?;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).ok()?;
        if metadata.metadata().as_ref()?.get(MADE_OF) != Some(&self.made_of) {
            return None;
        }
        let file = SafeTensors::deserialize(&bytes).ok()?;
        let tensor = file.tensor(VECTORS).ok().filter(|it| it.dtype() == Dtype::F32)?;
        if tensor.shape() != [self.lines, dimensions] {
            return None;
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        let numbers: Vec<f32> = numbers.iter().map(|it| f32::from_le_bytes(*it)).collect();
        let vectors: Vec<Vec<f32>> = numbers.chunks(dimensions).map(<[f32]>::to_vec).collect();
        // After a crash of the machine a file may have its length and not its bytes.
        vectors.iter().all(|it| (dot(it, it) - 1.0).abs() < 0.01).then_some(vectors)
    }

    /// The places of the lines to compare, spread over all of them.
    pub(super) fn compared(&self) -> impl Iterator<Item = usize> + use<> {
        let step = self.lines.div_ceil(COMPARED).max(1);
        (0..self.lines).step_by(step)
    }

    /// Whether kept vectors are those that the model makes now, by those of the compared lines.
    pub(super) fn are_of(&self, kept: &[Vec<f32>], now: &[Vec<f32>]) -> bool {
        self.compared().zip(now).all(|(place, now)| dot(&kept[place], now) >= LEAST_COSINE)
    }

    /// Keeps the vectors. The former file stays until the new one is whole.
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

    /// Deletes the oldest of the other files. Other processes may do so at the same time.
    fn delete_oldest(&self) -> io::Result<()> {
        let mut others: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_one = name.starts_with("terms-") && path.extension().is_some_and(|it| it == EXTENSION);
            if is_one && path != self.path() {
                others.extend(
                    unless_gone(fs::metadata(&path).and_then(|it| it.modified()))?.map(|at| (at, path)),
                );
            }
        }
        others.sort();
        let many = (others.len() + 1).saturating_sub(MOST_FILES);
        others[..many].iter().try_for_each(|(_, path)| unless_gone(fs::remove_file(path)).map(drop))
    }
}

fn unless_gone<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn kept(dir: &Path, lines: &[&str]) -> KeptTerms {
        let lines: Vec<String> = lines.iter().map(|&it| it.to_owned()).collect();
        KeptTerms::new(dir, "model", &lines)
    }

    fn vectors() -> Vec<Vec<f32>> {
        vec![vec![0.6, 0.8], vec![-1.0, 0.0]]
    }

    #[test]
    fn they_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let terms = kept(dir.path(), &["one", "two"]);
        assert_eq!(terms.read(2), None);
        terms.write(&vectors()).unwrap();
        assert_eq!(kept(dir.path(), &["one", "two"]).read(2), Some(vectors()));
        assert_eq!(kept(dir.path(), &["one", "three"]).read(2), None, "of other lines");
        assert_eq!(kept(dir.path(), &["one\ntwo"]).read(2), None, "of other lines with the same text");
        assert_eq!(terms.read(4), None, "of other dimensions");
    }

    #[test]
    fn what_is_damaged_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let terms = kept(dir.path(), &["one", "two"]);
        terms.write(&vectors()).unwrap();
        let whole = fs::read(terms.path()).unwrap();
        let zeros = [&whole[..whole.len() - 8], &[0; 8]].concat();
        for damaged in [&whole[..whole.len() - 4], &zeros, b""] {
            fs::write(terms.path(), damaged).unwrap();
            assert_eq!(terms.read(2), None);
        }
        terms.write(&vectors()).unwrap();
        assert!(terms.read(2).is_some());
    }

    #[test]
    fn another_model_of_the_name_is_noticed() {
        let terms = kept(Path::new("/nowhere"), &["one"; 20]);
        let places: Vec<usize> = terms.compared().collect();
        assert_eq!(places, [0, 3, 6, 9, 12, 15, 18]);
        let all = vec![vec![0.6, 0.8]; 20];
        assert!(terms.are_of(&all, &vec![vec![0.600_01, 0.8]; places.len()]));
        let mut now = vec![vec![0.6, 0.8]; places.len()];
        now[5] = vec![0.8, 0.6];
        assert!(!terms.are_of(&all, &now));
        assert_eq!(kept(Path::new("/nowhere"), &[]).compared().count(), 0);
    }

    #[test]
    fn the_oldest_files_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let all: Vec<String> = (0..MOST_FILES + 2).map(|it| it.to_string()).collect();
        for (age, line) in all.iter().rev().enumerate() {
            let terms = kept(dir.path(), &[line.as_str()]);
            terms.write(&vectors()[..1]).unwrap();
            let file = fs::File::options().write(true).open(terms.path()).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(60 * (age as u64 + 1))).unwrap();
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), MOST_FILES);
        let is_kept = |line: &String| kept(dir.path(), &[line.as_str()]).read(2).is_some();
        // The last is younger than the others were when it was written.
        let found: Vec<&String> = all.iter().filter(|it| is_kept(it)).collect();
        assert!(found.contains(&&all[0]) && found.contains(&all.last().unwrap()), "{found:?}");
    }
}
