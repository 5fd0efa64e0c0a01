//! Relations between memories: who may set them, what recall says of them, and how they end.

use htm_core::{
    Caller, Confirmation, ContextHeader, ContextOptions, ContextOrder, Edit, Erase, Htm, JoinOptions, Memory,
    NodeId, Purge, RecallQuery, RelatedBy, RelationKind, Scope, Stage, Strategy, TimelineQuery,
};
use htm_tests::{TestDatabase, drain};

use RelationKind::{Contradicts, Supersedes};

async fn remember(htm: &Htm, text: &str) -> NodeId {
    htm.remember(Memory::new(text)).await.unwrap().node
}

async fn relate(htm: &Htm, from: NodeId, kind: RelationKind, to: NodeId) -> Result<bool, &'static str> {
    let made = htm.relate(from, kind, to, Some("it is newer"), &Caller::Handle).await;
    made.map(|made| made.is_new).map_err(|error| error.code())
}

fn fulltext(text: &str) -> RecallQuery {
    RecallQuery::new(text).strategy(Strategy::Fulltext)
}

async fn found(htm: &Htm, query: &RecallQuery) -> Vec<NodeId> {
    htm.recall(query).await.unwrap().hits.iter().map(|hit| hit.node.id).collect()
}

#[tokio::test]
async fn a_relation_is_set_once_listed_and_removed() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let (old, new) =
        (remember(&htm, "We run PostgreSQL 17.").await, remember(&htm, "We run PostgreSQL 18.").await);
    assert_eq!(relate(&htm, new, Supersedes, old).await, Ok(true));
    assert_eq!(relate(&htm, new, Supersedes, old).await, Ok(false));
    assert_eq!(relate(&htm, old, Contradicts, new).await, Ok(true));
    assert_eq!(relate(&htm, new, Contradicts, old).await, Ok(false), "contradiction has no direction");
    assert_eq!(db.count("select count(*) from htm.relations").await, 2);

    let ways = async |node, by| {
        let related = htm.related(node, by, 10).await.unwrap().related;
        related.into_iter().map(|it| (it.by, it.node, it.reason)).collect::<Vec<_>>()
    };
    let reason = || Some("it is newer".to_owned());
    assert_eq!(ways(old, Some(RelatedBy::SupersededBy)).await, [(RelatedBy::SupersededBy, new, reason())]);
    assert_eq!(ways(old, Some(RelatedBy::Supersedes)).await, []);
    let both = [(RelatedBy::Contradicts, old, reason()), (RelatedBy::Supersedes, old, reason())];
    assert_eq!(ways(new, None).await, both);

    let removed = htm.unrelate(new, Contradicts, old, &Caller::Handle).await.unwrap();
    assert_eq!((removed.from, removed.to, removed.robot.as_str()), (old, new, htm.settings().robot.as_str()));
    let again = htm.unrelate(new, Contradicts, old, &Caller::Handle).await.unwrap_err();
    assert_eq!(again.code(), "relation_unknown");
    htm.unrelate(new, Supersedes, old, &Caller::Handle).await.unwrap();
    assert_eq!(ways(old, None).await, []);
}

#[tokio::test]
async fn a_context_forgets_also_while_relations_do_not_answer() {
    let db = TestDatabase::new().await;
    let robot = db.htm().robot("architect").await.unwrap();
    let mut nodes = Vec::new();
    for text in ["The gate is B23.", "The flight is at nine.", "Mara prefers tabs."] {
        nodes.push(robot.remember(Memory::new(text)).await.unwrap().receipt.node);
    }
    robot.flush().await.unwrap();
    let options = ContextOptions::new(1_000).order(ContextOrder::Recent);
    let forget = async |node: NodeId| {
        let forgotten = "update htm.nodes set deleted_at = now() where id = $1";
        sqlx::query(forgotten).bind(node).execute(&db.pool).await.unwrap();
    };

    // They are locked.
    forget(nodes[0]).await;
    let mut lock = db.pool.begin().await.unwrap();
    sqlx::query("lock table htm.relations in access exclusive mode").execute(&mut *lock).await.unwrap();
    let answer = robot.context(&options).await;
    lock.rollback().await.unwrap();
    assert_eq!(answer.context.included, [nodes[2], nodes[1]]);
    assert_eq!(answer.unverified.unwrap().code, "database_unreachable");
    assert_eq!(robot.context(&options).await.unverified, None);

    // They fail.
    forget(nodes[1]).await;
    sqlx::query("alter table htm.relations rename to former_relations").execute(&db.pool).await.unwrap();
    let answer = robot.context(&options).await;
    assert_eq!(answer.context.included, [nodes[2]]);
    assert!(answer.unverified.is_some());
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let one = remember(&htm, "one").await;
    let elsewhere = htm.remember(Memory::new("elsewhere").namespace("other")).await.unwrap().node;
    let of_bob = htm.remember(Memory::new("by bob").robot("bob")).await.unwrap().node;
    assert_eq!(relate(&htm, one, Supersedes, one).await, Err("relation_invalid"));
    assert_eq!(relate(&htm, one, Supersedes, elsewhere).await, Err("relation_invalid"));
    assert_eq!(relate(&htm, one, Supersedes, NodeId(999_999)).await, Err("node_not_found"));
    assert_eq!(relate(&htm, of_bob, Supersedes, one).await, Err("not_owner"));
    assert_eq!(relate(&htm, one, Supersedes, of_bob).await, Ok(true), "the other may be of anybody");
    let bob = Caller::Robot("bob".into());
    assert!(htm.relate(of_bob, Contradicts, one, None, &bob).await.unwrap().is_new);
}

