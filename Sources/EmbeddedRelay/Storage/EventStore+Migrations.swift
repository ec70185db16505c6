import GRDB

extension EventStore {
    /// The migrations, numbered and append-only: a released migration never changes.
    static var migrations: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 events") { database in
            try database.execute(sql: eventTables)
        }
        migrator.registerMigration("2 deletions") { database in
            try database.execute(sql: deletionTables)
        }
        return migrator
    }

    /// Tag values and `d` identifiers are blobs, because text may contain zero bytes.
    private static let eventTables = """
        CREATE TABLE event (
            seq INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            pubkey BLOB NOT NULL,
            kind INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            identifier BLOB,
            json BLOB NOT NULL
        );
        CREATE INDEX event_time ON event(created_at DESC, id);
        CREATE INDEX event_author ON event(pubkey, created_at DESC, id);
        CREATE INDEX event_kind ON event(kind, created_at DESC, id);
        CREATE INDEX event_author_kind ON event(pubkey, kind, created_at DESC, id);
        CREATE UNIQUE INDEX event_address ON event(pubkey, kind, identifier) WHERE identifier IS NOT NULL;
        CREATE INDEX event_expiry ON event(expires_at) WHERE expires_at IS NOT NULL;

        CREATE TABLE tag (
            name INTEGER NOT NULL,
            value BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            PRIMARY KEY (name, value, created_at DESC, seq)
        ) WITHOUT ROWID;
        CREATE INDEX tag_event ON tag(seq);
        CREATE TRIGGER event_removed AFTER DELETE ON event BEGIN
            DELETE FROM tag WHERE seq = OLD.seq;
        END;
        """

    /// Deleted events and addresses, kept so that they cannot be published again.
    private static let deletionTables = """
        CREATE TABLE deleted_event (
            id BLOB NOT NULL,
            pubkey BLOB NOT NULL,
            PRIMARY KEY (id, pubkey)
        ) WITHOUT ROWID;
        CREATE TABLE deleted_address (
            pubkey BLOB NOT NULL,
            kind INTEGER NOT NULL,
            identifier BLOB NOT NULL,
            up_to INTEGER NOT NULL,
            PRIMARY KEY (pubkey, kind, identifier)
        ) WITHOUT ROWID;
        """
}
