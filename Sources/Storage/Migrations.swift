import GRDB

/// Numbered and append-only: a released migration never changes.
enum Migrations {
    static var all: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 account") { try $0.execute(sql: Self.account) }
        migrator.registerMigration("2 memos") { try $0.execute(sql: Self.memos) }
        migrator.registerMigration("3 message expiry") { try $0.execute(sql: Self.messageExpiry) }
        migrator.registerMigration("4 leftovers") { try $0.execute(sql: Self.leftovers) }
        migrator.registerMigration("5 media") { try $0.execute(sql: Self.media) }
        migrator.registerMigration("instance") { try $0.execute(sql: Self.instance) }
        migrator.registerMigration("retention") { try $0.execute(sql: Self.retention) }
        migrator.registerMigration("refused") { try $0.execute(sql: Self.refused) }
        migrator.registerMigration("withdrawn messages") { try $0.execute(sql: Self.withdrawnMessages) }
        return migrator
    }

    /// `lookup` columns hold keyed hashes (``Sealer/lookup(_:_:)``) of private ids; ``Place/Column`` lists the sealed
    /// columns. Integer keys keep the rows in insertion order.
    private static let account = """
        CREATE TABLE meta (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            format INTEGER NOT NULL,
            number INTEGER NOT NULL,
            key_check BLOB NOT NULL,
            account BLOB
        ) STRICT;

        CREATE TABLE key_package (
            id INTEGER PRIMARY KEY,
            reference BLOB NOT NULL UNIQUE,
            bundle BLOB NOT NULL,
            slot TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            not_after INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE mls_group (
            id INTEGER PRIMARY KEY,
            lookup BLOB NOT NULL UNIQUE,
            group_id BLOB NOT NULL,
            header BLOB
        ) STRICT;
        CREATE TABLE group_record (
            group_row INTEGER NOT NULL REFERENCES mls_group(id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            content BLOB NOT NULL,
            PRIMARY KEY (group_row, name)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE message (
            id INTEGER PRIMARY KEY,
            lookup BLOB NOT NULL UNIQUE,
            group_lookup BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            content BLOB NOT NULL
        ) STRICT;
        CREATE INDEX message_time ON message(group_lookup, created_at);

        CREATE TABLE waiting (
            id INTEGER PRIMARY KEY,
            event_id BLOB NOT NULL UNIQUE,
            arrived_at INTEGER NOT NULL,
            content BLOB NOT NULL
        ) STRICT;
        CREATE TABLE invite (
            id INTEGER PRIMARY KEY,
            wrapper BLOB NOT NULL UNIQUE,
            content BLOB NOT NULL
        ) STRICT;
        CREATE TABLE seen (
            id INTEGER PRIMARY KEY,
            event_id BLOB NOT NULL UNIQUE,
            seen_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE inbox (
            id INTEGER PRIMARY KEY,
            payload BLOB NOT NULL
        ) STRICT;
        CREATE TABLE outbox (
            id INTEGER PRIMARY KEY,
            lookup BLOB NOT NULL UNIQUE,
            sequence INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            content BLOB NOT NULL
        ) STRICT;

        CREATE TABLE cursor (
            name TEXT PRIMARY KEY,
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE stored_value (
            lookup BLOB PRIMARY KEY,
            content BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// Null until a relay has the event; then the relays that still lack it.
    private static let leftovers = "ALTER TABLE outbox ADD COLUMN leftover BLOB;"

    private static let media = """
        CREATE TABLE media (
            id INTEGER PRIMARY KEY,
            message_lookup BLOB NOT NULL REFERENCES message(lookup) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            content BLOB NOT NULL,
            UNIQUE (message_lookup, position)
        ) STRICT;
        """

    private static let memos = """
        CREATE TABLE memo (
            id INTEGER PRIMARY KEY,
            lookup BLOB NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            content BLOB NOT NULL
        ) STRICT;
        """

    private static let messageExpiry = """
        ALTER TABLE message ADD COLUMN expires_at INTEGER;
        CREATE INDEX message_expiry ON message(expires_at) WHERE expires_at IS NOT NULL;
        """

    /// The copy of the account (``StoredInstance``); readable without the key, so that a restore needs none.
    private static let instance = """
        ALTER TABLE meta ADD COLUMN instance BLOB;
        ALTER TABLE meta ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE meta ADD COLUMN restored INTEGER NOT NULL DEFAULT 0;
        UPDATE meta SET instance = randomblob(16);
        """

    /// Refused ids have their own limit, apart from those in `seen`.
    private static let refused = """
        CREATE TABLE refused (
            id INTEGER PRIMARY KEY,
            event_id BLOB NOT NULL UNIQUE,
            seen_at INTEGER NOT NULL
        ) STRICT;
        """

    /// `point` is a keyed hash of the point in the group's history at which a message was sent, null in the first
    /// generation; messages that left the history are withdrawn.
    private static let withdrawnMessages = """
        ALTER TABLE message ADD COLUMN point BLOB;
        ALTER TABLE message ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX message_point ON message(point) WHERE point IS NOT NULL;
        """

    private static let retention = "CREATE INDEX message_age ON message(created_at);"
}
