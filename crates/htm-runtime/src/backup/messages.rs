//! The messages of PostgreSQL's programs for backups, on their standard error.

use std::collections::VecDeque;

/// The lines that an error shows.
const SHOWN: usize = 5;

/// The mark of an error.
const ERROR: &str = "error: ";

/// The parameter that pg_restore sets since version 17. Older servers refuse it, and lack nothing by that.
const UNKNOWN: &str = "transaction_timeout";

/// The end of the message about that refusal. It is pg_restore's own: the server's part may be in another language.
const REFUSED: &str = "Command was: SET transaction_timeout = 0";

/// The last line of a pg_restore that went on after errors to its end.
const AT_END: &str = "pg_restore: warning: errors ignored on restore: ";

/// The messages of a program so far.
#[derive(Default)]
pub(super) struct Messages {
    /// The lines from the first error on, else the last ones.
    shown: VecDeque<String>,
    has_error: bool,
    errors: usize,
    refusals: usize,
    is_at_end: bool,
}

impl Messages {
    pub(super) fn add(&mut self, line: String) {
        // Workers write at the same time, and parts of their lines are mixed. A mark is in one part, and so is a command
        // with all that the server said of it.
        self.errors += line.matches(ERROR).count();
        self.refusals += line.matches(REFUSED).count();
        self.is_at_end = line.starts_with(AT_END);
        if !self.has_error && line.contains(ERROR) && !line.contains(UNKNOWN) {
            self.has_error = true;
            self.shown.clear();
        }
        if self.shown.len() < SHOWN {
            self.shown.push_back(line);
        } else if !self.has_error {
            self.shown.pop_front();
            self.shown.push_back(line);
        }
    }

    /// Whether the program came to its end, and had no errors but the refusals of an older server.
    pub(super) fn are_of_an_older_server(&self) -> bool {
        self.is_at_end && self.errors == self.refusals
    }

    /// Why the program failed, on one line.
    pub(super) fn reason(self) -> String {
        Vec::from(self.shown).join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSAL: &str = "pg_restore: while INITIALIZING:
pg_restore: error: could not execute query: ERROR:  unrecognized configuration parameter \"transaction_timeout\"
Command was: SET transaction_timeout = 0;
";
    const END: &str = "pg_restore: warning: errors ignored on restore: 2\n";

    fn messages(text: &str) -> Messages {
        let mut messages = Messages::default();
        text.lines().for_each(|line| messages.add(line.to_owned()));
        messages
    }

    #[test]
    fn only_refusals_of_an_older_server_are_no_failure() {
        let mixed =
            "pg_restore: pg_restore: error: error: could not execute query: FEHLER:  »transaction_timeout«
Command was: SET transaction_timeout = 0;
pg_restore: processing data for table \"htm.nodes\"
could not execute query: FEHLER:  »transaction_timeout«
Command was: SET transaction_timeout = 0;
";
        assert!(messages(&format!("{REFUSAL}{REFUSAL}{END}")).are_of_an_older_server());
        assert!(messages(&format!("{REFUSAL}{mixed}{END}")).are_of_an_older_server());
        let other =
            "pg_restore: error: could not execute query: ERROR:  no space left\nCommand was: CREATE INDEX\n";
        for failed in [
            format!("{REFUSAL}{other}{END}"),
            format!("{other}{REFUSAL}{END}"),
            format!("{REFUSAL}{mixed}pg_restore: error: a worker process died unexpectedly\n"),
            // Killed, or out of memory.
            REFUSAL.to_owned(),
            format!("{REFUSAL}{END}out of memory\n"),
            String::new(),
        ] {
            assert!(!messages(&failed).are_of_an_older_server(), "{failed}");
        }
    }

    #[test]
    fn the_reason_is_the_first_error_and_not_what_came_of_it() {
        let steps = "pg_restore: creating INDEX \"htm.nodes_tsv_idx\"\n".repeat(9);
        let text =
            format!("{REFUSAL}{steps}pg_restore: error: no space left\nCommand was: one\n{steps}{END}");
        let reason = messages(&text).reason();
        assert!(reason.starts_with("pg_restore: error: no space left; Command was: one; "), "{reason}");
        assert_eq!(reason.split("; ").count(), SHOWN);
        assert_eq!(messages("a\nb").reason(), "a; b");
        assert!(messages(&format!("{steps}killed")).reason().ends_with("; killed"));
    }
}
