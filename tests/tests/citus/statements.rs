//! A reading of statements: which rows of distributed tables they look up without the key.
//!
//! A row is keyed by a parameter, a subquery, or a row that is keyed itself: of no distributed table, or of one that was
//! keyed before. Queries are read one at a time, those within others too: what an outer one joins is keyed there.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// The beginning of a part: a query in parentheses.
static QUERY: LazyLock<Regex> = LazyLock::new(|| expression(r"^\(\s*(?:select|with|insert|update|delete)\b"));
static UNION: LazyLock<Regex> = LazyLock::new(|| expression(r"\b(?:union(?: all)?|except|intersect)\b"));
/// What holds if a parameter is null is no key.
static PERHAPS: LazyLock<Regex> =
    LazyLock::new(|| expression(r"\(:\w+(?:::\w+(?:\[\])?)? is null or [^()]*(?:\([^()]*\)[^()]*)*\)"));
static TABLE: LazyLock<Regex> = LazyLock::new(|| {
    expression(r"\b(?:from|join|using|update)\s+(htm\.\w+|\{+\w*\}+)(?:\s+(?:as\s+)?(\w+))?")
});
static WRITTEN: LazyLock<Regex> =
    LazyLock::new(|| expression(r"\binsert into (htm\.\w+|\{+\w+\}+)(?:\s+as\s+\w+)?\s*\(([^)]*)\)"));
static EQUAL: LazyLock<Regex> = LazyLock::new(|| expression(r"\b(\w+)\.namespace\s*=\s*(\w+)\.namespace\b"));
static SHARED: LazyLock<Regex> = LazyLock::new(|| expression(r"\busing \([^)]*\bnamespace\b[^)]*\)"));
/// Words after a table that are no alias.
const KEYWORDS: &[&str] = &[
    "as",
    "cross",
    "for",
    "group",
    "having",
    "join",
    "left",
    "limit",
    "on",
    "order",
    "set",
    "union",
    "using",
    "where",
    "natural",
    "inner",
    "returning",
    "default",
    "values",
];

/// The tables that are distributed, without their schema.
pub(crate) struct Tables(BTreeSet<String>);

impl Tables {
    /// Of the file that distributes them.
    pub(crate) fn of(citus: &str) -> Self {
        let (_, distributed) =
            citus.split_once("What belongs to a namespace").expect("the file says which they are");
        let names = expression(r"'(htm\.\w+)'");
        let mut tables: BTreeSet<String> =
            names.captures_iter(distributed).map(|name| name[1].to_owned()).collect();
        assert!(tables.len() > 15, "{tables:?}");
        // Views of them, and the tables of the models.
        tables.extend(
            ["htm.visible_nodes", "htm.stranded", "{{store}}", "{{active}}", "{{target}}"].map(str::to_owned),
        );
        Self(tables)
    }

    fn have(&self, name: &str) -> bool {
        self.0.contains(name)
            || name.starts_with("htm.embeddings_")
            // A table that the code puts in.
            || (name.starts_with('{') && !name.starts_with("{{"))
    }
}

/// The aliases of rows without the key, each once an occurrence; "" is a table without an alias. Those of `excepted` are
/// taken as keyed: what is joined to them has to have their key.
pub(crate) fn unkeyed(statement: &str, tables: &Tables, excepted: &[&str]) -> Vec<String> {
    let lines: Vec<&str> =
        statement.lines().map(|line| line.split("--").next().expect("a first part")).collect();
    let statement = lines.join("\n");
    let queries = queries(&statement);
    let parts = queries.iter().flat_map(|query| UNION.split(query));
    parts.flat_map(|part| unkeyed_of(&PERHAPS.replace_all(part, "true"), tables, excepted)).collect()
}

/// The queries of a statement, each without those within it: an alias of one means nothing beside it.
fn queries(statement: &str) -> Vec<String> {
    let (mut ended, mut open) = (Vec::new(), vec![(String::new(), 0)]);
    for (at, sign) in statement.char_indices() {
        let is_within = open.len() > 1;
        let (query, depth) = open.last_mut().expect("the statement itself");
        match sign {
            '(' if QUERY.is_match(&statement[at..]) => {
                query.push('(');
                open.push((String::new(), 0));
                continue;
            }
            '(' => *depth += 1,
            ')' if *depth == 0 && is_within => {
                ended.extend(open.pop().map(|(query, _)| query));
                open.last_mut().expect("the statement itself").0.push(')');
                continue;
            }
            ')' => *depth -= 1,
            _ => {}
        }
        query.push(sign);
    }
    ended.extend(open.into_iter().map(|(query, _)| query));
    ended
}

/// The tables that rows are inserted into without the key.
pub(crate) fn written_without(statement: &str, tables: &Tables) -> Vec<String> {
    let rows = WRITTEN.captures_iter(statement);
    rows.filter(|row| tables.have(&row[1]) && !row[2].contains("namespace"))
        .map(|row| row[1].to_owned())
        .collect()
}

