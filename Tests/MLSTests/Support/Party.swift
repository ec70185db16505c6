import LiveTesting
import Testing

@testable import MLS

/// All members of a group; a message of one is delivered to the others.
struct Party {
    static let now: UInt64 = 1_700_000_000
    static let lifetime = Lifetime(notBefore: now - 3600, notAfter: now + 3600)

    let suite: CipherSuite
    let configuration: GroupConfiguration
    /// Capabilities and extensions of leaves that state none of their own.
    let capabilities: Capabilities
    let leafExtensions: [Extension]
    var rng: SplitMix64
    /// In the order in which they joined; former members stay in the list.
    var members: [MLSGroup] = []
    private(set) var gone: Set<Int> = []

    var present: [Int] { self.members.indices.filter { !self.gone.contains($0) } }

    init(
        _ count: Int = 3, _ suite: CipherSuite = .x25519AES128GCM, seed: UInt64 = 1, extensions: [Extension] = [],
        configuration: GroupConfiguration = .init(), capabilities: Capabilities? = nil,
        leafExtensions: [Extension] = []
    ) throws {
        self.suite = suite
        self.configuration = configuration
        self.capabilities =
            capabilities ?? Capabilities(cipherSuites: [suite.rawValue], extensions: [0xF2EE, 10], proposals: [10])
        self.leafExtensions = leafExtensions
        self.rng = SplitMix64(seed: seed)
        let first = try self.bundle("member 0")
        self.members = [
            try MLSGroup.create(
                groupID: GroupID("the group".utf8), member: first, extensions: extensions, configuration: configuration,
                using: &self.rng)
        ]
        if count > 1 { try self.add(count - 1) }
    }

    /// A key package with its keys; by default it supports the group data extension 0xF2EE and SelfRemove.
    mutating func bundle(
        _ name: String, lifetime: Lifetime = Party.lifetime, capabilities: Capabilities? = nil,
        signatureKey: SignaturePrivateKey? = nil, credential: Credential? = nil, extensions: [Extension] = [],
        leafExtensions: [Extension]? = nil
    ) throws -> KeyPackageBundle {
        try KeyPackageBundle.generate(
            self.suite, credential: credential ?? .basic(identity: Array(name.utf8)),
            capabilities: capabilities ?? self.capabilities, lifetime: lifetime,
            signatureKey: signatureKey ?? .generate(self.suite, using: &self.rng), extensions: extensions,
            leafExtensions: leafExtensions ?? self.leafExtensions, using: &self.rng)
    }

    mutating func verifiedPackage(_ name: String) throws -> VerifiedKeyPackage {
        try self.bundle(name).keyPackage.verified(now: Self.now)
    }

    /// One commit that adds `count` members, who join.
    @discardableResult
    mutating func add(
        _ count: Int = 1, by committer: Int = 0, path: Bool = true
    ) throws -> PendingCommit {
        let bundles = try (0..<count).map { try self.bundle("member \(self.members.count + $0)") }
        var request = CommitRequest()
        request.adding = try bundles.map { try $0.keyPackage.verified(now: Self.now) }
        request.forcesPath = path
        let pending = try self.commit(request, by: committer)
        for bundle in bundles {
            self.members.append(try Self.join(pending.welcome, bundle, configuration: self.configuration))
        }
        try self.expectAgreement()
        return pending
    }

    static func join(
        _ welcome: [UInt8]?, _ bundle: KeyPackageBundle, preSharedKeys: [PreSharedKey] = [],
        configuration: GroupConfiguration = .init()
    ) throws -> MLSGroup {
        guard case .welcome(let message) = try MLSMessage(#require(welcome)) else {
            throw MLSError(.malformed, "not a Welcome")
        }
        return try MLSGroup.join(message, with: bundle, preSharedKeys: preSharedKeys, configuration: configuration)
    }

    /// Commits; all other members process the commit, and all enter the new epoch.
    @discardableResult
    mutating func commit(_ request: CommitRequest = .init(), by committer: Int) throws -> PendingCommit {
        let pending = try self.members[committer].commit(request, using: &self.rng)
        try self.deliver(pending.message, from: committer, preSharedKeys: request.preSharedKeys)
        self.members[committer] = pending.next
        return pending
    }

    /// All members but the sender process a message; a commit is applied at once.
    @discardableResult
    mutating func deliver(
        _ message: [UInt8], from sender: Int, preSharedKeys: [PreSharedKey] = []
    ) throws -> [Received] {
        var all: [Received] = []
        for index in self.present where index != sender {
            let received = try self.members[index].process(
                MLSMessage(message), now: Self.now, preSharedKeys: preSharedKeys)
            if case .commit(let staged) = received {
                if let next = staged.next { self.members[index] = next } else { self.gone.insert(index) }
            }
            all.append(received)
        }
        return all
    }

    /// Every member sends a message that all others read.
    mutating func exchangeMessages() throws {
        for sender in self.present {
            let text = Array("hello from \(sender)".utf8)
            let message = try self.members[sender].protect(text, using: &self.rng)
            for received in try self.deliver(message, from: sender) {
                guard case .application(let application) = received else {
                    Issue.record("expected an application message")
                    continue
                }
                #expect(application.data == text)
                #expect(application.sender == self.members[sender].ownLeafIndex)
            }
        }
    }

    /// Expects all active members to share epoch, tree and secrets.
    func expectAgreement(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let first = try #require(self.present.first)
        let group = self.members[first]
        let exported = group.export(label: "agreement", context: [1, 2], length: 40)
        for index in self.present.dropFirst() {
            let other = self.members[index]
            #expect(other.epoch == group.epoch, sourceLocation: sourceLocation)
            #expect(other.epochAuthenticator == group.epochAuthenticator, sourceLocation: sourceLocation)
            #expect(other.encodedRatchetTree == group.encodedRatchetTree, sourceLocation: sourceLocation)
            #expect(
                other.export(label: "agreement", context: [1, 2], length: 40) == exported,
                sourceLocation: sourceLocation)
        }
    }
}

extension Received {
    /// The text of an application message.
    var text: String? {
        if case .application(let message) = self { String(decoding: message.data, as: UTF8.self) } else { nil }
    }

    var staged: StagedCommit? {
        if case .commit(let staged) = self { staged } else { nil }
    }
}
