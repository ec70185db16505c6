import NIOCore
import NIOSSL
import Synchronization

/// The TLS settings of connections, shared by all that trust the same roots.
///
/// The system's roots are some 150 certificates, half a megabyte once parsed: as much as a whole idle account takes
/// besides. The files are read every time; the system's roots when nobody uses them yet, so what changes there is seen
/// after a restart.
enum TLSContexts {
    private struct Key: Hashable {
        let roots: [NIOSSLCertificate]
        let closeTimeout: Duration
    }

    private struct Entry {
        weak var context: NIOSSLContext?
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    /// The system's trust roots and those in the files; the certificate must hold for the name of the host.
    ///
    /// - Parameter closeTimeout: How long the other side has to say goodbye when we do.
    /// - Throws: ``TransportError/Code/badTrustRoots``.
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
            throw TransportError(.badTrustRoots, "trust roots cannot be used: \(names)", cause: error)
        }
    }
}
