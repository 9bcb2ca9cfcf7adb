-- The tables of lifecycle. All are prefixed, so that they can live in a host's own database.
--
-- Instants are whole milliseconds since the Unix epoch, by the store's clock. Words are the stable
-- text forms of the enums; the checks repeat them, so that a hand in the database cannot write what
-- no program can read. A newer word needs a migration.

-- One row for each machine: what a decision may look at, and what it takes to carry it out.
CREATE TABLE lifecycle_machines (
    -- The service's own name of the machine.
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 200),
    -- What the row stores.
    status TEXT NOT NULL CHECK (status IN (
        'provisioning', 'running', 'paused', 'quarantined', 'destroying', 'destroyed', 'failed')),
    -- What is known of the volume.
    volume TEXT NOT NULL CHECK (volume IN ('none', 'owned', 'shared', 'unknown')),
    -- Whether capacity is reserved.
    compute TEXT NOT NULL CHECK (compute IN ('held', 'released', 'lost')),
    -- What the owner wants the power to be.
    desired TEXT NOT NULL CHECK (desired IN ('on', 'off')),
    -- Which incarnation of the machine this is, from 1.
    generation INTEGER NOT NULL CHECK (generation >= 1),
    -- Where the provider keeps it: account, region, host.
    scope TEXT NOT NULL,
    -- What the provider's machine carries to say that it is this one.
    marker TEXT,
    -- When this incarnation was asked for.
    created_at INTEGER NOT NULL,
    -- When the status was entered.
    status_since INTEGER NOT NULL,
    -- The last believed sighting, and when it was asked for.
    last_seen_power TEXT CHECK (last_seen_power IN (
        'booting', 'running', 'stopping', 'off', 'suspended', 'gone')),
    last_seen_at INTEGER,
    -- When the latest accepted question was sent.
    observed_at INTEGER,
    -- The run of answers that did not have the machine: when it began, how many there were.
    missing_since INTEGER,
    missing_count INTEGER CHECK (missing_count >= 0),
    -- The quarantine, where one was opened: which one, since when, and when its grace is over.
    quarantine_id INTEGER CHECK (quarantine_id >= 0),
    quarantine_since INTEGER,
    destroy_at INTEGER,
    -- How many quarantines there were.
    quarantines INTEGER NOT NULL CHECK (quarantines >= 0),
    -- When compute was found lost.
    compute_lost_at INTEGER,
    -- Until when an operation of the host holds the row.
    busy_until INTEGER,
    -- How many times capacity was reserved.
    holds INTEGER NOT NULL CHECK (holds >= 0),
    -- The provider's id of the machine; none until the create was answered.
    provider_id TEXT,
    -- The provider's id of the volume.
    volume_id TEXT,
    -- What registration said of the volume; a reading may only protect more.
    registered_volume TEXT NOT NULL CHECK (registered_volume IN ('none', 'owned', 'shared', 'unknown')),
    -- The run of readings that did not have the volume.
    volume_missing_since INTEGER,
    volume_missing_count INTEGER CHECK (volume_missing_count >= 0),
    -- The name of the policy; none: the reconciler's own.
    policy TEXT,
    -- Counts commits; the compare-and-set counter.
    revision INTEGER NOT NULL CHECK (revision >= 0),
    -- When the machine was last looked at.
    checked_at INTEGER NOT NULL,
    -- When to look again; none: never.
    look_again_at INTEGER,
    -- Whether this incarnation was ever seen at the provider.
    was_sighted INTEGER NOT NULL CHECK (was_sighted IN (0, 1)),
    -- When the provider accepted a destroy of this incarnation's compute.
    destroy_accepted_at INTEGER,
    -- The stop or destroy that a relay is delivering: the effect, until when, and who may settle it.
    claim_effect TEXT CHECK (claim_effect IN ('stop_compute', 'destroy_compute', 'destroy_volume')),
    claim_until INTEGER,
    claim_token TEXT,
    CHECK ((last_seen_power IS NULL) = (last_seen_at IS NULL)),
    CHECK ((missing_since IS NULL) = (missing_count IS NULL)),
    CHECK ((quarantine_id IS NULL) = (quarantine_since IS NULL)
        AND (quarantine_id IS NULL) = (destroy_at IS NULL)),
    CHECK ((volume_missing_since IS NULL) = (volume_missing_count IS NULL)),
    CHECK ((claim_effect IS NULL) = (claim_until IS NULL)
        AND (claim_effect IS NULL) = (claim_token IS NULL))
) STRICT;

