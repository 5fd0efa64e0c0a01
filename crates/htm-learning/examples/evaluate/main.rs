//! The quality of learning on sets of questions whose relevant memories are known.
//!
//! `cargo run --release -p htm-learning --example evaluate -- DIR [complete|users|attacks] [SEEDS] [SIZES] [SET]`, where
//! DIR (or `HTM_LEARNING_SETS`) has a file `SET.jsonl` for each set. Each line is a question: `group`, `relevant` (the
//! number of relevant memories), `rows` (for each candidate, in the default's order, 1 or 0 for its relevance and its
//! features). Rankings are learnt from some questions and measured on groups that were left out.

mod data;
mod user;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use data::Question;
use fastrand::Rng;
use htm_core::ranking::Learnt;
use htm_learning::{JudgedRecall, Options, Outcome, learn};
use user::{User, judged};

const SETS: [&str; 4] = ["locomo-dev", "beam-100k-dev", "beam-user-dev", "scifact-dev"];

/// One fit: what was judged, and the questions that are measured.
struct Job {
    seed: u64,
    left_out: Vec<usize>,
}

/// The result of a job.
struct Done {
    seed: u64,
    outcome: Outcome,
    before: Vec<[f64; 2]>,
    after: Vec<[f64; 2]>,
    seconds: f64,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().or_else(|| std::env::var("HTM_LEARNING_SETS").ok());
    let Some(dir) = dir.map(PathBuf::from).filter(|dir| dir.is_dir()) else {
        println!("skipped: give a folder of sets, as an argument or in HTM_LEARNING_SETS");
        return;
    };
    let table = arguments.next().unwrap_or_else(|| "complete".into());
    let seeds: u64 = arguments.next().and_then(|seeds| seeds.parse().ok()).unwrap_or(3);
    let sizes = arguments.next().unwrap_or_else(|| "50,100,150,300,600".into());
    let sizes: Vec<usize> = sizes.split(',').filter_map(|size| size.parse().ok()).collect();
    let only = arguments.next().unwrap_or_default();
    println!(
        "set, judged: default → all learnt → adopted ones (R@10 nDCG@10) | worst seed, worst fit | adopted, with trees | s a fit"
    );
    for set in SETS.into_iter().filter(|set| set.contains(&only)) {
        run(&dir, set, &table, seeds, &sizes);
    }
}

fn run(dir: &Path, set: &str, table: &str, seeds: u64, sizes: &[usize]) {
    let Some(questions) = data::read(dir, set) else {
        println!("{set}: skipped, the folder has no such file");
        return;
    };
    let reader = |eta, mistakes| User::Reader { eta, mistakes };
    let honest = reader(0.7, 0.05);
    let users: Vec<(&str, User, Option<User>)> = match table {
        "users" => vec![
            ("eta .5", reader(0.5, 0.0), None),
            ("eta 1", reader(1.0, 0.0), None),
            ("eta .7, 5 % mistakes", honest, None),
        ],
        "attacks" => vec![
            ("all useless", honest, Some(User::Useless)),
            ("last shown one used", honest, Some(User::Junk)),
            ("deep one used", honest, Some(User::DeepJunk)),
            ("least similar one used", honest, Some(User::Against)),
            ("deep, complete", User::Complete, Some(User::DeepJunk)),
        ],
        _ => vec![("complete", User::Complete, None)],
    };
    let jobs: Vec<Job> = (0..seeds)
        .flat_map(|seed| folds(&questions, seed).into_iter().map(move |left_out| Job { seed, left_out }))
        .collect();
    for (name, honest, attacker) in users {
        for &size in sizes.iter().filter(|size| **size < questions.len()) {
            let done = in_parallel(&jobs, |job| one(&questions, job, size, honest, attacker));
            report(&format!("{set} {name} {size}"), &done);
        }
    }
}

/// The questions to leave out: a group, or two of many groups; without groups, a fifth of the questions.
fn folds(questions: &[Question], seed: u64) -> Vec<Vec<usize>> {
    let mut random = Rng::with_seed(seed);
    let groups = questions.iter().map(|question| question.group + 1).max().unwrap_or(0);
    if groups < 2 {
        let mut order: Vec<usize> = (0..questions.len()).collect();
        random.shuffle(&mut order);
        return order.chunks(questions.len().div_ceil(5)).map(<[usize]>::to_vec).collect();
    }
    let mut order: Vec<usize> = (0..groups).collect();
    random.shuffle(&mut order);
    let of =
        |groups: &[usize]| (0..questions.len()).filter(|at| groups.contains(&questions[*at].group)).collect();
    order.chunks(if groups > 5 { 2 } else { 1 }).map(of).collect()
}

