//! Two real processes: one is killed, or stopped, and the other takes over.

use std::time::{Duration, Instant};

use htm_tests::{Running, Sandbox, TestDatabase, wait_until};
use nix::sys::signal::Signal;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

const LEASE: &str = "1s";
/// The promise, a lease and a heartbeat, and the time that a notification and a busy machine may take.
const BOUND: Duration = Duration::from_millis(1_000 + 334 + 2_000);

struct Member {
    process: Running,
    stdin: ChildStdin,
}

impl Member {
    async fn join(sandbox: &Sandbox, robot: &str, role: &str, lease: &str) -> Self {
        let join = ["--json", "groups", "join", "crew", "--robot", robot, role, "--lease", lease];
        let mut process = sandbox.start("htm", &join);
        let stdin = process.stdin();
        let member = Self { process, stdin };
        member.until(|event| event["event"] == "joined").await;
        member
    }

    async fn say(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        self.stdin.flush().await.unwrap();
    }

    /// The lines of JSON that it has said; logs are not JSON, and a line may be half written.
    fn events(&self) -> Vec<Value> {
        self.process.log().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn remembered(&self) -> Vec<i64> {
        let events = self.events();
        events.iter().filter(|it| it["event"] == "remembered").filter_map(|it| it["node"].as_i64()).collect()
    }

    async fn until(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        wait_until(|| async { self.events().iter().any(&is_it) }).await;
        self.events().into_iter().rfind(is_it).unwrap()
    }

    async fn memory(&mut self) -> Vec<i64> {
        let asked = self.events().iter().filter(|it| it["event"] == "memory").count();
        self.say("/memory").await;
        wait_until(|| async { self.events().iter().filter(|it| it["event"] == "memory").count() > asked })
            .await;
        let answer = self.until(|it| it["event"] == "memory").await;
        answer["nodes"].as_array().unwrap().iter().filter_map(Value::as_i64).collect()
    }
}

#[tokio::test]
async fn the_passive_one_takes_over_from_one_that_is_killed_and_nothing_is_lost() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut ada = Member::join(&sandbox, "ada", "--active", LEASE).await;
    let mut bob = Member::join(&sandbox, "bob", "--passive", LEASE).await;
    // In the middle of its work.
    for number in 0..200 {
        ada.say(&format!("Note {number} of ada.")).await;
    }
    wait_until(|| async { ada.remembered().len() >= 20 }).await;
    let killed = Instant::now();
    ada.process.signal(Signal::SIGKILL);
    bob.until(|event| event["event"] == "promoted").await;
    let took = killed.elapsed();
    assert!(took <= BOUND, "{took:?}");
    ada.process.end().await;
    let promised = ada.remembered();
    let held = bob.memory().await;
    assert!(promised.iter().all(|node| held.contains(node)), "{promised:?} {held:?}");
    // What was committed, promised or not, is in mind: both are one transaction.
    assert_eq!(held.len() as i64, db.count("select count(*) from htm.nodes").await);
    bob.say("Bob goes on.").await;
    bob.until(|event| event["event"] == "remembered").await;
    // Back again it follows.
    let mut ada = Member::join(&sandbox, "ada", "--passive", LEASE).await;
    assert_eq!(ada.memory().await, bob.memory().await);
    eprintln!("took over {} ms after the kill", took.as_millis());
}

#[tokio::test]
async fn one_that_was_stopped_does_not_write_when_it_comes_back() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut ada = Member::join(&sandbox, "ada", "--active", LEASE).await;
    let mut bob = Member::join(&sandbox, "bob", "--passive", LEASE).await;
    ada.say("The disk is full.").await;
    ada.until(|event| event["event"] == "remembered").await;
    let stopped = Instant::now();
    ada.process.signal(Signal::SIGSTOP);
    ada.say("This is too late.").await;
    bob.until(|event| event["event"] == "promoted").await;
    assert!(stopped.elapsed() <= BOUND, "{:?}", stopped.elapsed());
    bob.say("Bob writes now.").await;
    bob.until(|event| event["event"] == "remembered").await;
    ada.process.signal(Signal::SIGCONT);
    let error = ada.until(|event| event["event"] == "error").await;
    let code = error["code"].as_str().unwrap();
    // Whether its heartbeat or its write learns of it first.
    assert!(["group_member_replaced", "group_member_passive"].contains(&code), "{error}");
    ada.until(|event| event["event"] == "demoted").await;
    assert_eq!(db.count("select count(*) from htm.nodes where content = 'This is too late.'").await, 0);
    let memory = ada.memory().await;
    assert_eq!((memory.len(), memory), (2, bob.memory().await));
    // It is there to take over in its turn.
    bob.process.signal(Signal::SIGKILL);
    bob.process.end().await;
    ada.until(|event| event["event"] == "promoted").await;
    ada.say("Ada again.").await;
    wait_until(|| async { ada.remembered().len() == 2 }).await;
}

#[tokio::test]
async fn one_that_is_stopped_in_the_middle_of_a_write_does_not_hold_up_the_others() {
    let db = TestDatabase::new().await;
    let sandbox = Sandbox::new(&db);
    let mut ada = Member::join(&sandbox, "ada", "--active", LEASE).await;
    let mut bob = Member::join(&sandbox, "bob", "--passive", LEASE).await;
    for number in 0..300 {
        ada.say(&format!("Note {number} of ada.")).await;
    }
    let in_transaction = "select count(*) from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction' and query like '%group_memory%'";
    let mut caught = false;
    // Stopped again and again until it has the group's lock.
    while !caught && ada.remembered().len() < 250 {
        let before = ada.remembered().len();
        ada.process.signal(Signal::SIGSTOP);
        caught = db.count(in_transaction).await == 1;
        if !caught {
            ada.process.signal(Signal::SIGCONT);
            wait_until(|| async { ada.remembered().len() > before }).await;
        }
    }
    assert!(caught);
    let stopped = Instant::now();
    bob.until(|event| event["event"] == "promoted").await;
    assert!(stopped.elapsed() <= BOUND, "{:?}", stopped.elapsed());
    bob.say("Bob writes now.").await;
    bob.until(|event| event["event"] == "remembered").await;
    ada.process.signal(Signal::SIGCONT);
    ada.until(|event| event["event"] == "error").await;
    ada.until(|event| event["event"] == "demoted").await;
    let (promised, held) = (ada.remembered(), bob.memory().await);
    assert!(promised.iter().all(|node| held.contains(node)));
    assert_eq!(held.len() as i64, db.count("select count(*) from htm.nodes").await);
    assert_eq!(ada.memory().await, held);
}

#[tokio::test]
async fn the_end_of_input_hands_over_at_once() {
    let db = TestDatabase::new().await;
    // So long a lease that only a handover can be in time.
    let sandbox = Sandbox::new(&db);
    let Member { mut process, stdin } = Member::join(&sandbox, "ada", "--active", "10m").await;
    let bob = Member::join(&sandbox, "bob", "--passive", "10m").await;
    drop(stdin);
    assert_eq!(process.end().await.code(), Some(0));
    bob.until(|event| event["event"] == "promoted").await;
    bob.process.signal(Signal::SIGTERM);
    bob.until(|event| event["event"] == "left").await;
}
