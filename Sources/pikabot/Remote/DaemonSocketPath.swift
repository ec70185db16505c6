import Foundation
import Nostr

/// Where the daemon of a state directory listens (wire §8.3).
enum DaemonSocketPath {
    /// Unix sockets have short names only.
    static let maximumBytes = 100

    static func path(stateDirectory: String, temporaryDirectory: String = NSTemporaryDirectory()) -> String {
        let folder = URL(fileURLWithPath: stateDirectory).standardizedFileURL.path
        let preferred = folder + "/daemon.sock"
        guard preferred.utf8.count > maximumBytes else { return preferred }
        let name = "pikachat-daemon-\(digest(folder)).sock"
        return URL(fileURLWithPath: temporaryDirectory).appendingPathComponent(name).path
    }

    /// FNV-1a, 64 bits: it has to be the same in every process, no more.
    private static func digest(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return Hex.encode(withUnsafeBytes(of: hash.bigEndian) { Array($0) })
    }
}
