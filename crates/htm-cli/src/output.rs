//! The output for people and programs: tables and colours on a terminal, JSON with `--json`.

mod harmless;
mod signals;
mod usage;

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::future::pending;
use std::io::{self, IsTerminal, Write};
use std::process;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use console::{strip_ansi_codes, style};
use htm_core::fault::Fault;
use htm_runtime::doing;
use htm_runtime::private_pg::settled;
use htm_runtime::shutdown::INTERRUPTED;
use htm_runtime::telemetry::to_stderr;
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::codes;
use crate::error::CliError;
use crate::quantity::rate;

pub(crate) use self::harmless::{plain, plain_json};
use self::signals::Signals;
pub(crate) use self::usage::usage;

/// The longest wait of a stopped command for a start or a stop of the private PostgreSQL. A first start takes a few seconds.
const SETTLED: Duration = Duration::from_secs(10);

/// The time before a start of the database, or a migration, is told.
const PATIENCE: Duration = Duration::from_millis(300);

/// The form of an output: of the streams of the process that shows it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Form {
    json: bool,
    is_terminal: bool,
    colours: bool,
    error_colours: bool,
}

impl Form {
    fn of_process(json: bool) -> Self {
        Self {
            json,
            is_terminal: io::stdout().is_terminal(),
            colours: console::colors_enabled(),
            error_colours: console::colors_enabled_stderr(),
        }
    }
}

/// The text of a command for its two streams.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Said {
    output: String,
    error: String,
    /// The result that a stopped command [leaves](Output::leaves) from now on, for programs and for people.
    left: Option<(Value, String)>,
}

impl Said {
    pub(crate) fn has_output(&self) -> bool {
        !self.output.is_empty()
    }
}

