import MLS

/// Clients and groups to measure: suite 0x0001, 32-byte identities, handshakes as public messages.
struct World {
    static let suite = CipherSuite.x25519AES128GCM
    static let groupID = GroupID([UInt8](repeating: 5, count: 32))
    var rng = SystemRandomNumberGenerator()

    mutating func bundle(_ number: Int, signatureKey: SignaturePrivateKey? = nil) throws -> KeyPackageBundle {
        var identity = [UInt8](repeating: 0, count: 32)
        for index in 0..<4 { identity[index] = UInt8(number >> (8 * index) & 0xFF) }
        return try .generate(
            Self.suite, credential: .basic(identity: identity),
            capabilities: Capabilities(cipherSuites: [1]), lifetime: Lifetime(notBefore: 0, notAfter: .max),
            signatureKey: try signatureKey ?? .generate(Self.suite, using: &self.rng), using: &self.rng)
    }

    mutating func create() throws -> MLSGroup {
        try .create(groupID: Self.groupID, member: self.bundle(0), using: &self.rng)
    }

    static func request(adding packages: [VerifiedKeyPackage] = [], path: Bool) -> CommitRequest {
        var request = CommitRequest()
        request.adding = packages
        request.forcesPath = path
        request.wireFormat = .publicMessage
        return request
    }

    static func join(
        _ welcome: [UInt8], _ bundle: KeyPackageBundle, work: any WorkExecutor = SerialWork()
    ) throws -> MLSGroup {
        guard case .welcome(let welcome) = try MLSMessage(welcome) else { throw Unexpected.message }
        return try MLSGroup.join(welcome, with: bundle, work: work)
    }

    static func process(_ message: [UInt8], _ group: inout MLSGroup) throws -> MLSGroup {
        guard case .commit(let staged) = try group.process(MLSMessage(message), now: nil), let next = staged.next else {
            throw Unexpected.message
        }
        return next
    }

    /// The first and the last member of a group of `count`, made by one commit without a path.
    mutating func freshGroup(_ count: Int) throws -> Pair {
        var group = try self.create()
        let bundles = try (1..<count).map { try self.bundle($0) }
        let commit = try group.commit(
            Self.request(adding: bundles.map { try $0.keyPackage.verified(now: nil) }, path: false), using: &self.rng)
        guard let last = bundles.last, let welcome = commit.welcome else { throw Unexpected.message }
        return Pair(first: commit.next, last: try Self.join(welcome, last))
    }

    /// The same, where every member has committed: each newcomer commits once, and the first member at the end.
    mutating func fullGroup(_ count: Int) throws -> Pair {
        var first = try self.create()
        var last: MLSGroup?
        for number in 1..<count {
            let bundle = try self.bundle(number)
            let added = try first.commit(
                Self.request(adding: [bundle.keyPackage.verified(now: nil)], path: false), using: &self.rng)
            guard let welcome = added.welcome else { throw Unexpected.message }
            first = added.next
            var newcomer = try Self.join(welcome, bundle)
            let update = try newcomer.commit(Self.request(path: true), using: &self.rng)
            first = try Self.process(update.message, &first)
            last = update.next
        }
        guard var last else { throw Unexpected.message }
        let update = try first.commit(Self.request(path: true), using: &self.rng)
        return Pair(first: update.next, last: try Self.process(update.message, &last))
    }

    /// A founder whose tree has every second leaf unmerged in all its ancestors: the highest cost for a joiner that
    /// verifies parent hashes (RFC 9420 §7.9.2).
    mutating func unmergedGroup(_ count: Int) throws -> MLSGroup {
        var members = [try self.create()]
        let first = try (1..<count).map { try self.bundle($0) }
        let added = try members[0].commit(
            Self.request(adding: first.map { try $0.keyPackage.verified(now: nil) }, path: false), using: &self.rng)
        guard let welcome = added.welcome else { throw Unexpected.message }
        members[0] = added.next
        for leaf in stride(from: 2, to: count, by: 2) { members.append(try Self.join(welcome, first[leaf - 1])) }
        var removal = Self.request(path: true)
        removal.removing = stride(from: 1, to: count, by: 2).map { LeafIndex(rawValue: UInt32($0)) }
        try self.commit(removal, by: 0, &members)
        for committer in members.indices.reversed() {
            try self.commit(Self.request(path: true), by: committer, &members)
        }
        let late = try (count..<count + count / 2).map { try self.bundle($0).keyPackage.verified(now: nil) }
        return try members[0].commit(Self.request(adding: late, path: false), using: &self.rng).next
    }

    private mutating func commit(_ request: CommitRequest, by committer: Int, _ members: inout [MLSGroup]) throws {
        let commit = try members[committer].commit(request, using: &self.rng)
        for index in members.indices {
            members[index] = index == committer ? commit.next : try Self.process(commit.message, &members[index])
        }
    }

    struct Pair {
        var first, last: MLSGroup
    }

    enum Unexpected: Error { case message }
}
