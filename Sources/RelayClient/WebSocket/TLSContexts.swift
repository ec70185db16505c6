import Errors
import NIOCore
import NIOSSL
import Synchronization

/// TLS settings, shared by all connections with the same trust roots.
///
/// The system's roots are some 150 certificates, half a megabyte once parsed: as much as the rest of an idle account.
/// The files are read every time. The system's roots are read only if no connection uses them at that moment, so a
/// change of these roots may take effect only after a restart.
enum TLSContexts {
    private struct Key: Hashable {
        let roots: [NIOSSLCertificate]
        let closeTimeout: Duration
    }

    private struct Entry {
        weak var context: NIOSSLContext?
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    /// Returns settings that trust the system's roots and those in the files, and that verify the host name.
    ///
    /// - Parameter closeTimeout: Time to wait for the other side's TLS closure after ours.
    /// - Throws: `TransportError.Code.badTrustRoots`.
    static func context(
        trusting files: [String], closeTimeout: Duration
    ) throws(TransportError) -> NIOSSLContext {
        do {
            let roots = try files.flatMap { try NIOSSLCertificate.fromPEMFile($0) }
            let key = Key(roots: roots, closeTimeout: closeTimeout)
            return try entries.withLock { entries in
                if let context = entries[key]?.context { return context }
                var settings = TLSConfiguration.makeClientConfiguration()
                settings.additionalTrustRoots = [.certificates(roots)]
                settings.shutdownTimeout = TimeAmount(closeTimeout)
                let context = try NIOSSLContext(configuration: settings)
                entries = entries.filter { $0.value.context != nil }
                entries[key] = Entry(context: context)
                return context
            }
        } catch {
            let names = files.isEmpty ? "the system's" : files.joined(separator: ", ")
            throw TransportError(.badTrustRoots, "cannot load trust roots: \(names)", cause: error)
        }
    }
}
