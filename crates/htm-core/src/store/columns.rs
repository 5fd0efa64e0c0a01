//! The mapping of the model's types to columns and rows. The model itself does not know the database.

use sea_orm::sea_query::postgres_array::NotU8;
use sea_orm::sea_query::{ArrayType, ColumnType, Nullable, ValueType, ValueTypeErr};
use sea_orm::{
    ActiveValue, ColIdx, DbErr, IntoActiveValue, QueryResult, TryFromU64, TryGetError, TryGetable, Value,
};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgRow, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, FromRow, Postgres, Row, Type};

use crate::model::api_keys::{ApiKey, Role};
use crate::model::documents::DocumentKind;
use crate::model::erase::ErasureKind;
use crate::model::events::EventKind;
use crate::model::forget::{ForgetReason, ForgottenNode, Match};
use crate::model::groups::GroupRole;
use crate::model::id::{GroupId, NodeId, RobotId};
use crate::model::jobs::{JobState, Stage};
use crate::model::keepers::KeptBy;
use crate::model::models::ModelState;
use crate::model::nodes::{Revision, TagAssignment};
use crate::model::ontology::{
    ChangeKind, CoOccurrence, LoggedChange, OriginCount, SimilarTag, Synonym, TagUse, TaggedNode,
};
use crate::model::providers::{BreakerState, HoldReason};
use crate::model::relations::RelationKind;
use crate::model::stats::{GroupUse, IndexSize, TableSize};
use crate::model::status::ParkedFor;
use crate::model::tags::{TagOrigin, TagPath};
use crate::model::vector_index::VectorIndex;

/// Maps an id to a `bigint` column.
macro_rules! id {
    ($id:ty) => {
        impl Type<Postgres> for $id {
            fn type_info() -> PgTypeInfo {
                <i64 as Type<Postgres>>::type_info()
            }
        }

        impl PgHasArrayType for $id {
            fn array_type_info() -> PgTypeInfo {
                i64::array_type_info()
            }
        }

        impl Encode<'_, Postgres> for $id {
            fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
                Encode::<Postgres>::encode_by_ref(&self.0, buffer)
            }
        }

        impl Decode<'_, Postgres> for $id {
            fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
                i64::decode(value).map(Self)
            }
        }

        impl From<$id> for Value {
            fn from(id: $id) -> Self {
                id.0.into()
            }
        }

        impl ValueType for $id {
            fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
                <i64 as ValueType>::try_from(value).map(Self)
            }

            fn type_name() -> String {
                stringify!($id).to_owned()
            }

            fn array_type() -> ArrayType {
                ArrayType::BigInt
            }

            fn column_type() -> ColumnType {
                ColumnType::BigInteger
            }
        }

        impl Nullable for $id {
            fn null() -> Value {
                Value::BigInt(None)
            }
        }

        impl NotU8 for $id {}

        impl TryGetable for $id {
            fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
                i64::try_get_by(row, index).map(Self)
            }
        }

        impl TryFromU64 for $id {
            fn try_from_u64(number: u64) -> Result<Self, DbErr> {
                i64::try_from_u64(number).map(Self)
            }
        }

        impl IntoActiveValue<$id> for $id {
            fn into_active_value(self) -> ActiveValue<$id> {
                ActiveValue::Set(self)
            }
        }
    };
}

id!(NodeId);
id!(RobotId);
id!(GroupId);

impl Type<Postgres> for TagPath {
    fn type_info() -> PgTypeInfo {
        <String as Type<Postgres>>::type_info()
    }

    fn compatible(info: &PgTypeInfo) -> bool {
        <String as Type<Postgres>>::compatible(info)
    }
}

impl Decode<'_, Postgres> for TagPath {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(<String as Decode<Postgres>>::decode(value)?.try_into()?)
    }
}

/// Reads an enum from the word in a `text` column.
macro_rules! word {
    ($type:ty) => {
        impl Type<Postgres> for $type {
            fn type_info() -> PgTypeInfo {
                <String as Type<Postgres>>::type_info()
            }

            fn compatible(info: &PgTypeInfo) -> bool {
                <String as Type<Postgres>>::compatible(info)
            }
        }

        impl Decode<'_, Postgres> for $type {
            fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
                let word = <&str as Decode<Postgres>>::decode(value)?;
                word.parse().map_err(|_| format!("`{word}` is no {}", stringify!($type)).into())
            }
        }
    };
}

word!(DocumentKind);
word!(ErasureKind);
word!(EventKind);
word!(ForgetReason);
word!(HoldReason);
word!(JobState);
word!(ParkedFor);
word!(RelationKind);
word!(Role);
word!(Stage);

/// As [`word`], also in an entity.
macro_rules! entity_word {
    ($type:ty) => {
        word!($type);

        impl From<$type> for Value {
            fn from(word: $type) -> Self {
                word.to_string().into()
            }
        }

        impl ValueType for $type {
            fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
                <String as ValueType>::try_from(value)?.parse().map_err(|_| ValueTypeErr)
            }

            fn type_name() -> String {
                stringify!($type).to_owned()
            }

            fn array_type() -> ArrayType {
                <String as ValueType>::array_type()
            }

            fn column_type() -> ColumnType {
                <String as ValueType>::column_type()
            }
        }

        impl Nullable for $type {
            fn null() -> Value {
                <String as Nullable>::null()
            }
        }

        impl NotU8 for $type {}

        impl TryGetable for $type {
            fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
                let word = String::try_get_by(row, index)?;
                let unknown = |_| DbErr::Type(format!("`{word}` is no {}", stringify!($type)));
                Ok(word.parse().map_err(unknown)?)
            }
        }

        impl IntoActiveValue<$type> for $type {
            fn into_active_value(self) -> ActiveValue<$type> {
                ActiveValue::Set(self)
            }
        }
    };
}

entity_word!(BreakerState);
entity_word!(ChangeKind);
entity_word!(GroupRole);
entity_word!(ModelState);
entity_word!(TagOrigin);
entity_word!(VectorIndex);

/// Reads a type from a row whose columns have the names of its fields.
macro_rules! row {
    ($type:ident { $($field:ident),* }) => {
        impl FromRow<'_, PgRow> for $type {
            fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
                Ok(Self { $($field: row.try_get(stringify!($field))?),* })
            }
        }
    };
}

row!(ApiKey {
    id,
    name,
    role,
    namespaces,
    robot,
    requests_per_minute,
    created_at,
    expires_at,
    revoked_at,
    last_used_at
});
row!(Match { node, revision, robot, created_at, excerpt });
row!(ForgottenNode { node, namespace, robot, key, deleted_at, reason, excerpt });
row!(KeptBy { namespace, robot, made, remember_count, first_repeat, last_repeat, in_working_memory });
row!(TagAssignment { tag, origin, model, prompt_version, confidence, assigned_at });
row!(Revision { revision, content, author, written_at });
row!(TagUse { tag, description, split_into, distinct_from, created_at, nodes, total, last_used });
row!(OriginCount { origin, model, prompt_version, nodes, mean_confidence });
row!(TaggedNode { node, content });
row!(SimilarTag { tag, similarity });
row!(CoOccurrence { tag, other, nodes, tag_nodes, other_nodes, jaccard });
row!(LoggedChange { change, kind, details, made_by, made_at, reverted_by, names, nodes });
row!(Synonym { name, tag });
row!(GroupUse { namespace, group, members, active, nodes, tokens, max_tokens, utilisation });
row!(TableSize { name, rows, table_bytes, index_bytes });
row!(IndexSize { name, table, bytes });
