import BotKit
import MLS
import Marmot
import Nostr
import PikaCore
import ProbeReports
import Testing

@testable import Diagnosis

/// Key packages with one defect each, and the check that reports it.
@Suite struct DamagedKeyPackageTests {
    struct Damage: Sendable, CustomTestStringConvertible {
        let name: String
        /// Nil if the key package is usable nevertheless.
        let check: KeyPackageCheck?
        /// Part of the expected remark, if the key package is usable.
        let remark: String
        let make: @Sendable (KeyPackageMaker) throws -> Event

        var testDescription: String { name }

        init(
            _ name: String, _ check: KeyPackageCheck?, remark: String = "",
            _ make: @escaping @Sendable (KeyPackageMaker) throws -> Event
        ) {
            (self.name, self.check, self.remark, self.make) = (name, check, remark, make)
        }

        /// A defect in the event, applied before it is signed.
        static func event(
            _ name: String, _ check: KeyPackageCheck?, remark: String = "",
            _ change: @escaping @Sendable (UnsignedEvent) -> UnsignedEvent
        ) -> Damage {
            Damage(name, check, remark: remark) { $0.sign(change($0.draft(try $0.package()))) }
        }

        /// A defect in the key package itself.
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

    private static let now = UInt64(KeyPackageMaker.now.seconds)

    static let damages: [Damage] = [
        Damage("invalid event signature", .eventSignature) { maker in
            let good = try maker.good()
            var bytes = good.signature.bytes
            bytes[40] ^= 1
            return Event(
                id: good.id, pubkey: good.pubkey, createdAt: good.createdAt, kind: good.kind, tags: good.tags,
                content: good.content, signature: try Signature(bytes: bytes))
        },
        Damage("content that does not match the id", .eventSignature) { maker in
            let (good, other) = (try maker.good(), try maker.good())
            return Event(
                id: good.id, pubkey: good.pubkey, createdAt: good.createdAt, kind: good.kind, tags: good.tags,
                content: other.content, signature: good.signature)
        },
        .event("unknown kind", .kind) { $0.with(kind: 30_444) },
        .event("missing slot", .tags) { $0.with("d", nil) },
        .event("short slot", .tags) { $0.with("d", ["abcd"]) },
        .event("unknown protocol version", .tags) { $0.with("mls_protocol_version", ["2.0"]) },
        .event("wrong ciphersuite in the tag", .tags) { $0.with("mls_ciphersuite", ["0x0002"]) },
        .event("missing extension in the tag", .tags) { $0.with("mls_extensions", ["0x000a"]) },
        .event("upper-case proposals", .tags) { $0.with("mls_proposals", ["0x000A"]) },
        .event("missing relays", .tags) { $0.with("relays", nil) },
        .event("invalid relay URL", .tags) { $0.with("relays", ["https://one.example"]) },
        .event("missing reference", .reference) { $0.with("i", nil) },
        .event("wrong reference", .reference) { $0.with("i", [String(repeating: "00", count: 32)]) },
        .event("invalid Base64", .content) { $0.with(content: "***") },
        .event("truncated", .structure) { $0.damaging { $0.removeLast(5) } },
        .event("empty", .structure) { $0.damaging { $0 = [] } },
        .event("trailing bytes", .structure) { $0.damaging { $0.append(0) } },
        .event("wrapped in an MLSMessage", .structure) { $0.damaging { $0 = [0, 1, 0, 5] + $0 } },
        .event("invalid key package signature", .packageSignature) { $0.damaging { $0[$0.count - 1] ^= 1 } },
        .event("changed init key", .packageSignature) { $0.damaging { $0[10] ^= 1 } },
        .recipe("unsupported ciphersuite", .suite) { $0.suite = .p256AES128GCM },
        .recipe("expired", .lifetime) { $0.lifetime = Lifetime(notBefore: now - 7200, notAfter: now - 1) },
        .recipe("not valid yet", .lifetime) { $0.lifetime = Lifetime(notBefore: now + 60, notAfter: now + 3600) },
        .recipe("lifetime that ends before it begins", .lifetime) {
            $0.lifetime = Lifetime(notBefore: now + 60, notAfter: now - 60)
        },
        .recipe("identity of another account", .identity) { recipe in
            var generator = SystemRandomNumberGenerator()
            recipe.identity = KeyPair.generate(using: &generator).publicKey.bytes
        },
        .recipe("short identity", .identity) { $0.identity = [1, 2, 3] },
        .recipe("no support for group data", .capabilities) { $0.extensions = [0x000a] },
        .recipe("no last_resort extension", nil, remark: "last_resort") { $0.isLastResort = false },
        .recipe("excessive lifetime", nil, remark: "84 days") { $0.lifetime.notAfter += 7_257_600 },
        .recipe("unsupported proposal in the tag", nil, remark: "mls_proposals") { $0.proposals = [] },
        .event("hexadecimal content of older clients", nil, remark: "hexadecimal") { event in
            let bytes = Base64.decode(event.content) ?? []
            return event.with("encoding", nil).with(content: Hex.encode(bytes))
        },
        .event("tag values of older clients", nil, remark: "expected 1.0") {
            $0.with("mls_protocol_version", ["1"]).with("mls_ciphersuite", ["1"])
        },
    ]

    @Test(arguments: damages) func failsTheRightCheck(_ damage: Damage) throws {
        let event = try damage.make(try KeyPackageMaker())
        if event.kind == .addressableKeyPackage { #expect(ExaminedKeyPackage.generation(of: event) == .v1) }
        let examined = ExaminedKeyPackage(event, as: .v1, now: KeyPackageMaker.now)
        #expect(examined.failure?.check == damage.check, "\(examined.problem ?? "usable")")
        #expect((examined.invitee == nil) == (damage.check != nil))
        let remarks = examined.remarks.joined(separator: "; ")
        #expect(damage.remark.isEmpty ? remarks.isEmpty : remarks.contains(damage.remark), "\(remarks)")
    }

    /// The core, which invites, and the probe must agree.
    @Test(arguments: damages) func agreesWithTheCore(_ damage: Damage) throws {
        let event = try damage.make(try KeyPackageMaker())
        let isRefused: Bool
        do {
            try event.verify()
            try Invitee(event, now: KeyPackageMaker.now).requireSupport(of: nil)
            isRefused = false
        } catch { isRefused = true }
        #expect(isRefused == (damage.check != nil))
    }

    @Test func acceptsValidKeyPackages() throws {
        let maker = try KeyPackageMaker()
        for event in [try maker.good(), try maker.legacy()] {
            let examined = ExaminedKeyPackage(event, as: .v1, now: KeyPackageMaker.now)
            #expect(examined.problem == nil && examined.remarks.isEmpty)
            #expect(examined.held.notAfter == KeyPackageMaker.now + 7_257_600)
        }
    }
}
