//! A database filled as HTM fills it: memories by `remember_many`, their jobs claimed and ended by the workers' functions.
//!
//! Two things are not as in use. The vector index is made at the end, as for a new model: its size is the same within 1 %.
//! Access counts are written for all memories by one statement with the rows of `add_accesses.sql`.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use htm_core::job::Payload;
use htm_core::provider::{ModelName, TagSuggestion};
use htm_core::tag::TagOrigin;
use htm_core::worker::jobs::{self, Embedded, Lease, Tagged, TaggedBy};
use htm_core::worker::{embeddings, statistics, workers};
use htm_core::{Htm, Memory, NodeId, Settings, Stage, TagPath, TagRules};
use htm_runtime::capacity::Workload;
use htm_tests::TestDatabase;
use htm_tests::measure::Random;
use sqlx::{AssertSqlSafe, PgPool};

use crate::texts::Texts;

/// The name of a worker, as long as those of workers: program, process, ULID.
const WORKER: &str = "embed-worker-4711-01KAXV7Q7M3WJ5R9T2B8N6C4DE";
/// As long as the versions of ontologies and prompts.
const VERSION: &str = "ontology-0123456789abcdef";
/// The local tagger's templates: what a namespace is tagged with.
const TEMPLATES: [&str; 4] = [
    include_str!("../../../config/ontology/software.toml"),
    include_str!("../../../config/ontology/research.toml"),
    include_str!("../../../config/ontology/personal.toml"),
    include_str!("../../../config/ontology/business.toml"),
];
/// Turns of a conversation.
const TURNS: u64 = 20;
/// Memories of a transaction, and jobs of a claim.
const CHUNK: usize = 500;
/// The time until the next look for jobs.
const IDLE: Duration = Duration::from_millis(20);
/// Centres of the vectors.
const CENTRES: u64 = 1_000;

/// The duration of each part of the work, and the bytes of the write-ahead log.
#[derive(Default)]
pub(crate) struct Spent {
    pub(crate) remembering: Duration,
    pub(crate) embedding: Duration,
    pub(crate) tagging: Duration,
    pub(crate) indexing: Duration,
    pub(crate) wal_bytes: i64,
}

/// The cost of memories that were written one by one.
pub(crate) struct Live {
    pub(crate) time: Duration,
    pub(crate) wal_bytes: i64,
}

/// The writer of a database.
pub(crate) struct Writer<'a> {
    pool: &'a PgPool,
    htm: Htm,
    workload: Workload,
    texts: Texts,
    tags: Vec<TagPath>,
}

impl<'a> Writer<'a> {
    pub(crate) async fn new(db: &'a TestDatabase, workload: Workload) -> Self {
        let settings =
            Settings { embedding_model: model(), tag_model: model(), ..db.htm().settings().clone() };
        Self {
            pool: &db.pool,
            htm: Htm::with_pool(db.pool.clone(), settings, None),
            workload,
            texts: Texts::new(workload.words),
            tags: terms(),
        }
    }

    /// Writes all memories with everything that is made of them.
    pub(crate) async fn fill(&self) -> Spent {
        let (pool, dimensions) = (self.pool, self.workload.dimensions as usize);
        let model = embeddings::register_model(pool, &model(), dimensions).await.expect("registered");
        run(pool, "drop index htm.embeddings_1_hnsw_idx").await;
        for queue in [Stage::Embed.queue(), Stage::Tag.queue()] {
            workers::register(pool, queue, &worker(queue), "bench", 3_600_000).await.expect("registered");
        }
        let begun = wal(pool).await;
        let written = AtomicBool::new(false);
        // Side by side, as in use. Tagging takes the longest.
        let (remembering, embedding, tagging, more_tagging) = tokio::join!(
            self.write(&written),
            self.embed_all(&model, &written),
            self.tag_all(&written),
            self.tag_all(&written)
        );
        let mut spent = Spent { remembering, embedding, tagging: tagging + more_tagging, ..Spent::default() };
        spent.wal_bytes = wal(pool).await - begun;
        spent.indexing = timed(run(
            pool,
            "set maintenance_work_mem = '4GB'; set max_parallel_maintenance_workers = 2;
             do $$ begin execute (select htm.embedding_index(1, '')); end $$",
        ))
        .await
        .0;
        for namespace in 0..self.workload.namespaces {
            statistics::refresh(pool, &name(namespace)).await.expect("refreshed");
        }
        run(
            pool,
            "insert into htm.node_accesses (namespace, node_id, access_count, last_accessed)
             select namespace, id, 1, now() from htm.nodes order by hashint8(id)",
        )
        .await;
        run(pool, "vacuum analyze").await;
        spent
    }

