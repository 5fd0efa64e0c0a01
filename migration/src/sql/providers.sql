-- One row a model that is asked, shared by every worker that asks it.
create table htm.providers (
    model               text not null constraint providers_pk primary key,
    requests_per_minute integer constraint providers_requests_positive check (requests_per_minute > 0),
    tokens_per_minute   integer constraint providers_tokens_positive check (tokens_per_minute > 0),
    concurrent_calls    integer constraint providers_calls_positive check (concurrent_calls > 0),
    request_level       float8 not null default 0,
    token_level         float8 not null default 0,
    levels_at           timestamptz,
    pace_ms             float8,
    breaker             text not null default 'closed'
                        constraint providers_breaker_known check (breaker in ('closed', 'open', 'half_open')),
    failures            integer not null default 0,
    openings            integer not null default 0,
    limits              integer not null default 0,
    reason              text,
    retry_at            timestamptz,
    resume_at           timestamptz,
    changed_at          timestamptz not null default now(),
    constraint providers_retry_when_not_closed check ((breaker = 'closed') = (retry_at is null))
);
comment on column htm.providers.retry_at is
    'open: when one call may be tried; half_open: when that trial is given up and another may be.';
comment on column htm.providers.resume_at is 'From Retry-After: no call before.';
comment on column htm.providers.pace_ms is 'Between two calls that had to wait for leave, on average.';
comment on column htm.providers.limits is 'Rate limits in a row, for a wait when they do not say.';
comment on column htm.providers.openings is 'How often in a row the breaker opened: its wait doubles with each.';

-- Calls under way, of models whose concurrency is limited; one whose worker died ends by itself.
create table htm.provider_calls (
    id         bigint generated always as identity constraint provider_calls_pk primary key,
    model      text not null constraint provider_calls_model_fk references htm.providers on delete cascade,
    worker     text not null,
    expires_at timestamptz not null
);
create index provider_calls_model_idx on htm.provider_calls (model);

-- Calls that wait for leave, in the order of their turns: the larger priority first, then who came first. Not logged:
-- after a crash of the server all ask anew.
create unlogged table htm.waiting_calls (
    id         bigint generated always as identity constraint waiting_calls_pk primary key,
    model      text not null,
    worker     text not null,
    priority   integer not null,
    tokens     integer not null,
    expires_at timestamptz not null
);
create index waiting_calls_turn_idx on htm.waiting_calls (model, priority desc, id);
comment on column htm.waiting_calls.expires_at is 'Who has not asked again by then is gone, and nobody waits for its turn.';

-- Tokens that a namespace may spend a day (UTC), at all providers together.
create table htm.budgets (
    namespace      text collate "C" not null constraint budgets_pk primary key,
    tokens_per_day bigint not null constraint budgets_tokens_not_negative check (tokens_per_day >= 0),
    day            date not null default (now() at time zone 'utc')::date,
    tokens_used    bigint not null default 0
);

-- Asks for leave to call a model. Granted: call is null, or the id to hand back when the calls are counted; report
-- says that the end must be told also when it is good, trial that the breaker waits for it. Denied: wait_ms says when
-- to ask again, why holds the reason. in_turn: null asks once, 0 waits in line from now on, else what turn was in the
-- answer before; the line is by priority, then by who came first. burst is the most tokens that a call should have.
--
-- A model without limits whose breaker is closed costs one read. Who cannot have leave is told so without a lock: only
-- who seems to get it locks the model's row and looks again.
create function htm.acquire_call(in_model text, in_worker text, in_tokens integer, in_deadline_ms bigint,
                                 in_priority integer, in_turn bigint,
                                 out granted boolean, out report boolean, out trial boolean, out call bigint,
                                 out turn bigint, out wait_ms bigint, out burst integer, out why text)
    language plpgsql as $$
declare
    p             htm.providers;
    moment        timestamptz;
    elapsed       float8;
    request_burst float8;
    rate          float8; -- a second
    ahead         bigint;
    ahead_tokens  bigint;
    until         timestamptz;
