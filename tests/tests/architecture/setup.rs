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

/// Runs statements of Python that use the script as a module.
fn python(statements: &str) -> Output {
    Command::new("python3")
        .args(["-B", "-c", &format!("import os, sys, setup; {statements}")])
        .current_dir(root().join("scripts"))
        .output()
        .expect("python3 runs")
}
