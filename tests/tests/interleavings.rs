//! The job's states and transitions (ARCHITECTURE.md draws them) as a model in Rust, and PostgreSQL driven beside it by
//! whatever workers and operators may do, in any order: after each step both agree.

use std::collections::BTreeMap;
use std::time::Duration;

use htm_core::jobs::Selection;
use htm_core::provider::ModelName;
use htm_core::worker::embeddings::{self, RegisteredModel};
use htm_core::worker::jobs::{self, Embedded, Failed, Lease, RescueWait, Superseded, SupersededAck, Verdict};
use htm_core::worker::queues;
use htm_core::worker::workers::{self, Unseen};
use htm_core::{Caller, Confirmation, Edit, Htm, Memory, NodeId};
use htm_tests::TestDatabase;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const QUEUE: &str = "htm.embed";
const WORKERS: usize = 3;
const MAX_ATTEMPTS: i32 = 3;

/// A step that may happen next. Numbers choose among what there is.
#[derive(Clone, Debug)]
enum Step {
    Remember,
    Edit(usize),
    Forget(usize),
    Restore(usize),
    Claim {
        worker: usize,
        limit: usize,
    },
    Renew(usize),
    /// The worker is not seen for longer than its lease.
    Vanish(usize),
    /// Somebody takes down who has not been seen.
    Look,
    /// Of those taken down at the last look.
    Rescue,
    /// By a claim of long ago as well as of just now.
    Ack {
        claim: usize,
    },
    /// By who found no text, which was true when it was read.
    AckSuperseded {
        claim: usize,
    },
    Fail {
        claim: usize,
        how: u8,
    },
    Release(usize),
    Cancel(usize),
    Retry(usize),
    Prune,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Pending,
    Running(Lease),
    Done,
    Dead,
}

#[derive(Clone, Debug)]
struct Job {
    node: NodeId,
    revision: i32,
    state: State,
    attempts: i32,
    /// How often its worker was lost while it held the job, since it last survived an attempt.
    losses: i32,
}

/// The expected state.
#[derive(Default)]
struct Model {
    jobs: BTreeMap<String, Job>,
    /// Every claim ever made: its lease and its jobs.
    claims: Vec<(Lease, Vec<String>)>,
    /// The revision that each node has.
    nodes: BTreeMap<NodeId, i32>,
    forgotten: Vec<NodeId>,
    /// How often the text of a revision was written.
    written: BTreeMap<(NodeId, i32), usize>,
    seen: [bool; WORKERS],
    /// Counts the changes of when each worker was last seen.
    epochs: [usize; WORKERS],
    /// The last look: what the database said, and which workers it means.
    looked: (Vec<Unseen>, Vec<(usize, usize)>),
}

struct World {
    db: TestDatabase,
    htm: Htm,
    embedding: RegisteredModel,
    model: Model,
}

#[test]
fn any_interleaving_keeps_the_contract() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (db, embedding) = runtime.block_on(async {
        let db = TestDatabase::new().await;
        let embedding = embeddings::register_model(&db.pool, &ModelName::new("fake", "m"), 4).await.unwrap();
        (db, embedding)
    });
    let settings = htm_core::Settings {
        embedding_model: embedding.name.clone(),
        max_attempts: MAX_ATTEMPTS as u32,
        ..htm_core::Settings::default()
    };
    let htm = {
        let _inside = runtime.enter();
        Htm::with_pool(db.pool.clone(), settings, None)
    };
    let mut world = World { db, htm, embedding, model: Model::default() };
    let mut runner = TestRunner::new(Config {
        cases: 48,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..Config::default()
    });
    let world = std::cell::RefCell::new(&mut world);
    let result = runner.run(&proptest::collection::vec(step(), 1..60), |steps| {
        let mut world = world.borrow_mut();
        runtime.block_on(async {
            world.reset().await;
            for step in steps {
                world.take(&step).await;
                world.compare(&step).await?;
            }
            Ok(())
        })
    });
    result.unwrap();
}

