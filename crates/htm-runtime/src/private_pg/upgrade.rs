//! The upgrade of the cluster to a newer major version of PostgreSQL.
//!
//! The new cluster is made in a directory of its own: by `pg_upgrade`, which copies the files, or by a dump that is
//! restored. It is compared with the old one before it takes its place. The old one is never changed and never deleted:
//!
//! | state | `data` | `data.upgraded` | `data.postgresql-16` |
//! |---|---|---|---|
//! | until the new one is verified | old | | |
//! | 1. it has its name | old | new | |
//! | 2. the old one is moved away | | new | old |
//! | 3. the new one is in its place | new | | old |
//!
//! After an interruption the next start of the server goes from 2 to 3, and the next upgrade starts anew from 1 or before.
//! An upgrade that is asked to stop ends its programs first, and has the locks until they have ended.

mod database;
mod run;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use htm_core::{Error, Result, connect_options};
use nix::sys::statvfs::statvfs;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

pub use self::database::UpdatedExtension;
use self::database::{Facts, finish};
use self::run::Run;
use super::PrivatePg;
use super::cluster::{Cluster, PORT, SUPERUSER, create_private_dir, output_of, remove_dir, rename};
use super::error::{IoContext as _, no_old_programs, other_major};
use super::install::Installation;
use super::lock::Held;
use super::server_user::ServerUser;
use crate::backup;
use crate::codes;
use crate::paths::{Paths, readable, size_of};

/// The programs of the new version that `pg_upgrade` runs.
const NEW_PROGRAMS: [&str; 8] = [
    "pg_upgrade",
    "pg_controldata",
    "pg_dump",
    "pg_dumpall",
    "pg_resetwal",
    "pg_restore",
    "psql",
    "vacuumdb",
];
/// The programs of the old version that it runs, beside those that every installation has.
const OLD_PROGRAMS: [&str; 2] = ["pg_controldata", "pg_resetwal"];
/// The number of tables that are dumped and restored at a time.
const JOBS: u16 = 2;
/// The most of a program's output that an error shows, in bytes.
const SHOWN: usize = 1_500;

/// An upgrade that can be run, by [`Upgrade::find`].
#[derive(Clone, Debug)]
pub struct Upgrade {
    /// The cluster as it is used, by programs of its own version.
    pg: PrivatePg,
    /// The same cluster where nobody else reaches its server.
    old: Cluster,
    new: Cluster,
    plan: UpgradePlan,
}

/// The plan of an upgrade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UpgradePlan {
    /// The version of the old programs, such as `16.14`.
    pub from: String,
    /// The version of the new programs, such as `18.6`.
    pub to: String,
    /// The way of the upgrade.
    pub method: UpgradeMethod,
    /// The cluster's directory.
    #[serde(serialize_with = "readable")]
    pub data_dir: PathBuf,
    /// The directory that the old cluster has afterwards.
    #[serde(serialize_with = "readable")]
    pub old_data_dir: PathBuf,
    /// The directory that the new cluster gets if the old one takes its place again.
    #[serde(serialize_with = "readable")]
    pub aside_data_dir: PathBuf,
    /// The directory of the old programs, which the old cluster needs.
    #[serde(serialize_with = "readable")]
    pub old_bin_dir: PathBuf,
    /// The size of the cluster in bytes.
    pub bytes: u64,
    /// The most bytes that the upgrade needs.
    pub bytes_needed: u64,
    /// The bytes that are free.
    pub bytes_free: u64,
}

/// The way of an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UpgradeMethod {
    /// By `pg_upgrade`, which copies every database and role of the cluster.
    PgUpgrade,
    /// By `pg_dump` and `pg_restore`, which take the schemas of HTM and apalis.
    Dump,
}

/// The result of an upgrade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Upgraded {
    /// The number of HTM's tables, all with as many rows as before.
    pub tables: usize,
    /// The number of their rows.
    pub rows: u64,
    /// The extensions that have a newer version now.
    pub extensions: Vec<UpdatedExtension>,
    /// The roles, databases, schemas and tables that only the old cluster has: a dump has none of others.
    pub left_behind: Vec<String>,
}

