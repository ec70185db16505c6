import Appliance
import EpicuraSimulator
import Testing

/// Requests of another device of the household.
extension Household {
    func send(_ request: APIRequest) throws -> SimulatedResponse {
        let login = try APIRequest.loginCode(LoginChallengeRequest(channel: .phone, address: "+919876500000"))
        let sent = cloud.handle(SimulatedRequest("POST", login.target, body: login.body)).body
        let challenge = try APICoding.decode(LoginChallenge.self, from: sent)
        let code = try APIRequest.login(LoginCode(challengeID: challenge.challengeID, code: try cloud.code()))
        let granted = cloud.handle(SimulatedRequest("POST", code.target, body: code.body)).body
        let token = try APICoding.decode(TokenGrant.self, from: granted).accessToken
        return cloud.handle(
            SimulatedRequest(
                request.method.rawValue, request.target, authorization: "Bearer \(token)",
                idempotencyKey: request.idempotencyKey, ifMatch: request.version.map { "\($0)" }, body: request.body))
    }

    func replaceInTheCloud(_ change: (inout Preferences) -> Void) async throws {
        var preferences = cloud.cloud.preferences
        change(&preferences)
        let answer = try send(try APIRequest.replacePreferences(preferences))
        #expect(answer.status == 200)
    }

    func claimInTheCloud(_ serial: String, name: String) async throws {
        let claim = ApplianceClaim(claimToken: try cloud.claimToken(serial), name: name)
        let answer = try send(try APIRequest.claim(claim))
        #expect(answer.status == 201)
    }
}
