import Foundation
import MLS
import Marmot
import Nostr
import Storage

/// The rows that are compared with MDK's; all samples are milliseconds of wall time.
struct Rows: Encodable {
    private(set) var samples: [String: [Double]] = [:]
    private var counter: UInt8 = 0

    private enum CodingKeys: CodingKey { case samples }

    /// Number of times that each operation runs.
    struct Counts {
        let smallGroups = 20
        let largeGroups = 4
        let messages = 200
        let commitsInEach = 5
    }

    /// - Parameter folder: for the stores; nil keeps everything in memory.
    static func measure(folder: String?, counts: Counts = Counts()) async throws -> Rows {
        var rows = Rows()
        let now = UnixTime.systemTime
        let crowd = try Crowd(101, now: now)
        let store = { (name: String) in
            try folder.map { try AccountStore.open(directory: "\($0)/\(name)", sealingKey: .random()) }
        }
        let stores = [try store("founder"), try store("receiver")]
        var founder = Account(crowd.packages[0].publicKey, store: stores[0])
        let receiver = crowd.packages[1]
        var joined = Account(receiver.publicKey, store: stores[1])
        try await joined.add(receiver)
        // One warm-up run.
        var warming = Rows()
        try await warming.small(&founder, &joined, crowd, counts, now)
        try await rows.small(&founder, &joined, crowd, counts, now)
        try await rows.large(&founder, &joined, crowd, counts, now)
        for store in stores { try store?.close() }
        return rows
    }

    /// Groups of 10: founding, sending a message, receiving a message.
    private mutating func small(
        _ founder: inout Account, _ receiver: inout Account, _ crowd: Crowd, _ counts: Counts, _ now: UnixTime
    ) async throws {
        let packages = crowd.packages[1..<10].map(\.json)
        for _ in 0..<counts.smallGroups {
            try await self.time("create_group_10") {
                _ = try await founder.createGroup("ten", keyPackages: packages, now: now)
            }
        }
        // The peer of the measured account stays in memory.
        var peer = Account(crowd.packages[0].publicKey)
        let (groupID, welcomes) = try await peer.createGroup("ten", keyPackages: packages, now: now)
        try await receiver.processWelcome(welcomes[0], wrapper: try self.nextID(), now: now)
        _ = try await receiver.acceptWelcome(try self.lastID())
        for number in 0..<counts.messages {
            let text = "message \(number): the quick brown fox jumps over the lazy dog"
            try await self.time("create_message") {
                _ = try await receiver.createMessage(text, in: groupID, now: now)
            }
            let event = try await peer.createMessage(text, in: groupID, now: now)
            try await self.time("process_message") { _ = try await receiver.process(event, now: now) }
        }
    }

    /// Groups of 100: founding, joining, receiving another member's commit.
    private mutating func large(
        _ founder: inout Account, _ receiver: inout Account, _ crowd: Crowd, _ counts: Counts, _ now: UnixTime
    ) async throws {
        // The receiver is last, because its Welcome is for the whole group.
        let packages = (crowd.packages[2...99] + [crowd.packages[1]]).map(\.json)
        for _ in 0..<counts.largeGroups {
            try await self.time("create_group_100") {
                _ = try await founder.createGroup("hundred", keyPackages: packages, now: now)
            }
            var peer = Account(crowd.packages[0].publicKey)
            let (groupID, welcomes) = try await peer.createGroup("hundred", keyPackages: packages, now: now)
            let wrapper = try self.nextID()
            try await self.time("process_and_accept_welcome_100") {
                try await receiver.processWelcome(welcomes[98], wrapper: wrapper, now: now)
                _ = try await receiver.acceptWelcome(wrapper)
            }
            for number in 0..<counts.commitsInEach {
                guard var data = peer.groups[groupID]?.data else { throw Unexpected.outcome("no such group") }
                data.name = "name \(number)"
                let event = try await peer.commit(.update(data), in: groupID, now: now)
                _ = try await peer.confirm(groupID)
                try await self.time("process_commit_100") { _ = try await receiver.process(event, now: now) }
            }
            guard receiver.groups[groupID]?.members.count == 100,
                receiver.groups[groupID]?.epoch == peer.groups[groupID]?.epoch
            else { throw Unexpected.outcome("the receiver is in another epoch than the others") }
        }
    }

    private mutating func time(_ row: String, _ body: () async throws -> Void) async rethrows {
        let clock = ContinuousClock()
        let start = clock.now
        try await body()
        self.samples[row, default: []].append((clock.now - start) / .milliseconds(1))
    }

    private mutating func nextID() throws -> EventID {
        self.counter += 1
        return try self.lastID()
    }

    private func lastID() throws -> EventID { try EventID(bytes: Array(repeating: self.counter, count: 32)) }
}
