import Appliance
import Foundation
import LiveTesting
import Nostr
import Testing

@testable import EpicuraSimulator

/// A cloud with one appliance and a session, on a virtual clock.
struct SimulatedHousehold {
    var cloud: SimulatedCloud
    var generator: any RandomNumberGenerator = SplitMix64(seed: 1)
    var now: UnixTime = 1_000
    var tokens = TokenGrant(accessToken: "-", refreshToken: "-", expiresIn: 1)
    var appliance = ""
    var localKey = ""

    init(settings: SimulatedCloud.Settings = SimulatedCloud.Settings()) throws {
        self.cloud = SimulatedCloud(settings: settings)
        try self.login()
        let pairing = try decoded(
            SimulatedPairing.self,
            self.send("POST", "/simulator/appliances", try APICoding.encode(SimulatedPairing(serial: "A1"))))
        let claim = ApplianceClaim(claimToken: pairing.claimToken ?? "", name: "Kitchen")
        let claimed = try decoded(ClaimedAppliance.self, self.send(try .claim(claim)))
        self.appliance = claimed.appliance.id
        self.localKey = claimed.localKey
    }

    mutating func login() throws {
        let request = LoginChallengeRequest(channel: .phone, address: "+919876543210")
        let challenge = try decoded(LoginChallenge.self, self.send(try .loginCode(request)))
        let codes = try decoded(SimulatedCodes.self, self.send("GET", "/simulator/codes"))
        let code = LoginCode(challengeID: challenge.challengeID, code: codes.items.last?.code ?? "")
        self.tokens = try decoded(TokenGrant.self, self.send(try .login(code)))
    }

    mutating func send(_ request: APIRequest) -> SimulatedResponse {
        let authorization: String? =
            switch request.authorization {
            case .none: nil
            case .accessToken: "Bearer \(self.tokens.accessToken)"
            case .localKey: "Local \(self.localKey)"
            }
        return self.cloud.handle(
            SimulatedRequest(
                request.method.rawValue, request.target, authorization: authorization,
                idempotencyKey: request.idempotencyKey, ifMatch: request.version.map { String($0) },
                body: request.body),
            now: self.now, using: &self.generator)
    }

    mutating func send(_ method: String, _ target: String, _ body: [UInt8] = []) -> SimulatedResponse {
        self.cloud.handle(SimulatedRequest(method, target, body: body), now: self.now, using: &self.generator)
    }

    mutating func set(_ faults: SimulatedFaults) throws {
        _ = self.send("POST", "/simulator/faults", try APICoding.encode(faults))
    }

    mutating func start(_ id: String = "c1", by route: ApplianceRoute = .cloud) throws -> SimulatedResponse {
        let command = CommandRequest(
            id: id, kind: .start, recipeID: "chai", servings: 2, expiresAt: self.now + 10)
        return self.send(try .command(command, to: self.appliance, by: route))
    }

    mutating func stop(_ id: String, by route: ApplianceRoute) throws -> SimulatedResponse {
        let request = EmergencyStopRequest(id: id, requestedAt: self.now)
        return self.send(try .emergencyStop(request, of: self.appliance, by: route))
    }
}

private func decoded<Value: APIValue>(_ type: Value.Type, _ response: SimulatedResponse) throws -> Value {
    try APICoding.decode(type, from: response.body)
}

private func problem(_ response: SimulatedResponse) throws -> String {
    try APICoding.decode(APIProblem.self, from: response.body).code
}

@Suite struct SimulatedCloudTests {
    @Test func reusedRefreshTokenRevokesTheSession() throws {
        var household = try SimulatedHousehold()
        let old = household.tokens
        let refresh = try APIRequest.refresh(RefreshRequest(refreshToken: old.refreshToken))
        let answer = household.send(refresh)
        household.tokens = try decoded(TokenGrant.self, answer)
        let works = household.send(.appliances)
        let reused = household.send(refresh)
        let after = household.send(.appliances)
        let refreshed = household.send(
            try .refresh(RefreshRequest(refreshToken: household.tokens.refreshToken)))
        #expect(works.status == 200 && reused.status == 401 && after.status == 401 && refreshed.status == 401)
        let codes = [try problem(reused), try problem(after), try problem(refreshed)]
        #expect(codes == ["session_revoked", "token_expired", "session_revoked"])
    }

    @Test func accessTokensExpire() throws {
        var household = try SimulatedHousehold()
        household.now += 899
        let valid = household.send(.appliances)
        household.now += 1
        let expired = household.send(.appliances)
        let code = try problem(expired)
        #expect(valid.status == 200 && expired.status == 401 && code == "token_expired")
    }

