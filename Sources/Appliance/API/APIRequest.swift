/// A request to the cloud or to the appliance in the local network, without address and transport.
package struct APIRequest: Hashable, Sendable {
    package enum Method: String, Hashable, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
    }

    /// What the request is authorized by. The caller attaches the secret.
    package enum Authorization: Hashable, Sendable {
        /// Login requests.
        case none
        /// `Authorization: Bearer ACCESS-TOKEN`.
        case accessToken
        /// `Authorization: Local LOCAL-KEY`.
        case localKey
    }

    package let method: Method
    /// Path and query, percent-encoded.
    package let target: String
    package let authorization: Authorization
    /// JSON; empty without a body.
    package var body: [UInt8] = []
    /// Header `Idempotency-Key`: the server executes requests with the same key once.
    package var idempotencyKey: String?
    /// Header `If-Match`: the version that a change is based on.
    package var version: Int?

    init(_ method: Method, _ target: String, _ authorization: Authorization = .accessToken) {
        self.method = method
        self.target = target
        self.authorization = authorization
    }

    private func with(
        _ value: some APIValue, idempotencyKey: String? = nil, version: Int? = nil
    ) throws(ApplianceError) -> APIRequest {
        var request = self
        request.body = try APICoding.encode(value)
        request.idempotencyKey = idempotencyKey
        request.version = version
        return request
    }

    private static func checked(_ id: String, _ field: String) throws(ApplianceError) -> String {
        try Bounds.identifier(id, field)
        return id
    }

    /// Encodes a value of a query: RFC 3986 §2.3 leaves letters, digits and - . _ ~ as they are.
    static func encoded(_ text: String) -> String {
        let hex = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The endpoints of docs/epicura/api.md. Values outside their bounds throw `ApplianceError.Code.malformed`.
extension APIRequest {
    // MARK: Login

    package static func loginCode(_ request: LoginChallengeRequest) throws(ApplianceError) -> APIRequest {
        try APIRequest(.post, "/v1/auth/code", .none).with(request)
    }

    package static func login(_ code: LoginCode) throws(ApplianceError) -> APIRequest {
        try APIRequest(.post, "/v1/auth/token", .none).with(code)
    }

    package static func refresh(_ request: RefreshRequest) throws(ApplianceError) -> APIRequest {
        try APIRequest(.post, "/v1/auth/refresh", .none).with(request)
    }

    package static let logout = APIRequest(.post, "/v1/auth/logout")

    // MARK: Appliances

    package static let appliances = APIRequest(.get, "/v1/appliances")

    package static func claim(_ claim: ApplianceClaim) throws(ApplianceError) -> APIRequest {
        try APIRequest(.post, "/v1/appliances").with(claim, idempotencyKey: claim.claimToken)
    }

    package static func rename(_ appliance: String, _ name: String) throws(ApplianceError) -> APIRequest {
        let id = try self.checked(appliance, "appliance")
        return try APIRequest(.patch, "/v1/appliances/\(id)").with(ApplianceRename(name: name))
    }

    /// The session of an appliance; answered with 204 if there is none.
    package static func session(of appliance: String) throws(ApplianceError) -> APIRequest {
        let id = try self.checked(appliance, "appliance")
        return APIRequest(.get, "/v1/appliances/\(id)/session")
    }

    package static func command(
        _ command: CommandRequest, to appliance: String, by route: ApplianceRoute
    ) throws(ApplianceError) -> APIRequest {
        let id = try self.checked(appliance, "appliance")
        let request =
            switch route {
            case .cloud: APIRequest(.post, "/v1/appliances/\(id)/commands")
            case .local: APIRequest(.post, "/lan/v1/commands", .localKey)
            }
        return try request.with(command, idempotencyKey: command.id)
    }

    package static func emergencyStop(
        _ stop: EmergencyStopRequest, of appliance: String, by route: ApplianceRoute
    ) throws(ApplianceError) -> APIRequest {
        let id = try self.checked(appliance, "appliance")
        let request =
            switch route {
            case .cloud: APIRequest(.post, "/v1/appliances/\(id)/emergency-stop")
            case .local: APIRequest(.post, "/lan/v1/emergency-stop", .localKey)
            }
        return try request.with(stop, idempotencyKey: stop.id)
    }

    /// The appliance's own record, by local network.
    package static let localStatus = APIRequest(.get, "/lan/v1/status", .localKey)
    /// Motion JPEG: an endless answer of type `multipart/x-mixed-replace`.
    package static let cameraStream = APIRequest(.get, "/camera/stream", .localKey)
    /// One JPEG picture.
    package static let cameraSnapshot = APIRequest(.get, "/camera/snapshot", .localKey)

    // MARK: Recipes

    package static func recipes(
        language: Language, query: String? = nil, cursor: String? = nil
    ) throws(ApplianceError) -> APIRequest {
        var target = "/v1/recipes?language=\(language.rawValue)"
        if let query {
            try Bounds.text(query, 0...200, "query")
            target += "&q=\(self.encoded(query))"
        }
        if let cursor {
            try Bounds.identifier(cursor, "cursor")
            target += "&cursor=\(cursor)"
        }
        return APIRequest(.get, target)
    }

    package static func recipe(_ id: String, language: Language) throws(ApplianceError) -> APIRequest {
        let id = try self.checked(id, "recipe")
        return APIRequest(.get, "/v1/recipes/\(id)?language=\(language.rawValue)")
    }

    package static func image(at path: String) throws(ApplianceError) -> APIRequest {
        try Bounds.path(path, "image")
        return APIRequest(.get, path)
    }

    // MARK: Household

    package static let preferences = APIRequest(.get, "/v1/preferences")

    /// Replaces the preferences; refused with 409 unless `preferences.version` is the cloud's.
    package static func replacePreferences(_ preferences: Preferences) throws(ApplianceError) -> APIRequest {
        try APIRequest(.put, "/v1/preferences").with(preferences, version: preferences.version)
    }

    package static let history = APIRequest(.get, "/v1/history")

    /// Stores a record; a second time it has no effect.
    package static func addHistory(_ record: HistoryRecord) throws(ApplianceError) -> APIRequest {
        let id = try self.checked(record.id, "history.id")
        return try APIRequest(.put, "/v1/history/\(id)").with(record, idempotencyKey: id)
    }

    /// Rates a session; the rating with the latest time counts.
    package static func rate(_ session: String, _ rating: Rating) throws(ApplianceError) -> APIRequest {
        let id = try self.checked(session, "session")
        return try APIRequest(.put, "/v1/history/\(id)/rating").with(rating)
    }

    // MARK: Events

    /// The WebSocket of live events, after an event's number.
    package static func events(after sequence: Int) throws(ApplianceError) -> APIRequest {
        try Bounds.number(sequence, 0...Bounds.largestRevision, "after")
        return APIRequest(.get, "/v1/events?after=\(sequence)")
    }
}

/// The way to an appliance.
package enum ApplianceRoute: String, Hashable, Sendable, Codable, CaseIterable {
    /// By the cloud.
    case cloud
    /// By direct Wi-Fi, within the local network.
    case local
}
