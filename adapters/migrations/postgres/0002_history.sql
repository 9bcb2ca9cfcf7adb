-- What happened, for good (ledger), and why it was decided (journal)?

create table :"schema".ledger (
    machine text collate "C" not null,
    generation bigint not null check (generation >= 1),
    -- One of the record_* effects.
    fact text not null check (fact like 'record\_%'),
    -- Which one of its kind: 0 for what a generation has once, else the row's revision.
    occurrence bigint not null check (occurrence >= 0),
    -- The order of writing; gaps mean nothing.
    seq bigint generated always as identity,
    -- When it was committed.
    at bigint not null,
    -- Which path noticed.
    source text not null,
    -- Which rule answered; null for what an older system had recorded.
    rule text,
    -- Whether the machine was ever seen at the provider.
    was_sighted boolean not null,
    -- The volume left behind, and the provider's id of it.
    volume text not null check (volume in ('none', 'owned', 'shared', 'unknown')),
    volume_id text,
    primary key (machine, generation, fact, occurrence)
);
comment on table :"schema".ledger is
    'Facts, written in the transaction that made them true. Append-only, kept for good; outlives its machine.';
create index ledger_kept_volumes on :"schema".ledger (machine)
    where fact = 'record_destroyed' and volume <> 'none';

create table :"schema".journal (
    machine text collate "C" not null,
    -- The order of writing; gaps mean nothing.
    seq bigint generated always as identity,
    -- The row's revision after the decision.
    revision bigint not null check (revision >= 0),
    at bigint not null,
    -- Which path noticed or asked.
    source text not null,
    -- Which rule answered; null for what no rule decides.
    rule text,
    -- What it was decided from, as one line of JSON; empty where no rule decided.
    input text not null,
    -- Why, in one sentence.
    why text not null,
    primary key (machine, seq)
);
comment on table :"schema".journal is
    'Every decision with its inputs. Append-only; old entries go by prune_journal alone.';
create index journal_age on :"schema".journal using brin (at);

create function :"schema".refuse_change() returns trigger
    language plpgsql
    as $$
    begin
        if tg_op = 'DELETE' and tg_table_name = current_setting('lifecycle.pruning', true) then
            return null;
        end if;
        raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
    end
    $$;
create trigger append_only before update or delete or truncate on :"schema".ledger
    for each statement execute function :"schema".refuse_change();
create trigger append_only before update or delete or truncate on :"schema".journal
    for each statement execute function :"schema".refuse_change();

create function :"schema".prune_journal(before bigint, at_most bigint) returns bigint
    language sql volatile security definer
    set search_path = pg_catalog, pg_temp
    set lifecycle.pruning = 'journal'
    begin atomic
        with old as (
            select j.machine, j.seq from :"schema".journal j where j.at < before limit at_most
        ), pruned as (
            delete from :"schema".journal j using old
            where j.machine = old.machine and j.seq = old.seq
            returning 1
        )
        select count(*) from pruned;
    end;
comment on function :"schema".prune_journal(bigint, bigint) is
    'Deletes at most so many journal entries older than this, and says how many. Never touches the ledger.';
revoke all on function :"schema".prune_journal(bigint, bigint) from public;