    @Test func codesAreUsableOnceAndFiveTimesWrong() throws {
        var household = try SimulatedHousehold()
        let request = LoginChallengeRequest(channel: .email, address: "asha@example.org")
        let challenge = try decoded(LoginChallenge.self, household.send(try .loginCode(request)))
        let codes = try decoded(SimulatedCodes.self, household.send("GET", "/simulator/codes"))
        let right = try #require(codes.items.last?.code)
        let wrong = right == "000000" ? "000001" : "000000"
        for _ in 0..<5 {
            let answer = household.send(try .login(LoginCode(challengeID: challenge.challengeID, code: wrong)))
            #expect(answer.status == 401)
        }
        let late = household.send(try .login(LoginCode(challengeID: challenge.challengeID, code: right)))
        #expect(late.status == 401)
    }

    @Test func repeatedStartIsExecutedOnce() throws {
        var household = try SimulatedHousehold()
        let first = try household.start()
        household.now += 60
        let again = try household.start()
        let other = try household.start("c2")
        let receipt = try decoded(CommandReceipt.self, first)
        let refused = try decoded(CommandReceipt.self, other)
        #expect(first.status == 202 && first.body == again.body && receipt.state == .accepted)
        #expect(refused.state == .refused && refused.reason == "busy")
        #expect(household.cloud.requestLog.starts == 1)
    }

    @Test func refusesExpiredCommands() throws {
        var household = try SimulatedHousehold()
        let command = CommandRequest(id: "c1", kind: .start, recipeID: "chai", servings: 2, expiresAt: household.now)
        let answer = household.send(try .command(command, to: household.appliance, by: .cloud))
        let receipt = try decoded(CommandReceipt.self, answer)
        #expect(receipt.state == .expired && household.cloud.requestLog.starts == 0)
    }

