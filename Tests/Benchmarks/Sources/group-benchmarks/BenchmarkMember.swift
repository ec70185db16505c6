import MLS
import Marmot
import Nostr

/// A member of a group in process, without a database; the same operations in both generations.
protocol BenchmarkMember {
    /// Founds a group of `count` members, the last of them at once.
    static func found(_ count: Int, last: Int, now: UnixTime) throws -> Community<Self>
    /// Encrypts a chat message.
    mutating func say(_ text: String, now: UnixTime) throws -> Event
    /// Renews the member's key by a commit, and applies it.
    mutating func renew(now: UnixTime) throws -> Event
    /// Applies an event; in the second generation, also ends the pass that it opens.
    mutating func read(_ event: Event, now: UnixTime) throws
    /// Counts what a store would have to write since the last call.
    mutating func store()
    var epoch: Epoch { get }
    var meter: StoreMeter { get }
}

/// A founded group: the founder, and the last invited accounts, which have not joined yet.
struct Community<Member: BenchmarkMember> {
    /// An account with its invitation.
    struct Guest {
        let join: () throws -> Member
    }

    var founder: Member
    let guests: [Guest]

    /// The numbers of members to add in each step: Welcomes of large groups are large, so few exist at a time.
    static func steps(_ count: Int, last: Int) -> [Int] {
        let others = count - 1 - last
        let full = [Int](repeating: 100, count: others / 100)
        return full + (others % 100 == 0 ? [] : [others % 100]) + [last]
    }
}

/// Size of a store and of its writes, in bytes; keys are not counted.
struct StoreMeter {
    private var sizes: [AnyHashable: Int] = [:]
    /// Bytes written since the beginning.
    private(set) var written = 0

    /// Bytes in the store.
    var held: Int { self.sizes.values.reduce(0, +) }

    mutating func note(_ row: AnyHashable, _ content: Secret?) {
        self.sizes[row] = content?.count
        self.written += content?.count ?? 0
    }

    mutating func note(_ changes: GroupStorageChanges) {
        if changes.replacesAll { self.sizes = self.sizes.filter { !($0.key.base is GroupRecord) } }
        for (record, content) in changes.records { self.note(record, content) }
    }
}

/// A member of a group of the first generation.
struct FirstMember: BenchmarkMember {
    private(set) var group: MarmotGroup
    private(set) var meter = StoreMeter()
    private var random = SystemRandomNumberGenerator()

    init(_ group: MarmotGroup) { self.group = group }

    var epoch: Epoch { self.group.epoch }

    static func found(_ count: Int, last: Int, now: UnixTime) throws -> Community<FirstMember> {
        var rng = SystemRandomNumberGenerator()
        let crowd = try Crowd(count, now: now)
        let founder = crowd.packages[0].publicKey
        guard let id = Bytes32((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &rng) }) else {
            throw Unexpected.outcome("no group id")
        }
        let data = GroupData(
            nostrGroupID: id, name: "benchmark", description: "", admins: [founder],
            relays: [try RelayURL(Crowd.relay)])
        var packages = crowd.packages.dropFirst()
        var group: MarmotGroup?
        var guests: [Community<FirstMember>.Guest] = []
        for size in Community<FirstMember>.steps(count, last: last) {
            let batch = Array(packages.prefix(size))
            packages = packages.dropFirst(size)
            let invitees = try batch.map { try Invitee(Event(json: $0.json), now: now) }
            let welcomes: [DueWelcome]
            if var known = group {
                _ = try known.commit(.add(invitees), client: Account.client, limits: .unlimited, now: now, using: &rng)
                welcomes = try known.mergePending().welcomes
                group = known
            } else {
                let made = try MarmotGroup.create(
                    data, founder: founder, inviting: invitees, client: Account.client, limits: .unlimited, now: now,
                    using: &rng)
                group = made.group
                welcomes = made.welcomes
            }
            guests = zip(batch, welcomes).map { package, welcome in
                Community<FirstMember>.Guest {
                    FirstMember(
                        try MarmotGroup.join(
                            WelcomeEvents.read(welcome.rumor), with: package.bundle, account: package.publicKey))
                }
            }
        }
        guard let group else { throw Unexpected.outcome("no group was founded") }
        return Community(founder: FirstMember(group), guests: guests)
    }

    mutating func say(_ text: String, now: UnixTime) throws -> Event {
        let rumor = UnsignedEvent(pubkey: self.group.account, createdAt: now, kind: .chatMessage, content: text)
        return try self.group.seal(rumor, now: now, using: &self.random)
    }

    mutating func renew(now: UnixTime) throws -> Event {
        let event = try self.group.commit(
            .selfUpdate, client: Account.client, limits: .unlimited, now: now, using: &self.random
        ).event
        _ = try self.group.mergePending()
        return event
    }

    mutating func read(_ event: Event, now: UnixTime) throws {
        try event.verify()
        switch self.group.ingest(event, now: now) {
        case .message, .commit: return
        case let other: throw Unexpected.outcome("\(other)")
        }
    }

    mutating func store() {
        let changes = self.group.drainChanges()
        if let header = changes.header { self.meter.note("header", header) }
        self.meter.note(changes.mls)
        for (part, content) in changes.parts {
            // A part is written whole.
            self.meter.note(part, content.map { Secret($0.header.copyBytes() + Self.bytes(of: $0.records)) })
        }
    }

    private static func bytes(of records: [GroupRecord: Secret]) -> [UInt8] {
        [UInt8](repeating: 0, count: records.values.reduce(0) { $0 + $1.count })
    }
}
