import CMalloc
import Foundation
import Marmot
import Nostr
import Storage

/// Memory of a process that holds an account in many groups.
struct Footprint: Encodable {
    /// Kibibytes at one instant: resident by the kernel's count, and allocated but not freed.
    struct Instant: Encodable {
        let name: String
        let residentKiB: Int
        let heapKiB: Int
    }

    private(set) var instants: [Instant] = []

    /// Makes an account's store with `groups` groups of `members`, and a message of another member for each.
    ///
    /// - Parameter isActive: whether every member has committed once, which fills the trees and the past epochs.
    static func prepare(_ folder: String, groups: Int, members: Int, isActive: Bool) async throws {
        let now = UnixTime.systemTime
        let crowd = try Crowd(members, now: now)
        let store = try AccountStore.open(
            directory: "\(folder)/store", sealingKey: .loadOrCreate(file: "\(folder)/key"))
        var account = Account(crowd.packages[0].publicKey, store: store)
        let packages = crowd.packages.dropFirst().map(\.json)
        var messages: [String] = []
        for number in 0..<groups {
            let (groupID, welcomes) = try await account.createGroup("group \(number)", keyPackages: packages, now: now)
            let wrapper = try EventID(bytes: Array(repeating: 1, count: 32))
            var others: [Account] = []
            for (package, welcome) in zip(crowd.packages.dropFirst(), welcomes).prefix(isActive ? members : 1) {
                var other = Account(package.publicKey)
                try await other.add(package)
                try await other.processWelcome(welcome, wrapper: wrapper, now: now)
                _ = try await other.acceptWelcome(wrapper)
                others.append(other)
            }
            if isActive {
                for position in others.indices {
                    let event = try await others[position].commit(.selfUpdate, in: groupID, now: now)
                    _ = try await others[position].confirm(groupID)
                    for other in others.indices where other != position {
                        _ = try await others[other].process(event, now: now)
                    }
                    _ = try await account.process(event, now: now)
                }
            }
            let message = try await others[0].createMessage("hello", in: groupID, now: now)
            messages.append(String(decoding: message, as: UTF8.self))
        }
        try store.close()
        try Data(account.publicKey.hex.utf8).write(to: URL(filePath: "\(folder)/account"))
        try Data(messages.joined(separator: "\n").utf8).write(to: URL(filePath: "\(folder)/messages"))
    }

    /// Loads all groups of a prepared store, then applies one message in each.
    static func measure(_ folder: String) async throws -> Footprint {
        var footprint = Footprint()
        let publicKey = try PublicKey(hex: String(decoding: Self.read("\(folder)/account"), as: UTF8.self))
        let messages = try Self.read("\(folder)/messages").split(separator: UInt8(ascii: "\n")).map { Array($0) }
        let now = UnixTime.systemTime
        footprint.note("started")
        let store = try AccountStore.open(
            directory: "\(folder)/store", sealingKey: .load(file: "\(folder)/key"))
        var account = Account(publicKey, store: store)
        footprint.note("opened")
        try await account.load()
        guard account.groups.count == messages.count else {
            throw Unexpected.outcome("expected all groups to be restored")
        }
        footprint.note("loaded")
        for message in messages { _ = try await account.process(message, now: now) }
        footprint.note("one message in each")
        try store.close()
        return footprint
    }

    private static func read(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    private mutating func note(_ name: String) {
        let statistics = mallinfo2()
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        let resident = pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0
        self.instants.append(
            Instant(
                name: name, residentKiB: resident * Int(getpagesize()) / 1024,
                heapKiB: Int(statistics.uordblks + statistics.hblkhd) / 1024))
    }
}