impl Upgrade {
    /// Finds the newest version of PostgreSQL as [`PrivatePg::locate`] does for a new cluster, and the programs of the
    /// cluster's own version: in the directory `old_home` if it is given. None if the cluster has the newest version
    /// already, or if there is no cluster. An upgrade that was interrupted in its last step is finished.
    ///
    /// # Errors
    /// As [`PrivatePg::locate`], `private_pg_no_old_programs`, and `private_pg_other_major` for a cluster that is newer
    /// than every version found.
    pub async fn find(paths: &Paths, old_home: Option<&Path>, by_dump: bool) -> Result<Option<Self>> {
        let user = ServerUser::choose()?;
        user.check_is_roots(paths.state())?;
        let newest = Installation::newest(paths, &user)?;
        let cluster = Cluster::new(newest.clone(), user, paths);
        let pg = PrivatePg { paths: paths.clone(), cluster };
        let old_home = old_home.map(Path::to_owned);
        pg.blocking(move |pg| {
            let _server = pg.lock_server()?;
            pg.cluster.finish_switch()?;
            let Some(version) = pg.cluster.cluster_version()? else { return Ok(None) };
            let other = || other_major(&pg.cluster.data, &version, newest.major());
            let (Ok(from), Ok(to)) = (version.parse::<u32>(), newest.major().parse::<u32>()) else {
                return Err(other());
            };
            if from >= to {
                return if from == to { Ok(None) } else { Err(other()) };
            }
            let old = Installation::of_major(from, old_home.as_deref(), &pg.paths, &pg.cluster.user)?;
            let old = old.ok_or_else(|| no_old_programs(&pg.cluster.data, from, old_home.as_deref()))?;
            Self::planned(pg, old, newest, by_dump).map(Some)
        })
        .await
    }

    fn planned(pg: &PrivatePg, old: Installation, new: Installation, by_dump: bool) -> Result<Self> {
        let data = pg.cluster.data.clone();
        let plain = is_plain(&pg.cluster.upgrade_dir) && is_plain(&data) && is_plain(&old.bin);
        let can = plain && old.has(&OLD_PROGRAMS) && new.has(&NEW_PROGRAMS) && is_plain(&new.bin);
        let method = if can && !by_dump { UpgradeMethod::PgUpgrade } else { UpgradeMethod::Dump };
        let bytes = size_of(&data);
        let plan = UpgradePlan {
            from: old.version.clone(),
            to: new.version.clone(),
            method,
            old_data_dir: free_name(&data, old.major()),
            aside_data_dir: free_name(&data, new.major()),
            old_bin_dir: old.bin.clone(),
            bytes,
            bytes_needed: match method {
                UpgradeMethod::PgUpgrade => bytes,
                // The dump and what is made of it.
                UpgradeMethod::Dump => 2 * bytes,
            },
            bytes_free: free_bytes(pg.paths.state())?,
            data_dir: data.clone(),
        };
        let new = pg.cluster.aside(new, pg.cluster.upgrade_dir.join("new"));
        let cluster = Cluster { installation: old.clone(), ..pg.cluster.clone() };
        let old = cluster.aside(old, data);
        Ok(Self { pg: PrivatePg { paths: pg.paths.clone(), cluster }, old, new, plan })
    }

    /// The plan.
    pub fn plan(&self) -> &UpgradePlan {
        &self.plan
    }

    /// The server of the cluster, which must be stopped before.
    pub fn server(&self) -> &PrivatePg {
        &self.pg
    }