/// The output of a command: the streams of this process, or a text that is kept for those of another.
pub(crate) struct Output {
    form: Form,
    kept: Option<Mutex<Said>>,
    /// Tells that there is more to [take](Self::more).
    printed: Notify,
    /// The first error of standard output. Later text is dropped, and the command goes on to its end.
    failed: OnceLock<io::Error>,
    signals: Signals,
    /// Cancelled by that error, and by a signal.
    stop: CancellationToken,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self::of(Form::of_process(json), None)
    }

    fn of(form: Form, kept: Option<Mutex<Said>>) -> Self {
        let signals = Signals::default();
        let stop = signals.token().child_token();
        Self { form, kept, printed: Notify::new(), failed: OnceLock::new(), signals, stop }
    }

    /// An output that is kept, for streams of this form.
    pub(crate) fn kept(form: Form) -> Self {
        // Where the text is not to have them, they are taken out again.
        console::set_colors_enabled(true);
        console::set_colors_enabled_stderr(true);
        Self::of(form, Some(Mutex::default()))
    }

    /// The text that was kept since it was last taken, as soon as there is any.
    pub(crate) async fn more(&self) -> Said {
        self.printed.notified().await;
        self.keep(std::mem::take).unwrap_or_default()
    }

    /// Does something to the text that is kept; none if this process shows it.
    fn keep<T>(&self, change: impl FnOnce(&mut Said) -> T) -> Option<T> {
        let kept = self.kept.as_ref()?;
        Some(change(&mut kept.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The text that was kept, and not taken.
    pub(crate) fn said(self) -> Said {
        self.kept.map(|said| said.into_inner().unwrap_or_else(PoisonError::into_inner)).unwrap_or_default()
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    pub(crate) fn is_json(&self) -> bool {
        self.form.json
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.form.is_terminal
    }

    /// Does the work of a command until its end or a signal, which ends the process with what the command
    /// [leaves](Self::leaves).
    pub(crate) async fn until_signal<T>(
        &self,
        work: impl Future<Output = Result<T, CliError>>,
    ) -> Result<T, CliError> {
        self.signals.listen(self.form.json).map_err(CliError::io("signals cannot be handled"))?;
        tokio::select! {
            biased;
            ended = work => ended,
            // The work is dropped by now.
            left = self.signals.stopped() => {
                left.say(self.form.json);
                settled(SETTLED).await;
                // Not by a return, which would wait for threads of the runtime.
                process::exit(INTERRUPTED.into())
            }
        }
    }

    /// Says what is left if a signal stops the command from now on, for programs and for people.
    pub(crate) fn leaves(&self, answer: Value, text: impl Into<String>) {
        let left = (answer, text.into());
        match self.keep(|said| said.left = Some(left.clone())) {
            // The signal comes to the process that shows it.
            Some(()) => self.printed.notify_one(),
            None => self.signals.leave(left.0, left.1),
        }
    }

    /// A token that is cancelled by a signal, and as soon as nothing can be printed any more: for a command that runs on, or
    /// tidies up. From now on a signal does nothing else.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.signals.take();
        self.stop.clone()
    }

    /// As [`stop`](Self::stop), by a signal alone: for work that goes on, whether or not anybody reads what is printed.
    pub(crate) fn stop_by_signal(&self) -> CancellationToken {
        self.signals.take();
        self.signals.token().clone()
    }

    /// Whether nothing can be printed any more.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.get().is_some()
    }

    /// The error of standard output, for the end of a command. A reader that has gone away (`| head`) is none.
    pub(crate) fn finish(&self) -> Result<(), CliError> {
        match self.failed.get() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
            _ => Ok(()),
        }
    }

    fn fail(&self, error: io::Error) {
        // Only the first error is told.
        let _ = self.failed.set(error);
        self.stop.cancel();
    }

    /// Prints a value, as JSON or as text for people.
    pub(crate) fn value(&self, value: &impl Serialize, human: impl FnOnce() -> String) {
        if self.form.json {
            self.json(value);
        } else {
            self.say(human());
        }
    }

    /// Prints a value as a line of JSON, with or without `--json`.
    pub(crate) fn json(&self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(json) => self.line(&plain_json(&json)),
            Err(error) => self.fail(error.into()),
        }
    }

    /// Prints a line for people. Nothing with `--json`.
    pub(crate) fn say(&self, text: impl AsRef<str>) {
        if !self.form.json {
            self.line(&coloured(text.as_ref(), self.form.colours));
        }
    }

    /// Prints a line for people to standard error, beside an answer. Nothing with `--json`.
    pub(crate) fn aside(&self, text: &str) {
        if !self.form.json {
            self.error_line(&coloured(text, self.form.error_colours));
        }
    }

    /// Prints a line for people to standard error, around a progress bar. Nothing with `--json`.
    pub(crate) fn note(&self, bar: &ProgressBar, text: impl AsRef<str>) {
        if !self.form.json {
            bar.suspend(|| to_stderr(&format!("{}\n", plain(text.as_ref()))));
        }
    }

    /// Prints a heading for people.
    pub(crate) fn heading(&self, text: &str) {
        self.say(format!("\n{}", style(text).bold()));
    }

    /// Prints a line to standard output.
    pub(crate) fn line(&self, text: &str) {
        self.print(&format!("{text}\n"));
    }

    /// Prints a text of several lines to standard output: harmless for a terminal, as it is for a program.
    pub(crate) fn text(&self, text: &str) {
        match self.form.is_terminal {
            true => self.line(&plain(text)),
            false => self.line(text),
        }
    }

    /// Prints a text to standard output as it is.
    pub(crate) fn print(&self, text: &str) {
        match self.keep(|said| said.output.push_str(text)) {
            Some(()) => self.printed.notify_one(),
            None if self.has_failed() => {}
            None => {
                let mut stdout = io::stdout();
                if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
                    self.fail(error);
                }
            }
        }
    }

    /// Prints what another process kept for this one.
    pub(crate) fn repeat(&self, said: &Said) {
        if let Some((answer, text)) = &said.left {
            self.leaves(answer.clone(), text.as_str());
        }
        self.print_error(&said.error);
        self.print(&said.output);
    }

    fn error_line(&self, text: &str) {
        self.print_error(&format!("{text}\n"));
    }

    fn print_error(&self, text: &str) {
        match self.keep(|said| said.error.push_str(text)) {
            Some(()) => self.printed.notify_one(),
            None => to_stderr(text),
        }
    }

    pub(crate) fn error(&self, error: &CliError) {
        if self.form.json {
            let error = serde_json::json!({ "error": error.json() });
            self.error_line(&plain_json(&error.to_string()));
        } else {
            let code = style(format!("error[{}]", error.code)).red().for_stderr();
            self.aside(&format!("{code}: {}", plain(&error.message)));
            self.aside(&format!("  {}: {}", style("help").for_stderr().bold(), plain(&error.hint)));
        }
    }

    /// A progress bar on standard error. It is hidden without a terminal, with `--json`, or if there is nothing to do.
    pub(crate) fn progress(&self, total: u64, unit: &str) -> ProgressBar {
        self.bar_of(total, &template(unit))
    }

    /// As [`progress`](Self::progress), of bytes.
    pub(crate) fn progress_of_bytes(&self, total: u64) -> ProgressBar {
        self.bar_of(total, TEMPLATE_OF_BYTES)
    }

    /// As [`progress`](Self::progress), of steps whose number does not matter.
    pub(crate) fn progress_of_steps(&self) -> ProgressBar {
        self.drawn(ProgressBar::no_length, "{spinner} {msg}  {elapsed}")
    }

    fn bar_of(&self, total: u64, template: &str) -> ProgressBar {
        match total {
            0 => ProgressBar::hidden(),
            total => self.drawn(|| ProgressBar::new(total), template),
        }
    }

    /// Does some work. On a terminal, a start of the database or a migration is told meanwhile.
    pub(crate) async fn telling<T>(&self, work: impl Future<Output = T>) -> T {
        let tell = async {
            let mut doing = doing();
            loop {
                let Ok(what) = doing.wait_for(Option::is_some).await.map(|what| what.unwrap_or_default())
                else {
                    return pending().await;
                };
                // A server that runs already is there at once.
                if timeout(PATIENCE, doing.wait_for(Option::is_none)).await.is_ok() {
                    continue;
                }
                let bar = self.progress_of_steps().with_message(what);
                let _ = doing.wait_for(Option::is_none).await;
                bar.finish_and_clear();
            }
        };
        tokio::select! {
            biased;
            ended = work => ended,
            () = tell, if self.has_bars() => unreachable!("it tells for ever"),
        }
    }

    /// Whether somebody sees a progress bar.
    fn has_bars(&self) -> bool {
        !self.form.json && self.kept.is_none() && io::stderr().is_terminal()
    }

    fn drawn(&self, bar: impl FnOnce() -> ProgressBar, template: &str) -> ProgressBar {
        if !self.has_bars() {
            return ProgressBar::hidden();
        }
        let bar = styled(bar(), template);
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }
}

