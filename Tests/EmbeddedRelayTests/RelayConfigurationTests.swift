import NIOHTTP1
import Nostr
import Testing

@testable import EmbeddedRelay

struct RelayConfigurationTests {
    @Test func readsTheContractOfTheDevelopmentRelay() throws {
        let configuration = try RelayConfiguration(environment: [
            "PORT": "0", "DATA_DIR": "/srv/data", "MEDIA_DIR": "/srv/media", "HOST": "0.0.0.0",
        ])
        #expect(configuration.port == 0)
        #expect(configuration.host == "0.0.0.0")
        #expect(configuration.storage == .file("/srv/data/relay.sqlite"))
        #expect(configuration.mediaDirectory == "/srv/media")
    }

    @Test func hasItsDefaults() throws {
        let configuration = try RelayConfiguration(environment: ["PORT": ""])
        #expect(configuration.port == 3334)
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.storage == .file("./data/relay.sqlite"))
        #expect(configuration.mediaDirectory == "./media")
        #expect(try RelayConfiguration(environment: ["DATA_DIR": ":memory:"]).storage == .memory)
    }

    @Test(arguments: ["x", "-1", "65536", "80 ", "99999999999999999999"])
    func refusesAPortThatIsNone(port: String) {
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

    @Test func resolvesRoutesWithAndWithoutAQuery() {
        #expect(status(.GET, "/health") == nil)
        #expect(status(.HEAD, "/health?verbose") == nil)
        #expect(status(.GET, "/") == nil)
    }

    @Test func refusesTheRest() {
        #expect(status(.GET, "/healthy") == .notFound)
        #expect(status(.GET, "") == .notFound)
        #expect(status(.POST, "/health") == .methodNotAllowed)
        #expect(status(.OPTIONS, "/") == .noContent)
    }
}