    /// Runs the upgrade, and names each of its steps. The server is stopped before and afterwards. None if it was asked to
    /// stop before the new cluster was verified: its programs have ended, and the old cluster is in its place.
    ///
    /// # Errors
    /// `private_pg_busy` while a process of HTM uses the server, `private_pg_no_space`, `private_pg_upgrade_failed`,
    /// `private_pg_upgrade_differs`, those of a backup, those of a start, or a database error. The old cluster is in its
    /// place then.
    pub async fn run(
        &self,
        stop: &CancellationToken,
        on_step: impl Fn(&'static str) + Send + 'static,
    ) -> Result<Option<Upgraded>> {
        let (upgrade, stop, runtime) = (self.clone(), stop.clone(), Handle::current());
        self.pg
            .blocking(move |pg| {
                let _server = pg.lock_server()?;
                let busy = |what: &'static str| Err(Error::new(codes::PRIVATE_PG_BUSY, what));
                let Some(_nobody) = Held::try_exclusive(&pg.users_lock())? else {
                    return busy("another process of HTM uses the private PostgreSQL");
                };
                if pg.cluster.cluster_version()?.as_deref() != Some(pg.cluster.installation.major()) {
                    return busy("another process has changed the cluster meanwhile");
                }
                upgrade.run_locked(&Run { runtime: &runtime, stop: &stop, on_step: &on_step })
            })
            .await
    }

    fn run_locked(&self, run: &Run<'_>) -> Result<Option<Upgraded>> {
        self.pg.cluster.stop()?;
        self.clear()?;
        self.check_space()?;
        self.make_dirs()?;
        let made = self.make(run);
        if made.is_err() {
            for cluster in [&self.old, &self.new] {
                if let Err(error) = cluster.stop() {
                    tracing::warn!(code = error.code(), %error, "a server of a failed upgrade was not stopped");
                }
            }
        }
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                self.remove_half_made();
                // Whatever failed, it did so because it was ended.
                return if run.stop.is_cancelled() { Ok(None) } else { Err(error) };
            }
        };
        self.switch()?;
        if let Err(error) = self.clear() {
            tracing::warn!(code = error.code(), %error, "what the upgrade made on its way was not removed");
        }
        Ok(Some(made))
    }

    /// Removes the new cluster and the dump of an upgrade that has failed, which may fill the disk. The logs of
    /// `pg_upgrade` stay.
    fn remove_half_made(&self) {
        for place in [&self.new.data, &self.backup_dir()] {
            if let Err(error) = remove_dir(place) {
                tracing::warn!(code = error.code(), %error, "what a failed upgrade has made was not removed");
            }
        }
    }

    /// Removes the remains of an upgrade, and stops its servers.
    fn clear(&self) -> Result<()> {
        self.old.stop()?;
        self.new.stop()?;
        // Outside of the upgrade's directory if its path is long. A server that has stopped leaves it empty.
        let _ = fs::remove_dir(&self.new.socket_dir);
        remove_dir(&self.pg.cluster.upgraded())?;
        remove_dir(&self.pg.cluster.upgrade_dir)
    }

    fn check_space(&self) -> Result<()> {
        let (needed, free) = (self.plan.bytes_needed, free_bytes(self.pg.paths.state())?);
        if free >= needed {
            return Ok(());
        }
        let mb = |bytes: u64| bytes.div_ceil(1_000_000);
        let message = format!(
            "the upgrade needs up to {} MB in {}, of which {} MB are free",
            mb(needed),
            self.pg.paths.state().display(),
            mb(free)
        );
        Err(Error::new(codes::PRIVATE_PG_NO_SPACE, message))
    }

    fn make_dirs(&self) -> Result<()> {
        let dir = &self.pg.cluster.upgrade_dir;
        create_private_dir(dir, &ServerUser::Same)?;
        if let ServerUser::Other(_) = self.new.user {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).or_io("create", dir)?;
        }
        create_private_dir(&self.work_dir(), &self.new.user)
    }

    /// The current directory of `pg_upgrade`, which writes files there.
    fn work_dir(&self) -> PathBuf {
        self.pg.cluster.upgrade_dir.join("work")
    }

    /// The directory of the dump.
    fn backup_dir(&self) -> PathBuf {
        self.pg.cluster.upgrade_dir.join("backup")
    }

    /// Makes the new cluster, and verifies it. Both servers are stopped afterwards.
    fn make(&self, run: &Run<'_>) -> Result<Upgraded> {
        run.step("counting the rows of the old cluster")?;
        self.old.ensure_running()?;
        let before = run.wait(Facts::read(&self.old.url()))?;
        let left_behind = match self.plan.method {
            UpgradeMethod::PgUpgrade => {
                self.old.stop()?;
                run.step("copying the cluster by pg_upgrade")?;
                self.pg_upgrade(run, before.checksums)?;
                self.start_new()?;
                Vec::new()
            }
            UpgradeMethod::Dump => {
                self.dump_and_restore(run, &before)?;
                before.others.clone()
            }
        };
        run.step("updating the extensions and the planner's statistics")?;
        let extensions = run.wait(finish(&self.new.url()))?;
        run.step("comparing the new cluster with the old one")?;
        let after = run.wait(Facts::read(&self.new.url()))?;
        before.compare(&after, self.plan.method)?;
        self.new.stop()?;
        let (tables, rows) = (after.tables.len(), after.tables.values().sum());
        Ok(Upgraded { tables, rows, extensions, left_behind })
    }

    /// Starts the new server with the settings of ALTER SYSTEM that the old one had.
    fn start_new(&self) -> Result<()> {
        // By the server's user, who owns both directories.
        let mut copy = Command::new("cp");
        copy.arg("--").arg(self.old.data.join("postgresql.auto.conf")).arg(&self.new.data).current_dir("/");
        output_of(self.new.user.run_as(&mut copy)).map_err(|said| failed("cp", &said))?;
        self.new.ensure_running().map_err(|error| {
            error.with_hint(
                "if the new version does not know a setting of the old one, take it back there (`htm db up`, `alter system \
                 reset NAME`), and upgrade again",
            )
        })
    }

    fn pg_upgrade(&self, run: &Run<'_>, checksums: bool) -> Result<()> {
        create_private_dir(&self.new.data, &self.new.user)?;
        // Both must be the same. Before PostgreSQL 18 there are none by default, and no option says so.
        let checksums: &[&str] = match (checksums, self.new.installation.major().parse::<u32>()) {
            (true, _) => &["--data-checksums"],
            (false, Ok(..18)) => &[],
            (false, _) => &["--no-data-checksums"],
        };
        self.new.initdb(&self.new.data, checksums)?;
        let file = |name: &str| self.new.conf_dir.join(name).display().to_string();
        // The rules of access, as at each start.
        let options =
            format!("-c hba_file='{}' -c ident_file='{}'", file("pg_hba.conf"), file("pg_ident.conf"));
        let port = PORT.to_string();
        let mut command = self.new.command("pg_upgrade");
        command.args(["--copy", "--username", SUPERUSER, "--old-port", &port, "--new-port", &port]);
        command.args(["--old-options", &options, "--new-options", &options]);
        for (option, dir) in [
            ("--old-bindir", &self.old.installation.bin),
            ("--new-bindir", &self.new.installation.bin),
            ("--old-datadir", &self.old.data),
            ("--new-datadir", &self.new.data),
            ("--socketdir", &self.new.socket_dir),
        ] {
            command.arg(option).arg(dir);
        }
        command.current_dir(self.work_dir());
        run.program(command).map_err(|said| failed("pg_upgrade", &said))
    }

    fn dump_and_restore(&self, run: &Run<'_>, before: &Facts) -> Result<()> {
        let programs = self.new.installation.programs(&self.new.user)?;
        let place = self.backup_dir();
        create_private_dir(&place, &ServerUser::Same)?;
        run.step("dumping the old cluster")?;
        let manifest = match before.schema_version {
            0 => None,
            _ => {
                let options = connect_options(&self.old.url())?;
                Some(run.wait(backup::dump(&programs, &options, &place, JOBS, &mut |_, _| {}))?)
            }
        };
        self.old.stop()?;
        run.step("restoring the dump into a new cluster")?;
        self.new.ensure_initialised()?;
        self.start_new()?;
        let Some(manifest) = manifest else { return Ok(()) };
        let options = connect_options(&self.new.url())?;
        // A stop drops the restore, whose database is removed.
        let never = CancellationToken::new();
        run.wait(backup::load(&never, &programs, &options, &place, &manifest, JOBS, &mut |_, _| {})).map(drop)
    }

    /// Puts the new cluster into the place of the old one.
    fn switch(&self) -> Result<()> {
        let (data, ready) = (&self.pg.cluster.data, self.pg.cluster.upgraded());
        // In this order on the disk too.
        rename(&self.new.data, &ready)?;
        rename(data, &self.plan.old_data_dir)?;
        rename(&ready, data)
    }
}

