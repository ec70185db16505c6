import GRDB

extension EventStore {
    /// Removes expired events (NIP-40), a thousand per transaction so that writers are not blocked for long.
    ///
    /// - Parameter now: Unix seconds.
    /// - Returns: the number of removed events.
    func purge(now: Int64) async throws -> Int {
        let step = 1_000
        var removed = 0
        while true {
            let count = try await database.write { database in
                try database.execute(
                    sql: """
                        DELETE FROM event WHERE seq IN
                        (SELECT seq FROM event WHERE expires_at <= ? ORDER BY expires_at LIMIT \(step))
                        """, arguments: [now])
                return database.changesCount
            }
            removed += count
            if count < step { return removed }
        }
    }
}
