import Foundation
import Supervisor
import Telemetry
import Testing

@testable import BotProgram

struct ObservationRoutesTests {
    private static let well = """
        {"phase":"running","ready":true,"checks":[{"check":"relay","relay":"r.example","ok":true,"message":"connected"}]}
        """
    private static let ill = """
        {"phase":"running","ready":false,"checks":[{"check":"inbox","ok":false,"message":"too old"}]}
        """
    private static let metrics = """
        [{"name":"bot_ready","help":"Ready.","kind":"gauge","bounds":[],
          "series":[{"labels":[],"value":1,"buckets":[]}]}]
        """

    /// The routes over accounts whose workers give these answers: a text or an error.
    private func observatory(
        _ answers: [(String, Result<String, SupervisorError>)], ended: Set<String> = []
    ) -> ObservationRoutes {
        let answers = Dictionary(uniqueKeysWithValues: answers)
        let accounts = answers.keys.sorted().map { (name: $0, isExpected: !ended.contains($0)) }
        return ObservationRoutes(accounts: { accounts }, registry: MetricRegistry([])) {
            (account, question, _) throws(SupervisorError) in
            let text = try answers[account]?.get() ?? ""
            return Data((question == "metrics" ? Self.metrics : text).utf8)
        }
    }

    private func get(_ path: String, of observatory: ObservationRoutes) async throws -> HTTPResponse {
        let route = try #require(observatory.routes[path])
        return await route(try #require(HTTPRequest(target: path)))
    }

    private func statuses(_ observatory: ObservationRoutes) async throws -> [Int] {
        var statuses: [Int] = []
        for path in ["/livez", "/readyz", "/startupz"] { statuses.append(try await get(path, of: observatory).status) }
        return statuses
    }

    @Test func readyIfAllChecksPass() async throws {
        let observatory = observatory([("a", .success(Self.well)), ("b", .success(Self.well))])
        #expect(try await statuses(observatory) == [200, 200, 200])
        let body = try await get("/readyz", of: observatory).body
        #expect(
            String(decoding: body, as: UTF8.self).replacing(/\s+/, with: "").hasPrefix(
                #"{"accounts":[{"account":"a","checks":[{"check":"worker","message":"responding","ok":true},"#
                    + #"{"check":"relay","message":"connected","ok":true,"relay":"r.example"}],"ready":true},"#))
    }

    @Test func failingCheckIsUnreadyButAlive() async throws {
        let observatory = observatory([("a", .success(Self.well)), ("b", .success(Self.ill))])
        #expect(try await statuses(observatory) == [200, 503, 200])
    }

    @Test func startingWorkerIsUnreadyButAlive() async throws {
        let starting = observatory([("a", .success(#"{"phase":"starting"}"#))])
        #expect(try await statuses(starting) == [200, 503, 503])
        let stopped = observatory([
            ("a", .success(Self.well)), ("b", .failure(SupervisorError(.notRunning, "b is not running"))),
        ])
        #expect(try await statuses(stopped) == [200, 503, 503])
        #expect(String(decoding: try await get("/startupz", of: stopped).body, as: UTF8.self) == "not started yet: b\n")
        let body = String(decoding: try await get("/readyz", of: stopped).body, as: UTF8.self)
        #expect(body.contains("b is not running"))
    }

    @Test func endedAccountDoesNotBlockReadiness() async throws {
        let notRunning = SupervisorError(.notRunning, "b is not running")
        let over = observatory([("a", .success(Self.well)), ("b", .failure(notRunning))], ended: ["b"])
        #expect(try await statuses(over) == [200, 200, 200])
        let body = String(decoding: try await get("/readyz", of: over).body, as: UTF8.self)
        #expect(body.contains("exited as expected") && body.hasSuffix("\"ready\" : true\n}\n"))
        let metrics = String(decoding: try await get("/metrics", of: over).body, as: UTF8.self)
        #expect(metrics.contains(#"bot_worker_up{account="a"} 1"#) && !metrics.contains(#"account="b""#))
        // Failures of the other accounts still count.
        #expect(
            try await statuses(observatory([("a", .success(Self.ill)), ("b", .failure(notRunning))], ended: ["b"]))
                == [200, 503, 200])
    }

    @Test func silentWorkerIsNotAlive() async throws {
        let stuck = observatory([("a", .failure(SupervisorError(.noAnswer, "a did not answer")))])
        #expect(try await statuses(stuck) == [503, 503, 503])
    }

    @Test func invalidAnswerIsUnready() async throws {
        #expect(try await statuses(observatory([("a", .success("nonsense"))])) == [200, 503, 503])
    }

    @Test func mergesWorkerMetricsByAccount() async throws {
        let observatory = observatory([
            ("a", .success(Self.well)), ("b", .success(Self.well)),
            ("c", .failure(SupervisorError(.notRunning, "c is not running"))),
        ])
        let text = String(decoding: try await get("/metrics", of: observatory).body, as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("bot_") }
        #expect(
            lines == [
                #"bot_worker_up{account="a"} 1"#, #"bot_worker_up{account="b"} 1"#, #"bot_worker_up{account="c"} 0"#,
                #"bot_ready{account="a"} 1"#, #"bot_ready{account="b"} 1"#,
            ])
        #expect(text.contains("# TYPE process_start_time_seconds gauge\n"))
    }
}
