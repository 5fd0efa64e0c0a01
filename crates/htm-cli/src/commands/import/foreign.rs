//! `htm import --from`: the memories of another system, as lines of an import.

use std::collections::HashMap;
use std::mem::take;
use std::time::Instant;

use htm_core::error::codes::{KEY_TAKEN, LINE_INVALID};
use htm_core::models::RegisteredModel;
use htm_core::provider::{CALLER, ModelName};
use htm_core::{Htm, Importer, LineKind, LineResult, Outcome, namespace_of};
use htm_runtime::config::Config;
use htm_sources::{
    Contradiction, Item, Model, Source, SourceOptions, System, Target, contradiction_line, model_line,
};

use super::CHUNK_BYTES;
use super::report::{ForeignReport, Refused};
use crate::args::ImportArgs;
use crate::commands::runtime::with_runtime;
use crate::error::CliError;
use crate::output::{Output, count};

/// Imports, or only says what an import would do. The error ends the import early; the report has what was done before.
pub(super) async fn run(
    config: &Config,
    args: &ImportArgs,
    system: System,
    output: &Output,
) -> Result<(ForeignReport, Option<CliError>), CliError> {
    let location = args.file.to_string_lossy();
    if let Some(namespace) = &args.namespace {
        namespace_of(namespace.split('/'))?;
    }
    let mut job = Job::new(config, args, system, output);
    if !args.dry_run || args.model.is_some() {
        return with_runtime(config, async |runtime| {
            let htm = runtime.htm();
            let model = named(&htm, args.model.as_deref()).await?;
            let options = SourceOptions { model, table: args.table.clone() };
            let mut source = htm_sources::open(system, &location, &options).await?;
            job.look_at_vectors(&htm, &*source).await?;
            Ok(job.run(&mut *source, (!args.dry_run).then_some(&htm)).await)
        })
        .await;
    }
    let options = SourceOptions { table: args.table.clone(), ..SourceOptions::default() };
    let mut source = htm_sources::open(system, &location, &options).await?;
    // Without vectors, a dry run needs no database.
    if source.model().is_some() {
        return with_runtime(config, async |runtime| {
            job.look_at_vectors(&runtime.htm(), &*source).await?;
            Ok(job.run(&mut *source, None).await)
        })
        .await;
    }
    Ok(job.run(&mut *source, None).await)
}

/// The model with this label.
async fn named(htm: &Htm, label: Option<&str>) -> Result<Option<Model>, CliError> {
    let Some(label) = label else { return Ok(None) };
    let RegisteredModel { name, dimensions, .. } = htm.models()?.get(label).await?;
    Ok(Some(Model { provider: name.provider, name: name.name, dimensions }))
}

/// An import on its way.
struct Job<'a> {
    target: Target,
    chunk: usize,
    output: &'a Output,
    report: ForeignReport,
    /// The number of the last line.
    line: u64,
    /// The lines that have no result yet.
    waiting: HashMap<u64, Waiting>,
    /// Whether the last memory stays as it is here, with its former texts.
    is_kept: bool,
    /// The numbers of the memories that have relations, by their ids there.
    related: HashMap<String, i64>,
    /// The contradictions of memories, until all are read.
    contradictions: Vec<Contradicted>,
}

/// A contradiction, and the memory that it is of.
struct Contradicted {
    namespace: String,
    robot: String,
    from: i64,
    it: Contradiction,
}

/// A line that has no result yet.
#[derive(Default)]
struct Waiting {
    /// Empty for a relation.
    key: String,
    /// Whether it is a former text of the memory before it.
    is_former: bool,
}

impl<'a> Job<'a> {
    fn new(config: &Config, args: &ImportArgs, system: System, output: &'a Output) -> Self {
        let namespace = args.namespace.clone().unwrap_or_else(|| system.name().into());
        let target = Target {
            system,
            namespace,
            robot: config.memory.robot_name().into(),
            language: config.memory.language.clone(),
            rules: config.tag.rules(),
            vectors: None,
        };
        let report = ForeignReport::new(system.name(), args.dry_run);
        Self {
            target,
            chunk: args.chunk.into(),
            output,
            report,
            line: 0,
            waiting: HashMap::new(),
            is_kept: false,
            related: HashMap::new(),
            contradictions: Vec::new(),
        }
    }

    /// Takes the vectors of the source if their model is in use here.
    async fn look_at_vectors(&mut self, htm: &Htm, source: &dyn Source) -> Result<(), CliError> {
        let Some(model) = source.model() else { return Ok(()) };
        let is_same = |it: &&RegisteredModel| {
            it.is_in_use()
                && (it.name.provider.as_str(), it.name.name.as_str()) == (&*model.provider, &*model.name)
                && it.dimensions == model.dimensions
        };
        let known = htm.models()?.list().await?;
        self.target.vectors = known.iter().find(is_same).map(|it| it.label.clone());
        // Nobody but the source can make the vectors of a model of callers: the import adds it.
        // The first model is the one that recall asks: it becomes none.
        if self.target.vectors.is_none() && model.provider == CALLER && !known.is_empty() {
            let name = ModelName::new(&model.provider, &model.name);
            self.target.vectors = Some(match self.report.is_dry_run() {
                true => name.to_string(),
                false => htm.models()?.add(&name, model.dimensions).await?.label,
            });
        }
        self.report.has_vectors_of(model, self.target.vectors.is_some(), !known.is_empty());
        Ok(())
    }

