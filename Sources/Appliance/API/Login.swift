/// Where a one-time code is sent.
package enum LoginChannel: String, Hashable, Sendable, Codable {
    case phone, email
}

/// Body of `POST /v1/auth/code`.
package struct LoginChallengeRequest: APIValue {
    package var channel: LoginChannel
    /// E.164 number such as `+919876543210`, or an e-mail address.
    package var address: String

    package init(channel: LoginChannel, address: String) {
        self.channel = channel
        self.address = address
    }

    package func validate() throws(ApplianceError) {
        let isValid =
            switch self.channel {
            case .phone: LoginAddress.isPhoneNumber(self.address)
            case .email: LoginAddress.isEmail(self.address)
            }
        guard isValid else {
            throw ApplianceError(.malformed, "address: expected a number such as +919876543210 or an e-mail address")
        }
    }
}

extension LoginChallengeRequest: CustomStringConvertible {
    /// Without the address.
    package var description: String { "LoginChallengeRequest(\(self.channel.rawValue))" }
}

/// Answer to a request for a code.
package struct LoginChallenge: APIValue {
    package var challengeID: String
    /// Seconds during which the code is valid.
    package var expiresIn: Int
    /// Seconds until another code can be requested.
    package var retryAfter: Int

    package init(challengeID: String, expiresIn: Int, retryAfter: Int) {
        self.challengeID = challengeID
        self.expiresIn = expiresIn
        self.retryAfter = retryAfter
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.challengeID, "challengeID")
        try Bounds.number(self.expiresIn, 1...86_400, "expiresIn")
        try Bounds.number(self.retryAfter, 0...86_400, "retryAfter")
    }
}

/// Body of `POST /v1/auth/token`.
package struct LoginCode: APIValue {
    package var challengeID: String
    /// Six digits.
    package var code: String

    package init(challengeID: String, code: String) {
        self.challengeID = challengeID
        self.code = code
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.challengeID, "challengeID")
        guard LoginAddress.isCode(self.code) else { throw ApplianceError(.malformed, "code: expected six digits") }
    }
}

extension LoginCode: CustomStringConvertible {
    /// Without the code.
    package var description: String { "LoginCode(\(self.challengeID))" }
}

/// Body of `POST /v1/auth/refresh`.
package struct RefreshRequest: APIValue {
    /// Usable once; using it again revokes the session.
    package var refreshToken: String

    package init(refreshToken: String) {
        self.refreshToken = refreshToken
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.refreshToken, "refreshToken", longest: 512)
    }
}

extension RefreshRequest: CustomStringConvertible {
    /// Without the token.
    package var description: String { "RefreshRequest()" }
}

/// Tokens of a session. The refresh token replaces the one that was used.
package struct TokenGrant: APIValue {
    package var accessToken: String
    package var refreshToken: String
    /// Seconds during which the access token is valid.
    package var expiresIn: Int

    package init(accessToken: String, refreshToken: String, expiresIn: Int) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.accessToken, "accessToken", longest: 512)
        try Bounds.identifier(self.refreshToken, "refreshToken", longest: 512)
        try Bounds.number(self.expiresIn, 1...31_536_000, "expiresIn")
    }
}

extension TokenGrant: CustomStringConvertible {
    /// Without the tokens.
    package var description: String { "TokenGrant(expiresIn: \(self.expiresIn))" }
}

/// Syntax of the addresses and codes of a login.
package enum LoginAddress {
    /// Whether the text is a telephone number by E.164: a plus sign and 7 to 15 digits, the first not 0.
    package static func isPhoneNumber(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst()
        return text.utf8.first == UInt8(ascii: "+") && (7...15).contains(digits.count)
            && digits.allSatisfy(self.isDigit) && digits.first != UInt8(ascii: "0")
    }

    /// Whether the text has the form of an e-mail address; whether it exists, only a message can tell.
    package static func isEmail(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].count), (3...190).contains(parts[1].count) else {
            return false
        }
        let labels = parts[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty }
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether the text is a one-time code: six digits.
    package static func isCode(_ text: String) -> Bool { text.utf8.count == 6 && text.utf8.allSatisfy(self.isDigit) }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
