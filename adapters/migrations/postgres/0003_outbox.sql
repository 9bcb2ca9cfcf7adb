-- Which work is owed, and how far is it?

create table :"schema".outbox (
    machine text collate "C" not null,
    generation bigint not null check (generation >= 1),
    effect text not null check (effect in
        ('stop_compute', 'hold_compute', 'release_compute', 'revoke_credentials', 'destroy_compute',
         'destroy_volume')),
    -- Which reservation, for a hold or release; else 0.
    holds bigint not null check (holds >= 0),
    -- The order of first queueing.
    seq bigint generated always as identity,
    -- The machine as its provider knew it at the commit.
    provider_id text,
    marker text,
    scope text not null,
    volume_id text,
    -- The quarantine under which it was committed.
    quarantine_id bigint,
    -- When it was committed.
    committed_at bigint not null,
    -- Whether the machine had been seen at the provider.
    was_sighted boolean not null,
    state text not null check (state in
        ('pending', 'claimed', 'done', 'cancelled', 'dead', 'dropped')),
    -- It was queued again while it was claimed: settling makes it pending anew.
    is_dirty boolean not null default false,
    -- How many deliveries failed since it was last queued.
    attempts bigint not null default 0 check (attempts >= 0),
    -- When to try next.
    due_at bigint not null,
    -- What went wrong last, or why it was cancelled or dropped.
    note text,
    -- When the provider accepted it, where that is not yet the end of it.
    accepted_at bigint,
    -- Who may settle it, and until when.
    claim_token text,
    claim_until bigint,
    -- The token of the latest change by a relay or operator: whoever lost the connection finds it here.
    settled_by text,
    primary key (machine, generation, effect, holds),
    constraint claim_whole check (
        (claim_token is not null) = (state = 'claimed') and (claim_until is not null) = (state = 'claimed'))
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
comment on table :"schema".outbox is
    'Work queued in the transaction of the commit that owes it. At most one row for each piece of work.';
-- What may be claimed, the longest due first.
create index outbox_due on :"schema".outbox ((coalesce(claim_until, due_at)))
    where state in ('pending', 'claimed');
create index outbox_dead on :"schema".outbox (committed_at) where state = 'dead';
