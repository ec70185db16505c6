package import Nostr
package import ProbeReports
package import RelayClient

/// Examines one relay as a client of encrypted groups uses it: from name resolution to storage and deletion.
///
/// All events that it writes are signed with throwaway keys, expire after an hour (NIP-40), and are deleted at the end
/// (NIP-09). Its time is bounded, and it reads no more than a few megabytes, whatever the relay does.
package struct RelayProbe: Sendable {
    package let relay: RelayURL
    /// Whether anything may be written.
    package var writes = true
    /// Timeout of the whole probe.
    package var timeout = Duration.seconds(20)
    /// Timeout of one step.
    package var stepTimeout = Duration.seconds(5)
    /// Signer of NIP-42 logins; nil uses a throwaway key.
    package var login: RelayPool.Signer?
    /// PEM files of certificate authorities that are trusted besides the system's.
    package var trustRootFiles: [String] = []
    /// Whether connections to this address, 4 or 16 bytes in network order, are allowed.
    package var permits: @Sendable (_ address: [UInt8]) -> Bool = { _ in true }

    package init(_ relay: RelayURL) { self.relay = relay }

    package func run() async -> RelayProbeReport {
        let visitor = ThrowawayEvent.keys()
        return await RelayConnections.serve(
            relay, login: login ?? ThrowawayEvent.signer(visitor), trustRootFiles: trustRootFiles
        ) { connections in
            var run = ProbeRun(self, connections, visitor: visitor)
            return await run.report()
        }
    }
}
