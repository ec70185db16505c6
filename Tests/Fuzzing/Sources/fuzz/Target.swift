/// A reader of untrusted bytes. Returning is success; a trap is a finding.
struct Target: Sendable {
    let name: String
    /// Valid inputs to start from.
    let seeds: [[UInt8]]
    let run: @Sendable ([UInt8]) -> Void

    static func all(_ world: World) throws -> [Target] {
        let second = try ComponentWorld(world)
        return [
            self.mls(world), self.groupData(world), self.keyPackage(world), try self.groupEvent(world),
            try self.groupMessage(world), try self.member(world), self.welcome(world), try self.groupInfo(world),
            try self.giftWrap(world), self.nostr(world), try self.rumor(world), try self.core(world),
            try self.secondGeneration(world), try self.componentGroup(world),
            try self.strangers(second), try self.storedBranches(second), self.nodeRequest(),
            try self.componentMember(second), try self.secondCore(world, second), self.appliance(), self.feeds(),
            self.calls(),
        ]
    }

    /// One of several readers of a target, chosen by the first byte of the input, with its own seeds.
    struct Reader: Sendable {
        let seeds: [[UInt8]]
        let read: @Sendable ([UInt8]) throws -> Void

        init(_ seeds: [[UInt8]], _ read: @escaping @Sendable ([UInt8]) throws -> Void) {
            self.seeds = seeds
            self.read = read
        }
    }

    init(_ name: String, _ readers: [Reader]) {
        self.name = name
        self.seeds = readers.enumerated().flatMap { number, reader in reader.seeds.map { [UInt8(number)] + $0 } }
        self.run = { bytes in
            guard let first = bytes.first else { return }
            // A typed error is the expected result of hostile input.
            try? readers[Int(first) % readers.count].read(Array(bytes.dropFirst()))
        }
    }
}
