-- Which machines are there, and what is known of them?
--
-- Every instant is in milliseconds since 1970, UTC, by this database's clock. Words are the stable
-- text forms of lifecycle-core. :"schema" is the name of the schema, as psql writes it.

create function :"schema".now_ms() returns bigint
    language sql volatile parallel safe
    begin atomic
        select floor(extract(epoch from clock_timestamp()) * 1000)::bigint;
    end;
comment on function :"schema".now_ms() is
    'The time of the store. Tests replace it to let time pass.';

create table :"schema".machines (
    -- The service's own name.
    id text collate "C" primary key check (length(id) between 1 and 200),
    status text not null check (status in
        ('provisioning', 'running', 'paused', 'quarantined', 'destroying', 'destroyed', 'failed')),
    -- What is known of the volume.
    volume text not null check (volume in ('none', 'owned', 'shared', 'unknown')),
    -- Whether capacity is reserved.
    compute text not null check (compute in ('held', 'released', 'lost')),
    -- What the owner wants the power to be.
    desired text not null check (desired in ('on', 'off')),
    -- Which incarnation of the machine this is.
    generation bigint not null check (generation >= 1),
    -- Where the provider keeps it: account, region, host.
    scope text not null,
    -- What the provider's machine carries to say that it is this one.
    marker text,
    -- When this incarnation was asked for.
    created_at bigint not null,
    -- When the status was entered.
    status_since bigint not null,
    -- The last believed sighting, and when the question was sent.
    last_seen_power text check (last_seen_power in
        ('booting', 'running', 'stopping', 'off', 'suspended', 'gone')),
    last_seen_at bigint,
    -- When the latest accepted question was sent.
    observed_at bigint,
    -- The run of misses: when the first was asked for, and how many there were.
    missing_since bigint,
    missing_count bigint check (missing_count >= 0),
    -- The quarantine: which one, since when, and when its grace is over.
    quarantine_id bigint check (quarantine_id >= 0),
    quarantine_since bigint,
    destroy_at bigint,
    -- How many quarantines there were.
    quarantines bigint not null check (quarantines >= 0),
    -- When compute was found lost.
    compute_lost_at bigint,
    -- Until when an operation of the host holds the row.
    busy_until bigint,
    -- How many times capacity was reserved.
    holds bigint not null check (holds >= 0),
    -- The provider's ids of the machine and of its volume.
    provider_id text,
    volume_id text,
    -- What registration said of the volume.
    registered_volume text not null check (registered_volume in ('none', 'owned', 'shared', 'unknown')),
    -- The run of readings that did not have the volume.
    volume_missing_since bigint,
    volume_missing_count bigint check (volume_missing_count >= 0),
    -- The name of the policy; null: the reconciler's own.
    policy text,
    -- Counts commits; the compare-and-set counter.
    revision bigint not null check (revision >= 0),
    -- When the machine was last looked at.
    checked_at bigint not null,
    -- When to look again; null: never.
    look_again_at bigint,
    -- Whether this incarnation was ever seen at the provider.
    was_sighted boolean not null,
    -- When the provider accepted a destroy of this incarnation's compute.
    destroy_accepted_at bigint,
    -- The stop or destroy that a relay is delivering, until when, and who may settle it.
    claim_effect text check (claim_effect in ('stop_compute', 'destroy_compute', 'destroy_volume')),
    claim_until bigint,
    claim_token text,
    -- The latest commits, newest first: whoever lost the connection at a commit finds it here.
    recent_commits uuid[] not null default '{}',
    constraint last_seen_whole check ((last_seen_power is null) = (last_seen_at is null)),
    constraint missing_whole check ((missing_since is null) = (missing_count is null)),
    constraint quarantine_whole check (num_nulls(quarantine_id, quarantine_since, destroy_at) in (0, 3)),
    constraint volume_missing_whole
        check ((volume_missing_since is null) = (volume_missing_count is null)),
    constraint claim_whole check (num_nulls(claim_effect, claim_until, claim_token) in (0, 3))
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
comment on table :"schema".machines is
    'One row for each machine. Written by compare-and-set on revision; never deleted.';

-- What is due: found by the first index where it is little, and by the second where it is much, the
-- longest unchecked first.
create index machines_due on :"schema".machines (look_again_at) where look_again_at is not null;
create index machines_unchecked on :"schema".machines (checked_at, look_again_at)
    where look_again_at is not null;
-- The fleet guard counts the active machines of one scope.
create index machines_active on :"schema".machines (scope, id)
    where status in ('provisioning', 'running', 'paused', 'failed');

-- Whoever was faster has changed checked_at: under the lock it is found changed, so that sweeps side by
-- side never take the same row. The settings keep the planner from sorting the whole table for a few
-- rows; they hold inside of this function alone.
create function :"schema".lock_due(of_scope text, at_most bigint)
    returns table (id text, checked_at bigint)
    language sql volatile
    set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
    begin atomic
        with clock as materialized (
            select :"schema".now_ms() as now
        ), few as materialized (
            select m.id, m.checked_at from :"schema".machines m
            where m.look_again_at <= (select now from clock)
                and (of_scope is null or m.scope = of_scope)
            limit 10 * at_most + 1
        ), counted as materialized (
            select count(*) > 10 * at_most as is_much from few
        ), found as (
            (select few.id, few.checked_at from few
             where not (select is_much from counted)
             order by few.checked_at)
            union all
            (select m.id, m.checked_at from :"schema".machines m
             where (select is_much from counted)
                 and m.look_again_at <= (select now from clock)
                 and (of_scope is null or m.scope = of_scope)
             order by m.checked_at)
        )
        select locked.id, found.checked_at
        from found cross join lateral (
            select m.id from :"schema".machines m
            where m.id = found.id and m.checked_at = found.checked_at
            for no key update skip locked
        ) locked
        limit at_most;
    end;
comment on function :"schema".lock_due(text, bigint) is
    'Locks machines that are due to be looked at, the longest unchecked first.';
