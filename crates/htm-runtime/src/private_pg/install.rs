//! The search for PostgreSQL's programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use htm_core::{Error, Result};

use super::owned_dir::OwnedDir;
use super::server_user::ServerUser;
use crate::backup::Programs;
use crate::packages::parse_version;
use crate::paths::{self, Paths};
use crate::{codes, packages};

/// The extensions that a system's PostgreSQL must have. The migrations require the same.
const EXTENSIONS: [&str; 3] = ["vector", "pg_trgm", "hstore"];

/// The oldest major version that HTM runs on.
const OLDEST: u32 = 15;

/// A usable installation of PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Installation {
    /// The directory of `postgres`, `initdb` and `pg_ctl`, without symbolic links.
    pub(super) bin: PathBuf,
    /// Such as `18.6`.
    pub(super) version: String,
}

impl Installation {
    /// Finds an installation: `HTM_POSTGRES_HOME`, else that of `./justw setup`, else that of a Python package beside
    /// this program, else that of `pg_config` on the PATH.
    pub(super) fn locate(paths: &Paths, user: &ServerUser) -> Result<Self> {
        if let Some(named) = paths::named("HTM_POSTGRES_HOME") {
            return Self::at(&named.join("bin"), user);
        }
        let mut searched = vec!["HTM_POSTGRES_HOME, which is not set".to_owned()];

        let mut installed = installed_versions(&paths.postgres_dir());
        if installed.is_empty() {
            searched.push(format!("{}, where nothing is", paths.postgres_dir().display()));
        }
        match packages::postgres() {
            Some(packaged) => installed.push(packaged),
            None => searched.push("the Python packages beside this program, which lack it".to_owned()),
        }
        installed.sort_by(|(one, _), (other, _)| other.cmp(one));
        // An existing cluster needs its own major version.
        let data = OwnedDir::open(&paths.data_dir(), user)?;
        let cluster = data.map(|data| data.read("PG_VERSION")).transpose()?.flatten().unwrap_or_default();
        let same_major = installed.iter().find(|(version, _)| version[0].to_string() == cluster.trim());
        if let Some((_, dir)) = same_major.or(installed.first()) {
            return Self::at(&dir.join("bin"), user);
        }

        match from_pg_config(user) {
            Ok(bin) => Self::at(&bin, user),
            Err(reason) => {
                searched.push(reason);
                let message =
                    format!("no PostgreSQL with pgvector was found (looked at {})", searched.join(", "));
                Err(Error::new(codes::PRIVATE_PG_NO_BINARIES, message))
            }
        }
    }

    /// The newest installation that [`locate`](Self::locate) would find for a new cluster.
    pub(super) fn newest(paths: &Paths, user: &ServerUser) -> Result<Self> {
        if let Some(named) = paths::named("HTM_POSTGRES_HOME") {
            return Self::at(&named.join("bin"), user);
        }
        match all(paths).into_iter().max_by(|(a, _), (b, _)| a.cmp(b)) {
            Some((_, dir)) => Self::at(&dir.join("bin"), user),
            None => Self::locate(paths, user),
        }
    }

    /// An installation of a major version: that of the directory `home` if one is named, else one that can be found.
    pub(super) fn of_major(
        major: u32,
        home: Option<&Path>,
        paths: &Paths,
        user: &ServerUser,
    ) -> Result<Option<Self>> {
        let is_it = |found: &Self| found.major().parse::<u32>() == Ok(major);
        if let Some(home) = home {
            return Ok(Some(Self::at(&home.join("bin"), user)?).filter(is_it));
        }
        let of_version = all(paths).into_iter().filter(|(version, _)| version.first() == Some(&major));
        let bins = of_version.map(|(_, dir)| dir.join("bin")).chain(from_pg_config(user));
        // One that cannot be used is passed over, as if it were not there.
        Ok(bins.filter_map(|bin| Self::at(&bin, user).ok()).find(is_it))
    }

    /// Whether all these programs are there.
    pub(super) fn has(&self, programs: &[&str]) -> bool {
        programs.iter().all(|program| self.bin.join(program).is_file())
    }

    /// The programs of backups, if it has them, else those on the PATH. This process runs them itself: as root none that
    /// others can replace.
    pub(super) fn programs(&self, user: &ServerUser) -> Result<Programs> {
        if !self.has(&["pg_dump"]) {
            return Ok(Programs::at(None));
        }
        for program in ["pg_dump", "pg_restore"] {
            user.check_is_roots(&self.bin.join(program))?;
        }
        Ok(Programs::at(Some(self.bin.clone())))
    }