begin
    granted := true; report := false; trial := false; wait_ms := 0; turn := in_turn;
    for look in 1..2 loop
        if look = 1 then
            select * into p from htm.providers where model = in_model;
        else
            -- A grant that a crash of the server loses is soon forgotten anyway: the lock does not wait for the disk.
            perform set_config('synchronous_commit', 'off', true);
            select * into p from htm.providers where model = in_model for no key update;
        end if;
        moment := clock_timestamp(); -- the lock may have taken a while
        if not found or (p.breaker = 'closed' and p.resume_at is null and p.requests_per_minute is null
                         and p.tokens_per_minute is null and p.concurrent_calls is null) then
            report := coalesce(p.reason is not null, false);
            if in_turn > 0 then delete from htm.waiting_calls where id = in_turn; end if;
            return;
        end if;
        -- While the provider is left alone nobody waits in line.
        if p.breaker <> 'closed' and p.retry_at > moment then
            granted := false; why := 'breaker'; until := p.retry_at;
        elsif p.resume_at > moment then
            granted := false; why := 'retry_after'; until := p.resume_at;
        end if;
        if not granted then
            if in_turn > 0 then delete from htm.waiting_calls where id = in_turn; end if;
            turn := null;
            wait_ms := ceil(extract(epoch from until - moment) * 1000);
            return;
        end if;
        burst := case when p.tokens_per_minute is not null then greatest(p.tokens_per_minute / 6, 1) end;
        -- Leave is for who has room beside all that are ahead: they find theirs when they ask. A trial waits for nobody.
        select count(*), coalesce(sum(least(w.tokens, burst)), 0) into ahead, ahead_tokens
          from htm.waiting_calls w
         where w.model = in_model and w.expires_at > moment and p.breaker = 'closed'
           and (w.priority > in_priority
                or (w.priority = in_priority and w.id < coalesce(nullif(in_turn, 0), 9223372036854775807)));
        if p.concurrent_calls is not null
           and ahead + (select count(*) from htm.provider_calls where model = in_model and expires_at > moment)
               >= p.concurrent_calls then
            granted := false; why := 'concurrent_calls';
            -- The next in line looks often; the others when a quarter of those ahead will have had their turns.
            wait_ms := case ahead when 0 then least(coalesce(p.pace_ms, 500) / 10, 100)
                                  else ahead * coalesce(p.pace_ms, 200) / 4 end;
        end if;
        -- Token buckets. A burst and a minute's refill together are the limit, so that no minute, wherever it begins,
        -- sees more than the limit.
        -- Null without a level yet: the buckets are full.
        elapsed := case when p.levels_at is not null then greatest(extract(epoch from moment - p.levels_at), 0) end;
        if p.requests_per_minute is not null then
            request_burst := greatest(p.requests_per_minute / 60.0, 1);
            rate := greatest(p.requests_per_minute - request_burst, p.requests_per_minute / 2.0) / 60.0;
            p.request_level := least(request_burst, coalesce(p.request_level + elapsed * rate, request_burst));
            if p.request_level < ahead + 1 then
                granted := false; why := coalesce(why, 'requests_per_minute');
                wait_ms := greatest(wait_ms, ceil((ahead + 1 - p.request_level) / rate * 1000));
            end if;
        end if;
        if p.tokens_per_minute is not null then
            rate := (p.tokens_per_minute - p.tokens_per_minute / 6.0) / 60.0;
            p.token_level := least(burst, coalesce(p.token_level + elapsed * rate, burst));
            -- A text that is larger than the burst goes when the bucket is full, and leaves a debt.
            if p.token_level < ahead_tokens + least(in_tokens, burst) then
                granted := false; why := coalesce(why, 'tokens_per_minute');
                wait_ms := greatest(wait_ms,
                                    ceil((ahead_tokens + least(in_tokens, burst) - p.token_level) / rate * 1000));
            end if;
        end if;
        exit when not granted;
    end loop;
    if not granted then
        -- Not for longer than 5 s: a limit may be lifted, and who is ahead may go away.
        wait_ms := least(greatest(wait_ms, 10), 5000);
        if in_turn is not null then
            until := moment + wait_ms * interval '1 millisecond';
            -- Not written at every look.
            update htm.waiting_calls w set tokens = in_tokens, expires_at = until + interval '5 seconds'
             where w.id = in_turn and (w.tokens <> in_tokens or w.expires_at < until + interval '2 seconds');
            if not found and not exists (select from htm.waiting_calls w where w.id = in_turn) then
                insert into htm.waiting_calls (model, worker, priority, tokens, expires_at)
                values (in_model, in_worker, in_priority, in_tokens, until + interval '5 seconds') returning id into turn;
            end if;
        end if;
        return;
    end if;
    report := p.breaker <> 'closed' or p.reason is not null or p.concurrent_calls is not null;
    -- A limit that is not set must not gather debts for the day it is.
    p.request_level := case when p.requests_per_minute is null then 0 else p.request_level - 1 end;
    p.token_level := case when p.tokens_per_minute is null then 0 else p.token_level - in_tokens end;
    if p.concurrent_calls is not null then
        insert into htm.provider_calls (model, worker, expires_at)
        values (in_model, in_worker, moment + in_deadline_ms * interval '1 millisecond') returning id into call;
        delete from htm.provider_calls where model = in_model and expires_at < moment;
    end if;
    if in_turn > 0 and elapsed is not null then
        elapsed := least(elapsed * 1000, 60000);
        p.pace_ms := 0.75 * coalesce(p.pace_ms, elapsed) + 0.25 * elapsed;
    end if;
    delete from htm.waiting_calls where id = in_turn or (model = in_model and expires_at < moment);
    turn := null;
    if p.breaker <> 'closed' then
        trial := true;
        p.breaker := 'half_open';
        p.retry_at := moment + in_deadline_ms * interval '1 millisecond';
    end if;
    update htm.providers
       set request_level = p.request_level, token_level = p.token_level, levels_at = moment, pace_ms = p.pace_ms,
           breaker = p.breaker, retry_at = p.retry_at, resume_at = null
     where model = in_model;
