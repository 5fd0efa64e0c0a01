//! Exports: everything that is stored and cannot be derived, as lines of JSON, in one snapshot.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use sqlx::{ConnectOptions, PgConnection};

use crate::api::htm::Htm;
use crate::model::error::{Error, Result, codes};
pub use crate::model::export::ExportOptions;
use crate::model::export::{End, FORMAT, Header, Line, LineCounts, SavedMemory, SavedModel, VERSION};
use crate::store::connections::Tx;
use crate::store::embeddings::RegisteredModel;
use crate::store::erase;
use crate::store::export::{self as store, Snapshot, log, settings};

/// A block ends at this many bytes.
const BLOCK: usize = 1 << 20;

impl Htm {
    /// Begins an export of namespaces, by default of all that the handle sees. It reads one snapshot, in pages: a few
    /// megabytes are in memory at a time. While it is open, PostgreSQL vacuums nothing that was deleted since.
    ///
    /// ```no_run
    /// # async fn example(htm: htm_core::Htm, mut file: impl std::io::Write) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut export = htm.export(htm_core::ExportOptions::default()).await?;
    /// while let Some(lines) = export.next().await? {
    ///     file.write_all(&lines)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `namespace_invalid`, `namespace_forbidden`, or a database error.
    pub async fn export(&self, options: ExportOptions) -> Result<Exporter> {
        for namespace in &options.namespaces {
            self.admit(namespace)?;
        }
        // Of its own, as the pool may have one connection only.
        let watch = self.shared_pool().connect_options().connect().await?;
        let Snapshot { mut tx, at: made_at, name: snapshot } = store::begin(self.pool()).await?;
        let mut namespaces = match (options.namespaces.is_empty(), self.namespaces()) {
            (true, Some(seen)) => Some(store::namespaces_within(&mut tx, seen).await?),
            (true, None) => None,
            (false, _) => Some(options.namespaces.clone()),
        };
        if let Some(namespaces) = &mut namespaces {
            namespaces.sort();
            namespaces.dedup();
        }
        let memories = store::count(&mut tx, namespaces.as_deref(), options.forgotten).await?;
        let models = if options.vectors { store::models(&mut tx).await? } else { Vec::new() };
        Ok(Exporter {
            htm: self.clone(),
            tx,
            snapshot,
            watch,
            made_at,
            namespaces,
            options,
            models,
            memories,
            exported: 0,
            step: Step::Header,
            counts: LineCounts::new(),
            block: Vec::new(),
        })
    }
}

/// An open export. Dropped before its end, it ends its transaction.
#[derive(Debug)]
pub struct Exporter {
    htm: Htm,
    tx: Tx,
    /// Tells the transaction's snapshot from later ones.
    snapshot: String,
    /// A connection that sees what was erased since, and all namespaces.
    watch: PgConnection,
    made_at: DateTime<Utc>,
    /// None: all.
    namespaces: Option<Vec<String>>,
    options: ExportOptions,
    models: Vec<RegisteredModel>,
    memories: u64,
    exported: u64,
    step: Step,
    counts: LineCounts,
    /// The lines that the next block begins with.
    block: Vec<u8>,
}

/// The next part, and the last row of the part before it.
#[derive(Debug)]
enum Step {
    Header,
    Retention(String),
    Budgets(String),
    Limits(String),
    Robots(String, String),
    Groups(String, String),
    Changes(String, i64),
    Names(i64, String),
    Tags(TagPages, String, String),
    /// The memories of the namespaces after this one.
    Namespaces(String),
    Memories {
        namespace: String,
        after: Option<(DateTime<Utc>, i64)>,
    },
    /// The memories of a page, and the last revision that was written of the one before them.
    Page {
        namespace: String,
        page: VecDeque<SavedMemory>,
        of: Option<(i64, i32)>,
        last: (DateTime<Utc>, i64),
    },
    Relations(i64, i64),
    Documents(String, String),
    Quotas(String),
    Learning(String),
    Rankings(String, i32),
    End,
    Done,
    /// A call failed or was dropped.
    Broken,
}

#[derive(Clone, Copy, Debug)]
enum TagPages {
    Plain,
    Split,
}

impl Exporter {
    /// The number of memories of the export.
    pub fn memories(&self) -> u64 {
        self.memories
    }

    /// The number of memories that the blocks so far have.
    pub fn exported(&self) -> u64 {
        self.exported
    }