/// The error of standard output. Nobody's input is wrong, and the command has done what it does besides.
pub(crate) fn unwritable(error: &io::Error) -> CliError {
    let message = format!("standard output cannot be written: {error}");
    let hint = "make room where the output goes; what the command has stored or changed stays, so look at it before you repeat \
                the command";
    CliError { fault: Fault::Permanent, ..CliError::new(codes::IO_ERROR, message).with_hint(hint) }
}

/// The form of a progress bar of these things. A bar takes the width that the rest leaves: a line that wraps flickers.
fn template(unit: &str) -> String {
    format!("{{msg:<10}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit}  {{elapsed}}{{pace}}")
}

/// As [`template`], of bytes.
const TEMPLATE_OF_BYTES: &str = "{msg:<10} {wide_bar} {bytes}/{total_bytes}  {elapsed}{pace_of_bytes}";

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.with_key("pace", pace).with_key("pace_of_bytes", pace_of_bytes));
    }
    bar
}

/// How fast the work of a bar goes on, and how long it will take.
fn pace(state: &ProgressState, to: &mut dyn fmt::Write) {
    let _ = to.write_str(&pace_at(state.pos(), &rate(state.per_sec()), state.eta()));
}

/// As [`pace`], of bytes.
fn pace_of_bytes(state: &ProgressState, to: &mut dyn fmt::Write) {
    let per_second = HumanBytes(state.per_sec() as u64).to_string();
    let _ = to.write_str(&pace_at(state.pos(), &per_second, state.eta()));
}

fn pace_at(done: u64, per_second: &str, left: Duration) -> String {
    // Nothing is known before something is done.
    match done {
        0 => String::new(),
        _ => format!("  {per_second}/s (ETA {:#})", HumanDuration(left)),
    }
}

/// A styled text, without its styles if the stream is to have none.
fn coloured(text: &str, colours: bool) -> Cow<'_, str> {
    if colours { text.into() } else { strip_ansi_codes(text) }
}

/// A table without lines, with aligned columns. `right` are the columns of numbers.
pub(crate) fn table(header: &[&str], right: &[usize], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.to_vec());
    table.add_rows(rows);
    for &column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Names and their values, one a line, with aligned values that are [`plain`]. Further lines of a value stay in its column:
/// none of them looks like a field, or like the text below the fields.
pub(crate) fn fields(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let next = format!("\n{:width$}  ", "");
    let lines =
        rows.iter().map(|(name, value)| format!("{name:width$}  {}", plain(value).replace('\n', &next)));
    lines.collect::<Vec<_>>().join("\n")
}