fn one(questions: &[Question], job: &Job, size: usize, honest: User, attacker: Option<User>) -> Done {
    let mut random = Rng::with_seed(job.seed * 1000 + job.left_out[0] as u64);
    let mut order: Vec<usize> = (0..questions.len()).filter(|at| !job.left_out.contains(at)).collect();
    random.shuffle(&mut order);
    order.truncate(size);
    let groups = questions.iter().map(|question| question.group + 1).max().unwrap_or(1);
    let mut days: Vec<i64> = (0..groups as i64).collect();
    random.shuffle(&mut days);
    let mut recalls: Vec<JudgedRecall> = Vec::new();
    for (place, &at) in order.iter().enumerate() {
        let question = &questions[at];
        let block = (groups > 1).then(|| format!("block {}", question.group));
        let day = if groups > 1 { 30 * days[question.group] } else { 0 };
        let mut add = |user, author: &str| {
            let recall = judged(question, user, author, place, day, &mut random);
            let block = block.as_ref().map(|block| format!("{author}, {block}"));
            recalls.push(JudgedRecall { block, ..recall });
        };
        add(honest, "honest");
        if let Some(attacker) = attacker {
            add(attacker, "attacker");
        }
    }
    let start = Instant::now();
    let default = Learnt::default_ranking();
    let outcome = learn(&recalls, &default, &Options::default());
    let seconds = start.elapsed().as_secs_f64();
    let quality = |ranking: &Learnt| job.left_out.iter().map(|&at| questions[at].quality(ranking)).collect();
    Done { seed: job.seed, before: quality(&default), after: quality(&outcome.learnt), outcome, seconds }
}

/// Runs jobs on all cores, in the order of the jobs.
fn in_parallel(jobs: &[Job], run: impl Fn(&Job) -> Done + Sync) -> Vec<Done> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = Mutex::new(0..jobs.len());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(at) = next.lock().expect("no thread panics").next() else { break };
                    let result = run(&jobs[at]);
                    done.lock().expect("no thread panics").push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics");
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, done)| done).collect()
}

fn mean(values: impl Iterator<Item = [f64; 2]>) -> [f64; 2] {
    let (sum, count) =
        values.fold(([0.0; 2], 0.0), |(sum, count), [a, b]| ([sum[0] + a, sum[1] + b], count + 1.0));
    sum.map(|sum| sum / f64::max(count, 1.0))
}

fn report(name: &str, done: &[Done]) {
    let of = |done: &Done, adopted: bool| {
        if !adopted || done.outcome.adopted { done.after.clone() } else { done.before.clone() }
    };
    let [before, learnt, adopted] = [
        mean(done.iter().flat_map(|it| it.before.clone())),
        mean(done.iter().flat_map(|it| of(it, false))),
        mean(done.iter().flat_map(|it| of(it, true))),
    ];
    let seeds = done.iter().map(|it| it.seed + 1).max().unwrap_or(0);
    let change = |fits: &mut dyn Iterator<Item = &Done>| {
        let fits: Vec<&Done> = fits.collect();
        mean(fits.iter().flat_map(|it| of(it, true)))[0]
            - mean(fits.iter().flat_map(|it| it.before.clone()))[0]
    };
    let worst_seed =
        (0..seeds).map(|seed| change(&mut done.iter().filter(|it| it.seed == seed))).fold(1.0, f64::min);
    let worst_fit = done.iter().map(|it| change(&mut std::iter::once(it))).fold(1.0, f64::min);
    let share =
        |of: fn(&Outcome) -> bool| 100 * done.iter().filter(|it| of(&it.outcome)).count() / done.len();
    println!(
        "{name}: {:.4} {:.4} → {:.4} {:.4} → {:.4} {:.4} | {worst_seed:+.4} {worst_fit:+.4} | {} % {} % | {:.2}",
        before[0],
        before[1],
        learnt[0],
        learnt[1],
        adopted[0],
        adopted[1],
        share(|it| it.adopted),
        share(|it| it.adopted && !it.learnt.trees.is_empty()),
        done.iter().map(|it| it.seconds).sum::<f64>() / done.len() as f64,
    );
    if std::env::var("REASONS").is_ok() {
        for it in done {
            println!(
                "   {:+.3} {:+.3}  {:?} {:?} {}",
                it.outcome.figures.recall_after - it.outcome.figures.recall_before,
                mean(it.after.iter().copied())[0] - mean(it.before.iter().copied())[0],
                it.outcome.figures.gain,
                it.outcome.figures.gain_of_trees,
                it.outcome.reason
            );
        }
    }
}
