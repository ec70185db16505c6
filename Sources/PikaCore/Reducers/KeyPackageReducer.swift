import MLS
import Marmot
import Nostr

/// Key packages of one's own.
extension CoreModel {
    /// Seconds before its expiry at which a key package is no longer published.
    private static let rotationMargin: Int64 = 14 * 86_400

    /// Announces a key package: the stored one while it is good for a while, otherwise a fresh one.
    mutating func publishKeyPackage(_ step: inout CoreStep) throws {
        let current = self.keyPackages.last { $0.notAfter - step.now > Self.rotationMargin }
        let package = try current ?? self.makeKeyPackage(&step)
        let bundle = try KeyPackageBundle(stored: package.bundle)
        let events = KeyPackageEvents.events(
            for: bundle.keyPackage, slot: package.slot, relays: self.configuration.relays,
            client: self.configuration.client, by: self.account, now: step.now, using: &step.random)
        for event in [events.addressable, events.legacy] {
            self.enqueue(
                id: "key_package/\(event.id.hex)", event, to: self.configuration.relays, .keyPackage, &step)
        }
    }

    private mutating func makeKeyPackage(_ step: inout CoreStep) throws -> StoredKeyPackage {
        let bundle = try KeyPackageEvents.makeBundle(for: self.account.publicKey, now: step.now, using: &step.random)
        guard case .keyPackage(let lifetime) = bundle.keyPackage.leafNode.source else {
            preconditionFailure("a key package that was just made has a lifetime")
        }
        let slot = self.keyPackages.last?.slot ?? Hex.encode(Secret.random(count: 32, using: &step.random).copyBytes())
        let stored = StoredKeyPackage(
            reference: bundle.keyPackage.reference, bundle: bundle.stored, slot: slot, createdAt: step.now,
            notAfter: Int64(clamping: lifetime.notAfter))
        self.keyPackages.append(stored)
        step.changes.append(.putKeyPackage(stored))
        return stored
    }
}
