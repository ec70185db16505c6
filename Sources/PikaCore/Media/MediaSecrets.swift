import MLS
import Marmot
import Nostr

/// The secrets from which one group's file keys are derived: of the current epoch and a few past ones, since messages
/// arrive late, and a sender may encrypt a file just before a commit and send the message after it (MIP-04).
struct MediaSecrets: Sendable {
    /// The number of past epochs; messages of as many can still be decrypted.
    static let pastEpochs = 5
    private static let recordLength = 40

    private var secrets: [Epoch: Secret] = [:]

    init() {}

    /// Records the secret of the group's current epoch, and of past ones that the group knows, as after a change of branch;
    /// true if anything changed. After a rollback, secrets of later epochs are removed.
    mutating func note(_ group: AccountGroup) -> Bool {
        let oldest = group.epoch.earlier(by: Self.pastEpochs)
        let before = self.secrets
        self.secrets = before.filter { $0.key >= oldest && $0.key < group.epoch }
        for epoch in self.secrets.keys {
            if let secret = group.mediaSecret(of: epoch) { self.secrets[epoch] = secret }
        }
        self.secrets[group.epoch] = group.mediaSecret
        return self.secrets != before
    }

    /// Returns the known secrets of an epoch, its predecessor and its successor, in this order.
    func around(_ epoch: Epoch) -> [Secret] {
        [epoch, epoch.previous, epoch.next].compactMap { $0 }.compactMap { self.secrets[$0] }
    }

    /// The stored form: epoch (8 bytes, big-endian) and secret (32 bytes) of each record, ascending.
    var stored: Secret {
        let records = self.secrets.sorted { $0.key < $1.key }
        let count = records.reduce(0) { $0 + $1.key.bytes.count + $1.value.count }
        // Written in place, so that no copy of a secret is left behind.
        return Secret(count: count) { buffer in
            var rest = buffer[...]
            for (epoch, secret) in records {
                UnsafeMutableRawBufferPointer(rebasing: rest).copyBytes(from: epoch.bytes)
                rest = rest.dropFirst(epoch.bytes.count)
                secret.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: rest).copyBytes(from: $0) }
                rest = rest.dropFirst(secret.count)
            }
        }
    }

    /// Parses ``stored``; nil for any other content.
    init?(stored: Secret) {
        guard stored.count.isMultiple(of: Self.recordLength) else { return nil }
        let records: [(Epoch?, Secret)] = stored.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: Self.recordLength).map { start in
                (Epoch(bytes: bytes[start..<start + 8]), Secret(bytes[start + 8..<start + Self.recordLength]))
            }
        }
        for (epoch, secret) in records {
            guard let epoch else { return nil }
            self.secrets[epoch] = secret
        }
    }
}
