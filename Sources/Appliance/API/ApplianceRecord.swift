/// What an appliance does at the moment.
package enum ApplianceState: String, Hashable, Sendable, Codable {
    case idle, cooking, paused, stopped, failed
    /// A state of a later version of the API.
    case unknown

    package init(from decoder: any Decoder) throws {
        self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
    }
}

/// An appliance of the household, as the cloud knows it.
package struct ApplianceRecord: APIValue {
    package var id: String
    /// Chosen by the household.
    package var name: String
    package var model: String
    package var firmware: String
    /// Whether the appliance is connected to the cloud.
    package var isOnline: Bool
    package var state: ApplianceState
    /// `HOST:PORT` in the local network, for direct Wi-Fi.
    package var localAddress: String?

    package init(
        id: String, name: String, model: String, firmware: String, isOnline: Bool, state: ApplianceState,
        localAddress: String? = nil
    ) {
        self.id = id
        self.name = name
        self.model = model
        self.firmware = firmware
        self.isOnline = isOnline
        self.state = state
        self.localAddress = localAddress
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.id, "appliance.id")
        try Bounds.text(self.name, 1...60, "appliance.name")
        try Bounds.text(self.model, 1...60, "appliance.model")
        try Bounds.text(self.firmware, 0...40, "appliance.firmware")
        if let localAddress { try Bounds.text(localAddress, 1...120, "appliance.localAddress") }
    }
}

/// All appliances of the household.
package struct ApplianceList: APIValue {
    package var items: [ApplianceRecord]

    package init(items: [ApplianceRecord]) {
        self.items = items
    }

    package func validate() throws(ApplianceError) {
        try Bounds.list(self.items, 32, "appliances")
    }
}

/// Body of `PATCH /v1/appliances/{id}`.
package struct ApplianceRename: APIValue {
    package var name: String

    package init(name: String) {
        self.name = name
    }

    package func validate() throws(ApplianceError) {
        try Bounds.text(self.name, 1...60, "name")
    }
}

/// Body of `POST /v1/appliances`: adds a provisioned appliance to the household.
package struct ApplianceClaim: APIValue {
    /// The token that the appliance returned over Bluetooth; usable once.
    package var claimToken: String
    package var name: String

    package init(claimToken: String, name: String) {
        self.claimToken = claimToken
        self.name = name
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.claimToken, "claimToken")
        try Bounds.text(self.name, 1...60, "name")
    }
}

extension ApplianceClaim: CustomStringConvertible {
    /// Without the token.
    package var description: String { "ApplianceClaim(name: \(self.name))" }
}

/// Answer to a claim.
package struct ClaimedAppliance: APIValue {
    package var appliance: ApplianceRecord
    /// Authorizes requests in the local network; a secret.
    package var localKey: String

    package init(appliance: ApplianceRecord, localKey: String) {
        self.appliance = appliance
        self.localKey = localKey
    }

    package func validate() throws(ApplianceError) {
        try self.appliance.validate()
        try Bounds.identifier(self.localKey, "localKey")
    }
}

extension ClaimedAppliance: CustomStringConvertible {
    /// Without the local key.
    package var description: String { "ClaimedAppliance(\(self.appliance.id))" }
}
