-- Every table about nodes, and each of its unique keys, has the namespace, so that it can be partitioned by namespace.
-- The keys begin with the node's id, so that their index also serves lookups by id alone.

-- Punctuation, symbols, spaces and private characters beyond ASCII, as a regular expression. PostgreSQL's parser takes each
-- of them for a letter if the database's locale is C: a typographic quotation mark, a no-break space or an emoji is then
-- a part of the word beside it. The digits of footnotes and of fractions are among them, because NFKC would join them to
-- the number before them.
create function htm.marks() returns text language sql immutable parallel safe as $$
    select '[\u0080-\u00A9\u00AB-\u00B4\u00B6-\u00B9\u00BB-\u00BF\u00D7\u00F7\u02C2-\u02C5\u02D2-\u02DF\u037E\u0387\u055A-\u055F'
        || '\u0589-\u058F\u05BE\u05C0\u05C3\u05C6\u05F3-\u060F\u061B-\u061F\u066A-\u066D\u06D4\u06DD\u06DE\u06E9\u06FD\u06FE'
        || '\u0700-\u070F\u0964\u0965\u0970\u0E3F\u0E4F\u0E5A\u0E5B\u0F01-\u0F17\u0F3A-\u0F3D\u104A-\u104F\u10FB\u1360-\u1368'
        || '\u17D4-\u17D6\u17D8-\u17DB\u1800-\u180A\u2000-\u200C\u200E-\u205F\u2061-\u2070\u2074-\u207E\u208A-\u208E\u20A0-\u20FF'
        || '\u2103\u2109\u2116-\u2118\u211E-\u2123\u2150-\u215F\u2189-\u245F\u2500-\u2BFF\u2E00-\u2E7F\u2FF0-\u3004\u3008-\u3020'
        || '\u3030\u3036\u3037\u303D-\u303F\u309B\u309C\u30A0\u30FB\u3190-\u319F\u4DC0-\u4DFF\uE000-\uF8FF\uFD3E-\uFD4F\uFDFC-\uFDFF'
        || '\uFE10-\uFE19\uFE30-\uFE6B\uFF00-\uFF0D\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40\uFF5B-\uFF65\uFFE0-\uFFFD\U0001F000-\U0001FBFF'
        || '\U000E0000-\U000E00FF\U000F0000-\U0010FFFF]+'
$$;

-- A text without soft hyphens, joiners, marks of direction and selectors of variants, and with hyphens of ASCII.
create function htm.joined(content text) returns text language sql immutable parallel safe as $$
    select translate(regexp_replace(content, '[\u00AD\u061C\u200D-\u200F\u202A-\u202E\u2060\u2066-\u2069\uFE00-\uFE0F\uFEFF'
                                          || '\U000E0100-\U000E01EF]+', '', 'g'),
                     U&'\2010\2011\2212\FE63\FF0D', '-----')
$$;

-- The decimal digits of scripts beyond ASCII, from 0 to 9 in each.
create function htm.digits() returns text language sql immutable parallel safe as $$
    select string_agg(chr(ascii(zero) + digit), '' order by zero collate "C", digit)
      from regexp_split_to_table(U&'\0660\06F0\07C0\0966\09E6\0A66\0AE6\0B66\0BE6\0C66\0CE6\0D66\0DE6\0E50\0ED0\0F20\1040\1090'
                              || U&'\17E0\1810\1946\19D0\1A80\1A90\1B50\1BB0\1C40\1C50\A620\A8D0\A900\A9D0\A9F0\AA50\ABF0', '') zero,
           generate_series(0, 9) digit
$$;

-- A text in which what is typed in two ways is written in one: digits are those of ASCII, ligatures are two letters, and the
-- points of Hebrew and the vowel signs of Arabic are left out. Only forms of one word become alike, as exact terms are
-- compared so too: `schön` is not `schon`. `crates/htm-core/src/model/words/alike.rs` is the same in Rust.
create function htm.alike(content text) returns text language plpgsql immutable parallel safe as $$
declare
    digit text;
