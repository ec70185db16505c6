import Foundation
import NIOCore

/// Checks the peer of a Unix socket: only the owner of the supervisor's process and root may send commands.
enum PeerCredentials {
    /// Linux's `struct ucred`, which is not visible to Swift.
    private struct Credentials {
        var process: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
    }

    static func mayCommand(_ user: UInt32, owner: UInt32 = geteuid()) -> Bool { user == owner || user == 0 }

    /// Fails for an unauthorised peer: a second check besides the socket's mode.
    static func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        #if os(Linux)
            guard let provider = channel as? any SocketOptionProvider else {
                return channel.eventLoop.makeFailedFuture(
                    SupervisorError(.noControlSocket, "expected a socket channel"))
            }
            let credentials: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
                level: .socket, name: .init(rawValue: CInt(SO_PEERCRED)))
            return credentials.flatMapThrowing { credentials in
                guard mayCommand(credentials.user) else {
                    throw SupervisorError(.noControlSocket, "user \(credentials.user) may not control this supervisor")
                }
            }
        #else
            return channel.eventLoop.makeSucceededVoidFuture()
        #endif
    }
}
