//! The time as of which a statement reads: now, or an earlier time, when nodes had other texts.

use std::borrow::Cow;

use chrono::{DateTime, Utc};

use crate::model::error::Result;
use crate::store::named::Named;

/// The time as of which a statement reads the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Then(Option<DateTime<Utc>>);

/// Nodes as of a time, for a statement that looks them up by their ids.
macro_rules! node {
    ($name:literal) => {
        concat!(
            "(\n",
            include_str!("sql/recall/then_same.sql"),
            "union all\n",
            include_str!("sql/recall/then_former.sql"),
            ") ",
            $name
        )
    };
}

/// Nodes as of a time, for a statement that searches `:namespaces`: the words of each former text are taken from it once.
macro_rules! nodes {
    ($name:literal) => {
        concat!(
            "(with former as materialized (\n",
            include_str!("sql/recall/then_former.sql"),
            "   and n.namespace = any (:namespaces))\n",
            include_str!("sql/recall/then_same.sql"),
            "union all select * from former) ",
            $name
        )
    };
}

/// The current tables in the statements, each with its replacement as of a time.
const THEN: [(&str, &str); 7] = [
    ("htm.visible_nodes m", nodes!("m")),
    ("htm.nodes m", node!("m")),
    ("htm.nodes n", node!("n")),
    ("htm.nodes s", node!("s")),
    ("htm.node_tags nt", "(select a.* from htm.node_tags a where a.created_at <= :as_of) nt"),
    ("htm.relations x", "(select a.* from htm.relations a where a.made_at <= :as_of) x"),
    ("from now()", "from :as_of::timestamptz"),
];

/// Names that a statement as of a time must not read by another alias than those of [`THEN`].
const NOW: [&str; 5] = ["htm.nodes", "htm.visible_nodes", "htm.node_tags", "htm.relations", "now()"];

/// The first name that is read as it is now, outside of comments.
fn read_now(part: &str) -> Option<&'static str> {
    let mut code = part.lines().filter_map(|line| line.split("--").next());
    code.find_map(|line| NOW.into_iter().find(|name| line.contains(name)))
}

impl Then {
    pub(crate) const NOW: Self = Self(None);

    pub(crate) fn of(time: Option<DateTime<Utc>>) -> Self {
        Self(time)
    }

    pub(crate) fn is_past(self) -> bool {
        self.0.is_some()
    }

    /// A whole statement, as of this time. It is unchanged for now.
    pub(crate) fn statement(self, sql: &str) -> Cow<'_, str> {
        if !self.is_past() {
            return Cow::Borrowed(sql);
        }
        // All at once: what replaces a name has names as well.
        let mut rest = sql;
        let mut text = String::with_capacity(2 * sql.len());
        let next = |rest: &str| {
            THEN.iter().filter_map(|(now, then)| Some((rest.find(now)?, *now, *then))).min_by_key(|it| it.0)
        };
        let keep = |text: &mut String, part: &str| {
            debug_assert_eq!(
                read_now(part),
                None,
                "it is read as it is now, by an alias without a past:\n{sql}"
            );
            text.push_str(part);
        };
        while let Some((at, now, then)) = next(rest) {
            keep(&mut text, &rest[..at]);
            text.push_str(then);
            rest = &rest[at + now.len()..];
        }
        keep(&mut text, rest);
        Cow::Owned(text)
    }

    /// Binds the time.
    pub(crate) fn bind(self, statement: Named) -> Result<Named> {
        match self.0 {
            None => Ok(statement),
            Some(_) => statement.bind("as_of", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_of_now_is_unchanged() {
        let sql = include_str!("sql/recall/hits.sql");
        assert_eq!(Then::NOW.statement(sql), sql);
    }

    #[test]
    fn no_statement_as_of_a_time_reads_what_is_stored_now() {
        let past = Then::of(Some(DateTime::UNIX_EPOCH));
        let statements = [
            include_str!("sql/recall/hits.sql"),
            include_str!("sql/recall/sought.sql"),
            include_str!("sql/recall/tagged.sql"),
            include_str!("sql/recall/text.sql"),
            include_str!("sql/recall/text_of_scope.sql"),
            include_str!("sql/recall/texts.sql"),
            include_str!("sql/recall/vectors.sql"),
            include_str!("sql/recall/vectors_of_few.sql"),
            include_str!("sql/timeline.sql"),
            include_str!("sql/node.sql"),
            include_str!("sql/successors.sql"),
            include_str!("sql/successions.sql"),
        ];
        for sql in statements {
            assert!(past.statement(sql).contains(":as_of"), "{sql}");
        }
    }

    #[test]
    fn what_is_read_by_an_alias_without_a_past_is_found() {
        for (part, found) in [
            ("m.id, htm.node_tags t", Some("htm.node_tags")),
            ("m.id,\n  htm.visible_nodes v", Some("htm.visible_nodes")),
            ("where m.expires_at > now()", Some("now()")),
            ("-- Rows of htm.nodes.\nm.id, -- of htm.nodes\nhtm.node_accesses a", None),
        ] {
            assert_eq!(read_now(part), found, "{part}");
        }
    }
}
