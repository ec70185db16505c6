/// Body of every answer with a status from 400.
package struct APIProblem: APIValue {
    /// For programs, such as `appliance_offline`.
    package var code: String
    /// For people, in English.
    package var message: String
    /// Seconds to wait before the next attempt.
    package var retryAfter: Int?

    package init(code: String, message: String, retryAfter: Int? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.code, "problem.code")
        try Bounds.text(self.message, 0...500, "problem.message")
        if let retryAfter { try Bounds.number(retryAfter, 0...86_400, "problem.retryAfter") }
    }

    /// The codes that this client reacts to.
    package enum Known {
        /// The access token has expired: refresh it and repeat the request once.
        package static let tokenExpired = "token_expired"
        /// The session has ended, for instance because a refresh token was used twice: log in again.
        package static let sessionRevoked = "session_revoked"
        /// The appliance is not connected to the cloud.
        package static let applianceOffline = "appliance_offline"
        /// The appliance is cooking.
        package static let busy = "busy"
        /// The command arrived after its expiry.
        package static let commandExpired = "command_expired"
        /// The preferences have another version than the one that was changed.
        package static let versionConflict = "version_conflict"
    }
}
