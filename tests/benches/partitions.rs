//! The memories in one table and in partitions by namespace: writes, recall, vacuum, builds of the vectors' index, and how long a
//! change of the layout takes.
//!
//! `./justw bench-partitions`; `-- --nodes 1000000 --partitions 0,16,64`. A tenth of the nodes is in one namespace, the
//! others in 10,000. Vectors have `--dimensions` 384. The layouts are measured one after the other on the same rows, as
//! `htm db repartition` makes them; a single one is made before the rows, which needs half the disk. `--memory 2GB` is what a
//! build of an index may use. Latency of recall is the database's, without the query's embedding.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use htm_core::provider::{Embedder, Embedding, ModelName, ProviderError, Purpose};
use htm_core::{Filter, Htm, Memory, RecallQuery, Settings, Strategy};
use htm_tests::OwnServer;
use htm_tests::measure::{Random, Table, argument, load, percentile_ms};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, PgPool};

/// Namespaces beside the large one.
const NAMESPACES: usize = 10_000;
/// Rounds that are not counted: caches warm up.
const WARM: usize = 20;

/// 1,000 centres, and near each the sums with 997 small vectors. A text has a dozen of 16,384 words.
/// Foreign keys are not checked: in partitions PostgreSQL plans the check of each row, which takes longer than the rows.
const FILL: &str = "
    select setseed(0.5), htm.register_embedding_model('bench', 'sums', {{dimensions}});
    drop index htm.embeddings_1_hnsw_idx;
    insert into htm.robots (namespace, name) select 't' || i, 'htm' from generate_series(0, {{namespaces}} - 1) i;
    insert into htm.robots (namespace, name) values ('large', 'htm');
    create temporary table part as
    select i, array(select (random() - 0.5) * case when i < 1000 then 1 else 0.3 end
                      from generate_series(1, {{dimensions}}) where i is not null)::real[]::halfvec as v
      from generate_series(0, 1996) i;
    insert into htm.nodes (namespace, robot_id, content, content_hash, token_count, token_encoding, created_at)
    select case i % 10 when 0 then 'large' else 't' || (i / 10 * 9 + i % 10) % {{namespaces}} end,
           case i % 10 when 0 then {{namespaces}} + 1 else (i / 10 * 9 + i % 10) % {{namespaces}} + 1 end,
           array_to_string(array(select 'w' || (hashint8(i * 16 + k) & 16383) from generate_series(1, 12) k), ' '),
           sha256(i::text::bytea), 12, 'none', now() - i * interval '1 second'
      from generate_series(1::bigint, {{nodes}}) i;
    set session_replication_role = replica;
    insert into htm.embeddings_1 (node_id, namespace, created_at, revision, embedding)
    select n.id, n.namespace, n.created_at, 1, c.v + s.v
      from htm.nodes n join part c on c.i = n.id % 1000 join part s on s.i = 1000 + n.id % 997;
    insert into htm.completions (namespace, node_id, revision, stage, model, outcome, worker, attempt)
    select n.namespace, n.id, 1, s.stage, 'bench/sums', 'embedded', 'bench', 1
      from htm.nodes n cross join (values ('embed'), ('tag')) s(stage);
    set session_replication_role = origin;
    select htm.refresh_statistics('large');
    select htm.refresh_statistics('t' || i) from generate_series(0, 199) i;";

/// The vector of a question is that of a node, which stands at the question's end.
struct Sums {
    model: ModelName,
    pool: PgPool,
}

#[async_trait]
impl Embedder for Sums {
    fn model(&self) -> &ModelName {
        &self.model
    }

    async fn dimensions(&self) -> Result<usize, ProviderError> {
        let dimensions = "select dimensions from htm.embedding_models";
        let dimensions: i32 = sqlx::query_scalar(dimensions).fetch_one(&self.pool).await.expect("a model");
        Ok(dimensions as usize)
    }

    async fn embed(&self, texts: &[String], _: Purpose) -> Result<Vec<Embedding>, ProviderError> {
        let mut embeddings = Vec::new();
        for text in texts {
            let node: i64 =
                text.rsplit_once(" n").and_then(|(_, node)| node.parse().ok()).expect("a question");
            let sql = "select embedding from htm.embeddings_1 where node_id = $1";
            let vector: pgvector::HalfVector =
                sqlx::query_scalar(sql).bind(node).fetch_one(&self.pool).await.expect("a vector");
            let vector = vector.as_slice().iter().map(|x| x.to_f32()).collect();
            embeddings.push(Embedding { vector, parts: 1 });
        }
        Ok(embeddings)
    }
}