    fn at(bin: &Path, user: &ServerUser) -> Result<Self> {
        let bad = |reason: String| {
            let message = format!("the PostgreSQL in {} cannot be used: {reason}", bin.display());
            Error::new(codes::PRIVATE_PG_BAD_INSTALLATION, message)
        };
        let bin = bin.canonicalize().map_err(|error| bad(error.to_string()))?;
        user.check_reaches(&bin)?;
        for program in ["postgres", "initdb", "pg_ctl"] {
            if !bin.join(program).is_file() {
                return Err(bad(format!("it has no `{program}`")));
            }
        }
        let said = run(&bin.join("postgres"), "--version", user).map_err(bad)?;
        // `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`
        let version = said.split_whitespace().nth(2).unwrap_or_default().to_owned();
        if version.is_empty() {
            return Err(bad(format!("`postgres --version` says {said:?}")));
        }
        let found = Self { bin, version };
        if found.major().parse().is_ok_and(|major: u32| major < OLDEST) {
            return Err(bad(format!("it is version {}, and HTM needs {OLDEST} or later", found.version)));
        }
        Ok(found)
    }

    /// The major version, such as `18`. For a beta such as `19beta1` it is `19`, as in its clusters' `PG_VERSION`.
    pub(super) fn major(&self) -> &str {
        let end = self.version.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.version.len());
        &self.version[..end]
    }
}

/// The versions that `./justw setup` has installed, and that of a Python package beside this program.
fn all(paths: &Paths) -> Vec<(Vec<u32>, PathBuf)> {
    let mut installed = installed_versions(&paths.postgres_dir());
    installed.extend(packages::postgres());
    installed
}

/// The installed versions, the newest first. Other directories, such as an unfinished installation, are skipped.
fn installed_versions(dir: &Path) -> Vec<(Vec<u32>, PathBuf)> {
    let mut found: Vec<_> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((parse_version(entry.file_name().to_str()?)?, entry.path())))
        .filter(|(_, path)| path.join("bin/postgres").is_file())
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found
}

/// The system's PostgreSQL, if it has the extensions. The error is the reason why it is unusable.
fn from_pg_config(user: &ServerUser) -> Result<PathBuf, String> {
    let ask = |what| run(Path::new("pg_config"), what, user);
    let share =
        PathBuf::from(ask("--sharedir").map_err(|_| "pg_config, which is not on the PATH".to_owned())?);
    let missing: Vec<_> = EXTENSIONS
        .into_iter()
        .filter(|name| !share.join("extension").join(format!("{name}.control")).is_file())
        .collect();
    if !missing.is_empty() {
        return Err(format!("pg_config on the PATH, whose {} lacks {}", share.display(), missing.join(", ")));
    }
    ask("--bindir").map(PathBuf::from)
}

/// Runs a program as the server's user: it is unknown yet who can replace it.
fn run(program: &Path, argument: &str, user: &ServerUser) -> Result<String, String> {
    let done = user
        .run_as(&mut Command::new(program))
        .arg(argument)
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} does not run: {error}", program.display()))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(format!("`{} {argument}` failed: {}", program.display(), said.trim()));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use nix::unistd::{User, geteuid};

    use super::*;

    #[test]
    fn the_newest_version_is_by_number_and_leftovers_are_no_version() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["9.6.1", "18.6.3", "18.10.0", ".setup-x", "latest"] {
            let bin = dir.path().join(name).join("bin");
            fs::create_dir_all(&bin).unwrap();
            fs::write(bin.join("postgres"), "").unwrap();
        }
        fs::create_dir_all(dir.path().join("19.0")).unwrap();
        let names: Vec<_> = installed_versions(dir.path())
            .iter()
            .map(|(_, path)| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["18.10.0", "18.6.3", "9.6.1"]);
    }

    #[test]
    fn root_runs_no_program_that_others_can_replace() {
        let dir = tempfile::tempdir().unwrap();
        let installation = Installation { bin: dir.path().to_owned(), version: "18.6".into() };
        let as_root = ServerUser::Other(User::from_uid(geteuid()).unwrap().unwrap());
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(installation.programs(&as_root).is_ok(), "those on the PATH are run");
        fs::write(dir.path().join("pg_dump"), "").unwrap();
        let refused = installation.programs(&as_root).err().unwrap();
        assert_eq!(refused.code(), "private_pg_unsafe_path");
        assert!(installation.programs(&ServerUser::Same).is_ok());
    }

    #[test]
    fn the_major_version_is_the_leading_number() {
        for (version, major) in [("18.6", "18"), ("15.18", "15"), ("19beta1", "19")] {
            assert_eq!(Installation { bin: PathBuf::new(), version: version.into() }.major(), major);
        }
    }
}
