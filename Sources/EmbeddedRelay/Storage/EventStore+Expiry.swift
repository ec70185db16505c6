import GRDB
import Nostr

extension EventStore {
    /// Removes expired events (NIP-40), a thousand per transaction so that writers are not blocked for long.
    ///
    /// - Returns: the number of removed events.
    func purge(now: UnixTime) async throws -> Int {
        let step = 1_000
        var removed = 0
        while true {
            let count = try await database.write { database in
                try database.execute(
                    sql: """
                        DELETE FROM event WHERE seq IN
                        (SELECT seq FROM event WHERE expires_at <= ? ORDER BY expires_at LIMIT \(step))
                        """, arguments: [now.seconds])
                return database.changesCount
            }
            removed += count
            if count < step { return removed }
        }
    }
}