end $$;

-- Says how a call ended. in_kind: 'answered'; 'limited' (429: it says when to come back, or the wait doubles from
-- in_wait_ms with each in a row); 'permanent' (a refused key does not mend by itself: the breaker opens at once);
-- 'transient' (the breaker opens after in_threshold in a row). It is open for in_open_ms, doubled with each opening in a
-- row up to in_cap_ms. Only its trial closes an open breaker, or opens it again: other calls were begun before.
create function htm.finish_call(in_model text, in_call bigint, in_trial boolean, in_kind text, in_reason text,
                                in_retry_after_ms bigint, in_wait_ms bigint, in_threshold integer,
                                in_open_ms bigint, in_cap_ms bigint)
    returns void language plpgsql as $$
declare
    p      htm.providers;
    moment timestamptz;
begin
    if in_call is not null then delete from htm.provider_calls where id = in_call; end if;
    if in_kind <> 'answered' then
        insert into htm.providers (model) values (in_model) on conflict (model) do nothing;
    elsif not exists (select from htm.providers where model = in_model
                         and (breaker <> 'closed' or failures > 0 or reason is not null)) then
        return; -- without the row's lock, which every call would wait for
    end if;
    select * into p from htm.providers where model = in_model for no key update;
    moment := clock_timestamp();
    if not found then return; end if;
    if in_kind = 'limited' then
        -- A trial that meets a limit has found the provider alive.
        p.resume_at := greatest(p.resume_at, moment + coalesce(in_retry_after_ms,
                           least(in_cap_ms, in_wait_ms * power(2, least(p.limits, 20)))) * interval '1 millisecond');
        p.limits := p.limits + 1;
    end if;
    if p.breaker = 'closed' or in_trial then
        if in_kind in ('answered', 'limited') then
            p.breaker := 'closed'; p.failures := 0; p.openings := 0; p.retry_at := null;
        else
            p.failures := p.failures + 1;
            if in_trial or in_kind = 'permanent' or p.failures >= in_threshold then
                p.breaker := 'open';
                p.retry_at := moment
                              + least(in_cap_ms, in_open_ms * power(2, least(p.openings, 20))) * interval '1 millisecond';
                p.openings := p.openings + 1;
            end if;
        end if;
        p.limits := case when in_kind = 'answered' then 0 else p.limits end;
        p.reason := case when in_kind <> 'answered' then in_reason end;
    end if;
    update htm.providers
       set breaker = p.breaker, failures = p.failures, openings = p.openings, limits = p.limits, reason = p.reason,
           retry_at = p.retry_at, resume_at = p.resume_at, changed_at = moment
     where model = in_model;
end $$;

-- Spends tokens from a namespace's budget. spent_on is the day whose budget it was; null for a namespace without one.
-- until is when there is a new budget: then too few are left today, and nothing is spent. A text larger than a whole
-- day's budget goes as the day's first.
create function htm.spend(in_namespace text, in_tokens bigint, out spent_on date, out until timestamptz)
    language plpgsql as $$
declare
    today date := (clock_timestamp() at time zone 'utc')::date;
begin
    update htm.budgets set day = today, tokens_used = 0 where namespace = in_namespace and day < today;
    update htm.budgets
       set tokens_used = tokens_used + in_tokens
     where namespace = in_namespace
       and (tokens_used + in_tokens <= tokens_per_day or (tokens_used = 0 and tokens_per_day > 0))
    returning day into spent_on;
    if not found and exists (select from htm.budgets where namespace = in_namespace) then
        until := (today + 1)::timestamp at time zone 'utc';
    end if;
end $$;

-- Gives back what was spent on a day. When that day's budget is over, nobody gets it.
create function htm.refund(in_namespace text, in_spent_on date, in_tokens bigint) returns void language sql as $$
    update htm.budgets set tokens_used = greatest(tokens_used - in_tokens, 0)
     where namespace = in_namespace and day = in_spent_on;
$$;
