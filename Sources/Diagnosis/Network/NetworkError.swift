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
        self.init(Self.words(error))
    }

    private static let slow: [HTTPClientError] = [.connectTimeout, .deadlineExceeded, .readTimeout]

    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as NetworkError: error.description
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { words($0.error) } ?? "its name is not known"
        case ChannelError.connectTimeout: "no answer in time"
        case let error as HTTPClientError where slow.contains(error): "no answer in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            "it closed the connection without an answer"
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
                ? "its certificate does not hold, or nobody trusted here has signed it" : "the TLS handshake failed"
        default: "\(error)"
        }
    }
}