#[tokio::main]
async fn main() {
    let nodes: usize = argument("--nodes", 100_000);
    let dimensions: usize = argument("--dimensions", 384);
    let rounds: usize = argument("--rounds", 200);
    let layouts: String = argument("--partitions", "0,16,64".into());
    println!("{}, {nodes} nodes of {dimensions} dimensions, {rounds} questions each", load());
    let server = OwnServer::start().await;
    let memory: String = argument("--memory", "2GB".into());
    run(&server.pool, &format!("alter database htm set maintenance_work_mem = '{memory}'")).await;
    let options: PgConnectOptions = server.url().parse().expect("a URL");
    let layouts = layouts.split(',').map(|layout| layout.trim().parse());
    let layouts: Vec<u32> = layouts.collect::<Result<_, _>>().expect("--partitions takes numbers, as 0,16");
    if let [layout] = layouts[..] {
        htm_migration::repartition(&options, layout, &mut |_| {}).await.expect("changed");
    }
    let started = Instant::now();
    let fill = FILL
        .replace("{{dimensions}}", &dimensions.to_string())
        .replace("{{namespaces}}", &NAMESPACES.to_string())
        .replace("{{nodes}}", &nodes.to_string());
    run(&server.pool, &fill).await;
    println!("filled in {:.0} s", started.elapsed().as_secs_f64());
    let table = Table::new(&[
        ("partitions", 10),
        ("change s", 8),
        ("index s", 8),
        ("vacuum s", 8),
        ("write p50", 9),
        ("p95", 7),
        ("small vector", 12),
        ("p95", 7),
        ("small hybrid", 12),
        ("p95", 7),
        ("large vector", 12),
        ("p95", 7),
        ("large hybrid", 12),
        ("p95", 7),
    ]);
    for partitions in layouts {
        let row = measure(&server, &options, partitions, nodes, rounds).await;
        table.row(row);
    }
    println!("{}", load());
}

/// A row of the table.
async fn measure(
    server: &OwnServer,
    options: &PgConnectOptions,
    partitions: u32,
    nodes: usize,
    rounds: usize,
) -> Vec<String> {
    // Connections of the former layout have its plans.
    let pool =
        htm_core::pool_options().max_connections(4).connect_with(options.clone()).await.expect("connected");
    let drop_index = "drop index if exists htm.embeddings_1_hnsw_idx";
    run(&pool, drop_index).await;
    let started = Instant::now();
    htm_migration::repartition(options, partitions, &mut |_| {}).await.expect("changed");
    let change = started.elapsed();
    let started = Instant::now();
    let build: Vec<String> =
        sqlx::query_scalar("select htm.embedding_index(1, '')").fetch_all(&pool).await.expect("statements");
    for statement in build {
        run(&pool, &statement).await;
    }
    let index = started.elapsed();
    run(&pool, "vacuum analyze htm.nodes; vacuum analyze htm.embeddings_1; vacuum analyze htm.completions")
        .await;
    run(&pool, "update htm.nodes set updated_at = updated_at where id % 100 = 3").await;
    let started = Instant::now();
    run(&pool, "vacuum htm.nodes").await;
    let vacuum = started.elapsed();

    let sums = Arc::new(Sums { model: ModelName::new("bench", "sums"), pool: server.pool.clone() });
    let settings = Settings { embedding_model: sums.model.clone(), ..Settings::default() };
    let htm = Htm::with_pool(pool, settings, Some(sums));
    let mut row = vec![
        partitions.to_string(),
        format!("{:.1}", change.as_secs_f64()),
        format!("{:.1}", index.as_secs_f64()),
        format!("{:.2}", vacuum.as_secs_f64()),
    ];
    let mut random = Random(u64::from(partitions) + 1);
    let mut times = Vec::new();
    for round in 0..WARM + rounds {
        let text = format!("live {} of {partitions} in round {round}", random.below(1 << 30));
        let memory = Memory::new(text).namespace(format!("t{}", random.below(NAMESPACES)));
        let started = Instant::now();
        htm.remember(memory).await.expect("written");
        if round >= WARM {
            times.push(started.elapsed());
        }
    }
    push(&mut row, &times);
    for is_large in [false, true] {
        for strategy in [Strategy::Vector, Strategy::Hybrid] {
            push(&mut row, &ask(&htm, nodes, rounds, is_large, strategy).await);
        }
    }
    row
}

fn push(row: &mut Vec<String>, times: &[Duration]) {
    row.push(format!("{:.2}", percentile_ms(times, 0.5)));
    row.push(format!("{:.2}", percentile_ms(times, 0.95)));
}

/// How long each question took in the database.
async fn ask(htm: &Htm, nodes: usize, rounds: usize, is_large: bool, strategy: Strategy) -> Vec<Duration> {
    let mut random = Random(7);
    let mut times = Vec::new();
    for round in 0..WARM + rounds {
        let node = random.below(nodes - 1) + 1;
        let words: Vec<String> = (0..3).map(|_| format!("w{}", random.below(16_384))).collect();
        let namespace = if is_large { "large".to_owned() } else { format!("t{}", random.below(200)) };
        let query = RecallQuery::new(format!("{} n{node}", words.join(" ")))
            .strategy(strategy)
            .filter(Filter::default().namespace(namespace))
            .limit(10);
        let recalled = htm.recall(&query).await.expect("recalled");
        if round >= WARM {
            times.push(Duration::from_secs_f64(recalled.search_ms / 1_000.0));
        }
    }
    times
}

/// Runs statements, each by itself, on one connection.
async fn run(pool: &PgPool, sql: &str) {
    let mut connection = pool.acquire().await.expect("a connection");
    for statement in sql.split(';').filter(|statement| !statement.trim().is_empty()) {
        sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut *connection).await.expect(statement);
    }
}
