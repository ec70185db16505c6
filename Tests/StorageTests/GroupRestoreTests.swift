import LiveTesting
import PikaCore
import Testing

@testable import MLS
@testable import Storage

/// Two members of a group; after every step one of them is discarded and restored from the store.
@Suite struct GroupRestoreTests {
    private static let suite = CipherSuite.x25519AES128GCM

    @Test func storedGroupContinuesAfterEachStep() async throws {
        var rng = SplitMix64(seed: 11)
        let directory = try TemporaryDirectory()
        var stored = try StoredMember(directory)
        let alice = try Self.bundle("alice", &rng)
        let bob = try Self.bundle("bob", &rng)

        var group = try MLSGroup.create(groupID: GroupID(Sample.bytes(1)), member: alice, using: &rng)
        try await stored.write(&group)
        try await stored.restore(&group)

        var request = CommitRequest()
        request.adding = [try bob.keyPackage.verified(now: 100)]
        let adding = try group.commit(request, using: &rng)
        group = adding.next
        try await stored.write(&group)
        try await stored.restore(&group)
        let message = try MLSMessage(try #require(adding.welcome))
        guard case .welcome(let welcome) = message else { throw MLSError(.malformed, "not a Welcome") }
        var other = try MLSGroup.join(welcome, with: bob)
        #expect(other.epochAuthenticator == group.epochAuthenticator)

        for round in 0..<6 {
            for (number, text) in ["one", "two", "three"].enumerated() {
                let sent = try group.protect(Array(text.utf8), using: &rng)
                try await stored.write(&group)
                try await stored.restore(&group)
                try Self.expect(text, in: try other.process(MLSMessage(sent), now: 100))
                let answer = try other.protect(Array("\(text) \(round)".utf8), using: &rng)
                try Self.expect("\(text) \(round)", in: try group.process(MLSMessage(answer), now: 100))
                try await stored.write(&group)
                if number == 1 { try stored.reopen() }
                try await stored.restore(&group)
                #expect(throws: MLSError(.keyConsumed, "")) { try group.process(MLSMessage(answer), now: 100) }
            }
            let commit = try other.commit(CommitRequest(), using: &rng)
            guard case .commit(let staged) = try group.process(MLSMessage(commit.message), now: 100) else {
                throw MLSError(.malformed, "not a commit")
            }
            other = commit.next
            group = try #require(staged.next)
            try await stored.write(&group)
            try await stored.restore(&group)
            #expect(group.epoch == other.epoch)
            #expect(group.epochAuthenticator == other.epochAuthenticator)
        }
    }

    private static func bundle(_ name: String, _ rng: inout SplitMix64) throws -> KeyPackageBundle {
        try KeyPackageBundle.generate(
            Self.suite, credential: .basic(identity: Array(name.utf8)), capabilities: Capabilities(cipherSuites: [1]),
            lifetime: Lifetime(notBefore: 0, notAfter: 1000),
            signatureKey: try SignaturePrivateKey.generate(Self.suite, using: &rng), using: &rng)
    }

    private static func expect(_ text: String, in received: Received) throws {
        guard case .application(let message) = received else { throw MLSError(.malformed, "not a message") }
        #expect(String(decoding: message.data, as: UTF8.self) == text)
    }
}

/// Writes a member's group to a store and restores it.
private struct StoredMember {
    private let directory: TemporaryDirectory
    private var store: AccountStore

    init(_ directory: TemporaryDirectory) throws {
        self.directory = directory
        self.store = try directory.open()
    }

    func write(_ group: inout MLSGroup) async throws {
        try await self.store.commit([.updateGroup(key: group.groupID.bytes, group.drainChanges())])
    }

    func restore(_ group: inout MLSGroup) async throws {
        let stored = try #require(try await self.store.load().groups.first)
        group = try MLSGroup(records: stored.records)
    }

    mutating func reopen() throws {
        try self.store.close()
        self.store = try self.directory.open()
    }
}
