import Foundation
import LiveTesting
import Supervisor
import Synchronization
import Telemetry
import Testing

@testable import BotProgram

@Suite(.bounded) struct ProbeRouteTests {
    private static let good = """
        {"success":true,"samples":[
          {"name":"nostr_probe_phase_success","labels":{"phase":"write","other":"x"},"value":1},
          {"name":"invented_metric","labels":{},"value":1}]}
        """

    private func get(_ query: String, _ answers: [Result<String, SupervisorError>], scrapeTimeout: String? = nil)
        async throws -> (response: HTTPResponse, asked: [Duration])
    {
        let timeouts = Mutex<[Duration]>([])
        let answers = Dictionary(uniqueKeysWithValues: answers.enumerated().map { ("\($0.offset)", $0.element) })
        let route = ProbeRoute(accounts: { answers.keys.sorted() }) {
            (account, _, limit) throws(SupervisorError) in
            timeouts.withLock { $0.append(limit) }
            return Data((try answers[account]?.get() ?? "").utf8)
        }
        let request = try #require(HTTPRequest(target: "/probe?\(query)", scrapeTimeout: scrapeTimeout))
        return (await route.answer(request), timeouts.withLock { $0 })
    }

    private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test func firstAccountWithModuleAnswers() async throws {
        let other = #"{"modules":["keypackage"]}"#
        let (response, asked) = try await get(
            "module=relay&target=a", [.success(other), .success(Self.good), .success(other)])
        #expect(response.status == 200)
        #expect((1...3).contains(asked.count))
        let lines = text(response).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.first == "probe_success 1")
        #expect(lines[1].hasPrefix("probe_duration_seconds "))
        #expect(lines.dropFirst(2) == ["nostr_probe_phase_success{phase=\"write\"} 1"])
    }

    /// Once one worker has answered, the probe does not wait for silent ones.
    @Test func silentWorkerDoesNotBlockProbe() async throws {
        let route = ProbeRoute(accounts: { ["silent", "other", "good"] }) {
            (account, _, _) throws(SupervisorError) in
            if account == "silent" {
                for await _ in AsyncStream<Never>.makeStream().stream {}
                throw SupervisorError(.noAnswer, "it was given up")
            }
            return Data((account == "good" ? Self.good : #"{"modules":["keypackage"]}"#).utf8)
        }
        let request = try #require(HTTPRequest(target: "/probe?module=relay&target=a", scrapeTimeout: nil))
        let response = await route.answer(request)
        #expect(response.status == 200)
        #expect(text(response).contains("\nprobe_success 1\n"))
    }

    @Test func failedTargetIsAnAnswer() async throws {
        let (response, _) = try await get("module=relay&target=a", [.success(#"{"success":false,"samples":[]}"#)])
        #expect(response.status == 200)
        #expect(text(response).contains("\nprobe_success 0\n"))
    }

    @Test func reportsRefusedAndUnknownTargets() async throws {
        let refused = try await get("module=relay&target=a", [.success(#"{"refused":"not among the targets"}"#)])
        #expect(refused.response == .text("not among the targets\n", status: 403))
        let unknown = try await get("module=x&target=a", [.success(#"{"modules":["relay"]}"#)])
        #expect(unknown.response == .text("unknown module; available: relay\n", status: 400))
        let none = try await get("module=x&target=a", [])
        #expect(none.response == .text("unknown module; no running bot answers probes\n", status: 400))
        let missing = try await get("target=a", [.success(Self.good)])
        #expect(missing.response == .text("missing query parameters: expected ?module=…&target=…\n", status: 400))
        let silent = try await get("module=x&target=a", [.failure(SupervisorError(.notRunning, "0 is not running"))])
        #expect(silent.response.status == 503)
    }

    @Test(arguments: [
        (nil, Duration.seconds(20)), ("10", .milliseconds(9500)), ("0.2", .milliseconds(100)), ("300", .seconds(28)),
        ("1e300", .seconds(28)), ("nan", .seconds(20)), ("-1", .seconds(20)), ("soon", .seconds(20)),
    ])
    func scrapeTimeoutLimitsProbe(said: String?, limit: Duration) async throws {
        let (_, asked) = try await get("module=relay&target=a", [.success(Self.good)], scrapeTimeout: said)
        #expect(asked == [limit + .seconds(1)])
    }
}
