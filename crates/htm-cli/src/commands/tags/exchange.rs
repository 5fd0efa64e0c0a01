//! `htm tags export` and `import`: the ontology as a file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use htm_core::Ontology;
use htm_core::ontology::{ChangeKind, DOCUMENT_VERSION, Descriptions, Imported, OntologyDocument};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::change;
use crate::args::{DocumentFormat, ExportArgs, ImportTagsArgs, LayArgs};
use crate::codes;
use crate::destination;
use crate::error::CliError;
use crate::output::{Output, count, one_line, plain, plain_json};

/// The most bytes of a file. No ontology is as large.
const MAX_BYTES: u64 = 32 << 20;

pub(super) async fn export(
    ontology: &Ontology<'_>,
    args: &ExportArgs,
    output: &Output,
) -> Result<(), CliError> {
    let file = destination::file_of(args.output.as_deref());
    let format = args.format.or_else(|| file.and_then(by_name)).unwrap_or(DocumentFormat::Json);
    let document = ontology.export().await?;
    write(file, format, &print(&document, format)?, document.tags.len(), output)
}

/// Reads the document of a file, before the database is opened.
pub(super) fn read(args: &ImportTagsArgs) -> Result<OntologyDocument, CliError> {
    let name = one_line(&args.file.display().to_string(), 200);
    let (mut bytes, limit) = (Vec::new(), MAX_BYTES + 1);
    let cannot = || CliError::io(format!("{name} cannot be read"));
    let read = if args.file.as_os_str() == "-" {
        std::io::stdin().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(&args.file).map_err(cannot())?.take(limit).read_to_end(&mut bytes)
    };
    read.map_err(cannot())?;
    let document = match bytes.len() as u64 {
        ..=MAX_BYTES => parse(&bytes, by_name(&args.file)),
        _ => Err(format!("it has more than {} MB", MAX_BYTES >> 20)),
    };
    document.map_err(|reason| {
        CliError::new(
            codes::ONTOLOGY_INVALID,
            format!("{name} is not an ontology: {}", one_line(&reason, 300)),
        )
    })
}

pub(super) async fn import(
    ontology: &Ontology<'_>,
    kind: ChangeKind,
    source: &str,
    document: &OntologyDocument,
    how: &LayArgs,
    output: &Output,
) -> Result<(), CliError> {
    let descriptions = if how.overwrite { Descriptions::Overwrite } else { Descriptions::Keep };
    let imported = ontology.import(kind, source, document, descriptions).await?;
    output.value(&imported, || describe(&imported));
    Ok(())
}

/// Writes to a file and reports it, or writes only the text to standard output.
pub(super) fn write(
    file: Option<&Path>,
    format: impl ValueEnum,
    text: &str,
    tags: usize,
    output: &Output,
) -> Result<(), CliError> {
    let text = text.trim_end_matches('\n');
    let Some(file) = file else {
        let format = format.to_possible_value();
        match format.as_ref().map_or("", PossibleValue::get_name) {
            "json" => output.line(&plain_json(text)),
            format if output.is_json() => output.json(&json!({ "format": format, "text": text })),
            // Drawn for a terminal: it has colours, and names of tags only.
            "text" => output.line(text),
            _ => output.text(text),
        }
        return Ok(());
    };
    let name = file.display().to_string();
    destination::replace(file, &format!("{text}\n"))
        .map_err(CliError::io(format!("{} cannot be written", one_line(&name, 200))))?;
    output.value(&json!({ "file": name, "tags": tags }), || {
        format!("{} written to {}", count(tags, "tag"), plain(&name))
    });
    Ok(())
}

fn describe(it: &Imported) -> String {
    let mut lines: Vec<String> =
        it.called.iter().map(|it| format!("{} is called {} here", it.name, it.tag)).collect();
    if !it.descriptions_kept.is_empty() {
        let many = it.descriptions_kept.len();
        lines.push(format!("{many} kept another description; --overwrite replaces it"));
    }
    let changed = &it.changed;
    // The last line counts nodes, and an import changes none.
    lines.extend(change::describe(changed).rsplit_once('\n').map(|(names, _)| names.to_owned()));
    let (tags, names) = (count(changed.added.len(), "tag"), count(changed.synonyms.len(), "synonym"));
    let counts = format!("{tags} added, {} described, {names}", changed.described.len());
    lines.push(match changed.change {
        Some(change) => format!("change {change}: {counts}"),
        None if changed.added.len() + changed.described.len() + changed.synonyms.len() == 0 => {
            "nothing to change".into()
        }
        None => format!("nothing was changed; with --yes: {counts}"),
    });
    plain(&lines.join("\n"))
}

fn by_name(file: &Path) -> Option<DocumentFormat> {
    match file.extension()?.to_str()?.to_lowercase().as_str() {
        "json" => Some(DocumentFormat::Json),
        "yaml" | "yml" => Some(DocumentFormat::Yaml),
        _ => None,
    }
}

