import GRDB

extension EventStore {
    /// Removes events whose time has come (NIP-40), a thousand a transaction so that writers are not held up.
    ///
    /// - Parameter now: Unix seconds.
    /// - Returns: how many events were removed.
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
