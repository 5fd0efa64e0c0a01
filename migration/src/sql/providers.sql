-- A row for each model of a provider. All workers share it.
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
    'open: when a trial call may be made; half_open: when that trial is given up and another may be made.';
comment on column htm.providers.resume_at is 'From Retry-After. No call is made before.';
comment on column htm.providers.pace_ms is 'The average time between two calls that waited in line.';
comment on column htm.providers.limits is 'Rate limits in a row. They double the wait after one without Retry-After.';
comment on column htm.providers.openings is 'How often in a row the breaker opened. Each opening doubles its wait.';

-- Calls in flight of models with limited concurrency. The row of a dead worker expires.
create table htm.provider_calls (
    id         bigint generated always as identity constraint provider_calls_pk primary key,
    model      text not null constraint provider_calls_model_fk references htm.providers on delete cascade,
    worker     text not null,
    expires_at timestamptz not null
);
create index provider_calls_model_idx on htm.provider_calls (model);

-- Calls that wait in line: the larger priority first, then in order of arrival. The table is unlogged, because after a
-- crash of the server all callers ask again.
create unlogged table htm.waiting_calls (
    id         bigint generated always as identity constraint waiting_calls_pk primary key,
    model      text not null,
    worker     text not null,
    priority   integer not null,
    tokens     integer not null,
    expires_at timestamptz not null
);
create index waiting_calls_turn_idx on htm.waiting_calls (model, priority desc, id);
comment on column htm.waiting_calls.expires_at is 'A caller that has not asked again by then is gone and loses its place.';

-- The tokens that a namespace may spend per day (UTC), at all providers together.
create table htm.budgets (
    namespace      text collate "C" not null constraint budgets_pk primary key,
    tokens_per_day bigint not null constraint budgets_tokens_not_negative check (tokens_per_day >= 0),
    day            date not null default (now() at time zone 'utc')::date,
    tokens_used    bigint not null default 0
);

-- Asks the governor to grant a call to a model.
-- If granted: call is the id for finish_call, or null if calls are not counted. report: finish_call is needed after a
-- success too. trial: the breaker waits for this call's end.
-- If denied: wait_ms is the time until the next question, why the reason.
-- in_turn: null asks once, 0 enters the line, otherwise it is turn of the previous answer. The line is by priority,
-- then by order of arrival. burst is the most tokens that a call should have.
--
-- A model without limits and with a closed breaker costs one read. A denial takes no lock. Only for a likely grant, the
-- model's row is locked and read again.
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
            -- The lock does not wait for the disk. A crash of the server may lose a grant, which expires soon anyway.
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
        -- While the provider is held, no call waits in line.
        if p.breaker <> 'closed' and p.retry_at > moment then
            granted := false; why := 'breaker'; until := p.retry_at;
            -- The trial's own end opens or closes the breaker, mostly long before it is given up.
            if p.breaker = 'half_open' then until := least(until, moment + interval '1 second'); end if;
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
        -- A grant needs room beside all calls ahead in the line, which are granted when they ask. A trial does not
        -- wait.
        select count(*), coalesce(sum(least(w.tokens, burst)), 0) into ahead, ahead_tokens
          from htm.waiting_calls w
         where w.model = in_model and w.expires_at > moment and p.breaker = 'closed'
           and (w.priority > in_priority
                or (w.priority = in_priority and w.id < coalesce(nullif(in_turn, 0), 9223372036854775807)));
        if p.concurrent_calls is not null
           and ahead + (select count(*) from htm.provider_calls where model = in_model and expires_at > moment)
               >= p.concurrent_calls then
            granted := false; why := 'concurrent_calls';
            -- The first in line asks often. The others ask when a quarter of the calls ahead should be done.
            wait_ms := case ahead when 0 then least(coalesce(p.pace_ms, 500) / 10, 100)
                                  else ahead * coalesce(p.pace_ms, 200) / 4 end;
        end if;
        -- Token buckets. A burst and a minute's refill together are the limit, so that no period of 60 s exceeds it.
        -- Null before the first call: the buckets are full.
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
            -- A text larger than the burst is granted when the bucket is full, and leaves a debt.
            if p.token_level < ahead_tokens + least(in_tokens, burst) then
                granted := false; why := coalesce(why, 'tokens_per_minute');
                wait_ms := greatest(wait_ms,
                                    ceil((ahead_tokens + least(in_tokens, burst) - p.token_level) / rate * 1000));
            end if;
        end if;
        exit when not granted;
    end loop;
    if not granted then
        -- At most 5 s, because a limit may be lifted, and calls ahead may go away.
        wait_ms := least(greatest(wait_ms, 10), 5000);
        if in_turn is not null then
            until := moment + wait_ms * interval '1 millisecond';
            -- Not written at every question.
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
    -- A limit that is not set accumulates no debt.
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

