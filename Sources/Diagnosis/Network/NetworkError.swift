import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Network failure with a description for people.
struct NetworkError: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Converts a library's error, without its internal details.
    init(_ error: any Error) {
        self.init(Self.describe(error))
    }

    private static let timeouts: [HTTPClientError] = [.connectTimeout, .deadlineExceeded, .readTimeout]

    private static func describe(_ error: any Error) -> String {
        switch error {
        case let error as NetworkError: error.description
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { describe($0.error) } ?? "the host name does not resolve"
        case ChannelError.connectTimeout: "timed out"
        case let error as HTTPClientError where timeouts.contains(error): "timed out"
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            "the server closed the connection without a response"
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
                ? "the certificate is not valid for this host, or not signed by a trusted authority"
                : "the TLS handshake failed"
        default: "\(error)"
        }
    }
}