fn step() -> impl Strategy<Value = Step> {
    let worker = 0..WORKERS;
    let any = 0..1_000_usize;
    prop_oneof![
        3 => Just(Step::Remember),
        2 => any.clone().prop_map(Step::Edit),
        2 => any.clone().prop_map(Step::Forget),
        2 => any.clone().prop_map(Step::Restore),
        5 => (worker.clone(), 1..4_usize).prop_map(|(worker, limit)| Step::Claim { worker, limit }),
        1 => worker.clone().prop_map(Step::Renew),
        2 => worker.clone().prop_map(Step::Vanish),
        3 => Just(Step::Look),
        3 => Just(Step::Rescue),
        5 => any.clone().prop_map(|claim| Step::Ack { claim }),
        2 => any.clone().prop_map(|claim| Step::AckSuperseded { claim }),
        3 => (any.clone(), 0..4_u8).prop_map(|(claim, how)| Step::Fail { claim, how }),
        1 => worker.prop_map(Step::Release),
        1 => any.clone().prop_map(Step::Cancel),
        2 => any.prop_map(Step::Retry),
        1 => Just(Step::Prune),
    ]
}

impl World {
    async fn reset(&mut self) {
        let clean = "delete from apalis.jobs; delete from apalis.workers; delete from htm.completions;
                     delete from htm.embeddings_1; delete from htm.nodes";
        sqlx::raw_sql(clean).execute(&self.db.pool).await.unwrap();
        self.model = Model { seen: [true; WORKERS], ..Model::default() };
        for worker in 0..WORKERS {
            workers::register(&self.db.pool, QUEUE, &name(worker), "test", 30_000).await.unwrap();
        }
    }