/// A line below a list that has as many rows as were asked for: others may follow. Empty below a shorter one.
pub(crate) fn limited(rows: usize, limit: usize) -> String {
    match rows < limit {
        true => String::new(),
        false => format!("\nlimited to {limit}; there may be more: `--limit`"),
    }
}

/// A number of things: `1 hit`, `2 hits`, `2 memories`.
pub(crate) fn count(number: impl Display, what: &str) -> String {
    let number = number.to_string();
    match (number.as_str(), what.strip_suffix('y')) {
        ("1", _) => format!("1 {what}"),
        (_, Some(stem)) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ => format!("{number} {what}s"),
    }
}

/// A text on one line, [`plain`], cut to `width` characters.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let line = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= width {
        return line;
    }
    let mut cut: String = line.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::sync::Arc;

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::*;

    /// A terminal of 80 columns, and what is written to it.
    #[derive(Clone, Debug, Default)]
    struct Terminal(Arc<Mutex<String>>);

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_progress_bar_fits_a_line_of_a_new_terminal() {
        for (what, template) in
            [("export", &*template("memories")), ("BAAI/bge-small-en-v1.5", TEMPLATE_OF_BYTES)]
        {
            let terminal = Terminal::default();
            let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
            let bar = styled(ProgressBar::with_draw_target(Some(12_447_000), target), template);
            bar.set_message(what);
            bar.set_position(2_208);
            terminal.0.lock().unwrap().clear();
            bar.tick();
            let drawn = strip_ansi_codes(terminal.0.lock().unwrap().trim()).into_owned();
            assert!(drawn.contains("(ETA ") && drawn.chars().count() <= 80, "{drawn}");
        }
    }

    #[test]
    fn an_answer_that_is_no_json_is_an_error_and_no_answer() {
        let form = Form { json: true, is_terminal: false, colours: false, error_colours: false };
        let output = Output::of(form, Some(Mutex::default()));
        let path = Path::new(OsStr::from_bytes(b"not UTF-8: \xff")).to_owned();
        output.value(&path, String::new);
        assert_eq!(output.finish().unwrap_err().code, "io_error");
        assert_eq!(output.said().output, "");
    }

    #[test]
    fn what_is_repeated_to_a_kept_output_is_kept() {
        let form = Form { json: false, is_terminal: false, colours: false, error_colours: false };
        let output = Output::of(form, Some(Mutex::default()));
        let left = Some((serde_json::json!({ "node": 1 }), "node 1 is stored".to_owned()));
        output.repeat(&Said { output: "an answer\n".into(), error: "an error\n".into(), left: left.clone() });
        let said = output.said();
        assert_eq!((said.output.as_str(), said.error.as_str()), ("an answer\n", "an error\n"));
        assert_eq!(said.left, left);
    }

    #[test]
    fn a_text_cannot_deceive_the_reader_of_a_terminal_and_stays_as_it_is_for_a_program() {
        for (is_terminal, printed) in [(true, "a:\n- b\\u{202e}c\n"), (false, "a:\n- b\u{202e}c\n")] {
            let form = Form { json: false, is_terminal, colours: false, error_colours: false };
            let output = Output::of(form, Some(Mutex::default()));
            output.text("a:\n- b\u{202e}c");
            assert_eq!(output.said().output, printed);
        }
    }

    #[test]
    fn the_pace_of_work_is_known_once_something_is_done() {
        assert_eq!(pace_at(0, "0.0", Duration::ZERO), "");
        assert_eq!(pace_at(3, "3,678", Duration::from_secs(5)), "  3,678/s (ETA 5s)");
    }

    #[test]
    fn one_is_one() {
        let counts = [count(1, "hit"), count(0_i64, "dead letter"), count(2, "memory"), count(90, "day")];
        assert_eq!(counts, ["1 hit", "0 dead letters", "2 memories", "90 days"]);
    }

    #[test]
    fn a_value_cannot_forge_a_field_or_the_text_below() {
        let rows = [("source", "ok\nembed  done\n\nForged.".to_owned()), ("importance", "1".to_owned())];
        let lines = ["source      ok", "embed  done", "", "Forged."].join("\n            ");
        assert_eq!(fields(&rows), format!("{lines}\nimportance  1"));
    }

    #[test]
    fn stored_text_cannot_drive_the_terminal() {
        assert_eq!(one_line("a\u{1b}[31mred\u{7}\n b", 40), "a[31mred b");
        assert_eq!(one_line("a\u{202e}b", 40), "a\\u{202e}b");
        assert_eq!(one_line("abcdef", 4), "abc…");
    }
}