-- Rows due to be looked at, the longest unchecked first.
CREATE INDEX lifecycle_machines_due ON lifecycle_machines (look_again_at, checked_at, id, scope)
    WHERE look_again_at IS NOT NULL;

-- The active rows of a scope, for the fleet guard.
CREATE INDEX lifecycle_machines_scope ON lifecycle_machines (scope, status);

-- What happened, for good: written in the transaction of the commit that made it true.
CREATE TABLE lifecycle_ledger (
    -- The order of writing.
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The machine; no reference, since facts outlive rows.
    machine TEXT NOT NULL,
    -- The incarnation.
    generation INTEGER NOT NULL CHECK (generation >= 1),
    -- What happened.
    fact TEXT NOT NULL CHECK (fact IN (
        'record_running', 'record_paused', 'record_quarantined', 'record_destroying',
        'record_destroyed', 'record_failed', 'record_compute_lost', 'record_orphan')),
    -- Which one of its kind: 0 for what a generation has once, else the row's revision.
    occurrence INTEGER NOT NULL CHECK (occurrence >= 0),
    -- When it was committed.
    at INTEGER NOT NULL,
    -- Which path noticed.
    source TEXT NOT NULL CHECK (source IN (
        'sweep', 'status_read', 'access', 'stats', 'user', 'account_deletion', 'base_reopen',
        'relay')),
    -- Which rule answered; none for what an older system had recorded.
    rule TEXT,
    -- Whether the machine was ever seen at the provider.
    was_sighted INTEGER NOT NULL CHECK (was_sighted IN (0, 1)),
    -- The volume left behind.
    volume TEXT NOT NULL CHECK (volume IN ('none', 'owned', 'shared', 'unknown')),
    -- The provider's id of that volume.
    volume_id TEXT,
    UNIQUE (machine, generation, fact, occurrence)
) STRICT;

-- The volumes that outlived their machines.
CREATE INDEX lifecycle_ledger_kept ON lifecycle_ledger (seq)
    WHERE fact = 'record_destroyed' AND volume <> 'none';

-- `INSERT OR REPLACE` removes rows without the triggers below.
CREATE TRIGGER lifecycle_ledger_once BEFORE INSERT ON lifecycle_ledger
WHEN EXISTS (
    SELECT 1 FROM lifecycle_ledger
    WHERE seq = NEW.seq OR (machine = NEW.machine AND generation = NEW.generation
        AND fact = NEW.fact AND occurrence = NEW.occurrence))
BEGIN
    SELECT RAISE(IGNORE);
END;

CREATE TRIGGER lifecycle_ledger_keeps BEFORE UPDATE ON lifecycle_ledger
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TRIGGER lifecycle_ledger_stays BEFORE DELETE ON lifecycle_ledger
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

-- Work queued with a commit, delivered after it; of each piece there is at most one row.
CREATE TABLE lifecycle_outbox (
    -- The order of first queueing.
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The machine.
    machine TEXT NOT NULL REFERENCES lifecycle_machines (id),
    -- The incarnation.
    generation INTEGER NOT NULL CHECK (generation >= 1),
    -- What is to be delivered.
    effect TEXT NOT NULL CHECK (effect IN (
        'stop_compute', 'hold_compute', 'release_compute', 'revoke_credentials',
        'destroy_compute', 'destroy_volume')),
    -- Which reservation, for a hold or release; else 0.
    holds INTEGER NOT NULL CHECK (holds >= 0),
    -- The provider's id, marker, scope and volume at the time of the commit.
    provider_id TEXT,
    marker TEXT,
    scope TEXT NOT NULL,
    volume_id TEXT,
    -- The quarantine under which it was committed.
    quarantine_id INTEGER CHECK (quarantine_id >= 0),
    -- When it was committed.
    committed_at INTEGER NOT NULL,
    -- Whether the machine had been seen at the provider.
    was_sighted INTEGER NOT NULL CHECK (was_sighted IN (0, 1)),
    -- How far it is.
    state TEXT NOT NULL CHECK (state IN (
        'pending', 'claimed', 'done', 'cancelled', 'dead', 'dropped')),
    -- It was queued again while it was claimed.
    is_dirty INTEGER NOT NULL CHECK (is_dirty IN (0, 1)),
    -- How many deliveries failed since it was last queued.
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    -- When to try next.
    due_at INTEGER NOT NULL,
    -- What went wrong last, or why it was cancelled or dropped.
    note TEXT,
    -- When the provider accepted it, where that is not yet the end of it.
    accepted_at INTEGER,
    -- Until when a relay has it, and the token by which it settles.
    claimed_until INTEGER,
    claim_token TEXT UNIQUE,
    UNIQUE (machine, generation, effect, holds),
    CHECK ((state = 'claimed') = (claim_token IS NOT NULL)),
    CHECK ((state = 'claimed') = (claimed_until IS NOT NULL))
) STRICT;

