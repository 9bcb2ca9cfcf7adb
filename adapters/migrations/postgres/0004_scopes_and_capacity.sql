-- What does the fleet guard know of a scope, and how much capacity is reserved?

create table :"schema".scopes (
    scope text collate "C" primary key,
    -- Since when absences are held back.
    held_since bigint,
    -- When an operator last said that they are true.
    released_at bigint
);
comment on table :"schema".scopes is
    'The hold of each scope. The one table that is not keyed by machine: small, and the same everywhere.';

create table :"schema".newly_gone (
    machine text collate "C" not null,
    scope text collate "C" not null,
    -- When it was last believed gone.
    at bigint not null,
    primary key (machine, scope)
);
comment on table :"schema".newly_gone is
    'Active machines that were found gone, for the window of the fleet guard.';
create index newly_gone_window on :"schema".newly_gone (scope, at);

create table :"schema".capacity (
    machine text collate "C" not null,
    generation bigint not null check (generation >= 1),
    -- Which reservation of the machine.
    holds bigint not null check (holds >= 0),
    reserved_at bigint not null,
    -- Remembered for good, so that a reservation that comes later changes nothing.
    released_at bigint,
    primary key (machine, generation, holds)
);
comment on table :"schema".capacity is 'What the host has given away, one row for each reservation.';
create index capacity_reserved on :"schema".capacity (machine) where released_at is null;
