import Foundation
import MLS
import Nostr
import Testing

@testable import Marmot

/// One faulty input of the independent verifier, with its verdict (`Tests/Interop/v2_mutations.py`).
struct Mutation: Decodable, Sendable, CustomTestStringConvertible {
    let group, name: String
    let rule: String?
    /// Whether peers accept it, although it must not be sent.
    let tolerated: Bool
    /// The index of the faulty event; nil if the key package or the Welcome is faulty.
    let step: Int?
    let seckey, keyPackage, initPrivate, encryptionPrivate, signaturePrivate: String
    let keyPackageEvent, giftWrap: String
    let events: [String]

    var testDescription: String { "\(self.group): \(self.name)" }

    static let all: [Mutation] = {
        guard let path = ProcessInfo.processInfo.environment["MARMOT_V2_MUTATIONS"],
            let data = FileManager.default.contents(atPath: path)
        else { return [] }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        do { return try decoder.decode([Mutation].self, from: data) } catch {
            preconditionFailure("\(path): \(error)")
        }
    }()

    func join() throws -> ComponentGroup {
        guard case .keyPackage(let package) = try MLSMessage([0, 1, 0, 5] + V2Vectors.bytes(self.keyPackage)) else {
            throw MarmotError(.badContent, "expected a key package")
        }
        let suite = package.cipherSuite
        let bundle = KeyPackageBundle(
            keyPackage: package, initKey: try HPKEPrivateKey(suite, bytes: V2Vectors.bytes(self.initPrivate)),
            encryptionKey: try HPKEPrivateKey(suite, bytes: V2Vectors.bytes(self.encryptionPrivate)),
            signatureKey: try SignaturePrivateKey(suite, bytes: V2Vectors.bytes(self.signaturePrivate)))
        let keys = try KeyPair(secretKey: V2Vectors.bytes(self.seckey))
        let wrap = try V2Vectors.event(self.giftWrap)
        try wrap.verify()
        let rumor = try GiftWrap.unwrap(wrap, by: keys).rumor
        return try ComponentGroup.join(
            WelcomeInvitation(rumor), with: bundle, account: keys.publicKey, known: KnownGroups()
        ).group
    }
}

/// Our member refuses every faulty input of the independent verifier that a peer must refuse.
@Suite(.enabled(if: !Mutation.all.isEmpty, "set MARMOT_V2_MUTATIONS to the file of Tests/Interop/v2_mutations.py"))
struct MutationTests {
    /// Faulty inputs that our member accepts although the protocol page refuses them, by description, with the reason.
    private static let accepted: [String: String] = [
        "445 event: event with an additional member": "NIP-01: clients ignore unknown members of events"
    ]

    /// Faulty inputs that follow other input without effect, by description, with the reason.
    private static let afterUnused: [String: String] = [
        "commit: reference to an invalid proposal": "the proposal before it is invalid, too",
        "flow: message in the name of a removed leaf": "one of the two commits before it must lose",
    ]

    @Test(arguments: Mutation.all)
    func refusesMistake(_ mutation: Mutation) throws {
        guard !mutation.tolerated, Self.accepted[mutation.testDescription] == nil else { return }
        if mutation.group == "right" {
            let member = try Self.follow(mutation)
            #expect(member.machine.tip.group.name == "C" && member.machine.status == .settled)
            return
        }
        guard let step = mutation.step else {
            if mutation.group == "key package" {
                #expect(throws: (any Error).self, "\(mutation.rule ?? "")") {
                    let event = try V2Vectors.event(mutation.keyPackageEvent)
                    _ = try ComponentInvitee(examining: event, now: 1_800_000_000)
                }
            } else {
                #expect(throws: (any Error).self, "\(mutation.rule ?? "")") { _ = try mutation.join() }
            }
            return
        }
        let member = try Self.follow(mutation)
        #expect(!member.uses(step), "\(mutation.rule ?? "")")
        guard Self.afterUnused[mutation.testDescription] == nil else { return }
        // The events before the faulty one are valid.
        for earlier in 0..<step where !mutation.name.contains("twice") {
            #expect(member.uses(earlier), "step \(earlier)")
        }
    }

    /// Joins, and receives the events, each in passes of its own; relays' clients drop those without valid signature.
    private static func follow(_ mutation: Mutation) throws -> BranchFollower {
        var member = try BranchFollower(try mutation.join())
        for (step, text) in mutation.events.enumerated() {
            guard let event = try? V2Vectors.event(text), (try? event.verify()) != nil else { continue }
            member.receive(event, step: step)
            member.settle()
        }
        return member
    }

    @Test func listIsComplete() {
        #expect(Mutation.all.count > 300)
        #expect(Mutation.all.count(where: \.tolerated) < 60)
    }
}
