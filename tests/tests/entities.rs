//! sea-orm's entities say what the schema says: the same columns, of the same types, null where they can be.

use std::collections::BTreeSet;

use htm_tests::TestDatabase;
use sea_orm::{ColumnTrait, ColumnType, EntityTrait, IdenStatic, Iterable};

/// The names of their own crate that the files of the entities use.
mod model {
    pub(crate) mod api_keys {
        pub(crate) use htm_core::Role;
    }
    pub(crate) mod documents {
        pub(crate) use htm_core::DocumentKind;
    }
    pub(crate) mod erase {
        pub(crate) use htm_core::ErasureKind;
    }
    pub(crate) mod groups {
        pub(crate) use htm_core::GroupRole;
    }
    pub(crate) mod id {
        pub(crate) use htm_core::{GroupId, NodeId, RobotId};
    }
    pub(crate) mod models {
        pub(crate) use htm_core::models::ModelState;
    }
    pub(crate) mod ontology {
        pub(crate) use htm_core::ontology::ChangeKind;
    }
    pub(crate) mod providers {
        pub(crate) use htm_core::BreakerState;
    }
    pub(crate) mod rankings {
        pub(crate) use htm_core::TrialKind;
    }
    pub(crate) mod relations {
        pub(crate) use htm_core::RelationKind;
    }
    pub(crate) mod tags {
        pub(crate) use htm_core::tag::TagOrigin;
    }
    pub(crate) mod vector_index {
        pub(crate) use htm_core::models::VectorIndex;
    }
}

/// They are private to the library: their files are compiled here once more.
#[allow(dead_code, unused_imports)]
#[path = "../../crates/htm-core/src/store/entity"]
mod entity {
    pub(crate) mod api_key;
    pub(crate) mod audit_entry;
    pub(crate) mod backfill;
    pub(crate) mod budget;
    pub(crate) mod document;
    pub(crate) mod embedding_model;
    pub(crate) mod erased_nodes;
    pub(crate) mod erasure;
    pub(crate) mod group;
    pub(crate) mod group_member;
    pub(crate) mod group_memory;
    pub(crate) mod learning;
    pub(crate) mod lexeme_statistic;
    pub(crate) mod namespace_statistic;
    pub(crate) mod node;
    pub(crate) mod node_revision;
    pub(crate) mod node_tag;
    pub(crate) mod operation;
    pub(crate) mod paused_queue;
    pub(crate) mod provider;
    pub(crate) mod quota;
    pub(crate) mod ranking;
    pub(crate) mod ranking_choice;
    pub(crate) mod recall;
    pub(crate) mod relation;
    pub(crate) mod retention;
    pub(crate) mod robot;
    pub(crate) mod sign_in;
    pub(crate) mod tag;
    pub(crate) mod tag_change;
    pub(crate) mod tag_change_name;
    pub(crate) mod tag_synonym;
}

/// A column's name, its type, and whether it can be null.
type Column = (String, String, bool);

#[tokio::test]
async fn entities_are_the_tables() {
    let db = TestDatabase::new().await;
    let mut count = 0;
    macro_rules! check_each {
        ($($name:ident)*) => {$(
            check::<entity::$name::Entity>(&db).await;
            count += 1;
        )*};
    }
    check_each!(api_key audit_entry backfill budget document embedding_model erased_nodes erasure group);
    check_each!(group_member group_memory learning lexeme_statistic namespace_statistic node node_revision);
    check_each!(node_tag operation paused_queue provider quota ranking ranking_choice recall relation);
    check_each!(retention robot sign_in tag tag_change tag_change_name tag_synonym);
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/htm-core/src/store/entity");
    assert_eq!(count, std::fs::read_dir(files).unwrap().count(), "an entity is not checked");
}

async fn check<E: EntityTrait>(db: &TestDatabase) {
    let entity = E::default();
    let table = format!("{}.{}", entity.schema_name().unwrap_or_default(), entity.table_name());
    let column = |column: E::Column| {
        let definition = column.def();
        (column.as_str().to_owned(), type_name(definition.get_column_type()), definition.is_null())
    };
    let columns: BTreeSet<Column> = E::Column::iter().map(column).collect();
    assert_eq!(columns, in_database(db, &table).await, "{table}");
}

/// The name of a type in PostgreSQL.
fn type_name(of: &ColumnType) -> String {
    match of {
        ColumnType::Array(of) => format!("{}[]", type_name(of)),
        ColumnType::BigInteger => "bigint".into(),
        ColumnType::Integer => "integer".into(),
        ColumnType::SmallInteger => "smallint".into(),
        ColumnType::Float => "real".into(),
        ColumnType::Double => "double precision".into(),
        ColumnType::Boolean => "boolean".into(),
        ColumnType::String(_) => "text".into(),
        ColumnType::VarBinary(_) => "bytea".into(),
        ColumnType::Json | ColumnType::JsonBinary => "jsonb".into(),
        ColumnType::Uuid => "uuid".into(),
        ColumnType::Date => "date".into(),
        ColumnType::TimestampWithTimeZone => "timestamp with time zone".into(),
        ColumnType::Custom(name) => name.to_string(),
        other => panic!("which type of PostgreSQL is {other:?}?"),
    }
}

/// The columns of a table but for those that are computed.
async fn in_database(db: &TestDatabase, table: &str) -> BTreeSet<Column> {
    let columns: Vec<Column> = sqlx::query_as(
        "select attname::text, format_type(atttypid, atttypmod), not attnotnull
           from pg_attribute
          where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''",
    )
    .bind(table)
    .fetch_all(&db.pool)
    .await
    .unwrap();
    assert!(!columns.is_empty(), "{table}");
    columns.into_iter().collect()
}
