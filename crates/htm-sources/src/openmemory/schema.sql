-- The tables of OpenMemory as its models declare them: openmemory/api/app/models.py in the repository mem0ai/mem0. For
-- tests.
create table users (
    id char(32) not null primary key, user_id varchar not null, name varchar, email varchar, metadata json,
    created_at datetime, updated_at datetime
);
create table apps (
    id char(32) not null primary key, owner_id char(32) not null references users (id), name varchar not null,
    description varchar, metadata json, is_active boolean, created_at datetime, updated_at datetime
);
create table memories (
    id char(32) not null primary key, user_id char(32) not null references users (id),
    app_id char(32) not null references apps (id), content varchar not null, vector varchar, metadata json,
    state varchar(8), created_at datetime, updated_at datetime, archived_at datetime, deleted_at datetime
);
create table categories (
    id char(32) not null primary key, name varchar not null, description varchar, created_at datetime,
    updated_at datetime
);
create table memory_categories (
    memory_id char(32) not null references memories (id), category_id char(32) not null references categories (id),
    primary key (memory_id, category_id)
);
create table memory_status_history (
    id char(32) not null primary key, memory_id char(32) not null references memories (id),
    changed_by char(32) not null references users (id), old_state varchar(8) not null, new_state varchar(8) not null,
    changed_at datetime
);
create table memory_access_logs (
    id char(32) not null primary key, memory_id char(32) not null references memories (id),
    app_id char(32) not null references apps (id), accessed_at datetime, access_type varchar not null, metadata json
);