fn print(document: &OntologyDocument, format: DocumentFormat) -> Result<String, CliError> {
    let printed = match format {
        DocumentFormat::Json => serde_json::to_string_pretty(document).map_err(|error| error.to_string()),
        DocumentFormat::Yaml => {
            // Texts are on one line, quoted if necessary, because blocks would fold long ones.
            let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
            serde_saphyr::to_string_with_options(document, options).map_err(|error| error.to_string())
        }
    };
    printed.map_err(unprintable)
}

pub(super) fn unprintable(reason: String) -> CliError {
    CliError::new(codes::ONTOLOGY_INVALID, format!("the ontology cannot be written: {reason}"))
        .with_hint("try another format")
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// Parses JSON, or else YAML. The error names the position.
fn parse(bytes: &[u8], format: Option<DocumentFormat>) -> Result<OntologyDocument, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        format!("line {line}: it is not UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_json = match format {
        Some(format) => format == DocumentFormat::Json,
        None => text.trim_start().starts_with('{'),
    };
    // A document of another version may have another form. It is rejected for its version.
    match parse_as::<Versioned>(text, is_json) {
        Ok(Versioned { version }) if version != DOCUMENT_VERSION => {
            Ok(OntologyDocument { version, tags: Vec::new() })
        }
        _ => parse_as(text, is_json),
    }
}

fn parse_as<T: DeserializeOwned>(text: &str, is_json: bool) -> Result<T, String> {
    if is_json {
        return serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let what = error.to_string();
            let what = what.trim_end_matches(&format!(" at line {line} column {column}"));
            format!("line {line}, column {column}: {what}")
        });
    }
    serde_saphyr::from_str(text).map_err(|error| {
        let what = error.without_snippet().to_string();
        let Some(at) = error.location() else { return what };
        let at = format!("line {}, column {}", at.line(), at.column());
        format!("{at}: {}", what.trim_end_matches(&format!(" at {at}")))
    })
}

#[cfg(test)]
mod tests {
    use htm_core::ontology::DocumentTag;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_broken_file_says_where() {
        for (text, says) in [
            ("", "line 1, column 1: unexpected end of input"),
            ("{", "line 1, column 1"),
            ("{\"version\": 1}", "missing field `tags`"),
            (
                "{\"version\": 1, \"tags\": [\n {\"tag\": \"No Tag\"}]}",
                "line 2, column 18: `No Tag` is not a tag",
            ),
            ("{\"version\": 1, \"tags\": [{\"tag\": \"a:b:c:d:e:f\"}]}", "it has 6 levels, 5 are the most"),
            ("{\"version\": 1, \"tags\": [{\"tag\": \"🦀\"}]}", "only a-z, 0-9 and -"),
            ("{\"version\": 1, \"tags\": [{\"tag\": \"a\", \"synonims\": []}]}", "unknown field `synonims`"),
            ("version: 1\ntags:\n- tag: a::b\n", "line 3"),
            ("version: 1\ntags:\n- tag: [a\n", "line "),
            ("version: 1\ntags:\n- tag: a\n  size: 3\n", "unknown field `size`"),
            ("version: one\ntags: []\n", "line 1"),
            ("version: 1\ntags: &x [*x]\n", "line 2"),
            ("just words", "line 1"),
        ] {
            let error = parse(text.as_bytes(), None).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert_eq!(parse(b"{\n\xff", None).unwrap_err(), "line 2: it is not UTF-8");
        assert_eq!(parse(b"version: 2\nterms: {}", None).unwrap().version, 2);
        let named = parse(b"{version: 1, tags: [{tag: a}]}", Some(DocumentFormat::Yaml)).unwrap();
        assert_eq!(named.tags.len(), 1);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_the_same(
            tags in proptest::collection::vec(
                ("[a-z0-9-]{1,8}(:[a-z0-9-]{1,8}){0,4}", proptest::option::of("\\PC{0,40}|[ -~\n\t:#'\"&*!|>%@-]{0,30}"),
                 proptest::collection::vec("(no|null|true|1e3|0x1f|-|2026-01-01|[a-z0-9-]{1,6})", 0..3)), 0..6)
        ) {
            let tags = tags.into_iter().map(|(tag, description, names)| DocumentTag {
                synonyms: names.iter().map(|name| name.parse().unwrap()).collect(),
                ..DocumentTag::new(tag.parse().unwrap(), description)
            });
            let document = OntologyDocument::new(tags.collect());
            for format in [DocumentFormat::Json, DocumentFormat::Yaml] {
                let text = print(&document, format).unwrap();
                let read = parse(text.as_bytes(), Some(format));
                prop_assert_eq!(read.as_ref(), Ok(&document), "{}", text);
                prop_assert_eq!(&parse(text.as_bytes(), None).unwrap(), &document);
            }
        }
    }
}