    /// The next lines, each with its line break, about a megabyte; none after the last.
    ///
    /// # Errors
    /// `erased_meanwhile` if memories of its namespaces were erased since it began; a database error, also if the last
    /// call was more than five minutes ago. The export is over then, without its end; so it is if the call is dropped.
    /// Further calls fail with `export_incomplete`.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        if matches!(self.step, Step::Broken) {
            let message = "the export is over without its end: an earlier call failed or was dropped";
            return Err(Error::new(codes::EXPORT_INCOMPLETE, message));
        }
        while self.block.len() < BLOCK && !matches!(self.step, Step::Done) {
            let step = std::mem::replace(&mut self.step, Step::Broken);
            self.step = self.advance(step).await?;
        }
        if self.block.is_empty() {
            return Ok(None);
        }
        self.refuse_erased().await?;
        Ok(Some(std::mem::take(&mut self.block)))
    }

    /// Ends the export if its snapshot has memories that were erased since.
    async fn refuse_erased(&mut self) -> Result<()> {
        let of = self.namespaces.as_deref();
        if !erase::is_in_snapshot(&mut self.watch, of, &self.snapshot, self.made_at).await? {
            return Ok(());
        }
        self.step = Step::Broken;
        let message = "memories were erased since the export began; it ends without them, and is not whole";
        Err(Error::new(codes::ERASED_MEANWHILE, message))
    }

    fn add(&mut self, line: Line) {
        if !matches!(line, Line::Header(_) | Line::End(_)) {
            *self.counts.entry(line.kind()).or_default() += 1;
        }
        self.exported += u64::from(matches!(line, Line::Memory(_)));
        line.write(&mut self.block);
    }

    /// Writes the lines of a page. The next step is the same one `after` the page's last row; if the page is empty,
    /// `next`.
    fn lines<T>(
        &mut self,
        page: Vec<T>,
        line: impl Fn(T) -> Line,
        after: impl FnOnce(&T) -> Step,
        next: Step,
    ) -> Step {
        let step = page.last().map_or(next, after);
        page.into_iter().for_each(|it| self.add(line(it)));
        step
    }

    /// Writes the lines of a step and returns the step after it.
    async fn advance(&mut self, step: Step) -> Result<Step> {
        let of = self.namespaces.as_deref();
        Ok(match step {
            Step::Header => {
                self.add_header();
                Step::Retention(String::new())
            }
            Step::Retention(after) => {
                let page = settings::retention(&mut self.tx, of, &after).await?;
                let next = Step::Budgets(String::new());
                self.lines(page, Line::Retention, |it| Step::Retention(it.ns.clone()), next)
            }
            Step::Budgets(after) => {
                let page = settings::budgets(&mut self.tx, of, &after).await?;
                let next = Step::Limits(String::new());
                self.lines(page, Line::Budget, |it| Step::Budgets(it.ns.clone()), next)
            }
            Step::Limits(after) => {
                let page = match of {
                    // They are of no namespace.
                    Some(_) => Vec::new(),
                    None => settings::limits(&mut self.tx, &after).await?,
                };
                let next = Step::Robots(String::new(), String::new());
                self.lines(page, Line::Limits, |it| Step::Limits(it.model.clone()), next)
            }
            Step::Robots(namespace, name) => {
                let page = store::robots(&mut self.tx, of, (&namespace, &name)).await?;
                let next = Step::Groups(String::new(), String::new());
                self.lines(page, Line::Robot, |it| Step::Robots(it.ns.clone(), it.name.clone()), next)
            }
            Step::Groups(namespace, name) => {
                let page = store::groups(&mut self.tx, of, (&namespace, &name)).await?;
                let next = Step::Changes(String::new(), 0);
                self.lines(page, Line::Group, |it| Step::Groups(it.ns.clone(), it.name.clone()), next)
            }
            Step::Changes(namespace, change) => {
                let page = log::changes(&mut self.tx, of, (&namespace, change)).await?;
                let next = Step::Names(0, String::new());
                self.lines(page, Line::Change, |it| Step::Changes(it.ns.clone(), it.change), next)
            }
            Step::Names(change, name) => {
                let page = log::names(&mut self.tx, of, (change, &name)).await?;
                let next = Step::Tags(TagPages::Plain, String::new(), String::new());
                self.lines(page, Line::Name, |it| Step::Names(it.change, it.name.to_string()), next)
            }
            Step::Tags(which, namespace, path) => self.tags(which, &namespace, &path).await?,
            Step::Namespaces(after) => {
                let next = match of {
                    Some(all) => all.iter().find(|it| **it > after).cloned(),
                    None => store::next_namespace(&mut self.tx, &after).await?,
                };
                let memories = |namespace| Step::Memories { namespace, after: None };
                next.map_or_else(|| Step::Relations(0, 0), memories)
            }
            Step::Memories { namespace, after } => self.page(namespace, after).await?,
            Step::Page { namespace, page, of: Some((node, after)), last } => {
                let texts = store::revisions(&mut self.tx, &namespace, node, after).await?;
                let of = texts.last().map(|it| (node, it.revision));
                texts.into_iter().for_each(|it| self.add(Line::Revision(it)));
                Step::Page { namespace, page, of, last }
            }
            Step::Page { namespace, mut page, of: None, last } => match page.pop_front() {
                None => Step::Memories { namespace, after: Some(last) },
                Some(memory) => {
                    let of = (memory.revision > 1).then_some((memory.node, 0));
                    self.add(Line::Memory(Box::new(memory)));
                    Step::Page { namespace, page, of, last }
                }
            },
            Step::Relations(from, to) => {
                let forgotten = self.options.forgotten;
                let page = store::relations(&mut self.tx, of, forgotten, (from, to)).await?;
                let next = Step::Documents(String::new(), String::new());
                self.lines(page, Line::Relation, |it| Step::Relations(it.from, it.to), next)
            }
            Step::Documents(namespace, path) => {
                let page = settings::documents(&mut self.tx, of, (&namespace, &path)).await?;
                let next = Step::Quotas(String::new());
                self.lines(page, Line::Document, |it| Step::Documents(it.ns.clone(), it.path.clone()), next)
            }
            Step::Quotas(after) => {
                let page = settings::quotas(&mut self.tx, of, &after).await?;
                let next = Step::Rankings(String::new(), 0);
                self.lines(page, Line::Quota, |it| Step::Quotas(it.ns.clone()), next)
            }
            Step::Rankings(namespace, version) => {
                let mut page = settings::rankings(&mut self.tx, of, (&namespace, version)).await?;
                for of_home in page.chunk_by_mut(|one, other| one.ns == other.ns) {
                    if !self.htm.sees_learners(&mut self.watch, &of_home[0].ns).await? {
                        of_home.iter_mut().for_each(|it| it.reason.clear());
                    }
                }
                let next = Step::Learning(String::new());
                self.lines(
                    page,
                    |it| Line::Ranking(Box::new(it)),
                    |it| Step::Rankings(it.ns.clone(), it.version),
                    next,
                )
            }
            // It names rankings.
            Step::Learning(after) => {
                let page = settings::learning(&mut self.tx, of, &after).await?;
                let next = Step::End;
                self.lines(page, Line::Learning, |it| Step::Learning(it.ns.clone()), next)
            }
            Step::End => {
                let lines = std::mem::take(&mut self.counts);
                self.add(Line::End(End { lines }));
                Step::Done
            }
            over @ (Step::Done | Step::Broken) => over,
        })
    }

    fn add_header(&mut self) {
        let header = Header {
            format: FORMAT.into(),
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").into(),
            made_at: self.made_at,
            namespaces: self.namespaces.clone(),
            forgotten: self.options.forgotten,
            vectors: self.options.vectors,
            memories: self.memories,
        };
        self.add(Line::Header(header));
        for model in self.models.clone() {
            self.add(Line::Model(SavedModel {
                label: model.label,
                provider: model.name.provider,
                name: model.name.name,
                dimensions: model.dimensions,
            }));
        }
    }

    async fn tags(&mut self, which: TagPages, namespace: &str, path: &str) -> Result<Step> {
        let (of, after) = (self.namespaces.as_deref(), (namespace, path));
        let page = match which {
            TagPages::Plain => store::tags(&mut self.tx, of, false, after).await?,
            TagPages::Split => store::tags(&mut self.tx, of, true, after).await?,
        };
        let next = match which {
            TagPages::Plain => Step::Tags(TagPages::Split, String::new(), String::new()),
            TagPages::Split => Step::Namespaces(String::new()),
        };
        Ok(self.lines(page, Line::Tag, |it| Step::Tags(which, it.ns.clone(), it.tag.to_string()), next))
    }

    async fn page(&mut self, namespace: String, after: Option<(DateTime<Utc>, i64)>) -> Result<Step> {
        let (of, forgotten) = (self.namespaces.as_deref(), self.options.forgotten);
        let mut page = store::nodes(&mut self.tx, &namespace, after, forgotten, of).await?;
        for model in &self.models {
            store::add_vectors(&mut self.tx, model, &namespace, &mut page).await?;
        }
        Ok(match page.last().map(|it| (it.created_at, it.node)) {
            None => Step::Namespaces(namespace),
            Some(last) => Step::Page { namespace, page: page.into(), of: None, last },
        })
    }
}
