import TLSCodec
import Testing

@testable import MLS

/// Untrusted input must not trap: seeded damage gives a typed error, or is harmless.
struct HostileInputTests {
    private static let rounds = 4000

    enum Kind: CaseIterable {
        case publicCommit, componentCommit, publicProposal, privateMessage, welcome, keyPackage, groupInfo
    }

    private struct Target {
        var party: Party
        let bundle: KeyPackageBundle
        let bytes: [UInt8]

        init(_ kind: Kind) throws {
            var party = try kind == .componentCommit ? Party.withComponents() : Party(3)
            for committer in party.present { try party.commit(by: committer) }
            let bundle = try party.bundle("newcomer")
            var request = CommitRequest()
            request.wireFormat = .publicMessage
            request.adding = [try bundle.keyPackage.verified(now: Party.now)]
            var sender = party.members[0]
            let pending = try sender.commit(request, using: &party.rng)
            switch kind {
            case .publicCommit: self.bytes = pending.message
            case .componentCommit:
                let change = AppDataUpdate(0x8001, .update([1, 2, 3]))
                self.bytes = try sender.commit(.changing(change), using: &party.rng).message
            case .publicProposal:
                self.bytes = try sender.propose(
                    .add(bundle.keyPackage), wireFormat: .publicMessage, using: &party.rng
                ).message
            case .privateMessage: self.bytes = try sender.protect(Array("hello".utf8), using: &party.rng)
            case .welcome: self.bytes = try #require(pending.welcome)
            case .keyPackage: self.bytes = MLSMessage.keyPackage(bundle.keyPackage).tlsEncoded()
            case .groupInfo:
                self.bytes = MLSMessage.groupInfo(try sender.groupInfo(includesTree: true)).tlsEncoded()
            }
            self.party = party
            self.bundle = bundle
        }

        /// Processes a message as a client does.
        func receive(_ message: MLSMessage) throws {
            switch message {
            case .welcome(let welcome): _ = try MLSGroup.join(welcome, with: self.bundle)
            case .keyPackage(let package): _ = try package.verified(now: Party.now)
            case .groupInfo(let info):
                _ = info.hasValidSignature(publicKey: self.bundle.signatureKey.publicKey)
                if let tree = info.extensions.data(of: .ratchetTree) {
                    _ = try RatchetTree(cipherSuite: info.context.cipherSuite, encoded: tree)
                }
            default:
                var receiver = self.party.members[1]
                _ = try receiver.process(message, now: Party.now)
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func refusesDamagedMessagesWithReason(_ kind: Kind) throws {
        let target = try Target(kind)
        var mutator = Mutator(42)
        var decoded = 0
        for _ in 0..<Self.rounds {
            do throws(MLSError) {
                let message = try MLSMessage(mutator.mutate(target.bytes))
                decoded += 1
                do { try target.receive(message) } catch let error as MLSError { throw error } catch {
                    Issue.record("expected an MLSError, found \(error)")
                }
            } catch { #expect(!error.message.isEmpty) }
        }
        #expect(decoded > 100, "more damaged inputs must be decoded")
    }

    @Test func refusesDamagedContentAfterDecryption() throws {
        // Signed and encrypted by a member: only the content is damaged.
        var party = try Party(3)
        let body = FramedContent.Body.commit(
            Commit(
                proposals: [.proposal(.add(try party.bundle("newcomer").keyPackage)), .reference([1, 2, 3])],
                path: try party.members[0].honestPath(using: &party.rng)))
        let content = party.members[0].forgedContent(body, .init())
        let bytes = Array(content.encoded[content.bodyOffset...])
        var mutator = Mutator(43)
        for _ in 0..<Self.rounds {
            guard let commit = try? Commit(tlsEncoded: mutator.mutate(bytes)) else { continue }
            let message = try party.members[0].forgedPublicMessage(.commit(commit))
            var receiver = party.members[1]
            #expect(throws: MLSError.self) { try receiver.process(message, now: Party.now) }
        }
    }

    @Test func refusesDamagedTrees() throws {
        var party = try Party(5)
        for committer in [0, 2, 4] { try party.commit(by: committer) }
        try party.add(1, path: false)
        let group = party.members[0]
        let bytes = group.encodedRatchetTree
        var mutator = Mutator(44)
        var decoded = 0
        for _ in 0..<Self.rounds {
            guard var tree = try? RatchetTree(cipherSuite: party.suite, encoded: mutator.mutate(bytes)) else {
                continue
            }
            decoded += 1
            // The tree hash would be refused first, so the structure is checked by itself.
            guard tree.rootHash() != group.context.treeHash else { continue }
            #expect(throws: MLSError.self) { try tree.validate(groupID: group.groupID, extensions: []) }
        }
        #expect(decoded > 100)
    }

    @Test func damagedRecordsAreRefusedOrHarmless() throws {
        var party = try Party(2)
        try party.exchangeMessages()
        try party.commit(by: 0)
        let message = try party.members[0].protect([1], using: &party.rng)
        _ = try party.members[1].proposeUpdate(using: &party.rng)
        let records = RecordStore(whole: party.members[1]).records
        let names = records.keys.sorted { $0.description < $1.description }
        var mutator = Mutator(45)
        for round in 0..<Self.rounds {
            var damaged = records
            let name = names[round % names.count]
            damaged[name] = Secret(mutator.mutate(try #require(records[name]).copyBytes()))
            guard var group = try? MLSGroup(records: damaged) else {
                if round < 200 { expectError(.invalidStoredForm) { _ = try MLSGroup(records: damaged) } }
                continue
            }
            // Damaged secrets are indistinguishable from others; using them must not trap.
            guard round % 8 == 0 else { continue }
            _ = try? group.process(MLSMessage(message), now: nil)
            _ = try? group.protect([1], using: &party.rng)
            _ = try? group.commit(.init(), using: &party.rng)
        }
    }

    @Test func hugeLengthsAllocateNothing() {
        for header: [UInt8] in [[0xBF, 0xFF, 0xFF, 0xFF], [0x80, 0x01, 0, 0], [0x7F, 0xFF]] {
            for prefix: [UInt8] in [[0, 1, 0, 1], [0, 1, 0, 2], [0, 1, 0, 3, 0, 1], [0, 1, 0, 5, 0, 1]] {
                expectError(.malformed) { _ = try MLSMessage(prefix + header) }
                expectError(.malformed) { _ = try MLSMessage(prefix + header + Array(repeating: 0, count: 50)) }
            }
            expectError(.malformed) { _ = try RatchetTree(cipherSuite: .x25519AES128GCM, encoded: header) }
            #expect(throws: TLSCodecError.self) { try Capabilities(tlsEncoded: header + [0, 1]) }
        }
        // Lengths above 2^30 - 1 need a prefix that RFC 9420 forbids.
        expectError(.malformed) { _ = try MLSMessage([0, 1, 0, 2, 0xC0, 0, 0, 0, 0, 0, 0, 1, 5]) }
    }
}
