//! The next step.

use super::Error;
use crate::model::jobs::JobState;

impl Error {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::ContentEmpty => "give a text with at least one character that is not white space".into(),
            Self::ContentTooLarge { .. } => "split the text and remember its parts".into(),
            Self::NulByte { .. } => "remove the NUL byte; PostgreSQL's text cannot hold one".into(),
            Self::Relevance(error) => error.hint(),
            Self::NamespaceForbidden { .. } => "name one of those that it sees".into(),
            Self::TagInvalid(_) => "write it like `database:postgresql:indexes`: a-z, 0-9 and -, at most 5 levels".into(),
            Self::ImportanceOutOfRange { .. } => "1–3 is transient, 7–10 a decision or a preference; default 1".into(),
            Self::NameInvalid { .. } => "use a short name without control characters".into(),
            Self::TooManyTags { .. } => "give fewer tags (the tag-worker adds more by itself), or raise `tag.memory_limit`".into(),
            Self::FieldTooLong { field: "query", .. } => "ask for what matters in it: a few sentences find more".into(),
            Self::FieldTooLong { field: "metadata", .. } => {
                "keep what is large elsewhere, and its place in the metadata".into()
            }
            Self::FieldTooLong { .. } => "shorten it; what is long belongs into the text or the metadata".into(),
            Self::MetadataTooDeep { .. } => "give fewer levels, or the inner ones as text".into(),
            Self::MetadataNotObject { .. } => "give an object, as in {\"ticket\": 7}".into(),
            Self::KeyTaken { node, .. } => {
                format!("use another key, or look at what is there: `htm get {node}`")
            }
            Self::ContentTaken { existing, .. } => {
                format!("use the node that is there: `htm get {existing}`; or forget one of the two")
            }
            Self::Contended => "write it again".into(),
            Self::NotWritten { .. } => "write again what has no receipt".into(),
            Self::RememberedByOthers { .. } => {
                "say that it may be any robot's (`--any-robot`): all who remembered it lose it".into()
            }
            Self::NotOwner { .. } => {
                "ask as that robot (`--robot`, `--namespace`), or say that it may be any robot's: `--any-robot`".into()
            },
            Self::RevisionConflict { node, .. } => format!("read it again (`htm get {node}`), then edit that"),
            Self::NotForgotten { node } => format!("nothing is left to do: `htm get {node}`"),
            Self::StrategyUnknown { .. } => "use one of: vector, fulltext, hybrid, auto".into(),
            Self::ContextStrategyUnknown { .. } => "use one of: recent, important, frequent, balanced".into(),
            Self::LimitOutOfRange { .. } => "give a limit from 1 to 10000".into(),
            Self::TimeframeReversed { .. } => "swap its start and its end; the end is exclusive".into(),
            Self::TimeframeInvalid { .. } => {
                "give a day (2026-03-01, 3 March 2026), a range (2026-03-01..2026-04-01, either side may be left out), \
                 several (A, B or C), or words: today, yesterday, tomorrow, tonight, last night, this morning, last week, this \
                 month, next year, last weekend, weekend before last, Monday, last Friday, in March, last 3 days, past \
                 2 hours, 5 minutes ago, a few weeks ago, recently, since A, before A, after A, between A and B, from \
                 A to B"
                    .into()
            }
            Self::ZoneUnknown { .. } => "use a name as Europe/Berlin or America/New_York, UTC, or system".into(),
            Self::GroupingUnknown { .. } => "use one of: day, session".into(),
            Self::NeighboursOutOfRange { .. } => "give a number from 0 to 1000".into(),
            Self::LanguageUnknown { .. } => "use `simple`, or one that `select cfgname from pg_ts_config` lists".into(),
            Self::NodeNotFound { .. } => "look for it: `htm recall QUERY`".into(),
            Self::NotConfirmed { hint, .. } => hint.clone(),
            Self::JobNotFound { .. } => "see those that there are: `htm jobs list`, and `--state done` for the done".into(),
            Self::JobUnfit { job, state: JobState::Running, .. } => {
                format!("wait for its end, or `htm jobs cancel {job}` first")
            }
            Self::JobUnfit { job, state: JobState::Dead, .. } => format!("to do it again: `htm jobs retry {job}`"),
            Self::JobUnfit { job, .. } => format!("nothing is left to do; see `htm jobs show {job}`"),
            Self::StateUnfit { verb: "retried", .. } => "use one of: dead, parked, waiting, due".into(),
            Self::StateUnfit { .. } => "use one of: due, waiting, parked, running".into(),
            Self::CancelNotConfirmed { .. } => "look at them with `htm jobs list`, then say so with `--yes`".into(),
            Self::QueueUnknown { known, .. } if known.is_empty() => {
                "none is registered yet: start an `embed-worker` without --queue".into()
            }
            Self::QueueUnknown { known, .. } => format!("use one of: {}", known.join(", ")),
            Self::ProviderUnknown { known, .. } if known.is_empty() => {
                "nothing is limited and nothing has failed; see `htm providers`".into()
            }
            Self::ProviderUnknown { known, .. } => format!("use one of: {}", known.join(", ")),
            Self::WaitTimeout { .. } => "see whether a worker runs: `htm doctor`".into(),
            Self::StageDead { node, .. } => format!("see the whole story: `htm status {node}`"),
            Self::EmbedderMissing => "set embedding.provider, or recall with strategy `fulltext`".into(),
            Self::ModelNotReady { .. } => "start an embed-worker with this configuration: `embed-worker`".into(),
            Self::EmbedderOther { model } => format!(
                "recall asks the active model: give the program the embedder of {model}, or activate a model that it has: \
                 `htm models list`"
            ),
            Self::EmbedderUnusable { hint, .. } => hint.clone(),
            Self::VersionUnfit { .. } => "to embed everything again: `htm backfill embed --force`".into(),
            Self::ModelUnknown { known, .. } if known.is_empty() => {
                "none is registered yet: start an `embed-worker`, or `htm models add PROVIDER/NAME`".into()
            }
            Self::ModelUnknown { known, .. } => format!("use one of: {known}; `htm models add` registers another"),
            Self::ModelRetired { label } => format!("take it into use again: `htm models add {label}`"),
            Self::ModelActive { .. } => "activate another one first: `htm models activate LABEL`".into(),
            Self::ModelIncomplete { label, open, dead, .. } => format!(
                "open jobs in its queue: {open}, dead letters: {dead}: `htm models backfill {label}`, `htm jobs retry` \
                 for the dead; or go without those nodes: `htm models activate {label} --force`"
            ),
            Self::WriterOpen { .. } => "let the application commit or end its transaction, then run it again".into(),
            Self::NodeOversized { .. } => {
                "it stays in long-term memory; raise working_memory.max_tokens, or split the text".into()
            }
            Self::EncodingUnknown { .. } => "use one of: o200k_base, cl100k_base, estimate".into(),
            Self::SchemaVersion { found, wanted } if found < wanted => "run `htm db migrate`".into(),
            Self::SchemaVersion { .. } => "upgrade this program: the database was migrated by a newer one".into(),
            Self::Group(error) => error.hint(),
            Self::Robot(error) => error.hint(),
            Self::Refine(error) => error.hint().into(),
            Self::Tag(error) => error.hint(),
            Self::Recall(error) => error.hint(),
            Self::Provider(error) => error.hint().into(),
            Self::DatabaseUnreachable(error) if error.is_unproven => {
                "the server has to prove who it is: name the authority that signed its certificate in database.url \
                 (?sslrootcert=/path/ca.pem), or, in a network that you trust, encrypt without proof (?sslmode=require) \
                 or not at all (?sslmode=disable)"
                    .into()
            }
            Self::DatabaseUnreachable(_) => {
                "check database.url with `htm config show` and the server with `htm db status`".into()
            }
            Self::DatabaseDenied(error) if error.is_privilege() => {
                "the role in database.url may not do this: run commands that change the schema (`htm db migrate`, `htm models`) \
                 as the role that owns it; for the rest, `htm db migrate --application-role ROLE` as the owner"
                    .into()
            }
            Self::DatabaseDenied(_) => {
                "check user, password and database in database.url (`htm config show`), and the role's privileges".into()
            }
            Self::DatabaseExhausted(_) => {
                "free disk space or memory on the database's server; what waits goes on by itself".into()
            }
            Self::DatabaseLocks(_) => {
                "give it less at once, or raise max_locks_per_transaction on the database's server".into()
            }
            Self::TimeOutOfRange { .. } => "give a later time".into(),
            Self::TimeInFuture { .. } => "give a time that has passed; the database's clock counts".into(),
            Self::Database(_) => "run `htm doctor`; the statement changed nothing".into(),
            Self::Corrupt { .. } => "this is a bug; keep the database and report it".into(),
        }
    }
}