-- Records the end of a call. in_kind is one of:
-- 'answered'; 'limited' (429: the wait is in_retry_after_ms, else in_wait_ms, doubled with each one in a row; those of
-- calls that end while calls are held do not count);
-- 'permanent' (the breaker opens at once, because a rejected key does not recover by itself); 'transient' (the breaker
-- opens after in_threshold in a row).
-- The breaker is open for in_open_ms, doubled with each opening in a row up to in_cap_ms. Only its trial closes an open
-- breaker or opens it again, because other calls began before it opened.
create function htm.finish_call(in_model text, in_call bigint, in_trial boolean, in_kind text, in_reason text,
                                in_retry_after_ms bigint, in_wait_ms bigint, in_threshold integer,
                                in_open_ms bigint, in_cap_ms bigint)
    returns void language plpgsql as $$
declare
    p      htm.providers;
    moment timestamptz;
begin
    if in_kind <> 'answered' then
        insert into htm.providers (model) values (in_model) on conflict (model) do nothing;
    elsif not exists (select from htm.providers where model = in_model
                         and (breaker <> 'closed' or failures > 0 or reason is not null)) then
        if in_call is not null then delete from htm.provider_calls where id = in_call; end if;
        return; -- without a lock of the row, which would serialise all calls
    end if;
    -- The model before its calls, as in acquire_call.
    select * into p from htm.providers where model = in_model for no key update;
    if in_call is not null then delete from htm.provider_calls where id = in_call; end if;
    moment := clock_timestamp();
    if not found then return; end if;
    if in_kind = 'limited' then
        -- A trial that is limited shows that the provider works.
        if p.resume_at is null or p.resume_at <= moment then
            -- What the provider asks for, and longer if that was not long enough the last time.
            p.resume_at := moment + greatest(in_retry_after_ms,
                               case when in_retry_after_ms is null or p.limits > 0
                                    then least(in_cap_ms, in_wait_ms * power(2, least(p.limits, 20))) end)
                             * interval '1 millisecond';
            p.limits := p.limits + 1;
        else
            p.resume_at := greatest(p.resume_at, moment + in_retry_after_ms * interval '1 millisecond');
        end if;
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
        if in_kind <> 'answered' then
            p.reason := in_reason;
        elsif p.resume_at is null or p.resume_at <= moment then -- else its call began before the limit
            p.limits := 0;
            p.reason := null;
        end if;
    end if;
    update htm.providers
       set breaker = p.breaker, failures = p.failures, openings = p.openings, limits = p.limits, reason = p.reason,
           retry_at = p.retry_at, resume_at = p.resume_at, changed_at = moment
     where model = in_model;
end $$;

-- Spends tokens from a namespace's budget. spent_on is the budget's day, and null for a namespace without a budget. If
-- too few tokens are left today, nothing is spent, and until is the time of the next budget. A text larger than a whole
-- day's budget is granted as the day's first.
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

-- Refunds tokens to the budget of a day. Does nothing if that day is over.
create function htm.refund(in_namespace text, in_spent_on date, in_tokens bigint) returns void language sql as $$
    update htm.budgets set tokens_used = greatest(tokens_used - in_tokens, 0)
     where namespace = in_namespace and day = in_spent_on;
$$;
