//! `scripts/setup.py`: what it refuses before it fetches anything, and what it takes for installed.

use std::process::{Command, Output};

use super::*;

#[test]
fn an_old_python_is_refused_in_one_line() {
    // It must be able to read the file at all.
    let parsed = python("import ast; ast.parse(open('setup.py').read(), feature_version=(3, 6))");
    assert!(parsed.status.success(), "{parsed:?}");
    let old = python("sys.version_info = (3, 8, 18); sys.exit(setup.main(['no such part']))");
    assert_eq!(old.status.code(), Some(1), "{old:?}");
    let said = String::from_utf8(old.stderr).unwrap();
    assert!(said.contains("Python 3.9") && said.lines().count() == 1, "{said}");
    for document in ["README.md", "CONTRIBUTING.md"] {
        assert!(
            fs::read_to_string(root().join(document)).unwrap().contains("Python 3.9 with pip"),
            "{document}"
        );
    }
}

/// Otherwise a whole build comes before the same error of `htm`.
#[test]
fn root_without_a_user_for_postgresql_is_refused_before_a_download() {
    let begin =
        "setup.os.geteuid = lambda: 0; setup.in_place = setup.download = lambda *_: sys.exit('a download')";
    let end = "sys.exit(setup.main([]))";
    for user in ["{}['postgres']", "type('User', (), {'pw_uid': 0})"] {
        let refused = python(&format!("{begin}; setup.pwd.getpwnam = lambda name: {user}; {end}"));
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains("`useradd --system") && said.lines().count() == 1, "{said}");
    }
    // `./justw wheel` starts no server, and runs in containers without such a user.
    let wheel = fs::read_to_string(root().join("justfile")).unwrap();
    assert!(wheel.contains("wheel *args:\n    python3 scripts/setup.py model maturin\n"));
}

#[test]
fn a_raised_pin_of_a_tool_is_installed() {
    let dir = tempfile::tempdir().unwrap();
    let tools = dir.path().join(".tools/bin");
    for version in ["1.0.0", "1.1.0", "1.1.0"] {
        // A download that is the name of its version.
        let done = python(&format!(
            "from pathlib import Path; setup.TOOLS = Path('{}')
setup.requirement = lambda _: (None, '{version}')
setup.download = lambda *_: None
def unpack(_, made):
    scripts = made / 'a-{version}.data' / 'scripts'
    scripts.mkdir(parents=True)
    (scripts / 'just').write_text('{version}')
setup.unpack = unpack
sys.exit(setup.main(['just']))",
            tools.display()
        ));
        assert!(done.status.success(), "{done:?}");
        assert_eq!(fs::read_to_string(tools.join("just")).unwrap(), version);
    }
    assert_eq!(fs::read_dir(&tools).unwrap().count(), 1, "nothing is left over");
}

/// Runs statements of Python that use the script as a module.
fn python(statements: &str) -> Output {
    Command::new("python3")
        .args(["-B", "-c", &format!("import os, sys, setup; {statements}")])
        .current_dir(root().join("scripts"))
        .output()
        .expect("python3 runs")
}
