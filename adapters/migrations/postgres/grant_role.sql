-- What does the role of a running service need, and no more?
--
-- It reads and writes rows, and appends to ledger and journal. It cannot define anything, delete
-- anything, or change what is recorded. :"role" is the name of the role, as psql writes it.

grant usage on schema :"schema" to :"role";
grant select on :"schema".lifecycle_migrations to :"role";
grant select, insert, update on :"schema".machines, :"schema".outbox, :"schema".scopes,
    :"schema".newly_gone, :"schema".capacity to :"role";
grant select, insert on :"schema".ledger, :"schema".journal to :"role";
grant execute on function :"schema".now_ms(), :"schema".prune_journal(bigint, bigint) to :"role";
