package import Nostr

/// Past cooking sessions and their ratings: recorded here first, then uploaded once each.
///
/// A record's id is its session's, so that neither a restart nor a lost answer doubles it: the upload replaces, and the
/// cloud keeps the first record of an id.
package struct HistoryJournal: Hashable, Sendable, Codable {
    package enum Upload: Hashable, Sendable {
        case record(HistoryRecord)
        case rating(sessionID: String, Rating)
    }

    private struct Entry: Hashable, Codable {
        var record: HistoryRecord
        var isUploaded = false
        var isRatingUploaded = true
    }

    /// Records that are kept. The oldest uploaded one makes room; if none is uploaded, a new record is refused.
    package let maximumRecords: Int
    /// In order of their addition.
    private var entries: [Entry] = []

    package init(maximumRecords: Int = 500) { self.maximumRecords = max(1, maximumRecords) }

    package var records: [HistoryRecord] { self.entries.map { $0.record } }
    package var waitingCount: Int { self.entries.count { !$0.isUploaded || !$0.isRatingUploaded } }

    /// Adds a session that ended here; false if it is known already.
    ///
    /// Throws `ApplianceError.Code.malformed` or `ApplianceError.Code.full`.
    @discardableResult
    package mutating func append(_ record: HistoryRecord) throws(ApplianceError) -> Bool {
        try record.validate()
        guard !self.entries.contains(where: { $0.record.id == record.id }) else { return false }
        try self.makeRoom()
        self.entries.append(Entry(record: record, isRatingUploaded: record.rating == nil))
        return true
    }

    /// Adds records of the cloud that are not known, such as those of another device; a later rating of the cloud counts.
    package mutating func merge(_ page: HistoryPage) {
        // The page has the latest first.
        for record in page.items.reversed() where (try? record.validate()) != nil {
            if let index = self.index(of: record.id) {
                self.entries[index].isUploaded = true
                let own = self.entries[index].record.rating
                guard let rating = record.rating, own.map({ rating.ratedAt > $0.ratedAt }) ?? true else { continue }
                self.entries[index].record.rating = rating
                self.entries[index].isRatingUploaded = true
            } else if (try? self.makeRoom()) != nil {
                self.entries.append(Entry(record: record, isUploaded: true))
            }
        }
    }

    private mutating func makeRoom() throws(ApplianceError) {
        guard self.entries.count >= self.maximumRecords else { return }
        guard let oldest = self.entries.firstIndex(where: { $0.isUploaded && $0.isRatingUploaded }) else {
            throw ApplianceError(.full, "\(self.maximumRecords) records wait for the cloud")
        }
        self.entries.remove(at: oldest)
    }

    /// Rates a session; the latest rating counts. False if an equal or later one exists.
    ///
    /// Throws `ApplianceError.Code.notFound`, or `ApplianceError.Code.malformed` unless it has 1 to 5 stars.
    @discardableResult
    package mutating func rate(_ session: String, _ rating: Rating) throws(ApplianceError) -> Bool {
        try rating.validate()
        guard let index = self.index(of: session) else {
            throw ApplianceError(.notFound, "no record of this session")
        }
        if let own = self.entries[index].record.rating {
            guard rating.ratedAt >= own.ratedAt, rating.stars != own.stars else { return false }
        }
        self.entries[index].record.rating = rating
        self.entries[index].isRatingUploaded = false
        return true
    }

    /// The next upload, the oldest first; a record before its rating. The same one until ``uploaded(_:)``.
    package var nextUpload: Upload? {
        guard let entry = self.entries.first(where: { !$0.isUploaded || !$0.isRatingUploaded }) else { return nil }
        // The record contains the rating that it has now.
        guard entry.isUploaded, let rating = entry.record.rating else { return .record(entry.record) }
        return .rating(sessionID: entry.record.id, rating)
    }

    /// The cloud has stored an upload. A rating that changed meanwhile still waits.
    package mutating func uploaded(_ upload: Upload) {
        switch upload {
        case .record(let record):
            guard let index = self.index(of: record.id) else { return }
            self.entries[index].isUploaded = true
            // The cloud keeps the first record of an id, so a rating is sent on its own unless it was in this one.
            self.entries[index].isRatingUploaded = self.entries[index].record.rating == record.rating
        case .rating(let session, let rating):
            guard let index = self.index(of: session), self.entries[index].record.rating == rating else { return }
            self.entries[index].isRatingUploaded = true
        }
    }

    private func index(of session: String) -> Int? { self.entries.firstIndex { $0.record.id == session } }
}

/// Ratings by reaction.
extension Rating {
    /// Reads a reaction: 👎 is one star, 👍 four, ❤️ five, and 1️⃣ to 5️⃣ or ⭐ repeated say the number.
    package init?(reaction: String, at time: UnixTime) {
        let stars: Int
        switch reaction {
        case "👎": stars = 1
        case "👍", "+": stars = 4
        case "❤️", "❤", "😍": stars = 5
        default:
            let digits = ["1️⃣", "2️⃣", "3️⃣", "4️⃣", "5️⃣"]
            if let index = digits.firstIndex(of: reaction) {
                stars = index + 1
            } else if (1...5).contains(reaction.count), reaction.allSatisfy({ $0 == "⭐" || $0 == "⭐️" || $0 == "★" }) {
                stars = reaction.count
            } else {
                return nil
            }
        }
        self.init(stars: stars, ratedAt: time)
    }
}
