import Foundation
import Nostr

/// Path of the daemon's socket for a state directory (docs/daemon.md).
enum DaemonSocketPath {
    /// Unix socket paths have a small maximum length.
    static let maximumBytes = 100

    static func path(stateDirectory: String, temporaryDirectory: String = NSTemporaryDirectory()) -> String {
        let folder = URL(fileURLWithPath: stateDirectory).standardizedFileURL.path
        let preferred = folder + "/daemon.sock"
        guard preferred.utf8.count > maximumBytes else { return preferred }
        let name = "pikachat-daemon-\(digest(folder)).sock"
        return URL(fileURLWithPath: temporaryDirectory).appendingPathComponent(name).path
    }

    /// Whether a socket is that of the state directory's daemon: in the folder for temporary files, where the socket of
    /// most further accounts is, any user can create one of its name.
    static func isGenuine(_ path: String, stateDirectory: String) -> Bool {
        guard !path.hasPrefix(URL(fileURLWithPath: stateDirectory).standardizedFileURL.path + "/") else { return true }
        let resolved = URL(fileURLWithPath: stateDirectory).resolvingSymlinksInPath().path
        guard let socket = owner(path), let folder = owner(resolved) else { return true }
        return socket == folder
    }

    /// The numeric user id of a file's owner, of the link itself if it is one; nil if there is no such file.
    private static func owner(_ path: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.ownerAccountID] as? NSNumber)?.intValue
    }

    /// 64-bit FNV-1a: only needs to be the same in every process.
    private static func digest(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return Hex.encode(withUnsafeBytes(of: hash.bigEndian) { Array($0) })
    }
}