    @Test func cooksToTheEnd() throws {
        var household = try SimulatedHousehold()
        _ = try household.start()
        _ = household.cloud.drain()
        var session = try CookingSession(
            applianceID: household.appliance, recipe: try #require(SampleRecipes.all[.english]?.first), servings: 2)
        _ = try session.start(
            commandID: "c1", reach: CookingSession.Reach(byCloud: true, byLocalNetwork: false), now: household.now)
        var cursor = EventCursor(last: household.cloud.resume(after: 0, now: household.now)[0].sequence)
        var reports: [CookingSession.Effect] = []
        for _ in 0..<700 {
            household.now += 1
            household.cloud.advance(milliseconds: 1_000, now: household.now)
            for event in household.cloud.drain().events {
                try event.validate()
                let verdict = cursor.admit(event)
                #expect(verdict == .new)
                reports += session.receive(event)
            }
        }
        let timers = reports.filter { $0 == .report(.timer(label: "Tea is ready")) }
        #expect(session.status?.phase == .finished && session.status?.percent == 100 && timers.count == 1)
        guard case .report(.ended(let record))? = reports.last else {
            Issue.record("the last report must be the end")
            return
        }
        let stored = household.send(try .addHistory(record))
        let again = household.send(try .addHistory(record))
        #expect(stored.status == 201 && again.status == 200 && household.cloud.history == [record])
    }

    @Test func stopsByBothRoutes() throws {
        for route in ApplianceRoute.allCases {
            var household = try SimulatedHousehold()
            _ = try household.start()
            let first = try household.stop("e1", by: route)
            household.now += 5
            let again = try household.stop("e1", by: route)
            #expect(first.status == 200 && first.body == again.body)
            #expect(household.cloud.requestLog.stops == 1 && household.cloud.appliances[0].state == .stopped)
        }
    }

    @Test func losesAcknowledgementsOfStops() throws {
        var household = try SimulatedHousehold()
        _ = try household.start()
        var faults = SimulatedFaults()
        faults.lostStopAcknowledgements = 1
        try household.set(faults)
        _ = household.cloud.drain()
        let lost = try household.stop("e1", by: .cloud)
        let events = household.cloud.drain().events
        let again = try household.stop("e1", by: .local)
        #expect(lost.content == .nothing && again.status == 200 && household.cloud.requestLog.stops == 1)
        #expect(events.allSatisfy { $0.type != "emergency_stop.acknowledged" })
    }

    @Test func faultsAreCounted() throws {
        var household = try SimulatedHousehold()
        var faults = SimulatedFaults()
        faults.unauthorized = 2
        faults.serverErrors = 1
        try household.set(faults)
        let statuses = (0..<4).map { _ in household.send(.appliances).status }
        #expect(statuses == [503, 401, 401, 200])
        faults = SimulatedFaults()
        faults.applianceOffline = true
        faults.delayMilliseconds = 30
        try household.set(faults)
        let offline = try household.start()
        let local = try household.start("c2", by: .local)
        let code = try problem(offline)
        #expect(offline.status == 409 && code == "appliance_offline" && offline.delay == 30 && local.status == 202)
    }

    @Test func preferencesConflictByVersion() throws {
        var household = try SimulatedHousehold()
        var sync = PreferenceSync()
        try sync.set("spice", to: "hot", now: 1)
        let begun = sync.beginUpload()
        let upload = try #require(begun)
        let stored = household.send(try .replacePreferences(upload))
        let conflict = household.send(try .replacePreferences(upload))
        let current = try decoded(Preferences.self, conflict)
        #expect(stored.status == 200 && conflict.status == 409 && current.version == 1)
        sync.merge(current)
        #expect(sync.pendingCount == 0)
    }

    @Test func resumesTheStreamOrTellsTheLoss() throws {
        var household = try SimulatedHousehold()
        _ = try household.start()
        let all = household.cloud.drain().events
        let middle = try #require(all.first?.sequence)
        let resumed = household.cloud.resume(after: middle, now: 0)
        #expect(resumed.first?.body == .hello(isResumed: true) && Array(resumed.dropFirst()) == Array(all.dropFirst()))
        let unknown = household.cloud.resume(after: 1_000_000, now: 0)
        #expect(unknown.map { $0.body } == [.hello(isResumed: false)])
    }

    @Test func refusesHostileRequests() throws {
        var household = try SimulatedHousehold()
        let statuses = [
            household.send("GET", "/nothing").status, household.send("DELETE", "/v1/appliances").status,
            household.send("GET", "/v1/appliances").status, household.send("GET", "").status,
            household.send("POST", "/v1/auth/token", Array("{".utf8)).status,
            household.send("POST", "/simulator/faults", Array(#"{"unauthorized":-1}"#.utf8)).status,
            household.send("POST", "/simulator/appliances", Array(#"{"serial":"../x"}"#.utf8)).status,
        ]
        #expect(statuses == [404, 405, 401, 404, 400, 400, 400])
    }

    @Test func recipesExistInEveryLanguage() throws {
        let ids = Language.allCases.map { language in (SampleRecipes.all[language] ?? []).map { $0.id } }
        #expect(Set(ids).count == 1 && ids[0].count == 3)
        for recipe in SampleRecipes.all.values.joined() { try recipe.validate() }
        var household = try SimulatedHousehold()
        let found = household.send(try .recipes(language: .hindi, query: "दाल"))
        let page = try decoded(RecipePage.self, found)
        #expect(page.items.map { $0.id } == ["dal-tadka"])
    }
}

@Suite struct DefinitionTests {
    private static func text(_ name: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("docs/epicura/\(name)"), encoding: .utf8)
    }

    /// Every path of the simulator is in the OpenAPI document, with its methods, and none else is there.
    @Test func openAPIListsEveryRoute() throws {
        var documented: Set<String> = []
        var path: String?
        for line in try Self.text("openapi.yaml").split(separator: "\n") {
            let name = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("  /") {
                path = name.dropLast().split(separator: "/").map { $0.hasPrefix("{") ? "*" : String($0) }
                    .joined(separator: "/")
            } else if !line.hasPrefix("   ") {
                path = nil
            } else if let path, line.hasPrefix("    "), !line.hasPrefix("     "), name.hasSuffix(":") {
                documented.insert("\(name.dropLast().uppercased()) \(path)")
            }
        }
        let routes = SimulatedCloud.routes.map { "\($0.method) \($0.pattern.joined(separator: "/"))" }
        #expect(documented == Set(routes.filter { !$0.contains(" simulator/") }))
    }

    @Test func pageListsEveryEventAndIdentifier() throws {
        let page = try Self.text("api.md")
        let receipt = EmergencyStopReceipt(id: "e", acknowledgedAt: 0)
        let bodies: [LiveEvent.Body] = [
            .hello(isResumed: true), .applianceStatus(isOnline: true, state: .idle),
            .timerFired(sessionID: "s", label: "l"), .emergencyStopAcknowledged(receipt),
            .alert(LiveEvent.Alert(id: "a", severity: .danger, code: "c", text: "")), .preferencesChanged(version: 1),
        ]
        let types = bodies.map { LiveEvent(sequence: 1, at: 0, body: $0).type } + ["cooking.status"]
        #expect(types.allSatisfy { page.contains("| `\($0)` |") })
        #expect((GATTProfile.required.union([GATTProfile.service])).allSatisfy { page.contains("`\($0)`") })
        #expect(page.contains("`\(RecipeSearch.tokenizer)`"))
    }
}
