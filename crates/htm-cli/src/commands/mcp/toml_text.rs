//! Changes of a TOML text that leave the rest of it as it is.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

use super::install::{Entry, Unusable};

/// The text with the entry.
pub(super) fn with(text: &str, entry: &Entry<'_>) -> Result<String, Unusable> {
    let mut document = parse(text)?;
    let sections = document.entry(entry.section).or_insert_with(|| {
        let mut table = Table::new();
        // Without a header of its own: `[mcp_servers.htm]` is enough.
        table.set_implicit(true);
        Item::Table(table)
    });
    let is_inline = sections.is_inline_table();
    let servers = table_of(sections, entry.section)?;
    let server = servers.entry(entry.name).or_insert_with(|| match is_inline {
        true => value(InlineTable::new()),
        false => Item::Table(Table::new()),
    });
    let server = table_of(server, entry.name)?;
    for (name, wanted) in &entry.fields {
        if server.get(name).and_then(as_json).as_ref() != Some(wanted) {
            server.insert(name, as_toml(wanted));
        }
    }
    Ok(document.to_string())
}

/// The text without the entry.
pub(super) fn without(text: &str, entry: &Entry<'_>) -> Result<String, Unusable> {
    let mut document = parse(text)?;
    if let Some(servers) = document.get_mut(entry.section) {
        table_of(servers, entry.section)?.remove(entry.name);
    }
    Ok(document.to_string())
}

/// The names in the `env` of the entry.
pub(super) fn env(text: &str, entry: &Entry<'_>) -> Vec<String> {
    let Ok(document) = parse(text) else { return Vec::new() };
    let mut path = [entry.section, entry.name, "env"].into_iter();
    let env = path.try_fold(document.as_item(), |item, name| item.as_table_like()?.get(name));
    let names = env.and_then(Item::as_table_like).into_iter().flat_map(|env| env.iter());
    names.map(|(name, _)| name.to_owned()).collect()
}

fn parse(text: &str) -> Result<DocumentMut, Unusable> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let line = error.span().map(|span| text[..span.start].lines().count().max(1));
        Unusable { line, reason: "it is not TOML".into() }
    })
}

fn table_of<'a>(item: &'a mut Item, name: &str) -> Result<&'a mut dyn TableLike, Unusable> {
    let reason = format!("`{name}` is not a table");
    item.as_table_like_mut().ok_or(Unusable { line: None, reason })
}

fn as_json(item: &Item) -> Option<Value> {
    match item.as_value()? {
        toml_edit::Value::String(text) => Some(text.value().as_str().into()),
        toml_edit::Value::Array(all) => {
            all.iter().map(|it| it.as_str().map(Value::from)).collect::<Option<_>>().map(Value::Array)
        }
        _ => None,
    }
}

fn as_toml(wanted: &Value) -> Item {
    match wanted {
        Value::Array(all) => value(all.iter().filter_map(Value::as_str).collect::<Array>()),
        other => value(other.as_str().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry() -> Entry<'static> {
        let fields = vec![("command", json!("htm")), ("args", json!(["mcp"]))];
        Entry { section: "mcp_servers", name: "htm", fields }
    }

    #[test]
    fn a_table_is_added_below_what_is_there() {
        let before = "# my settings\nmodel = \"o5\"   # the best\n\n[mcp_servers.other]\ncommand = \"x\"\n";
        let after = with(before, &entry()).unwrap();
        assert_eq!(after, format!("{before}\n[mcp_servers.htm]\ncommand = \"htm\"\nargs = [\"mcp\"]\n"));
        assert_eq!(with(&after, &entry()).unwrap(), after);
        assert_eq!(without(&after, &entry()).unwrap(), before);
        assert_eq!(with("", &entry()).unwrap(), "[mcp_servers.htm]\ncommand = \"htm\"\nargs = [\"mcp\"]\n");
    }

    #[test]
    fn other_fields_of_the_entry_stay() {
        let before =
            "[mcp_servers.htm]\ncommand = '/old/htm'\nargs = ['mcp']\nenv = { HTM_HOME = \"/srv\" } # mine\n";
        let after = with(before, &entry()).unwrap();
        assert_eq!(after, before.replace("'/old/htm'", "\"htm\""));
        assert_eq!(env(before, &entry()), ["HTM_HOME"]);
        assert_eq!(env("[mcp_servers.htm.env]\nA = '1'\nB = '2'\n", &entry()), ["A", "B"]);
        for text in ["", "oops", "[mcp_servers.htm]\nenv = 3\n", "[mcp_servers.other.env]\nA = '1'\n"] {
            assert!(env(text, &entry()).is_empty(), "{text}");
        }
    }

    #[test]
    fn inline_tables_stay_inline() {
        let after = with("mcp_servers = { other = { command = \"x\" } }\n", &entry()).unwrap();
        let read: DocumentMut = after.parse().unwrap();
        assert_eq!(read["mcp_servers"]["htm"]["command"].as_str(), Some("htm"));
        assert_eq!(after.lines().count(), 1, "{after}");
    }

    #[test]
    fn what_is_no_toml_is_refused_without_a_quotation() {
        let refused = with("a = 1\nkey = s3cret\n", &entry()).unwrap_err();
        assert_eq!((refused.line, refused.reason.contains("s3cret")), (Some(2), false));
        assert!(with("mcp_servers = 3\n", &entry()).unwrap_err().reason.contains("not a table"));
    }
}
