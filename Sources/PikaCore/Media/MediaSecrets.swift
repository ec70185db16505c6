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

    /// Records the secret of the group's current epoch; true if anything changed. After a rollback, secrets of later
    /// epochs are removed.
    mutating func note(_ group: MarmotGroup) -> Bool {
        let secret = EncryptedMedia.secret(group)
        let oldest = group.epoch.earlier(by: Self.pastEpochs)
        let isKnown = self.secrets[group.epoch] == secret
        guard !isKnown || self.secrets.keys.contains(where: { $0 < oldest || $0 > group.epoch }) else { return false }
        self.secrets = self.secrets.filter { $0.key >= oldest && $0.key < group.epoch }
        self.secrets[group.epoch] = secret
        return true
    }

    /// Returns the known secrets of an epoch, its predecessor and its successor, in this order.
    func around(_ epoch: Epoch) -> [Secret] {
        [epoch, epoch.previous, epoch.next].compactMap { $0 }.compactMap { self.secrets[$0] }
    }

    /// The stored form: epoch (8 bytes, big-endian) and secret (32 bytes) of each record, ascending.
    var stored: Secret {
        var bytes: [UInt8] = []
        for (epoch, secret) in self.secrets.sorted(by: { $0.key < $1.key }) {
            bytes += epoch.bytes
            bytes += secret.copyBytes()
        }
        return Secret(bytes)
    }

    /// Parses ``stored``; nil for any other content.
    init?(stored: Secret) {
        let bytes = stored.copyBytes()
        guard bytes.count.isMultiple(of: Self.recordLength) else { return nil }
        for start in stride(from: 0, to: bytes.count, by: Self.recordLength) {
            guard let epoch = Epoch(bytes: bytes[start..<start + 8]) else { return nil }
            self.secrets[epoch] = Secret(Array(bytes[start + 8..<start + Self.recordLength]))
        }
    }
}