fn unkeyed_of(part: &str, tables: &Tables, excepted: &[&str]) -> Vec<String> {
    let mut rows = Vec::new();
    for found in TABLE.captures_iter(part) {
        let alias = found.get(2).map_or("", |alias| alias.as_str());
        let alias = if KEYWORDS.contains(&alias) { "" } else { alias };
        if tables.have(&found[1]) {
            rows.push(alias.to_owned());
        }
    }
    let distributed: BTreeSet<&str> = rows.iter().map(String::as_str).collect();
    let mut keyed: BTreeSet<&str> = distributed
        .iter()
        .copied()
        .filter(|row| excepted.contains(row) || is_composed(part, row) || is_asked_for(part, row))
        .collect();
    loop {
        let before = keyed.len();
        for pair in EQUAL.captures_iter(part) {
            let (one, other) = (pair.get(1).expect("a row").as_str(), pair.get(2).expect("a row").as_str());
            for (row, by) in [(one, other), (other, one)] {
                if distributed.contains(row) && (!distributed.contains(by) || keyed.contains(by)) {
                    keyed.insert(row);
                }
            }
        }
        if keyed.len() == before {
            break;
        }
    }
    rows.iter().filter(|row| !keyed.contains(row.as_str())).cloned().collect()
}

/// Whether the code writes the key in: `Conditions`, `Reader::of_namespace`, the selection of an erasure.
fn is_composed(part: &str, row: &str) -> bool {
    let of_row = format!("{{{{of_{row}}}}}");
    part.contains(&of_row)
        || match row {
            "m" => part.contains("{{conditions}}") || part.contains("{conditions}"),
            "e" | "n" | "near" => part.contains("{{scope}}"),
            _ => false,
        }
}

/// Whether the key is a parameter's, a subquery's, or one of a list.
fn is_asked_for(part: &str, row: &str) -> bool {
    if row.is_empty() {
        return expression(r"(?:where|and|on|or)\s+\(?\s*(?:\w+, )?namespace(?:, \w+)*\)?\s*(?:=|in)")
            .is_match(part);
    }
    let asked = format!(
        r"\b{row}\.namespace(?:, \w+\.\w+)*\)?(?: collate \S+)?\s*(?:=|in)\s*(?:any\s*)?(?:\(|:|\$|excluded|\w+\.metadata)"
    );
    let given = format!(r":namespace\s*=\s*{row}\.namespace\b");
    expression(&asked).is_match(part) || expression(&given).is_match(part) || (SHARED.is_match(part))
}

fn expression(of: &str) -> Regex {
    Regex::new(of).expect("a valid expression")
}

#[test]
fn a_row_is_keyed_by_what_it_is_joined_to() {
    let tables = Tables::of(include_str!("../../../config/deploy/citus.sql"));
    let read = |statement: &str| unkeyed(statement, &tables, &[]);
    let keyed: [&str; 6] = [
        "select from htm.nodes where namespace = :namespace and id = :id",
        "select from htm.nodes n where n.id = :id and n.namespace = any (:namespaces)",
        "select from asked a join htm.nodes n on n.namespace = a.namespace",
        "select from htm.nodes n join htm.repeats r on r.node_id = n.id and r.namespace = n.namespace where n.namespace = :x",
        "with one as (\n select from htm.nodes n where n.namespace = :x\n), two as (\n select from htm.robots n\n)\nselect 1",
        "select from htm.robots r where r.id = :robot",
    ];
    for statement in keyed {
        assert_eq!(read(statement), Vec::<String>::new(), "{statement}");
    }
    for (statement, rows) in [
        ("select from htm.nodes where id = :id", vec![""]),
        ("update htm.nodes set deleted_at = now() where id = :id", vec![""]),
        ("select from htm.nodes n join htm.repeats r on r.node_id = n.id where n.namespace = :x", vec!["r"]),
        ("select from htm.nodes n join htm.repeats r on r.namespace = n.namespace", vec!["n", "r"]),
        ("select from htm.nodes n where (:x::text is null or n.namespace = :x)", vec!["n"]),
        (
            "with one as (\n select from htm.nodes n where n.namespace = :x\n)\nselect from htm.repeats n",
            vec!["n"],
        ),
        ("delete from {{store}} e using once o where e.node_id = o.id", vec!["e"]),
        ("delete from {table} where node_id = any (:nodes)", vec![""]),
        (
            "select from htm.nodes n where n.namespace = :x union all select from htm.nodes n where n.id = :y",
            vec!["n"],
        ),
        (
            "select from htm.nodes n where exists (select from htm.repeats p where p.node_id = n.id) and n.namespace = :x",
            vec!["p"],
        ),
        (
            "select from a cross join lateral (select from htm.nodes n where n.id = a.id) b where n.namespace = :x",
            vec!["n"],
        ),
    ] {
        assert_eq!(read(statement), rows, "{statement}");
    }
    let joined = "select from htm.nodes n join htm.repeats r on r.node_id = n.id";
    assert_eq!(unkeyed(joined, &tables, &["n"]), ["r"], "a row beside an exception needs its key");
    assert_eq!(
        written_without("insert into htm.repeats as r (node_id, robot_id) values (1, 2)", &tables),
        ["htm.repeats"]
    );
}