/// Four memories, each of which supersedes the one before.
async fn chain_of_four(htm: &Htm) -> [NodeId; 4] {
    let mut chain = [NodeId(0); 4];
    for (place, text) in ["one", "two", "three", "four"].into_iter().enumerate() {
        chain[place] = remember(htm, text).await;
    }
    for pair in chain.windows(2) {
        assert_eq!(relate(htm, pair[1], Supersedes, pair[0]).await, Ok(true));
    }
    chain
}

async fn successors(htm: &Htm, node: NodeId) -> Vec<NodeId> {
    htm.get(node).await.unwrap().superseded_by.iter().map(|it| it.node).collect()
}

#[tokio::test]
async fn a_fact_returns_to_a_former_value() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let [first, second, third, fourth] = chain_of_four(&htm).await;
    let made = htm.relate(first, Supersedes, fourth, None, &Caller::Handle).await.unwrap();
    let removed: Vec<_> = made.removed.iter().map(|it| (it.from, it.kind, it.to)).collect();
    assert!(made.is_new);
    assert_eq!(removed, [(second, Supersedes, first)]);
    for (node, by) in [(first, None), (fourth, Some(first)), (third, Some(fourth)), (second, Some(third))] {
        assert_eq!(successors(&htm, node).await, Vec::from_iter(by), "{node}");
    }
    // And back again: only what closes a circle is removed.
    let other = remember(&htm, "another successor of the first").await;
    relate(&htm, other, Supersedes, first).await.unwrap();
    assert_eq!(relate(&htm, fourth, Supersedes, first).await, Ok(true));
    assert_eq!(successors(&htm, fourth).await, []);
    assert_eq!(successors(&htm, first).await, [fourth, other]);
}

#[tokio::test]
async fn a_fact_returns_by_way_of_a_forgotten_memory() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let [first, second, _, fourth] = chain_of_four(&htm).await;
    htm.forget(second, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    assert_eq!(relate(&htm, first, Supersedes, second).await, Err("node_not_found"));
    assert_eq!(relate(&htm, first, Supersedes, fourth).await, Ok(true));
    htm.restore(second, &Caller::Handle).await.unwrap();
    assert_eq!(successors(&htm, first).await, []);
}

#[tokio::test]
async fn a_memory_is_of_the_robot_that_remembered_it_first() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let other = remember(&htm, "Lena likes roses.").await;
    let text = || Memory::new("Lena likes sunflowers.");
    let node = htm.remember(text().robot("planner")).await.unwrap().node;
    assert_eq!(htm.remember(text().robot("helper")).await.unwrap().node, node);
    let by =
        async |robot: &str| htm.relate(node, Supersedes, other, None, &Caller::Robot(robot.into())).await;
    let refused = by("helper").await.unwrap_err();
    assert_eq!(refused.code(), "not_owner");
    assert!(refused.to_string().contains("was first remembered by robot `planner`"), "{refused}");
    assert!(by("planner").await.unwrap().is_new);
}

