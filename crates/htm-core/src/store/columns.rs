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

use crate::model::api_keys::Role;
use crate::model::documents::DocumentKind;
use crate::model::erase::ErasureKind;
use crate::model::events::EventKind;
use crate::model::forget::{ForgetReason, ForgottenNode, Match};
use crate::model::groups::GroupRole;
use crate::model::id::{GroupId, NodeId, RobotId};
use crate::model::jobs::{JobState, Loss, Stage};
use crate::model::keepers::KeptBy;
use crate::model::models::ModelState;
use crate::model::nodes::{Revision, TagAssignment};
use crate::model::ontology::{
    ChangeKind, CoOccurrence, LoggedChange, OriginCount, SimilarTag, Synonym, TagUse, TaggedNode,
};
use crate::model::providers::{BreakerState, HoldReason};
use crate::model::rankings::TrialKind;
use crate::model::relations::RelationKind;
use crate::model::stats::{GroupUse, IndexSize, TableSize};
use crate::model::status::ParkedFor;
use crate::model::tags::{TagOrigin, TagPath};
use crate::model::vector_index::VectorIndex;

/// Maps a type to the column of another one, in statements and in entities. `$read` makes it of what the column has, and
/// says what is wrong otherwise; `$write` is the way back.
macro_rules! column {
    ($type:ident, $column:ty, $read:expr, $write:expr) => {
        impl $type {
            fn of_column(column: $column) -> Result<Self, String> {
                $read(column)
            }

            fn column(&self) -> $column {
                $write(self)
            }
        }

        impl Type<Postgres> for $type {
            fn type_info() -> PgTypeInfo {
                <$column as Type<Postgres>>::type_info()
            }

            fn compatible(info: &PgTypeInfo) -> bool {
                <$column as Type<Postgres>>::compatible(info)
            }
        }

        impl PgHasArrayType for $type {
            fn array_type_info() -> PgTypeInfo {
                <$column as PgHasArrayType>::array_type_info()
            }
        }

        impl Encode<'_, Postgres> for $type {
            fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
                Encode::<Postgres>::encode_by_ref(&self.column(), buffer)
            }
        }

        impl Decode<'_, Postgres> for $type {
            fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
                Ok(Self::of_column(<$column as Decode<Postgres>>::decode(value)?)?)
            }
        }

        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                value.column().into()
            }
        }

        impl ValueType for $type {
            fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
                Self::of_column(<$column as ValueType>::try_from(value)?).map_err(|_| ValueTypeErr)
            }

            fn type_name() -> String {
                stringify!($type).to_owned()
            }

            fn array_type() -> ArrayType {
                <$column as ValueType>::array_type()
            }

            fn column_type() -> ColumnType {
                <$column as ValueType>::column_type()
            }
        }

        impl Nullable for $type {
            fn null() -> Value {
                <$column as Nullable>::null()
            }
        }

        impl NotU8 for $type {}

        impl TryGetable for $type {
            fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
                Ok(Self::of_column(<$column>::try_get_by(row, index)?).map_err(DbErr::Type)?)
            }
        }

        impl TryFromU64 for $type {
            fn try_from_u64(number: u64) -> Result<Self, DbErr> {
                Self::of_column(<$column as TryFromU64>::try_from_u64(number)?).map_err(DbErr::Type)
            }
        }

        impl IntoActiveValue<$type> for $type {
            fn into_active_value(self) -> ActiveValue<$type> {
                ActiveValue::Set(self)
            }
        }
    };
}

/// Maps an id to a `bigint` column.
macro_rules! id {
    ($id:ident) => {
        column!($id, i64, |number| Ok($id(number)), |id: &$id| id.0);
    };
}

id!(NodeId);
id!(RobotId);
id!(GroupId);

/// Maps an enum to the word in a `text` column.
macro_rules! word {
    ($word:ident) => {
        column!(
            $word,
            String,
            |word: String| word.parse().map_err(|_| format!("`{word}` is no {}", stringify!($word))),
            ToString::to_string
        );
    };
}

word!(BreakerState);
word!(ChangeKind);
word!(DocumentKind);
word!(ErasureKind);
word!(EventKind);
word!(ForgetReason);
word!(GroupRole);
word!(HoldReason);
word!(JobState);
word!(Loss);
word!(ModelState);
word!(ParkedFor);
word!(RelationKind);
word!(Role);
word!(Stage);
word!(TagOrigin);
word!(TrialKind);
word!(VectorIndex);

column!(
    TagPath,
    String,
    |path: String| <TagPath as TryFrom<String>>::try_from(path).map_err(|error| error.to_string()),
    ToString::to_string
);

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