    /// Writes memories one by one, with the vector index in place, and runs their jobs.
    pub(crate) async fn live(&self, memories: u64) -> Live {
        let models = embeddings::models(self.pool).await.expect("models");
        let begun = wal(self.pool).await;
        let mut time = Duration::ZERO;
        for number in self.workload.memories..self.workload.memories + memories {
            let (took, written) = timed(self.htm.remember(self.memory(number))).await;
            written.expect("written");
            let embedded = self.embed(&models[0], &mut Random(number)).await.expect("a job");
            time += took + embedded + self.tag(&mut Random(number)).await.expect("a job");
        }
        Live { time, wal_bytes: wal(self.pool).await - begun }
    }

    async fn write(&self, written: &AtomicBool) -> Duration {
        let mut spent = Duration::ZERO;
        // A memory a namespace in each transaction: the times within a namespace differ, as in use.
        let chunk = self.workload.namespaces.clamp(100, CHUNK as u64);
        for start in (0..self.workload.memories).step_by(chunk as usize) {
            let numbers = start..self.workload.memories.min(start + chunk);
            let memories: Vec<Memory> = numbers.map(|number| self.memory(number)).collect();
            let (took, receipts) = timed(self.htm.remember_many(&memories)).await;
            receipts.expect("written");
            spent += took;
        }
        written.store(true, Ordering::Release);
        spent
    }

    async fn embed_all(&self, model: &embeddings::RegisteredModel, written: &AtomicBool) -> Duration {
        let mut random = Random(1);
        let mut spent = Duration::ZERO;
        loop {
            let is_last = written.load(Ordering::Acquire);
            match self.embed(model, &mut random).await {
                Some(took) => spent += took,
                None if is_last => return spent,
                None => tokio::time::sleep(IDLE).await,
            }
        }
    }

    async fn tag_all(&self, written: &AtomicBool) -> Duration {
        let mut random = Random(2);
        let mut spent = Duration::ZERO;
        loop {
            let is_last = written.load(Ordering::Acquire);
            match self.tag(&mut random).await {
                Some(took) => spent += took,
                None if is_last => return spent,
                None => tokio::time::sleep(IDLE).await,
            }
        }
    }

    fn memory(&self, number: u64) -> Memory {
        let (namespaces, tells) = (self.workload.namespaces, number / self.workload.namespaces);
        let namespace = name(number % namespaces);
        let (talk, seq) = (tells / TURNS, tells % TURNS);
        let mut memory = Memory::new(self.texts.text(number)).robot("assistant");
        if Random(talk.wrapping_mul(77) ^ (number % namespaces)).unit() < self.workload.turns {
            memory.session = Some(format!("{namespace}-conversation-{talk:012}"));
            memory.seq = Some(seq as i32);
            memory.speaker = Some(if seq.is_multiple_of(2) { "Mara" } else { "assistant" }.into());
        }
        memory.namespace(namespace)
    }

    /// Claims embed jobs and ends them with vectors. None: there are none.
    async fn embed(&self, model: &embeddings::RegisteredModel, random: &mut Random) -> Option<Duration> {
        let (lease, claimed) = self.claim(Stage::Embed, &model.label).await?;
        let embedded = |(job, payload): (String, Payload)| Embedded {
            job,
            node: payload.node,
            revision: payload.revision,
            embedding: vector(random, model.dimensions),
            parts: 1,
        };
        let embedded: Vec<Embedded> = claimed.into_iter().map(embedded).collect();
        let (took, written) = timed(jobs::ack_embedded(self.pool, &lease, model, &embedded)).await;
        assert_eq!(written.expect("written"), embedded.len());
        Some(took)
    }