#[tokio::test]
async fn a_relation_of_another_robots_memory_is_not_removed() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = remember(&htm, "coffee").await;
    let of_bob = htm.remember(Memory::new("tea").robot("bob")).await.unwrap().node;
    let third = remember(&htm, "cocoa").await;
    let bob = Caller::Robot("bob".into());
    htm.relate(of_bob, Supersedes, first, None, &bob).await.unwrap();
    assert_eq!(relate(&htm, third, Supersedes, of_bob).await, Ok(true));
    let error = htm.relate(first, Supersedes, third, None, &Caller::Handle).await.unwrap_err();
    assert_eq!(error.code(), "relation_cycle");
    let chain = format!("{third} supersedes {of_bob} supersedes {first}");
    assert!(error.to_string().ends_with(&chain), "{error}");
    let last = (of_bob.to_string(), first.to_string());
    assert_eq!(error.value("superseding").zip(error.value("superseded")), Some((&*last.0, &*last.1)));
    assert_eq!(error.value("robot"), Some("bob"));
    assert_eq!(successors(&htm, first).await, [of_bob]);
    let made = htm.relate(first, Supersedes, third, None, &Caller::AnyRobot).await.unwrap();
    assert_eq!(made.removed.len(), 1);
    assert_eq!(successors(&htm, first).await, []);
}

#[tokio::test]
async fn two_at_once_close_no_circle() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    for round in 0..10 {
        let a = remember(&htm, &format!("a {round}")).await;
        let b = remember(&htm, &format!("b {round}")).await;
        let both = tokio::join!(relate(&htm, a, Supersedes, b), relate(&htm, b, Supersedes, a));
        assert_eq!(both, (Ok(true), Ok(true)));
        // The later one holds.
        let (of_a, of_b) = (successors(&htm, a).await, successors(&htm, b).await);
        assert!((of_a == [b] && of_b.is_empty()) || (of_b == [a] && of_a.is_empty()), "{of_a:?} {of_b:?}");
    }
}

#[tokio::test]
async fn a_superseded_hit_says_so_and_its_successor_takes_its_place() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let old = remember(&htm, "ledger database ledger database: PostgreSQL 17").await;
    let other = remember(&htm, "the database of the ledger is backed up at night").await;
    let new =
        remember(&htm, "the ledger has moved to PostgreSQL 18 after long tests of the storage vendor").await;
    let unseen = remember(&htm, "an unrelated remark on the weather").await;
    let query = fulltext("ledger database");
    let before = found(&htm, &query).await;
    assert_eq!(before[0], old);
    relate(&htm, new, Supersedes, old).await.unwrap();

    let recalled = htm.recall(&query).await.unwrap();
    let hits: Vec<NodeId> = recalled.hits.iter().map(|hit| hit.node.id).collect();
    assert_eq!(hits, [new, old, other]);
    let successor = &recalled.hits[1].node.superseded_by[0];
    assert_eq!((successor.node, successor.reason.as_deref()), (new, Some("it is newer")));
    assert!(successor.excerpt.starts_with("the ledger has moved"));
    assert!(recalled.hits[0].node.superseded_by.is_empty());
    let superseded_by = htm.get(old).await.unwrap().superseded_by;
    assert_eq!(superseded_by.iter().collect::<Vec<_>>(), [successor]);
    let timeline = htm.conversation_timeline(&TimelineQuery::everything()).await.unwrap();
    let told: Vec<usize> = timeline.entries.iter().map(|it| it.node.superseded_by.len()).collect();
    assert_eq!(told, [1, 0, 0, 0]);

    // Followed, the successor has the place and the scores of the memory that was found, also if it is no hit itself.
    let follow = RecallQuery { follow: true, explain: true, ..query.clone() };
    let followed = htm.recall(&follow).await.unwrap();
    assert_eq!(followed.hits.iter().map(|hit| hit.node.id).collect::<Vec<_>>(), [new, other]);
    let from = followed.hits[0].followed_from.as_ref().unwrap();
    assert_eq!((from.node, from.reason.as_deref()), (old, Some("it is newer")));
    assert!(followed.hits[0].scores.score >= followed.hits[1].scores.score);
    assert!(followed.hits[0].explanation.is_some());
    relate(&htm, unseen, Supersedes, other).await.unwrap();
    assert_eq!(found(&htm, &follow).await, [new, unseen]);
    // A limit does not matter.
    assert_eq!(found(&htm, &follow.clone().limit(1)).await, [new]);

    // A forgotten memory supersedes nothing, until it is restored.
    htm.forget(new, &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    assert!(htm.get(old).await.unwrap().superseded_by.is_empty());
    assert_eq!(found(&htm, &query).await[0], old);
    htm.restore(new, &Caller::Handle).await.unwrap();
    assert_eq!(htm.get(old).await.unwrap().superseded_by.len(), 1);
}

