package import Nostr

/// An event of the live stream: one text message of the WebSocket `/v1/events`.
///
/// `sequence` strictly increases over all events of a household and identifies the event.
package struct LiveEvent: APIValue {
    package var sequence: Int
    package var at: UnixTime
    /// The appliance that the event is about; nil for events of the household.
    package var applianceID: String?
    package var body: Body

    package init(sequence: Int, at: UnixTime, applianceID: String? = nil, body: Body) {
        self.sequence = sequence
        self.at = at
        self.applianceID = applianceID
        self.body = body
    }

    package enum Body: Hashable, Sendable {
        /// The first event of a connection. If `isResumed` is false, events were lost: read all states again.
        case hello(isResumed: Bool)
        case applianceStatus(isOnline: Bool, state: ApplianceState)
        case cooking(CookingStatus)
        case timerFired(sessionID: String, label: String)
        case alert(Alert)
        case emergencyStopAcknowledged(EmergencyStopReceipt)
        case preferencesChanged(version: Int)
        /// An event of a later version of the API.
        case unknown(type: String)
    }

    /// A condition that a person has to know of.
    package struct Alert: APIValue {
        package enum Severity: String, Hashable, Sendable, Codable {
            case information, attention, danger
        }

        package var id: String
        package var severity: Severity
        /// For programs, such as `add_ingredient` or `overheating`.
        package var code: String
        package var text: String
        package var sessionID: String?

        package init(id: String, severity: Severity, code: String, text: String, sessionID: String? = nil) {
            self.id = id
            self.severity = severity
            self.code = code
            self.text = text
            self.sessionID = sessionID
        }

        package func validate() throws(ApplianceError) {
            try Bounds.identifier(self.id, "alert.id")
            try Bounds.identifier(self.code, "alert.code")
            try Bounds.text(self.text, 0...2_000, "alert.text")
            if let sessionID { try Bounds.identifier(sessionID, "alert.sessionID") }
        }
    }

    package func validate() throws(ApplianceError) {
        try Bounds.number(self.sequence, 0...Bounds.largestRevision, "event.sequence")
        if let applianceID { try Bounds.identifier(applianceID, "event.applianceID") }
        switch self.body {
        case .hello, .applianceStatus: break
        case .cooking(let status): try status.validate()
        case .timerFired(let session, let label):
            try Bounds.identifier(session, "event.sessionID")
            try Bounds.text(label, 1...80, "event.label")
        case .alert(let alert): try alert.validate()
        case .emergencyStopAcknowledged(let receipt): try receipt.validate()
        case .preferencesChanged(let version): try Bounds.number(version, 0...Bounds.largestRevision, "event.version")
        case .unknown(let type): try Bounds.identifier(type, "event.type")
        }
    }
}

extension LiveEvent {
    /// Maximum size of one message of the stream in bytes.
    package static let maximumBytes = 64 << 10

    private enum CodingKeys: String, CodingKey {
        case sequence, at, applianceID, type
        case isResumed, isOnline, state, status, sessionID, label, alert, receipt, version
    }

    private enum Kind: String {
        case hello
        case applianceStatus = "appliance.status"
        case cookingStatus = "cooking.status"
        case timerFired = "timer.fired"
        case alert
        case emergencyStopAcknowledged = "emergency_stop.acknowledged"
        case preferencesChanged = "preferences.changed"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let type = try values.decode(String.self, forKey: .type)
        self.init(
            sequence: try values.decode(Int.self, forKey: .sequence),
            at: try values.decode(UnixTime.self, forKey: .at),
            applianceID: try values.decodeIfPresent(String.self, forKey: .applianceID),
            body: try Kind(rawValue: type).map { try Self.body($0, values) } ?? .unknown(type: type))
    }

    private static func body(_ kind: Kind, _ values: KeyedDecodingContainer<CodingKeys>) throws -> Body {
        switch kind {
        case .hello: .hello(isResumed: try values.decode(Bool.self, forKey: .isResumed))
        case .applianceStatus:
            .applianceStatus(
                isOnline: try values.decode(Bool.self, forKey: .isOnline),
                state: try values.decode(ApplianceState.self, forKey: .state))
        case .cookingStatus: .cooking(try values.decode(CookingStatus.self, forKey: .status))
        case .timerFired:
            .timerFired(
                sessionID: try values.decode(String.self, forKey: .sessionID),
                label: try values.decode(String.self, forKey: .label))
        case .alert: .alert(try values.decode(Alert.self, forKey: .alert))
        case .emergencyStopAcknowledged:
            .emergencyStopAcknowledged(try values.decode(EmergencyStopReceipt.self, forKey: .receipt))
        case .preferencesChanged: .preferencesChanged(version: try values.decode(Int.self, forKey: .version))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(self.sequence, forKey: .sequence)
        try values.encode(self.at, forKey: .at)
        try values.encodeIfPresent(self.applianceID, forKey: .applianceID)
        try values.encode(self.type, forKey: .type)
        switch self.body {
        case .hello(let isResumed): try values.encode(isResumed, forKey: .isResumed)
        case .applianceStatus(let isOnline, let state):
            try values.encode(isOnline, forKey: .isOnline)
            try values.encode(state, forKey: .state)
        case .cooking(let status): try values.encode(status, forKey: .status)
        case .timerFired(let session, let label):
            try values.encode(session, forKey: .sessionID)
            try values.encode(label, forKey: .label)
        case .alert(let alert): try values.encode(alert, forKey: .alert)
        case .emergencyStopAcknowledged(let receipt): try values.encode(receipt, forKey: .receipt)
        case .preferencesChanged(let version): try values.encode(version, forKey: .version)
        case .unknown: break
        }
    }

    /// The event's name in docs/epicura/api.md.
    package var type: String {
        switch self.body {
        case .hello: Kind.hello.rawValue
        case .applianceStatus: Kind.applianceStatus.rawValue
        case .cooking: Kind.cookingStatus.rawValue
        case .timerFired: Kind.timerFired.rawValue
        case .alert: Kind.alert.rawValue
        case .emergencyStopAcknowledged: Kind.emergencyStopAcknowledged.rawValue
        case .preferencesChanged: Kind.preferencesChanged.rawValue
        case .unknown(let type): type
        }
    }
}