    /// Does the step in both worlds.
    async fn take(&mut self, step: &Step) {
        let pool = &self.db.pool;
        match step {
            Step::Remember => {
                let node = self
                    .htm
                    .remember(Memory::new(format!("something, {}", ulid::Ulid::new())))
                    .await
                    .unwrap()
                    .node;
                self.model.nodes.insert(node, 1);
                self.enqueued(node).await;
            }
            Step::Edit(choice) => {
                let Some(node) = pick(self.model.live(), *choice) else { return };
                let text = format!("edited, {}", ulid::Ulid::new());
                let edited = self.htm.edit(node, &Edit::new().content(text)).await.unwrap();
                for job in self.model.jobs.values_mut().filter(|job| job.node == node) {
                    if matches!(job.state, State::Pending | State::Dead) {
                        job.state = State::Done;
                    }
                }
                self.model.nodes.insert(node, edited.revision);
                self.enqueued(node).await;
            }
            Step::Restore(choice) => {
                let Some(node) = pick(self.model.forgotten.iter().copied(), *choice) else { return };
                self.htm.restore(node, &Caller::Handle).await.unwrap();
                self.model.forgotten.retain(|forgotten| *forgotten != node);
                if self.model.lacks_a_job(node) {
                    self.enqueued(node).await;
                }
            }
            Step::Forget(choice) => {
                let Some(node) = pick(self.model.live(), *choice) else { return };
                self.htm.forget(node, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
                self.model.forgotten.push(node);
                self.model.jobs.retain(|_, job| {
                    job.node != node || matches!(job.state, State::Running(_) | State::Done)
                });
            }
            Step::Claim { worker, limit } => {
                let pending = self.model.jobs.values().filter(|job| job.state == State::Pending);
                let pending: Vec<i32> = pending.map(|job| job.losses.min(2)).collect();
                let claimed =
                    jobs::claim(pool, QUEUE, &self.embedding.label, &name(*worker), *limit).await.unwrap();
                let ids: Vec<String> =
                    claimed.iter().flat_map(|(_, jobs)| jobs.iter().map(|job| job.id.clone())).collect();
                let Some((lease, claimed)) = claimed else {
                    return assert!(pending.is_empty(), "{pending:?}");
                };
                if pending.iter().all(|losses| *losses == 0) {
                    assert_eq!(ids.len(), pending.len().min(*limit), "as many as there are, up to the limit");
                }
                // Suspects are claimed alone: an eighth of so small a batch is one.
                let losses: Vec<i32> = ids.iter().map(|id| self.model.jobs[id].losses).collect();
                assert!(losses.iter().all(|losses| *losses == 0) || losses.len() == 1, "{losses:?}");
                for claimed in claimed {
                    let job = self.model.jobs.get_mut(&claimed.id).expect("a job of the model");
                    assert_eq!(job.state, State::Pending, "only what waits is claimed");
                    job.attempts += 1;
                    assert_eq!(claimed.attempt, job.attempts);
                    job.state = State::Running(lease.clone());
                }
                self.model.claims.push((lease, ids));
            }
            Step::Renew(worker) => {
                assert!(workers::heartbeat(pool, &name(*worker), None).await.unwrap());
                self.model.seen[*worker] = true;
                self.model.epochs[*worker] += 1;
            }
            Step::Vanish(worker) => {
                sqlx::query("update apalis.workers set last_seen = now() - interval '1 hour' where id = $1")
                    .bind(name(*worker))
                    .execute(pool)
                    .await
                    .unwrap();
                self.model.seen[*worker] = false;
                self.model.epochs[*worker] += 1;
            }
            Step::Look => {
                let unseen = workers::unseen(pool).await.unwrap();
                let meant = (0..WORKERS)
                    .filter(|worker| unseen.iter().any(|unseen| unseen.worker == name(*worker)))
                    .map(|worker| (worker, self.model.epochs[worker]))
                    .collect::<Vec<_>>();
                assert!(meant.iter().all(|(worker, _)| !self.model.seen[*worker]));
                assert_eq!(meant.len(), unseen.len());
                self.model.looked = (unseen, meant);
            }
            Step::Rescue => {
                let (unseen, meant) = self.model.looked.clone();
                let at_once = RescueWait { base: Duration::ZERO, cap: Duration::ZERO };
                jobs::rescue(pool, &unseen, at_once).await.unwrap();
                let meant = meant.iter().filter(|(worker, epoch)| *epoch == self.model.epochs[*worker]);
                for worker in meant.map(|(worker, _)| name(*worker)).collect::<Vec<_>>() {
                    let held_by_it =
                        |job: &Job| matches!(&job.state, State::Running(lease) if lease.worker == worker);
                    let held = self.model.jobs.values().filter(|job| held_by_it(job)).count();
                    for job in self.model.jobs.values_mut().filter(|job| held_by_it(job)) {
                        job.losses += 1;
                        let used_up = job.attempts >= MAX_ATTEMPTS;
                        // Of several it is not known which one ended the worker.
                        if used_up && (held == 1 || job.losses >= MAX_ATTEMPTS + 5) {
                            job.state = State::Dead;
                        } else {
                            job.state = State::Pending;
                            job.attempts -= i32::from(used_up);
                        }
                    }
                }
            }
            Step::Ack { claim } => {
                let Some((lease, ids)) = pick(self.model.claims.iter().cloned(), *claim) else { return };
                let results: Vec<Embedded> = ids
                    .iter()
                    .filter_map(|id| {
                        let Job { node, revision, .. } = *self.model.jobs.get(id)?;
                        Some(Embedded { job: id.clone(), node, revision, embedding: vec![0.5; 4], parts: 1 })
                    })
                    .collect();
                let held = jobs::ack_embedded(pool, &lease, &self.embedding, &results).await.unwrap();
                let ours = self.model.held_by(&lease);
                assert_eq!(held, ours.len(), "only the holder's are acked");
                for id in ours {
                    let lives = self.model.lives(&id);
                    let job = self.model.jobs.get_mut(&id).expect("it is held");
                    job.state = State::Done;
                    if lives {
                        *self.model.written.entry((job.node, job.revision)).or_default() += 1;
                    }
                }
            }
            Step::AckSuperseded { claim } => {
                let Some((lease, ids)) = pick(self.model.claims.iter().cloned(), *claim) else { return };
                let superseded: Vec<Superseded> = ids
                    .iter()
                    .filter_map(|id| {
                        let Job { node, revision, .. } = *self.model.jobs.get(id)?;
                        Some(Superseded { job: id.clone(), node, revision })
                    })
                    .collect();
                let acked = jobs::ack_superseded(pool, &lease, &superseded).await.unwrap();
                let (released, ended): (Vec<_>, Vec<_>) =
                    self.model.held_by(&lease).into_iter().partition(|id| self.model.lives(id));
                assert_eq!(acked, SupersededAck { ended: ended.len(), released: released.len() });
                for id in ended {
                    self.model.jobs.get_mut(&id).expect("it is held").state = State::Done;
                }
                for id in released {
                    let job = self.model.jobs.get_mut(&id).expect("it is held");
                    job.state = State::Pending;
                    job.attempts -= 1;
                }
            }
            Step::Fail { claim, how } => {
                let Some((lease, ids)) = pick(self.model.claims.iter().cloned(), *claim) else { return };
                let verdict = match how {
                    0 => Verdict::Retry { delay_ms: 0 },
                    1 => Verdict::Defer { delay_ms: 0 },
                    2 => Verdict::OverBudget { until: lease.claimed_at, tokens: 1 },
                    _ => Verdict::Dead,
                };
                let failures: Vec<Failed> = ids
                    .iter()
                    .map(|id| Failed { job: id.clone(), reason: "a test".into(), verdict })
                    .collect();
                jobs::fail(pool, &lease, &failures, Duration::MAX).await.unwrap();
                // What is parked is due again in this model at once.
                sqlx::query("update apalis.jobs set run_at = now() where status = 'Pending'")
                    .execute(pool)
                    .await
                    .unwrap();
                for id in self.model.held_by(&lease) {
                    let job = self.model.jobs.get_mut(&id).expect("it is held");
                    job.state = match verdict {
                        Verdict::Dead => State::Dead,
                        Verdict::Retry { .. } if job.attempts >= MAX_ATTEMPTS => State::Dead,
                        _ => State::Pending,
                    };
                    if matches!(verdict, Verdict::Defer { .. } | Verdict::OverBudget { .. }) {
                        job.attempts -= 1;
                    } else {
                        job.losses = 0;
                    }
                }
            }
            Step::Release(worker) => {
                jobs::release_unheld(pool, &name(*worker), &[]).await.unwrap();
                for job in self.model.jobs.values_mut() {
                    if matches!(&job.state, State::Running(lease) if lease.worker == name(*worker)) {
                        job.state = State::Pending;
                        job.attempts -= 1;
                    }
                }
            }
            Step::Cancel(choice) => {
                let Some(id) = pick(self.model.jobs.keys().cloned(), *choice) else { return };
                let job = self.model.jobs.get_mut(&id).expect("it was picked");
                let fit = matches!(job.state, State::Pending | State::Running(_));
                let done =
                    self.htm.jobs().unwrap().cancel(&Selection::Ids(vec![id]), Confirmation::Confirmed).await;
                assert_eq!(done.is_ok(), fit, "{done:?}");
                if fit {
                    job.state = State::Dead;
                }
            }
            Step::Retry(choice) => {
                let Some(id) = pick(self.model.jobs.keys().cloned(), *choice) else { return };
                let lives = self.model.lives(&id);
                let job = self.model.jobs.get_mut(&id).expect("it was picked");
                let fit = matches!(job.state, State::Pending | State::Dead);
                let done = self.htm.jobs().unwrap().retry(&Selection::Ids(vec![id])).await;
                assert_eq!(done.is_ok(), fit, "{done:?}");
                // One whose node was forgotten or edited stays dead: there is nothing to do for it.
                if fit && lives {
                    job.state = State::Pending;
                    (job.attempts, job.losses) = (0, 0);
                }
            }
            Step::Prune => {
                queues::prune(pool, Duration::ZERO, 1_000).await.unwrap();
                self.model.jobs.retain(|_, job| job.state != State::Done);
            }
        }
    }

    /// Takes the job that was enqueued for a node's revision into the model.
    async fn enqueued(&mut self, node: NodeId) {
        let revision = self.model.nodes[&node];
        let ids: Vec<String> = sqlx::query_scalar(
            "select id from apalis.jobs
              where job_type = $1 and metadata -> 'node' = $2::text and metadata -> 'revision' = $3::text",
        )
        .bind(QUEUE)
        .bind(node.to_string())
        .bind(revision.to_string())
        .fetch_all(&self.db.pool)
        .await
        .unwrap();
        let new: Vec<String> = ids.into_iter().filter(|id| !self.model.jobs.contains_key(id)).collect();
        let [id] = <[String; 1]>::try_from(new).expect("one job");
        self.model.jobs.insert(id, Job { node, revision, state: State::Pending, attempts: 0, losses: 0 });
    }

    /// Both worlds are the same, and what must hold does.
    async fn compare(&self, step: &Step) -> Result<(), TestCaseError> {
        let pool = &self.db.pool;
        let rows: Vec<(String, String, i32, Option<String>)> = sqlx::query_as(
            "select id, status, attempts, lock_by from apalis.jobs where job_type = $1 order by id",
        )
        .bind(QUEUE)
        .fetch_all(pool)
        .await
        .unwrap();
        let model: Vec<(String, String, i32, Option<String>)> = self
            .model
            .jobs
            .iter()
            .map(|(id, job)| {
                let (status, holder) = match &job.state {
                    State::Pending => ("Pending", None),
                    State::Running(lease) => ("Running", Some(lease.worker.clone())),
                    State::Done => ("Done", None),
                    State::Dead => ("Killed", None),
                };
                (id.clone(), status.into(), job.attempts, holder)
            })
            .collect();
        prop_assert_eq!(rows, model, "after {:?}", step);
        prop_assert!(self.model.written.values().all(|times| *times == 1), "nothing has its effect twice");
        let written: Vec<(NodeId, i32)> =
            sqlx::query_as("select node_id, revision from htm.embeddings_1 order by 1")
                .fetch_all(pool)
                .await
                .unwrap();
        // The last revision that was written, of each node.
        let expected: BTreeMap<NodeId, i32> = self.model.written.keys().copied().collect();
        prop_assert_eq!(written, expected.into_iter().collect::<Vec<_>>(), "after {:?}", step);
        let stranded: i64 = sqlx::query_scalar("select count(*) from htm.stranded where stage = 'embed'")
            .fetch_one(pool)
            .await
            .unwrap();
        prop_assert_eq!(stranded, 0, "after {:?}", step);
        Ok(())
    }
}

impl Model {
    fn live(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.keys().copied().filter(|node| !self.forgotten.contains(node))
    }

    /// Whether the node of a job lives, at the job's revision.
    fn lives(&self, job: &str) -> bool {
        let Job { node, revision, .. } = self.jobs[job];
        self.nodes[&node] == revision && !self.forgotten.contains(&node)
    }

    /// Whether nothing says or will say what a node's text is.
    fn lacks_a_job(&self, node: NodeId) -> bool {
        let now = (node, self.nodes[&node]);
        !self.written.contains_key(&now)
            && !self.jobs.values().any(|job| (job.node, job.revision) == now && job.state != State::Done)
    }

    /// The jobs that are held under exactly this claim now.
    fn held_by(&self, lease: &Lease) -> Vec<String> {
        let ours = |job: &Job| matches!(&job.state, State::Running(holder) if holder == lease);
        self.jobs.iter().filter(|(_, job)| ours(job)).map(|(id, _)| id.clone()).collect()
    }
}

fn pick<T>(from: impl Iterator<Item = T>, choice: usize) -> Option<T> {
    let mut all: Vec<T> = from.collect();
    (!all.is_empty()).then(|| all.swap_remove(choice % all.len()))
}

fn name(worker: usize) -> String {
    format!("worker-{worker}")
}