#[tokio::test]
async fn a_context_keeps_the_newer_of_two_and_tells_of_the_older() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let robot = htm.robot("ada").await.unwrap();
    let text = |day| format!("The move is on {day} November.");
    let old = robot.remember(Memory::new(text(28)).importance(8.0)).await.unwrap().receipt.node;
    let new = robot.remember(Memory::new(text(29)).importance(5.0)).await.unwrap().receipt.node;
    htm.relate(new, Supersedes, old, None, &Caller::AnyRobot).await.unwrap();
    let member = htm.group("crew").join("ada", JoinOptions::default()).await.unwrap();
    member.add(old).await.unwrap();
    member.add(new).await.unwrap();
    let tokens = htm.settings().token_encoding.count(&text(29));
    for order in ContextOrder::ALL {
        // Also where the older one is the best hit.
        let plain = ContextOptions::new(tokens).order(order).first([old, new]);
        let all = ContextOptions { max_tokens: 1_000, ..plain.clone() };
        let headed = all.clone().header(ContextHeader::AgeAndSource);
        let of_robot = async |options| robot.context(options).await.context;
        let of_group = async |options| member.context(options).await.unwrap();
        for (one, both, headed) in [
            (of_robot(&plain).await, of_robot(&all).await, of_robot(&headed).await),
            (of_group(&plain).await, of_group(&all).await, of_group(&headed).await),
        ] {
            assert_eq!((one.included, one.superseded.len()), (vec![new], 0), "{order}");
            assert_eq!(both.included, [new, old], "{order}");
            assert_eq!((both.superseded.len(), both.superseded[0].node), (1, old));
            assert_eq!(both.superseded[0].superseded_by[0].node, new);
            let told = format!(" superseded=\"by node {new}\">\n{}", text(28));
            assert!(headed.text.contains(&told), "{}", headed.text);
        }
    }
    // What was erased is in no context.
    htm.erase(&Erase::Memories(vec![new]), None, Confirmation::Confirmed).await.unwrap();
    for context in [
        robot.context(&ContextOptions::new(1_000)).await.context,
        member.context(&ContextOptions::new(1_000)).await.unwrap(),
    ] {
        assert_eq!((context.text, context.superseded.len()), (text(28), 0));
    }
}

#[tokio::test]
async fn the_order_of_a_chain_is_the_same_where_a_link_is_no_hit() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let first = remember(&htm, "ledger database ledger database: PostgreSQL 17").await;
    let second = remember(&htm, "the ledger moved after long tests of the storage vendor in the lab").await;
    let third = remember(&htm, "the ledger database is PostgreSQL 18").await;
    let query = fulltext("ledger database");
    assert_eq!(found(&htm, &query).await, [first, third, second]);
    relate(&htm, second, Supersedes, first).await.unwrap();
    relate(&htm, third, Supersedes, second).await.unwrap();
    assert_eq!(found(&htm, &query.clone().limit(3)).await, [third, second, first]);
    assert_eq!(found(&htm, &query.clone().limit(2)).await, [third, first]);
    let as_of = RecallQuery { as_of: Some(chrono::Utc::now()), ..query };
    assert_eq!(found(&htm, &as_of.limit(2)).await, [third, first]);
}

#[tokio::test]
async fn a_chain_of_a_year_decides_the_order_of_its_ends() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let days: Vec<Memory> = (0..365).map(|day| Memory::new(format!("a remark of day {day}"))).collect();
    let first = remember(&htm, "ledger database ledger database: PostgreSQL 17").await;
    let between = htm.remember_many(&days).await.unwrap().into_iter().map(|it| it.unwrap().node);
    let mut chain: Vec<NodeId> = std::iter::once(first).chain(between).collect();
    let last = remember(&htm, "the ledger database is PostgreSQL 18").await;
    chain.push(last);
    let query = fulltext("ledger database");
    assert_eq!(found(&htm, &query).await, [first, last]);
    for pair in chain.windows(2) {
        relate(&htm, pair[1], Supersedes, pair[0]).await.unwrap();
    }
    assert_eq!(found(&htm, &query).await, [last, first]);
    let as_of = RecallQuery { as_of: Some(chrono::Utc::now()), ..query.clone() };
    assert_eq!(found(&htm, &as_of).await, [last, first]);
    // A forgotten link supersedes nothing.
    htm.forget(chain[200], &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    assert_eq!(found(&htm, &query).await, [first, last]);
    assert_eq!(found(&htm, &as_of).await, [last, first]);
}

