-- What a sweep writes where every machine changes, by somebody who knows the answer already.
with changed as (
    update lifecycle.machines
    set status = case status when 'running' then 'paused' else 'running' end,
        status_since = lifecycle.now_ms(),
        last_seen_power = case status when 'running' then 'off' else 'running' end,
        last_seen_at = lifecycle.now_ms(),
        observed_at = lifecycle.now_ms(),
        revision = revision + 1,
        checked_at = lifecycle.now_ms(),
        look_again_at = lifecycle.now_ms() + 300000,
        was_sighted = true,
        recent_commits = array[gen_random_uuid()] || recent_commits[1:3]
    returning *
), recorded as (
    insert into lifecycle.ledger
        (machine, generation, fact, occurrence, at, source, rule, was_sighted, volume, volume_id)
    select id, generation, 'record_' || status, revision, status_since, 'sweep', 'seen_stopped', true, volume, volume_id
    from changed
), kept as (
    insert into lifecycle.journal (machine, revision, at, source, rule, input, why)
    select id, revision, status_since, 'sweep', 'seen_stopped', repeat('{"a journal entry":"of the usual length"}', 38), repeat('a sentence. ', 14)
    from changed
)
select id from changed