    /// Claims tag jobs and ends them with tags. None: there are none.
    async fn tag(&self, random: &mut Random) -> Option<Duration> {
        let model = model();
        let (lease, claimed) = self.claim(Stage::Tag, &model.to_string()).await?;
        let nodes: Vec<NodeId> = claimed.iter().map(|(_, payload)| payload.node).collect();
        let namespaces: Vec<String> = sqlx::query_scalar(
            "select n.namespace from unnest($1) with ordinality u(id, ord) join htm.nodes n on n.id = u.id order by u.ord",
        )
        .bind(&nodes)
        .fetch_all(self.pool)
        .await
        .expect("namespaces");
        let tagged = |((job, payload), namespace): ((String, Payload), String)| Tagged {
            job,
            node: payload.node,
            namespace,
            revision: payload.revision,
            tags: self.suggestions(random),
        };
        let tagged: Vec<Tagged> = claimed.into_iter().zip(namespaces).map(tagged).collect();
        let rules = TagRules::default();
        let by = TaggedBy { model: &model, version: VERSION, origin: TagOrigin::Local, rules: &rules };
        let (took, written) = timed(jobs::ack_tagged(self.pool, &lease, by, &tagged)).await;
        assert_eq!(written.expect("written"), tagged.len());
        Some(took)
    }

    async fn claim(&self, stage: Stage, model: &str) -> Option<(Lease, Vec<(String, Payload)>)> {
        let queue = stage.queue();
        let claimed = jobs::claim(self.pool, queue, model, &worker(queue), CHUNK).await.expect("claimed");
        let (lease, claimed) = claimed?;
        let decoded = claimed.into_iter().map(|job| (job.id, Payload::decode(&job.payload).expect("ours")));
        Some((lease, decoded.collect()))
    }

    /// Tags, of which some are frequent. Their number is the workload's on average.
    fn suggestions(&self, random: &mut Random) -> Vec<TagSuggestion> {
        let number = (self.workload.tags + random.unit()).floor() as usize;
        let mut places: Vec<usize> = Vec::new();
        while places.len() < number.min(self.tags.len()) {
            let place = (random.unit() * random.unit() * self.tags.len() as f64) as usize;
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let suggestion =
            |place: usize| TagSuggestion { path: self.tags[place].clone(), confidence: Some(0.5) };
        places.into_iter().map(suggestion).collect()
    }
}

/// The terms of the templates.
fn terms() -> Vec<TagPath> {
    let tables = TEMPLATES.map(|template| toml::from_str::<toml::Table>(template).expect("a template"));
    let terms = tables.iter().flat_map(|table| table["terms"].as_table().expect("terms").keys());
    let terms: BTreeSet<&String> = terms.collect();
    terms.into_iter().map(|term| term.parse().expect("a tag")).collect()
}

/// The name of a namespace.
pub(crate) fn name(number: u64) -> String {
    format!("tenant-{number:05}")
}

/// A model with a name of the usual length.
pub(crate) fn model() -> ModelName {
    ModelName::new("local", "all-MiniLM-L6-v2")
}

fn worker(queue: &str) -> String {
    match queue == Stage::Embed.queue() {
        true => WORKER.into(),
        false => WORKER.replace("embed-", "tag-"),
    }
}

/// A vector near one of the centres.
pub(crate) fn vector(random: &mut Random, dimensions: usize) -> Vec<f32> {
    let mut centre = Random(random.below(CENTRES as usize) as u64);
    let part = |random: &mut Random| random.unit() as f32 - 0.5;
    let mut vector: Vec<f32> = (0..dimensions).map(|_| part(&mut centre) + part(random)).collect();
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

async fn run(pool: &PgPool, sql: &str) {
    let mut connection = pool.acquire().await.expect("a connection");
    sqlx::raw_sql("set statement_timeout = 0").execute(&mut *connection).await.expect("set");
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut *connection).await.expect(sql);
}

/// The end of the write-ahead log, in bytes since its beginning.
async fn wal(pool: &PgPool) -> i64 {
    let position = "select (pg_current_wal_insert_lsn() - '0/0')::bigint";
    sqlx::query_scalar(position).fetch_one(pool).await.expect("a position")
}

/// The time of a call, and its result.
async fn timed<T>(call: impl Future<Output = T>) -> (Duration, T) {
    let started = Instant::now();
    let result = call.await;
    (started.elapsed(), result)
}