#[tokio::test]
async fn relations_end_with_their_memories() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let mut nodes = Vec::new();
    for text in ["one", "two", "three", "four"] {
        nodes.push(remember(&htm, text).await);
    }
    relate(&htm, nodes[1], Supersedes, nodes[0]).await.unwrap();
    relate(&htm, nodes[2], Supersedes, nodes[1]).await.unwrap();
    relate(&htm, nodes[3], Contradicts, nodes[2]).await.unwrap();
    htm.forget(nodes[0], &Caller::Handle, Confirmation::Confirmed).await.unwrap();
    let purge = Purge { before: chrono::Utc::now(), scope: Scope::All, caller: Caller::AnyRobot };
    htm.purge(&purge, Confirmation::Confirmed).await.unwrap();
    assert_eq!(db.count("select count(*) from htm.relations").await, 2);

    let erase = htm_core::Erase::Memories(vec![nodes[2]]);
    let plan = htm.plan_erase(&erase).await.unwrap();
    assert_eq!(plan.removed["htm.relations"], 2);
    let erased = htm.erase(&erase, Some(&plan.plan), Confirmation::Confirmed).await.unwrap();
    assert_eq!(erased.removed["htm.relations"], 2);
    let verified = htm.verify_erasure(erased.id, None).await.unwrap();
    let place = verified.places.iter().find(|place| place.table == "htm.relations").unwrap();
    assert_eq!(place.traces, 0);
}

#[tokio::test]
async fn near_duplicates_and_rare_tags_are_derived() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let tagged = |text: &str, tags: &[&str]| {
        tags.iter().fold(Memory::new(text), |memory, tag| memory.tag(tag.parse().unwrap()))
    };
    let write = async |memory| htm.remember(memory).await.unwrap().node;
    let first =
        write(tagged("The parcels are looked up by their address.", &["project:parcel", "topic:speed"]))
            .await;
    let same = write(Memory::new("the parcels are looked up by their address")).await;
    let shares = write(tagged("Invoices wait for their parcel.", &["project:parcel"])).await;
    write(Memory::new("Something else entirely.")).await;
    let unembedded = htm.related(first, Some(RelatedBy::NearDuplicate), 10).await.unwrap();
    assert!(unembedded.related.is_empty());
    assert_eq!(unembedded.not_searched.len(), 1, "{unembedded:?}");
    drain(&db, Stage::Embed).await;
    htm.edit(first, &Edit::new().content("The parcels are looked up by their address!")).await.unwrap();

    let related = htm.related(first, None, 10).await.unwrap();
    let found: Vec<_> = related.related.iter().map(|it| (it.by, it.node)).collect();
    assert_eq!(found, [(RelatedBy::NearDuplicate, same), (RelatedBy::SharedTags, shares)]);
    assert!(related.related[0].similarity.unwrap() >= 0.98);
    assert_eq!(related.related[1].tags, ["project:parcel".parse().unwrap()]);
    assert_eq!(related.former_texts, 1);
    assert_eq!(db.count("select count(*) from htm.relations").await, 0, "nothing is stored");
    // A tag of many memories is not rare.
    for number in 0..20 {
        write(tagged(&format!("parcel number {number}"), &["project:parcel"])).await;
    }
    assert!(htm.related(first, Some(RelatedBy::SharedTags), 10).await.unwrap().related.is_empty());
}

#[tokio::test]
async fn a_wall_keeps_relations_apart() {
    let db = TestDatabase::new().await;
    let htm = db.htm();
    let write = async |text: &str| htm.remember(Memory::new(text).namespace("atlas")).await.unwrap().node;
    let (old, new) = (write("old").await, write("new").await);
    let of_default = remember(&htm, "of the default namespace").await;
    let atlas = htm.within(["atlas"]).unwrap();
    let other = htm.within(["home"]).unwrap();
    assert_eq!(relate(&atlas, new, Supersedes, old).await, Ok(true));
    assert_eq!(relate(&atlas, new, Supersedes, of_default).await, Err("node_not_found"));
    for (result, what) in [
        (relate(&other, new, Contradicts, old).await.map(drop), "relate"),
        (other.related(new, None, 5).await.map(drop).map_err(|error| error.code()), "related"),
        (
            other.unrelate(new, Supersedes, old, &Caller::AnyRobot).await.map(drop).map_err(|e| e.code()),
            "unrelate",
        ),
    ] {
        assert_eq!(result, Err("node_not_found"), "{what}");
    }
    let bound = atlas.acting_as("bob").unwrap();
    assert_eq!(relate(&bound, new, Contradicts, old).await, Err("not_owner"));
}