fn failed(program: &str, said: &str) -> Error {
    let mut start = said.len().saturating_sub(SHOWN);
    while !said.is_char_boundary(start) {
        start += 1;
    }
    let message = format!("`{program}` failed: {}", &said[start..]);
    Error::new(codes::PRIVATE_PG_UPGRADE_FAILED, message)
}

/// Whether `pg_upgrade` can be given a path: it quotes none for the shell.
fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|path| !path.contains(['"', '\'', '\\', '$', '`', ',', '\n']))
}

/// A name beside the cluster that says what is there, and that is free.
fn free_name(data: &Path, major: &str) -> PathBuf {
    let name = |suffix: String| data.with_extension(format!("postgresql-{major}{suffix}"));
    let numbered = (2..).map(|number| name(format!(".{number}")));
    let mut names = std::iter::once(name(String::new())).chain(numbered);
    names.find(|name| fs::symlink_metadata(name).is_err()).unwrap_or_else(|| name(".old".into()))
}

// The fields' widths differ between systems.
#[allow(clippy::unnecessary_cast)]
pub(super) fn free_bytes(dir: &Path) -> Result<u64> {
    let stat = statvfs(dir).map_err(std::io::Error::from).or_io("look at", dir)?;
    Ok((stat.blocks_available() as u64).saturating_mul(stat.fragment_size() as u64))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn an_old_cluster_never_takes_a_name_that_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        assert_eq!(free_name(&data, "16"), dir.path().join("data.postgresql-16"));
        fs::create_dir(dir.path().join("data.postgresql-16")).unwrap();
        fs::write(dir.path().join("data.postgresql-16.2"), "").unwrap();
        assert_eq!(free_name(&data, "16"), dir.path().join("data.postgresql-16.3"));
    }

    #[test]
    fn a_path_that_a_shell_would_read_otherwise_is_not_given_to_pg_upgrade() {
        assert!(is_plain(Path::new("/var/lib/htm of mine/upgrade")));
        for path in ["/a'b", "/a\"b", "/a$b", "/a`b", "/a\\b", "/a,b"] {
            assert!(!is_plain(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_plan_with_a_path_that_is_not_utf8_is_shown() {
        let path = PathBuf::from(std::ffi::OsString::from_vec(b"/caf\xe9".to_vec()));
        let plan = UpgradePlan {
            from: "16.14".into(),
            to: "18.6".into(),
            method: UpgradeMethod::Dump,
            data_dir: path.clone(),
            old_data_dir: path.clone(),
            aside_data_dir: path.clone(),
            old_bin_dir: path,
            bytes: 1,
            bytes_needed: 2,
            bytes_free: 3,
        };
        let shown = serde_json::to_value(&plan).unwrap();
        assert_eq!(shown["data_dir"], "/caf\u{fffd}");
    }

    #[test]
    fn an_error_shows_the_end_of_what_a_program_said() {
        let error = failed("pg_upgrade", &format!("{}é and the reason", "x".repeat(SHOWN)));
        assert!(error.to_string().ends_with("é and the reason"), "{error}");
        assert!(error.to_string().len() < SHOWN + 50);
        let cut = failed("pg_upgrade", &format!("é{}", "x".repeat(SHOWN - 1)));
        assert!(cut.to_string().ends_with(": x") || cut.to_string().contains("xxx"), "{cut}");
    }
}
