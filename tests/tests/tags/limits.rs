//! How many tags a memory and a namespace may have.

use htm_core::{Edit, Settings, TagLimits};

use super::*;

fn limited(db: &TestDatabase, memory: usize, namespace: usize) -> Htm {
    let rules = TagRules { limits: TagLimits { memory, namespace }, ..TagRules::default() };
    Htm::with_pool(db.pool.clone(), Settings { tag_rules: rules, ..db.htm().settings().clone() }, None)
}

fn with(tags: &[&str]) -> Memory {
    let memory = Memory::new(format!("with {tags:?}"));
    tags.iter().fold(memory, |memory, tag| memory.tag(tag.parse().unwrap()))
}

#[tokio::test]
async fn a_memory_brings_no_more_tags_than_it_may_those_above_them_counted() {
    let db = TestDatabase::new().await;
    let htm = limited(&db, 5, 100);
    let error = htm.remember(with(&["a:b:c", "d:e:f"])).await.unwrap_err();
    assert_eq!((error.code(), error.fault().exit_code()), ("too_many_tags", 2));
    assert!(error.to_string().starts_with("6 tags, with those above them, are more than the 5"), "{error}");
    assert!(error.hint().contains("fewer tags"), "{}", error.hint());
    let node = htm.remember(with(&["a:b:c", "a:b:d", "a:b"])).await.unwrap().node;
    assert_eq!(tags_of(&db, node).await.len(), 3);
    let edit = Edit::new().tag("p:q:r".parse().unwrap()).tag("s:t:u".parse().unwrap());
    assert_eq!(htm.edit(node, &edit).await.unwrap_err().code(), "too_many_tags");
    assert_eq!(names(&db).await, ["a", "a:b", "a:b:c", "a:b:d"], "what was refused left nothing");
    // As it is set where nobody sets it.
    let flat: Vec<String> = (0..1_000).map(|n| format!("id-{n}")).collect();
    let flat: Vec<&str> = flat.iter().map(String::as_str).collect();
    let node = db.htm().remember(with(&flat)).await.unwrap().node;
    assert_eq!(tags_of(&db, node).await.len(), 1_000);
    let many: Vec<String> = (0..1_000).map(|n| format!("id-{n}:a:b:c:d")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(db.htm().remember(with(&many)).await.unwrap_err().code(), "too_many_tags");
}

#[tokio::test]
async fn a_full_namespace_takes_no_new_tag_and_everything_else() {
    let db = TestDatabase::new().await;
    let htm = limited(&db, 100, 4);
    let ontology = htm.ontology(None).unwrap();
    let batch = [with(&["a:b"]), with(&["a:c:x:y"]), with(&["a:d"]), with(&[]), with(&["a:b", "a"])];
    let results = htm.remember_many(&batch).await.unwrap();
    let codes: Vec<Option<&str>> =
        results.iter().map(|it| it.as_ref().err().map(|error| error.code())).collect();
    assert_eq!(codes, [None, Some("namespace_full"), None, None, None], "who fits is written");
    assert_eq!(names(&db).await, ["a", "a:b", "a:d"]);
    assert_eq!(db.count("select count(*) from htm.nodes").await, 4);
    let error = htm.remember(with(&["new:tag"])).await.unwrap_err();
    assert!(error.to_string().contains("namespace `default` has 4 tags"), "{error}");
    assert!(error.hint().contains("`TagLimits::namespace`"), "{}", error.hint());
    assert_eq!(htm.full_namespaces().await.unwrap(), [""; 0]);
    assert_eq!(htm.remember(with(&["new"])).await.unwrap().outcome, htm_core::Outcome::Written);
    assert_eq!(htm.full_namespaces().await.unwrap(), ["default"]);

    // A tagger gives what there is.
    let says = |_| vec![("newer".to_owned(), 0.5), ("a:d".to_owned(), 0.5)];
    let tagger = Says::llm("1");
    let rules = htm.tag_rules().clone();
    assert_eq!(tagger.by(&rules).of(&db, "w", says).await, 5);
    assert_eq!(db.count("select count(*) from htm.node_tags where origin = 'llm'").await, 4);
    assert_eq!(names(&db).await, ["a", "a:b", "a:d", "new"]);
    // A change makes none, and may make fewer.
    let refused = ontology.define(ChangeKind::Add, &[term("one:more", "")]).await.unwrap_err();
    assert_eq!(refused.code(), "namespace_full");
    assert_eq!(
        ontology.clone().dry_run().define(ChangeKind::Add, &[term("x", "")]).await.unwrap_err().code(),
        "namespace_full"
    );
    ontology.merge(&["new"], "a:b").await.unwrap();
    ontology.rename("a:d", "a:e").await.unwrap();
    // Another namespace has room of its own.
    htm.remember(with(&["x:y"]).namespace("other")).await.unwrap();
}

#[tokio::test]
async fn memories_for_a_full_namespace_are_written_together_or_not_at_all() {
    let db = TestDatabase::new().await;
    let htm = limited(&db, 100, 2);
    let refuse =
        "create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
        create trigger refuse before insert on htm.nodes
               for each row when (new.content = 'the last one') execute function refuse()";
    sqlx::raw_sql(refuse).execute(&db.pool).await.unwrap();
    let batch = [with(&["a:b"]), with(&["c"]), Memory::new("the last one")];
    assert_eq!(htm.remember_many(&batch).await.unwrap_err().code(), "database_error");
    assert_eq!(db.count("select count(*) from htm.nodes").await, 0);
}