    /// Reads the source to its end, and writes what comes if there is a handle.
    async fn run(mut self, source: &mut dyn Source, htm: Option<&Htm>) -> (ForeignReport, Option<CliError>) {
        let started = Instant::now();
        let bar = self.output.progress_of_steps();
        self.report.leaves(self.output);
        let mut importer = htm.map(|htm| htm.importer(self.chunk, CHUNK_BYTES).leaves_forgotten());
        let mut ended = self.read(source, &mut importer, &bar).await;
        if let Some(importer) = importer {
            // Items read before an error of the source are written.
            match importer.finish().await {
                Ok(results) => self.add(results),
                Err(error) => ended = ended.and(Err(error.into())),
            }
        }
        bar.finish_and_clear();
        self.report.unnamed_vectors = source.unnamed_vectors();
        self.report.read = source.counts();
        self.report.seconds = started.elapsed().as_secs_f64();
        (self.report, ended.err())
    }

    async fn read(
        &mut self,
        source: &mut dyn Source,
        importer: &mut Option<Importer>,
        bar: &indicatif::ProgressBar,
    ) -> Result<(), CliError> {
        if let (Some(label), Some(model)) = (self.target.vectors.clone(), source.model()) {
            let line = model_line(&label, model);
            self.write(importer, vec![line], &label).await?;
        }
        while let Some(item) = source.next().await? {
            let memory = match item {
                Item::Memory(memory) => memory,
                Item::Left(left) => {
                    self.report.leave(left);
                    continue;
                }
            };
            let number = i64::try_from(self.report.memories).unwrap_or(i64::MAX);
            match memory.lines(&self.target, number) {
                Ok(lines) => {
                    self.report.take(&memory, &lines);
                    // Without a time it has no line that a relation could name.
                    if memory.is_related && memory.at.is_some() {
                        let robot = memory.robot.as_ref().unwrap_or(&self.target.robot);
                        let of = |it| Contradicted {
                            namespace: lines.namespace.clone(),
                            robot: robot.clone(),
                            from: number,
                            it,
                        };
                        self.contradictions.extend(memory.contradicts.into_iter().map(of));
                        self.related.insert(memory.id, number);
                    }
                    self.write(importer, lines.lines, &lines.key).await?;
                }
                Err(error) => self.report.refuse(Refused::new(memory.id, &error)),
            }
            bar.set_message(count(self.report.memories, "memory"));
        }
        for Contradicted { namespace, robot, from, it } in take(&mut self.contradictions) {
            if let Some(to) = self.related.get(&it.to) {
                let line = contradiction_line(&namespace, &robot, (from, *to), it.at);
                self.write(importer, vec![line], "").await?;
            }
        }
        Ok(())
    }

    async fn write(
        &mut self,
        importer: &mut Option<Importer>,
        lines: Vec<Vec<u8>>,
        key: &str,
    ) -> Result<(), CliError> {
        let Some(importer) = importer else { return Ok(()) };
        for (place, line) in lines.into_iter().enumerate() {
            self.line += 1;
            self.waiting.insert(self.line, Waiting { key: key.to_owned(), is_former: place > 0 });
            let results = importer.line(&line).await?;
            self.add(results);
        }
        Ok(())
    }

    fn add(&mut self, results: Vec<LineResult>) {
        if results.is_empty() {
            return;
        }
        for (line, result) in results {
            let Waiting { key, is_former } = self.waiting.remove(&line).unwrap_or_default();
            if is_former && self.is_kept {
                continue;
            }
            if !is_former {
                self.is_kept = result.as_ref().map_or(true, |it| it.differs);
            }
            match result {
                Ok(it) if it.differs => self.report.change(key),
                Ok(it) if it.kind == LineKind::Memory && it.outcome == Outcome::Written => {
                    self.report.written += 1
                }
                Ok(it) if it.kind == LineKind::Memory => self.report.existing += 1,
                Ok(it) if it.kind == LineKind::Revision && it.outcome == Outcome::Written => {
                    self.report.former_texts += 1;
                }
                Ok(it) if it.kind == LineKind::Relation && it.outcome == Outcome::Written => {
                    self.report.relations += 1;
                }
                Ok(_) => {}
                // One of two related memories was not written, which is reported. The metadata has the relation.
                Err(error) if key.is_empty() && error.is(LINE_INVALID) => {}
                Err(error) if error.is(KEY_TAKEN) => self.report.change(key),
                Err(error) => self.report.refuse(Refused::new(key, &error)),
            }
        }
        self.report.leaves(self.output);
    }
}
