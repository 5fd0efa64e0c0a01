//! Nodes with the statistics of text, and questions that are about them.

use async_trait::async_trait;
use htm_core::provider::{Embedder, Embedding, ModelName, ProviderError, Purpose};
use htm_tests::measure::Random;
use pgvector::HalfVector;
use sqlx::{AssertSqlSafe, PgPool};

const DIMENSIONS: usize = 384;
const WORDS: usize = 50_000;
const CLUSTERS: u64 = 1_000;
const CHUNK: usize = 5_000;

/// The written nodes, as far as questions need them.
pub(crate) struct Corpus {
    model: ModelName,
    nodes: usize,
    zipf: Zipf,
}

impl Corpus {
    /// Writes the nodes with their vectors, as workers would have, and makes the indexes that are made late.
    pub(crate) async fn fill(pool: &PgPool, nodes: usize) -> Self {
        let corpus = Self { model: ModelName::new("bench", "clusters"), nodes, zipf: Zipf::new(WORDS) };
        let run = async |sql: &str| {
            let mut connection = pool.acquire().await.expect("a connection");
            sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut *connection).await.expect(sql);
        };
        run("select htm.register_embedding_model('bench', 'clusters', 384);
             drop index htm.embeddings_1_hnsw_idx, htm.nodes_tsv_idx;
             insert into htm.robots (namespace, name) values ('default', 'many'), ('default', 'tenth'), ('small', 'few'), ('tenant', 'own');
             insert into htm.tags (namespace, path) values ('default', 'hundredth')")
        .await;
        for start in (0..nodes).step_by(CHUNK) {
            let ids: Vec<usize> = (start..nodes.min(start + CHUNK)).collect();
            sqlx::query(
                "with node as (
                    insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding,
                                           metadata, session, seq, created_at)
                    select namespace,
                           case namespace when 'small' then 3 when 'tenant' then 4 else case when i % 10 = 3 then 2 else 1 end end, content, sha256(i::text::bytea), 20,
                           'bench', case when i % 1000 = 7 then '{\"rare\": true}' else '{}' end::jsonb,
                           case when i / 20 % 2 = 0 then 'talk ' || i / 20 end, case when i / 20 % 2 = 0 then i % 20 end,
                           now() - (i * 37 % $4) * (interval '360 days' / $4)
                      from unnest($1::bigint[], $2::text[], $5::text[]) u(i, content, namespace) order by i
                    returning id, namespace, created_at, content_hash
                 ), stored as (
                    insert into htm.embeddings_1 (node_id, namespace, created_at, revision, embedding)
                    select n.id, n.namespace, n.created_at, 1, u.embedding
                      from unnest($1::bigint[], $3::halfvec[]) u(i, embedding)
                      join node n on n.content_hash = sha256(i::text::bytea)
                 )
                 insert into htm.node_tags (namespace, node_id, tag_id, origin)
                 select n.namespace, n.id, 1, 'manual' from unnest($1::bigint[]) i join node n on n.content_hash = sha256(i::text::bytea)
                  where i % 100 = 1 and n.namespace = 'default'",
            )
            .bind(ids.iter().map(|id| *id as i64).collect::<Vec<_>>())
            .bind(ids.iter().map(|id| corpus.text(*id)).collect::<Vec<_>>())
            .bind(ids.iter().map(|id| HalfVector::from_f32_slice(&vector_of(*id as u64, 0))).collect::<Vec<_>>())
            .bind(nodes as i64)
            .bind(ids.iter().map(|id| namespace_of(*id, nodes)).collect::<Vec<_>>())
            .execute(pool)
            .await
            .expect("written");
        }
        run("set maintenance_work_mem = '2GB'; set max_parallel_maintenance_workers = 2;
             create index nodes_tsv_idx on htm.nodes using gin (tsv);
             do $$ begin execute (select htm.embedding_index(1, '')); end $$;
             select htm.refresh_statistics('default'), htm.refresh_statistics('small'),
                    htm.refresh_statistics('tenant')")
        .await;
        run("vacuum analyze").await;
        corpus
    }

    pub(crate) fn model(&self) -> &ModelName {
        &self.model
    }

    /// Some words of a node, which its number stands before: the vector is near that node's.
    pub(crate) fn question(&self, round: usize) -> String {
        let node = round * 7_919 % self.nodes;
        let text = self.text(node);
        let words: Vec<&str> = text.split(' ').collect();
        let mut random = Random(round as u64);
        let picked: Vec<&str> = (0..5).map(|_| words[random.below(words.len())]).collect();
        format!("{} n{node}", picked.join(" "))
    }

    /// The vector of a question.
    pub(crate) fn vector(&self, question: &str) -> Vec<f32> {
        let node = question.rsplit_once(" n").and_then(|(_, node)| node.parse().ok()).expect("a question");
        vector_of(node, 1)
    }

    /// Five words to about a hundred, most of them a dozen.
    fn text(&self, node: usize) -> String {
        let mut random = Random(node as u64);
        let length = 5 + (random.unit() * random.unit() * random.unit() * 95.0) as usize;
        let words: Vec<String> = (0..length).map(|_| word(self.zipf.draw(random.unit()))).collect();
        words.join(" ")
    }
}

#[async_trait]
impl Embedder for Corpus {
    fn model(&self) -> &ModelName {
        &self.model
    }

    async fn dimensions(&self) -> Result<usize, ProviderError> {
        Ok(DIMENSIONS)
    }

    async fn embed(&self, texts: &[String], _: Purpose) -> Result<Vec<Embedding>, ProviderError> {
        Ok(texts.iter().map(|text| Embedding { vector: self.vector(text), parts: 1 }).collect())
    }
}

/// A hundred nodes have a namespace of their own, and a thousand another, spread over all.
fn namespace_of(node: usize, nodes: usize) -> &'static str {
    let is_one_of = |count: usize| {
        let step = (nodes / count).max(2);
        node % step == step / 2 && node / step < count
    };
    if is_one_of(100) {
        "small"
    } else if is_one_of(1_000) {
        "tenant"
    } else {
        "default"
    }
}

/// Around the centre of the node's cluster; `draw` tells the node's own from a question's.
fn vector_of(node: u64, draw: u64) -> Vec<f32> {
    let (mut centre, mut own, mut noise) =
        (Random(node % CLUSTERS), Random(node + 1_000_000), Random(node + draw * 7_000_000));
    let part = |random: &mut Random| random.unit() as f32 - 0.5;
    let mut vector: Vec<f32> = (0..DIMENSIONS)
        .map(|_| part(&mut centre) + part(&mut own) * 0.8 + part(&mut noise) * draw as f32 * 0.4)
        .collect();
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

/// A word of its own for each rank, the frequent ones short.
fn word(rank: usize) -> String {
    let (consonants, vowels) = (b"bdfgklmnprstvz", b"aeiou");
    let mut word = String::new();
    let mut rest = rank + 1;
    while rest > 0 {
        word.push(consonants[rest % 14] as char);
        rest /= 14;
        word.push(vowels[rest % 5] as char);
        rest /= 5;
    }
    word.push('x');
    word
}

/// Ranks by Zipf's law with exponent 1, as words of a language come.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(words: usize) -> Self {
        let mut sum = 0.0;
        Self(
            (1..=words)
                .map(|rank| {
                    sum += 1.0 / rank as f64;
                    sum
                })
                .collect(),
        )
    }

    fn draw(&self, unit: f64) -> usize {
        let sought = unit * self.0.last().copied().unwrap_or(1.0);
        self.0.partition_point(|sum| *sum < sought)
    }
}
