import Errors
import NIOHTTP1
import Nostr
import Testing

@testable import EmbeddedRelay

struct RelayConfigurationTests {
    @Test func readsEnvironmentOfDevelopmentRelay() throws {
        let configuration = try RelayConfiguration(environment: [
            "PORT": "0", "DATA_DIR": "/srv/data", "MEDIA_DIR": "/srv/media", "HOST": "0.0.0.0",
        ])
        #expect(configuration.port == 0)
        #expect(configuration.host == "0.0.0.0")
        #expect(configuration.storage == .file("/srv/data/relay.sqlite"))
        #expect(configuration.mediaDirectory == "/srv/media")
    }

    @Test func announcesConfiguredInformation() throws {
        let key = Author.alice.keys.publicKey
        let configuration = try RelayConfiguration(environment: [
            "SERVICE_URL": "http://localhost:3334/", "RELAY_NAME": "ours", "RELAY_DESCRIPTION": "for tests",
            "RELAY_PUBKEY": key.hex, "PIKA_RELAY_LOG_EVENTS": "1", "PIKA_RELAY_CALLS": "1",
        ])
        #expect(configuration.serviceURL == "http://localhost:3334")
        #expect(configuration.logsEvents && configuration.servesCalls)
        let document = configuration.information
        #expect(document.name == "ours" && document.description == "for tests" && document.pubkey == key)
        let plain = try RelayConfiguration(environment: ["RELAY_PUBKEY": "none", "PIKA_RELAY_LOG_EVENTS": "0"])
        #expect(plain.operatorKey == nil && plain.serviceURL == nil && !plain.logsEvents && !plain.servesCalls)
    }

    @Test(arguments: ["localhost:3334", "ftp://x", "http://", "http://a b", "http://x?y", "https://x/#z"])
    func refusesInvalidServiceURL(address: String) {
        #expect(throws: RelayError(.invalidConfiguration, "")) {
            try RelayConfiguration(environment: ["SERVICE_URL": address])
        }
    }

    @Test func usesDefaultsForMissingVariables() throws {
        let configuration = try RelayConfiguration(environment: ["PORT": ""])
        #expect(configuration.port == 3334)
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.storage == .file("./data/relay.sqlite"))
        #expect(configuration.mediaDirectory == "./media")
        #expect(try RelayConfiguration(environment: ["DATA_DIR": ":memory:"]).storage == .memory)
    }

    @Test(arguments: ["x", "-1", "65536", "80 ", "99999999999999999999"])
    func refusesInvalidPort(port: String) {
        #expect(throws: RelayError(.invalidConfiguration, "")) {
            try RelayConfiguration(environment: ["PORT": port])
        }
    }
}

struct HTTPRouterTests {
    private let router = HTTPRouter.relay(RelayConfiguration())

    private func status(_ method: HTTPMethod, _ uri: String) -> HTTPResponseStatus? {
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: uri)
        guard case .answer(let answer) = router.resolve(head) else { return nil }
        return answer.status
    }

    @Test func resolvesRoutesWithAndWithoutQuery() {
        #expect(status(.GET, "/health") == nil)
        #expect(status(.HEAD, "/health?verbose") == nil)
        #expect(status(.GET, "/") == nil)
    }

    @Test func refusesUnknownRoutes() {
        #expect(status(.GET, "/healthy") == .notFound)
        #expect(status(.GET, "") == .notFound)
        #expect(status(.POST, "/health") == .methodNotAllowed)
        #expect(status(.OPTIONS, "/") == .noContent)
    }
}
