-- Credentials that open a route to a machine; only their hashes are kept. The table is the service's own:
-- it is made where the revoker of this crate is used, and not by the migrations of the store.
CREATE TABLE IF NOT EXISTS route_tokens (
    -- SHA-256 of the token.
    token_hash BLOB NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
    -- The machine.
    machine TEXT NOT NULL,
    -- The incarnation for which it was minted.
    generation INTEGER NOT NULL CHECK (generation >= 1),
    -- When it was minted.
    issued_at INTEGER NOT NULL,
    -- When it was revoked; the first time counts.
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS route_tokens_live ON route_tokens (machine, generation) WHERE revoked_at IS NULL;
