-- Learning: what a namespace keeps of its recalls and their feedback, and the rankings that were learnt of it.

create table htm.learning (
    namespace   text collate "C" not null constraint learning_pk primary key,
    -- The namespace whose ranking it shares: its own, unless namespaces are grouped by hand.
    learns_with text collate "C" not null,
    is_on       boolean not null,
    keeps_text  boolean not null default false,
    keep_days   integer not null default 90 constraint learning_keep_days_range check (keep_days between 1 and 3650),
    least       integer not null default 100 constraint learning_least_range check (least between 20 and 100000),
    signals     text[] not null default '{}'
        constraint learning_signals_known check (signals <@ array['read', 'edited', 'forgotten', 'cited']),
    -- The version that orders hits; 0 is the default ranking.
    version     integer not null default 0,
    -- The version that is tried on live recalls, and how.
    trial       integer,
    trial_kind  text constraint learning_trial_kind_known check (trial_kind in ('shadow', 'interleaved')),
    -- Recalls with a used memory so far, and how many there were when a fit was last asked for.
    judged      bigint not null default 0,
    asked_at    bigint not null default 0,
    constraint learning_trial_whole check ((trial is null) = (trial_kind is null))
);
comment on table htm.learning is 'What namespaces keep for learning, and the ranking that orders their hits.';
create index learning_with_idx on htm.learning (learns_with);

create table htm.rankings (
    namespace text collate "C" not null,
    version   integer not null constraint rankings_version_positive check (version > 0),
    learnt    jsonb not null,
    figures   jsonb not null,
    adopted   boolean not null,
    reason    text not null,
    made_at   timestamptz not null default now(),
    constraint rankings_pk primary key (namespace, version)
);
comment on table htm.rankings is 'Rankings that were learnt, with the figures of their evaluation.';
comment on column htm.rankings.learnt is 'The weights and trees.';
comment on column htm.rankings.reason is 'Why it was adopted or not.';

create table htm.ranking_choices (
    id        bigint generated always as identity constraint ranking_choices_pk primary key,
    namespace text collate "C" not null,
    version   integer not null,
    former    integer not null,
    chosen_at timestamptz not null default now(),
    chosen_by text collate "C" not null,
    reason    text not null
);
comment on table htm.ranking_choices is 'Each change of the version that orders the hits of a namespace.';
create index ranking_choices_namespace_idx on htm.ranking_choices (namespace, id);

-- A recall that nobody judges is deleted after a day, a judged one after the namespace's time.
create table htm.recalls (
    number     bigint generated always as identity,
    namespace  text collate "C" not null,
    id         text collate "C" not null constraint recalls_id_size check (octet_length(id) = 26),
    author     text collate "C" not null,
    made_at    timestamptz not null default now(),
    -- The version of the candidates' features.
    features   smallint not null,
    -- The version of the ranking that ordered them.
    version    integer not null,
    shown      smallint not null,
    query      text,
    -- The version that was tried, and whether it would have shown other hits or another order.
    trial      integer,
    trial_kind text,
    differs    boolean,
    -- Used memories that were no candidates.
    missed     smallint not null default 0,
    judged     boolean not null default false,
    keep_until timestamptz not null,
    -- The candidates until the first verdict, in the order of the ranking: their nodes, their places among the hits (0: it
    -- was none), whether the tried ranking brought them, and their features, one behind the other. Most recalls are never
    -- judged, and cost one row. Judged ones have rows of htm.recall_candidates.
    candidates          bigint[],
    candidates_shown    smallint[],
    candidates_by_trial boolean[],
    candidates_features bytea,
    constraint recalls_pk primary key (number, namespace),
    constraint recalls_id_key unique (id, namespace)
);
comment on table htm.recalls is 'Recalls that feedback may judge.';
create index recalls_author_idx on htm.recalls (author, made_at);
create index recalls_namespace_idx on htm.recalls (namespace, made_at);
create index recalls_keep_until_idx on htm.recalls (keep_until);
create index recalls_unjudged_idx on htm.recalls (namespace) where candidates is not null;
-- Numbers hardly compress.
alter table htm.recalls alter column candidates_features set storage external;

create table htm.recall_candidates (
    namespace text collate "C" not null,
    recall    bigint not null,
    node_id   bigint not null,
    -- By the order of the ranking, from 1.
    place     smallint not null,
    -- Among the hits, from 1; none: it was no hit.
    shown     smallint,
    -- Whether the tried ranking brought it, of an interleaved list.
    by_trial  boolean,
    features  bytea not null,
    constraint recall_candidates_pk primary key (recall, node_id, namespace),
    constraint recall_candidates_recall_fk foreign key (recall, namespace) references htm.recalls (number, namespace) on delete cascade,
    constraint recall_candidates_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
comment on table htm.recall_candidates is 'The candidates of judged recalls, with the numbers that rankings weigh.';
create index recall_candidates_node_idx on htm.recall_candidates (node_id);

create table htm.feedback (
    namespace text collate "C" not null,
    recall    bigint not null,
    node_id   bigint not null,
    author    text collate "C" not null,
    signal    text not null constraint feedback_signal_known check (signal in ('told', 'read', 'edited', 'forgotten', 'cited')),
    is_used   boolean not null,
    given_at  timestamptz not null default now(),
    constraint feedback_pk primary key (recall, node_id, author, signal, namespace),
    constraint feedback_candidate_fk foreign key (recall, node_id, namespace)
        references htm.recall_candidates (recall, node_id, namespace) on delete cascade
);
comment on table htm.feedback is 'Which candidates of a recall were used, and which were useless.';
create index feedback_author_idx on htm.feedback (namespace, author, given_at);
-- The latest verdicts of use of each author: the evidence for a ranking.
create index feedback_used_idx on htm.feedback (namespace, author, given_at, recall) where is_used;