-- Work that is due.
CREATE INDEX lifecycle_outbox_pending ON lifecycle_outbox (due_at, seq) WHERE state = 'pending';
CREATE INDEX lifecycle_outbox_claimed ON lifecycle_outbox (claimed_until, seq) WHERE state = 'claimed';

-- Dead letters.
CREATE INDEX lifecycle_outbox_dead ON lifecycle_outbox (committed_at, seq) WHERE state = 'dead';

-- Decisions with their inputs; old ones may be pruned, none is ever changed.
CREATE TABLE lifecycle_journal (
    -- The order of writing.
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The machine; no reference, since decisions outlive rows.
    machine TEXT NOT NULL,
    -- The row's revision after it.
    revision INTEGER NOT NULL CHECK (revision >= 0),
    -- When it was made.
    at INTEGER NOT NULL,
    -- Which path noticed or asked.
    source TEXT NOT NULL CHECK (source IN (
        'sweep', 'status_read', 'access', 'stats', 'user', 'account_deletion', 'base_reopen',
        'relay')),
    -- Which rule answered; none for what no rule decides.
    rule TEXT,
    -- What it was decided from, as one line of JSON; empty where no rule decided.
    input TEXT NOT NULL,
    -- Why, in one sentence.
    why TEXT NOT NULL
) STRICT;

CREATE INDEX lifecycle_journal_machine ON lifecycle_journal (machine, seq);
CREATE INDEX lifecycle_journal_at ON lifecycle_journal (at);

-- Lets a pruning pass the trigger below: what is older than `before` may go while a row is here.
-- Written and emptied within the pruning's own transaction.
CREATE TABLE lifecycle_journal_pruning (
    -- Entries made before this may go.
    before INTEGER NOT NULL
) STRICT;

CREATE TRIGGER lifecycle_journal_once BEFORE INSERT ON lifecycle_journal
WHEN EXISTS (SELECT 1 FROM lifecycle_journal WHERE seq = NEW.seq)
BEGIN
    SELECT RAISE(IGNORE);
END;

CREATE TRIGGER lifecycle_journal_keeps BEFORE UPDATE ON lifecycle_journal
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only');
END;

CREATE TRIGGER lifecycle_journal_stays BEFORE DELETE ON lifecycle_journal
WHEN NOT EXISTS (SELECT 1 FROM lifecycle_journal_pruning WHERE OLD.at < before)
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only; prune it by its call');
END;

-- One row for each scope that was ever held or released.
CREATE TABLE lifecycle_scopes (
    -- The scope.
    scope TEXT NOT NULL PRIMARY KEY,
    -- Since when its absences are not believed.
    held_since INTEGER,
    -- When an operator last said that its absences are true.
    released_at INTEGER
) STRICT, WITHOUT ROWID;

-- Active machines that were concluded as gone, for the fleet guard; one row for each machine.
CREATE TABLE lifecycle_newly_gone (
    -- The scope.
    scope TEXT NOT NULL,
    -- The machine.
    machine TEXT NOT NULL,
    -- The incarnation that went last.
    generation INTEGER NOT NULL,
    -- When.
    at INTEGER NOT NULL,
    PRIMARY KEY (scope, machine)
) STRICT, WITHOUT ROWID;

CREATE INDEX lifecycle_newly_gone_at ON lifecycle_newly_gone (scope, at);

-- The host's allocation accounting: one row for each reservation ever asked for or given back.
CREATE TABLE lifecycle_capacity (
    -- The machine; no reference, since the accounting may live longer than rows.
    machine TEXT NOT NULL,
    -- The incarnation.
    generation INTEGER NOT NULL CHECK (generation >= 1),
    -- Which reservation of the machine.
    holds INTEGER NOT NULL CHECK (holds >= 0),
    -- When it was reserved; none where the release came first.
    held_at INTEGER,
    -- When it was given back; from then on it is never held again.
    released_at INTEGER,
    PRIMARY KEY (machine, generation, holds)
) STRICT, WITHOUT ROWID;