begin
    if content !~ (U&'[\00C6\00DF\00E6\0130\0152\0153\02BB\02BC\03C2\1E9E\0591-\05C7\0610-\061A\0640\064B-\065F\0670\06A9\06CC'
                || U&'\06D6-\06ED' || htm.digits() || ']') then
        return content;
    end if;
    content := regexp_replace(content, '[\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670'
                                    || '\u06D6-\u06DC\u06DF-\u06E4\u06E7\u06E8\u06EA-\u06ED]+', '', 'g');
    content := replace(replace(replace(content, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe');
    content := replace(replace(replace(content, 'ẞ', 'SS'), 'Æ', 'AE'), 'Œ', 'OE');
    content := translate(content, U&'\0130\02BB\02BC\03C2\06A9\06CC', U&'I\0027\0027\03C3\0643\064A');
    -- One script after the other: a translation of all digits takes seconds.
    loop
        digit := substring(content from '[' || htm.digits() || ']');
        exit when digit is null;
        content := translate(content, substr(htm.digits(), (strpos(htm.digits(), digit) - 1) / 10 * 10 + 1, 10), '0123456789');
    end loop;
    return content;
end $$;

-- The letters of scripts that write no spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese. For a bracket
-- expression. `crates/htm-core/src/model/words/script.rs` has the same.
create function htm.unspaced_letters() returns text language sql immutable parallel safe as $$
    select '\u0E01-\u0E30\u0E32\u0E33\u0E40-\u0E46\u0E81-\u0EB0\u0EB2\u0EB3\u0EBD\u0EC0-\u0EC6\u0EDC-\u0EDF'
        || '\u1000-\u102A\u103F\u1050-\u1055\u105A-\u105D\u1061\u1065\u1066\u106E-\u1070\u1075-\u1081\u108E'
        || '\u1780-\u17B3\u17D7\u17DC\u3005\u3041-\u3096\u30A1-\u30FA\u30FC\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\uFF66-\uFF9F'
$$;

-- The marks of those letters.
create function htm.unspaced_marks() returns text language sql immutable parallel safe as $$
    select '\u0E31\u0E34-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB4-\u0EBC\u0EC8-\u0ECE\u102B-\u103E\u1056-\u1059\u105E-\u1060\u1062-\u1064'
        || '\u1067-\u106D\u1071-\u1074\u1082-\u108D\u108F\u109A-\u109D\u17B4-\u17D3\u17DD'
$$;

-- Whether a text can be normalised. PostgreSQL sorts a run of accents in quadratic time and cannot be interrupted. No word
-- has 255 letters beyond ASCII, but for scripts without spaces, whose letters are no accents. Only `ﾞ` and `ﾟ` are: NFKC makes
-- accents of them.
create function htm.is_normal(content text) returns boolean language sql immutable parallel safe as $$
    select content !~ ('[^\u0001-\u007F\u3000-\u3029\u3030-\u3098\u309B-\u30FF\uAC00-\uD7A3\uFF01-\uFF60'
                    || replace(htm.unspaced_letters(), '\uFF9F', '\uFF9D') || ']{255}')
$$;

-- A text for PostgreSQL's parser, the same in any locale. Its marks are spaces, also the few that NFKC makes: of a letter
-- with a dot, and of a slash. Letters have one form (NFKC): with their accents, without ligatures, of one width. The dotless
-- `ı` is `i`, because its capital `I` is that of `i` too.
create function htm.normalized(content text) returns text language plpgsql immutable parallel safe as $$
declare
    spaced text;
begin
    if octet_length(content) = length(content) then
        return content;
    end if;
    spaced := regexp_replace(htm.joined(content), htm.marks(), ' ', 'g');
    if spaced is not nfkc normalized and htm.is_normal(spaced) then
        spaced := translate(normalize(spaced, nfkc), U&'\00B7\2044', '  ');
    end if;
    return replace(htm.alike(spaced), 'ı', 'i');
end $$;

-- A text for a comparison letter by letter. Typographic apostrophes, quotation marks and spaces are those of ASCII. Letters
-- have their accents (NFC). NFKC, for ligatures and letters of another width, would make `2¹` and `TM` of other signs, so
-- only texts with such letters get it.
create function htm.folded(content text) returns text language plpgsql immutable parallel safe as $$
declare
    plain text;
begin
    if octet_length(content) = length(content) then
        return content;
    end if;
    plain := translate(htm.joined(content), U&'\2018\2019\201C\201D\201E\00A0\202F\3000', '''''"""   ');
    if plain ~ '[\uFB00-\uFB06\uFF01-\uFFDC]' then
        plain := case when htm.is_normal(plain) then normalize(plain, nfkc) else plain end;
    elsif plain is not nfc normalized and htm.is_normal(plain) then
        plain := normalize(plain, nfc);
    end if;
    return htm.alike(plain);
end $$;

-- A text in lower case, for comparisons that had rather find too much: `I` is the capital of `i` and of `ı`.
create function htm.caseless(content text) returns text language plpgsql immutable parallel safe as $$
begin
    return case when octet_length(content) = length(content) then lower(content)
                else translate(lower(htm.alike(content)), 'ıς', 'iσ') end; -- some locales make a final ς of Σ
end $$;

-- Whether a text has another in it, in any case, letter by letter or in another form of the letters.
create function htm.contains(content text, sought text) returns boolean language sql immutable parallel safe as $$
    select htm.folded(sought) <> ''
       and (strpos(htm.caseless(content), htm.caseless(sought)) > 0
            or strpos(htm.caseless(htm.folded(content)), htm.caseless(htm.folded(sought))) > 0)
$$;

-- A text in which each run of marks is between control characters, so that PostgreSQL's parser finds the words beside it in
-- any locale. Letters have their accents (NFC), and soft hyphens are left out. Otherwise it is the text.
create function htm.parted(content text) returns text language plpgsql immutable parallel safe as $$
declare
    shown text;
begin
    if octet_length(content) = length(content) then
        return content;
    end if;
    shown := translate(content, U&'\00AD', '');
    if shown is not nfc normalized and htm.is_normal(shown) then
        shown := normalize(shown, nfc);
    end if;
    return regexp_replace(shown, '(' || htm.marks() || ')', E'\x05\\1\x05', 'g');
end $$;

-- Some scripts have no spaces between words, so PostgreSQL's parser takes a sentence for a word. This function gives it pairs
-- of adjacent letters instead: `abc` becomes `a ab bc c`. Marks stay with their letter. Spaces around a run of letters keep it
-- apart from words and numbers of other scripts.
create function htm.segmented(content text) returns text language sql immutable parallel safe as $$
    select case when octet_length(content) = length(content) then content
                else regexp_replace(
                     regexp_replace(htm.normalized(content),
                                    '[' || htm.unspaced_letters() || htm.unspaced_marks() || ']+', ' \& ', 'g'),
                     '([' || htm.unspaced_letters() || '][' || htm.unspaced_marks() || ']*)', '\1 \1', 'g') end
$$;

-- A text search configuration is stored by name, because a column of type regconfig would block pg_upgrade. The cast
-- from text is only "stable", but a configuration that nobody alters always gives the same vector.
-- A lexeme of the first 160 characters has weight A, because a text usually begins with its subject. A query by ts_rank
-- must give all weights the same value. Otherwise A counts tenfold.
-- A tsvector holds at most 1 MB of distinct lexemes. A text of under 1 MB with hardly a repeated word can exceed that.
-- Then its first half is indexed, or the first half of that, until it fits.
create function htm.text_vector(language text, content text) returns tsvector
    language plpgsql immutable strict parallel unsafe as $$
declare
    opening text[] := tsvector_to_array(to_tsvector(language::regconfig, htm.segmented(left(content, 160))));
    segmented text := htm.segmented(content);
begin
    if octet_length(segmented) <= 262144 then
        return setweight(to_tsvector(language::regconfig, segmented), 'A', opening);
    end if;
    begin
        return setweight(to_tsvector(language::regconfig, segmented), 'A', opening);
    exception when program_limit_exceeded then
        return htm.text_vector(language, left(content, length(content) / 2));
    end;
end $$;

create table htm.nodes (
    id              bigint generated always as identity,
    namespace       text collate "C" not null
                    constraint nodes_namespace_valid check (octet_length(namespace) between 1 and 512),
    robot_id        bigint not null constraint nodes_robot_fk references htm.robots,
    key             text collate "C"
                    constraint nodes_key_valid check (octet_length(key) between 1 and 512),
    content         text not null
                    constraint nodes_content_not_blank check (content ~ '\S')
                    constraint nodes_content_size check (octet_length(content) <= 1048576),
    content_hash    bytea not null constraint nodes_content_hash_sha256 check (octet_length(content_hash) = 32),
    revision        integer not null default 1 constraint nodes_revision_positive check (revision >= 1),
    author          text collate "C",
    speaker         text,
    session         text,
    seq             integer,
    source          text,
    type            text,
    importance      real not null default 1 constraint nodes_importance_range check (importance between 1 and 10),
    token_count     integer not null constraint nodes_token_count_positive check (token_count >= 0),
    token_encoding  text not null,
    language        text not null default 'english',
    metadata        jsonb not null default '{}'
                    constraint nodes_metadata_object check (jsonb_typeof(metadata) = 'object')
                    -- The library rejects more than 64 KiB of JSON. Numbers are up to twelve times as large in jsonb.
                    constraint nodes_metadata_size check (pg_column_size(metadata) <= 1048576),
    duplicate_scope bigint,
    created_at      timestamptz not null default now(),
    remembered_at   timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    deleted_at      timestamptz,
    forget_reason   text constraint nodes_forget_reason_known check (forget_reason in ('expired', 'retention', 'unloaded')),
    expires_at      timestamptz,
    ttl_seconds     bigint constraint nodes_ttl_positive check (ttl_seconds > 0),
    tsv             tsvector not null generated always as (htm.text_vector(language, content)) stored,
    constraint nodes_pk primary key (id, namespace),
    constraint nodes_ttl_has_expiry check (ttl_seconds is null or expires_at is not null),
    constraint nodes_texts_size check (
        octet_length(type) <= 128 and octet_length(language) <= 128 and octet_length(speaker) <= 512
        and octet_length(session) <= 512 and octet_length(source) <= 4096)
);
comment on table htm.nodes is 'The memories. A row is deleted only on request.';
comment on column htm.nodes.created_at is 'When it happened.';
comment on column htm.nodes.remembered_at is 'When it was written first.';
comment on column htm.nodes.updated_at is 'When its text was written.';
comment on column htm.nodes.author is 'The robot that wrote the text, by name; null: the robot that remembered it.';
comment on column htm.nodes.duplicate_scope is
    'Where its content must be unique: 0 in its namespace, else among the nodes of the robot with this id; null: nowhere.';
comment on column htm.nodes.forget_reason is 'Why it was forgotten; null: it is live, or a caller asked for it.';
comment on column htm.nodes.expires_at is 'When a sweep forgets it; null: never.';
comment on column htm.nodes.ttl_seconds is 'The time from a refresh to the expiry; null: a refresh does not move the expiry.';
create unique index nodes_namespace_key_key on htm.nodes (namespace, key)
    where key is not null and deleted_at is null;
create unique index nodes_duplicate_key on htm.nodes (namespace, duplicate_scope, content_hash)
    where duplicate_scope is not null and deleted_at is null;
create index nodes_namespace_created_at_idx on htm.nodes (namespace, created_at);
create index nodes_tsv_idx on htm.nodes using gin (tsv);
-- The memories of one robot of many.
create index nodes_robot_idx on htm.nodes (robot_id, namespace, id) where deleted_at is null;
-- The languages of a namespace: recall parses its query in each of them. They are few, and each costs one step in the
-- index.
create index nodes_language_idx on htm.nodes (namespace, language);
-- Forgotten nodes, to be purged or restored.
create index nodes_deleted_at_idx on htm.nodes (deleted_at) where deleted_at is not null;
-- Forgotten nodes by their keys: an import from another system leaves them.
create index nodes_forgotten_key_idx on htm.nodes (namespace, key) where key is not null and deleted_at is not null;
-- Nodes whose text was replaced, by when: a search as of an earlier time reads their former texts.
create index nodes_rewritten_idx on htm.nodes (namespace, updated_at) where revision > 1;
-- Memories that expire, to be forgotten by a sweep.
create index nodes_expires_at_idx on htm.nodes (expires_at) where expires_at is not null and deleted_at is null;
-- Serves `metadata @> '{"project": "apollo"}'`. Nodes without metadata are not in it, so most writes do not touch it.
create index nodes_metadata_idx on htm.nodes using gin (metadata jsonb_path_ops)
    where deleted_at is null and metadata <> '{}';
-- The timeline of a conversation. By hash, because a session's name may be longer than an index entry.
create index nodes_session_idx on htm.nodes (namespace, md5(session), created_at) where session is not null;
-- The neighbours of a turn with a known place.
create index nodes_session_seq_idx on htm.nodes (namespace, md5(session), seq, created_at, id)
    where session is not null and deleted_at is null;

-- A row for each document that was loaded. Its passages are nodes of the type `passage` whose session is its path.
create table htm.documents (
    namespace  text collate "C" not null
               constraint documents_namespace_valid check (octet_length(namespace) between 1 and 512),
    path       text collate "C" not null constraint documents_path_valid check (octet_length(path) between 1 and 512),
    kind       text not null
               constraint documents_kind_known check (kind in ('markdown', 'text', 'html', 'pdf', 'code')),
    title      text constraint documents_title_size check (octet_length(title) <= 4096),
    bytes      bigint not null constraint documents_bytes_not_negative check (bytes >= 0),
    digest     bytea constraint documents_digest_size check (octet_length(digest) = 32),
    tags       text[] collate "C" not null default '{}',
    passages   integer not null constraint documents_passages_positive check (passages > 0),
    loaded_at  timestamptz not null default now(),
    changed_at timestamptz not null default now(),
    constraint documents_pk primary key (namespace, path)
);
comment on column htm.documents.digest is
    'SHA-256 of the file and of how it was cut; null: a passage was erased since, and of that no hash stays.';
comment on column htm.documents.tags is 'The tags that loading it gave its passages.';
comment on column htm.documents.passages is 'The passages that it had when it was loaded. Some may be forgotten since.';
comment on column htm.documents.changed_at is 'When it was last loaded with another text.';

-- A row for each namespace with a retention policy. Sweeps carry it out.
create table htm.retention (
    namespace            text collate "C" not null constraint retention_pk primary key
                         constraint retention_namespace_valid check (octet_length(namespace) between 1 and 512),
    forget_after_seconds bigint constraint retention_forget_positive check (forget_after_seconds > 0),
    purge_after_seconds  bigint constraint retention_purge_not_negative check (purge_after_seconds >= 0),
    swept_at             timestamptz,
    constraint retention_says_something check (num_nonnulls(forget_after_seconds, purge_after_seconds) > 0)
);
-- The next policy to carry out.
create index retention_swept_at_idx on htm.retention (swept_at nulls first, namespace);
comment on column htm.retention.forget_after_seconds is
    'The age at which a memory is forgotten: since it happened, was remembered or was restored, whichever is latest. Null: never.';
comment on column htm.retention.purge_after_seconds is 'The time from forgetting to deletion. Null: never.';
comment on column htm.retention.swept_at is 'When a sweep last took it. Null: since it was set, none did.';

-- A row for each write with an id of its caller, so that a retry gets the answer of the first. Sweeps delete old rows.
create table htm.operations (
    scope         text collate "C" not null constraint operations_scope_size check (octet_length(scope) <= 255),
    id            text collate "C" not null constraint operations_id_size check (octet_length(id) between 1 and 255),
    digest        bytea not null constraint operations_digest_size check (octet_length(digest) = 32),
    answer        jsonb,
    claimed_until timestamptz not null,
    expires_at    timestamptz not null,
    seen_by       text not null default coalesce(current_setting('htm.namespaces', true), ''),
    constraint operations_pk primary key (scope, id)
);
create index operations_expires_at_idx on htm.operations (expires_at);
comment on column htm.operations.scope is 'Whose ids these are, such as a key of the API.';
comment on column htm.operations.digest is 'The SHA-256 of the request.';
comment on column htm.operations.answer is 'The answer; null: the operation has not ended.';
comment on column htm.operations.seen_by is 'The namespaces of the handle that wrote it; empty: all. Other handles with a wall do not see it.';
comment on column htm.operations.claimed_until is 'When an operation without an answer can be begun again.';

-- A row for each text that an edit replaced. Deleted with the node.
create table htm.node_revisions (
    namespace  text collate "C" not null,
    node_id    bigint not null,
    revision   integer not null,
    content    text not null,
    author     text collate "C" not null,
    written_at timestamptz not null,
    constraint node_revisions_pk primary key (node_id, revision, namespace),
    constraint node_revisions_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
comment on table htm.node_revisions is 'The former texts of nodes, who wrote each, and when.';

-- A row for each time that a node was forgotten and restored. Deleted with the node.
create table htm.node_absences (
    namespace    text collate "C" not null,
    node_id      bigint not null,
    forgotten_at timestamptz not null,
    restored_at  timestamptz not null,
    constraint node_absences_pk primary key (node_id, forgotten_at, namespace),
    constraint node_absences_order check (restored_at >= forgotten_at),
    constraint node_absences_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
comment on table htm.node_absences is 'When a restored node was forgotten: a search as of that time does not find it.';

-- A row for each relation that a person or an agent has set between two nodes of a namespace. Deleted with either.
create table htm.relations (
    namespace text collate "C" not null,
    from_node bigint not null,
    kind      text not null constraint relations_kind_known check (kind in ('supersedes', 'contradicts')),
    to_node   bigint not null,
    reason    text constraint relations_reason_size check (octet_length(reason) between 1 and 4096),
    robot     text collate "C" not null constraint relations_robot_size check (octet_length(robot) between 1 and 512),
    made_at   timestamptz not null default now(),
    constraint relations_pk primary key (from_node, to_node, kind, namespace),
    constraint relations_not_to_itself check (from_node <> to_node),
    constraint relations_from_fk foreign key (from_node, namespace) references htm.nodes (id, namespace) on delete cascade,
    constraint relations_to_fk foreign key (to_node, namespace) references htm.nodes (id, namespace) on delete cascade
);
comment on table htm.relations is 'What people and agents say of two memories: one supersedes or contradicts the other.';
comment on column htm.relations.robot is 'Who set it, by name.';
-- The relations to a node.
create index relations_to_node_idx on htm.relations (to_node, kind);
-- Events of relations.
create index relations_made_at_idx on htm.relations (made_at);

-- A row for each robot that repeated a node's content. The first occurrence is the node itself.
create table htm.repeats (
    namespace text collate "C" not null,
    node_id   bigint not null,
    robot_id  bigint not null constraint repeats_robot_fk references htm.robots,
    count     bigint not null default 1 constraint repeats_count_positive check (count >= 1),
    first_at  timestamptz not null default now(),
    last_at   timestamptz not null default now(),
    constraint repeats_pk primary key (node_id, robot_id, namespace),
    constraint repeats_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
);
comment on table htm.repeats is 'How often a robot remembered the same content again.';

-- A table of its own, without an index on the counts, so that a count is a HOT update and no index of the nodes is
-- touched.
create table htm.node_accesses (
    namespace     text collate "C" not null,
    node_id       bigint not null,
    access_count  bigint not null constraint node_accesses_count_positive check (access_count > 0),
    last_accessed timestamptz not null,
    constraint node_accesses_pk primary key (node_id, namespace),
    constraint node_accesses_node_fk foreign key (node_id, namespace) references htm.nodes (id, namespace) on delete cascade
) with (fillfactor = 70);
comment on table htm.node_accesses is
    'How often a node was among the hits of a recall, and when last. Saved in the background, in batches.';
