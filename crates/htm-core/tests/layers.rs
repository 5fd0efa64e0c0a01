//! The crate's layers, read from its imports: `model` ← `provider` ← `store` ← `api`, and no circle within one. `worker` is a
//! door of its own, which opens on parts of `store`.

#![allow(clippy::unwrap_used)] // helpers of tests too

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom up. A module imports from its own layer and from those before it.
const LAYERS: [&str; 5] = ["model", "provider", "store", "api", "worker"];

/// The libraries that the model does not use: it does no input or output.
const OUTSIDE: [&str; 7] = ["sqlx", "sea_orm", "pgvector", "tokio", "futures", "std::fs", "std::net"];

/// Where a file names a path of the crate.
struct Import {
    /// The module of the file.
    module: Vec<String>,
    /// The path, from the crate's root.
    path: Vec<String>,
    /// `src/api/recall.rs:12`.
    place: String,
}

impl Import {
    fn layers(&self) -> (Option<usize>, Option<usize>) {
        let layer =
            |path: &[String]| LAYERS.iter().position(|layer| Some(*layer) == path.first().map(|it| &**it));
        (layer(&self.module), layer(&self.path))
    }

    fn arrow(&self) -> String {
        format!("{}: {}", self.place, self.path.join("::"))
    }
}

#[test]
fn the_model_asks_nobody() {
    let src = src();
    for file in files(&src.join("model")) {
        for (number, line) in code(&fs::read_to_string(&file).unwrap()).lines().enumerate() {
            let name = OUTSIDE.iter().find(|name| line.contains(&format!("{name}::")));
            assert!(name.is_none(), "{}:{}: {name:?}", file.display(), number + 1);
        }
    }
}

#[test]
fn imports_go_down() {
    let up: Vec<String> = imports()
        .iter()
        .filter(|import| match import.layers() {
            (Some(from), Some(to)) => to > from,
            // A name of `lib.rs` hides the layer that it comes from.
            _ => true,
        })
        .map(Import::arrow)
        .collect();
    assert!(up.is_empty(), "these run up, or through the crate's door:\n{}", up.join("\n"));
}

#[test]
fn modules_of_a_layer_form_no_circle() {
    let imports = imports();
    let modules: BTreeSet<&[String]> = imports.iter().filter_map(|import| import.module.get(..2)).collect();
    let mut arrows: BTreeMap<&[String], BTreeSet<&[String]>> = BTreeMap::new();
    for import in &imports {
        if let (Some(from), Some(to)) = (import.module.get(..2), import.path.get(..2))
            && from[0] == to[0]
            && from != to
            && modules.contains(to)
        {
            arrows.entry(from).or_default().insert(to);
        }
    }
    let reached: BTreeMap<_, _> = arrows.keys().map(|from| (*from, reached(&arrows, from))).collect();
    let is_circle = |from: &[String], to: &[String]| {
        arrows.get(from).is_some_and(|next| next.contains(to))
            && reached.get(to).is_some_and(|all| all.contains(from))
    };
    let circles: Vec<String> = imports
        .iter()
        .filter(|import| match (import.module.get(..2), import.path.get(..2)) {
            (Some(from), Some(to)) => is_circle(from, to),
            _ => false,
        })
        .map(Import::arrow)
        .collect();
    assert!(circles.is_empty(), "these close a circle:\n{}", circles.join("\n"));
}

#[test]
fn errors_know_no_feature() {
    let known = ["error", "fault", "id"];
    let is_of_errors = |import: &&Import| import.module.starts_with(&["model".into(), "error".into()]);
    let features: Vec<String> = imports()
        .iter()
        .filter(is_of_errors)
        .filter(|import| import.path[0] != "model" || !known.contains(&&*import.path[1]))
        .map(Import::arrow)
        .collect();
    assert!(features.is_empty(), "an error is built beside its feature:\n{}", features.join("\n"));
}

fn reached<'a>(
    arrows: &BTreeMap<&'a [String], BTreeSet<&'a [String]>>,
    from: &'a [String],
) -> BTreeSet<&'a [String]> {
    let mut all = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        open.extend(arrows.get(next).into_iter().flatten().copied().filter(|to| all.insert(*to)));
    }
    all
}

/// The crate's own paths that its files import, without unit tests and `lib.rs`, which re-exports.
fn imports() -> Vec<Import> {
    let src = src();
    let mut found = Vec::new();
    for file in files(&src) {
        let relative = file.strip_prefix(&src).unwrap().with_extension("");
        let module: Vec<String> = relative.iter().map(|it| it.to_str().unwrap().to_owned()).collect();
        if module == ["lib"] || module.last().unwrap() == "tests" {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for (line, path) in paths(&text, &module) {
            let place = format!("src/{}.rs:{line}", module.join("/"));
            found.push(Import { module: module.clone(), path, place });
        }
    }
    assert!(found.len() > 500, "the imports are not read as they should be: {}", found.len());
    found
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Without comments and unit tests, line by line.
fn code(text: &str) -> String {
    let code = text.split("mod tests {").next().unwrap();
    let lines: Vec<&str> = code.lines().map(|line| line.split("//").next().unwrap()).collect();
    lines.join("\n")
}

/// The paths that begin with `crate` or `super`, from the crate's root, each with its line.
fn paths(text: &str, module: &[String]) -> Vec<(usize, Vec<String>)> {
    let code = code(text);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::").chain(code.match_indices("super::")) {
        // `r#crate`, `pub(in super::x)` and the second `super` of `super::super` begin no path.
        if code[..at].ends_with(|it: char| it.is_alphanumeric() || "_:#".contains(it))
            || code[..at].ends_with("(in ")
        {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let mut tree = Vec::new();
        read_tree(&code[at..], &[], &mut tree);
        found.extend(tree.into_iter().map(|path| (line, from_root(&path, module))));
    }
    found
}

/// Reads `a::{b, c::d}` as `a::b` and `a::c::d`; gives what follows.
fn read_tree<'a>(text: &'a str, above: &[String], found: &mut Vec<Vec<String>>) -> &'a str {
    let (name, rest) =
        text.split_at(text.find(|it: char| !(it.is_alphanumeric() || it == '_')).unwrap_or(text.len()));
    let mut path = above.to_vec();
    path.extend((!name.is_empty()).then(|| name.to_owned()));
    match rest.strip_prefix("::") {
        None => {
            found.push(path);
            rest
        }
        Some(rest) => match rest.strip_prefix('{') {
            None => read_tree(rest, &path, found),
            Some(mut rest) => {
                while !rest.trim_start().starts_with('}') {
                    rest = read_tree(rest.trim_start(), &path, found);
                    // The text between two items, such as ` as store`.
                    rest = rest.trim_start_matches(|it| it != ',' && it != '}');
                    rest = rest.strip_prefix(',').unwrap_or(rest);
                }
                &rest.trim_start()[1..]
            }
        },
    }
}

fn from_root(path: &[String], module: &[String]) -> Vec<String> {
    let supers = path.iter().take_while(|it| *it == "super").count();
    let (base, rest) = match supers {
        0 => (&[][..], &path[1..]),
        _ => (&module[..module.len().saturating_sub(supers)], &path[supers..]),
    };
    base.iter().chain(rest).cloned().collect()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false if path.extension().is_some_and(|it| it == "rs") => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}
