import BotKit
import MLS
import Marmot
import Nostr
import PikaCore
import Testing

@testable import Diagnosis

/// Key packages with one thing wrong with each, and the check that says so.
@Suite struct DamagedKeyPackageTests {
    struct Damage: Sendable, CustomTestStringConvertible {
        let name: String
        /// Nil for what can be used nevertheless.
        let check: KeyPackageCheck?
        /// A word of what is remarked, if it can be used.
        let remark: String
        let make: @Sendable (KeyPackageMaker) throws -> Event

        var testDescription: String { name }

        init(
            _ name: String, _ check: KeyPackageCheck?, remark: String = "",
            _ make: @escaping @Sendable (KeyPackageMaker) throws -> Event
        ) {
            (self.name, self.check, self.remark, self.make) = (name, check, remark, make)
        }

        /// One of which the event before its signature is changed.
        static func event(
            _ name: String, _ check: KeyPackageCheck?, remark: String = "",
            _ change: @escaping @Sendable (UnsignedEvent) -> UnsignedEvent
        ) -> Damage {
            Damage(name, check, remark: remark) { $0.sign(change($0.draft(try $0.package()))) }
        }

        /// One of which the key package is made otherwise.
        static func recipe(
            _ name: String, _ check: KeyPackageCheck?, remark: String = "",
            _ change: @escaping @Sendable (inout KeyPackageMaker.Recipe) -> Void
        ) -> Damage {
            Damage(name, check, remark: remark) { maker in
                var recipe = KeyPackageMaker.Recipe()
                change(&recipe)
                return maker.sign(maker.draft(try maker.package(recipe)))
            }
        }
    }

    private static let now = UInt64(KeyPackageMaker.now)

    static let damages: [Damage] = [
        Damage("signature of the event", .eventSignature) { maker in
            let good = try maker.good()
            var bytes = good.signature.bytes
            bytes[40] ^= 1
            return Event(
                id: good.id, pubkey: good.pubkey, createdAt: good.createdAt, kind: good.kind, tags: good.tags,
                content: good.content, signature: try Signature(bytes: bytes))
        },
        Damage("content that its id does not cover", .eventSignature) { maker in
            let (good, other) = (try maker.good(), try maker.good())
            return Event(
                id: good.id, pubkey: good.pubkey, createdAt: good.createdAt, kind: good.kind, tags: good.tags,
                content: other.content, signature: good.signature)
        },
        .event("kind of something else", .kind) { $0.with(kind: 30_444) },
        .event("no slot", .tags) { $0.with("d", nil) },
        .event("slot that is too short", .tags) { $0.with("d", ["abcd"]) },
        .event("unknown protocol version", .tags) { $0.with("mls_protocol_version", ["2.0"]) },
        .event("other suite in the tag", .tags) { $0.with("mls_ciphersuite", ["0x0002"]) },
        .event("extension missing in the tag", .tags) { $0.with("mls_extensions", ["0x000a"]) },
        .event("proposals in capitals", .tags) { $0.with("mls_proposals", ["0x000A"]) },
        .event("no relays", .tags) { $0.with("relays", nil) },
        .event("relay that is none", .tags) { $0.with("relays", ["https://one.example"]) },
        .event("no reference", .reference) { $0.with("i", nil) },
        .event("reference of another", .reference) { $0.with("i", [String(repeating: "00", count: 32)]) },
        .event("content that is no Base64", .content) { $0.with(content: "***") },
        .event("truncated", .structure) { $0.damaging { $0.removeLast(5) } },
        .event("empty", .structure) { $0.damaging { $0 = [] } },
        .event("trailing bytes", .structure) { $0.damaging { $0.append(0) } },
        .event("wrapped in an MLSMessage", .structure) { $0.damaging { $0 = [0, 1, 0, 5] + $0 } },
        .event("signature of the key package", .packageSignature) { $0.damaging { $0[$0.count - 1] ^= 1 } },
        .event("changed init key", .packageSignature) { $0.damaging { $0[10] ^= 1 } },
        .recipe("other suite", .suite) { $0.suite = .p256AES128GCM },
        .recipe("expired", .lifetime) { $0.lifetime = Lifetime(notBefore: now - 7200, notAfter: now - 1) },
        .recipe("not valid yet", .lifetime) { $0.lifetime = Lifetime(notBefore: now + 60, notAfter: now + 3600) },
        .recipe("lifetime the wrong way round", .lifetime) {
            $0.lifetime = Lifetime(notBefore: now + 60, notAfter: now - 60)
        },
        .recipe("identity of another account", .identity) { recipe in
            var generator = SystemRandomNumberGenerator()
            recipe.identity = KeyPair.generate(using: &generator).publicKey.bytes
        },
        .recipe("identity that is too short", .identity) { $0.identity = [1, 2, 3] },
        .recipe("client without group data", .capabilities) { $0.extensions = [0x000a] },
        .recipe("no last resort", nil, remark: "last resort") { $0.isLastResort = false },
        .recipe("lifetime too long", nil, remark: "84 days") { $0.lifetime.notAfter += 7_257_600 },
        .recipe("tag promises a proposal", nil, remark: "mls_proposals") { $0.proposals = [] },
        .event("hexadecimal of older clients", nil, remark: "hexadecimal") { event in
            let bytes = Base64.decode(event.content) ?? []
            return event.with("encoding", nil).with(content: Hex.encode(bytes))
        },
        .event("numbers of older clients", nil, remark: "written 1") {
            $0.with("mls_protocol_version", ["1"]).with("mls_ciphersuite", ["1"])
        },
    ]

    @Test(arguments: damages) func theRightCheckFails(_ damage: Damage) throws {
        let event = try damage.make(try KeyPackageMaker())
        let examined = ExaminedKeyPackage(event, now: KeyPackageMaker.now)
        #expect(examined.failure?.check == damage.check, "\(examined.problem ?? "usable")")
        #expect((examined.invitee == nil) == (damage.check != nil))
        let remarks = examined.remarks.joined(separator: "; ")
        #expect(damage.remark.isEmpty ? remarks.isEmpty : remarks.contains(damage.remark), "\(remarks)")
    }

    /// The core, which invites, and the probe, which looks, must not differ.
    @Test(arguments: damages) func theCoreThinksTheSame(_ damage: Damage) throws {
        let event = try damage.make(try KeyPackageMaker())
        let isRefused: Bool
        do {
            try event.verify()
            try Invitee(event, now: KeyPackageMaker.now).requireSupport(of: nil)
            isRefused = false
        } catch { isRefused = true }
        #expect(isRefused == (damage.check != nil))
    }

    @Test func aGoodOneHasNothingWrongWithIt() throws {
        let maker = try KeyPackageMaker()
        for event in [try maker.good(), try maker.legacy()] {
            let examined = ExaminedKeyPackage(event, now: KeyPackageMaker.now)
            #expect(examined.problem == nil && examined.remarks.isEmpty)
            #expect(examined.held.notAfter == KeyPackageMaker.now + 7_257_600)
        }
    }
}
