import NIOCore
import NIOHTTP1
import Nostr

extension HTTPRouter {
    /// The routes that every relay has: health, and the NIP-11 document.
    static func relay(_ configuration: RelayConfiguration) -> HTTPRouter {
        let document = ByteBuffer(bytes: configuration.information.json())
        return HTTPRouter(routes: [
            .get("/health") { _ in
                HTTPAnswer(
                    status: .ok, contentType: "application/json", body: ByteBuffer(string: #"{"status":"ok"}"#))
            },
            .get("/") { head in
                guard head.headers["Accept"].contains(where: { $0.contains("application/nostr+json") }) else {
                    return .text(.ok, "A Nostr relay: connect with a Nostr client.\n")
                }
                return HTTPAnswer(status: .ok, contentType: "application/nostr+json", body: document)
            },
        ])
    }
}
