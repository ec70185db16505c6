import Appliance
import Nostr

extension SimulatedCloud {
    static let loginRoutes: [Route] = [
        Route("POST", "/v1/auth/code") { cloud, call, generator in
            try cloud.sendCode(call, &generator)
        },
        Route("POST", "/v1/auth/token") { cloud, call, generator in
            try cloud.login(call, &generator)
        },
        Route("POST", "/v1/auth/refresh") { cloud, call, generator in
            try cloud.refresh(call, &generator)
        },
        Route("POST", "/v1/auth/logout") { cloud, call, _ in
            cloud.sessions.remove(at: try cloud.authorize(call.request, call.now))
            return Self.empty
        },
    ]

    private mutating func sendCode(
        _ call: Call, _ generator: inout any RandomNumberGenerator
    ) throws -> SimulatedResponse {
        let request = try APICoding.decode(LoginChallengeRequest.self, from: call.request.body)
        self.challenges.removeAll { $0.expiresAt <= call.now || $0.address == request.address }
        guard self.challenges.count < Self.maximumChallenges else {
            throw Refusal(429, "too_many_requests", "too many codes", retryAfter: 60)
        }
        let number: UInt64 = generator.next()
        let digits = String(number % 1_000_000)
        let challenge = Challenge(
            id: Self.token("challenge", &generator), address: request.address,
            code: String(repeating: "0", count: 6 - digits.count) + digits,
            expiresAt: call.now + Int64(self.settings.codeLifetime))
        self.challenges.append(challenge)
        return try Self.json(
            LoginChallenge(challengeID: challenge.id, expiresIn: self.settings.codeLifetime, retryAfter: 0), status: 202
        )
    }

    private mutating func login(
        _ call: Call, _ generator: inout any RandomNumberGenerator
    ) throws -> SimulatedResponse {
        let request = try APICoding.decode(LoginCode.self, from: call.request.body)
        let wrong = Refusal(401, "wrong_code", "the code is wrong or has expired")
        guard let index = self.challenges.firstIndex(where: { $0.id == request.challengeID }) else { throw wrong }
        guard self.challenges[index].expiresAt > call.now, self.challenges[index].attempts < Self.maximumAttempts else {
            self.challenges.remove(at: index)
            throw wrong
        }
        guard self.challenges[index].code == request.code else {
            self.challenges[index].attempts += 1
            throw wrong
        }
        self.challenges.remove(at: index)
        let session = self.newSession(call.now, &generator)
        if self.sessions.count >= Self.maximumSessions { self.sessions.removeFirst() }
        self.sessions.append(session)
        return try self.grant(session)
    }

    /// Rotates the refresh token; a token that was used before ends the session, because it was stolen or copied.
    private mutating func refresh(
        _ call: Call, _ generator: inout any RandomNumberGenerator
    ) throws -> SimulatedResponse {
        let token = try APICoding.decode(RefreshRequest.self, from: call.request.body).refreshToken
        if let stolen = self.sessions.firstIndex(where: { $0.usedRefreshTokens.contains(token) }) {
            self.sessions.remove(at: stolen)
            self.dropSockets()
            throw Refusal(401, APIProblem.Known.sessionRevoked, "the refresh token was used before")
        }
        guard let index = self.sessions.firstIndex(where: { $0.refreshToken == token }) else {
            throw Refusal(401, APIProblem.Known.sessionRevoked, "the refresh token is not valid")
        }
        var session = self.newSession(call.now, &generator)
        session.usedRefreshTokens = self.sessions[index].usedRefreshTokens.union([token])
        self.sessions[index] = session
        return try self.grant(session)
    }

    private func newSession(_ now: UnixTime, _ generator: inout any RandomNumberGenerator) -> Session {
        Session(
            accessToken: Self.token("access", &generator),
            accessExpiresAt: now + Int64(self.settings.accessTokenLifetime),
            refreshToken: Self.token("refresh", &generator))
    }

    private func grant(_ session: Session) throws(ApplianceError) -> SimulatedResponse {
        try Self.json(
            TokenGrant(
                accessToken: session.accessToken, refreshToken: session.refreshToken,
                expiresIn: self.settings.accessTokenLifetime))
    }
}
