/// The appliance's Bluetooth service, docs/epicura/api.md "Bluetooth". The identifiers are this project's own.
package enum GATTProfile {
    package static let service = "e91c0001-7a5b-4c0e-9f3d-2b8f1d6a0c15"
    /// Read: ``DeviceInformation`` as JSON.
    package static let information = "e91c0002-7a5b-4c0e-9f3d-2b8f1d6a0c15"
    /// Write with response: ``WiFiCredentials`` as JSON in chunks.
    package static let credentials = "e91c0003-7a5b-4c0e-9f3d-2b8f1d6a0c15"
    /// Notify: ``ProvisioningStatus`` as JSON in chunks.
    package static let status = "e91c0004-7a5b-4c0e-9f3d-2b8f1d6a0c15"

    /// The characteristics without which an appliance cannot be provisioned.
    package static let required: Set<String> = [information, credentials, status]
}

/// Value of the characteristic `information`.
package struct DeviceInformation: APIValue {
    package var serial: String
    package var model: String
    package var firmware: String

    package init(serial: String, model: String, firmware: String) {
        self.serial = serial
        self.model = model
        self.firmware = firmware
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.serial, "information.serial")
        try Bounds.text(self.model, 1...60, "information.model")
        try Bounds.text(self.firmware, 0...40, "information.firmware")
    }
}

/// Access to a Wi-Fi network; a secret.
package struct WiFiCredentials: APIValue, CustomStringConvertible {
    /// Name of the network, 1 to 32 bytes (IEEE 802.11).
    package var network: String
    /// 8 to 63 characters (WPA2), or empty for an open network.
    package var passphrase: String

    package init(network: String, passphrase: String) {
        self.network = network
        self.passphrase = passphrase
    }

    package func validate() throws(ApplianceError) {
        try Bounds.text(self.network, 1...32, "network")
        guard self.passphrase.isEmpty || (8...63).contains(self.passphrase.utf8.count) else {
            throw ApplianceError(.malformed, "passphrase: expected 8 to 63 characters, or none for an open network")
        }
        try Bounds.text(self.passphrase, 0...63, "passphrase")
    }

    /// Without the passphrase.
    package var description: String { "WiFiCredentials(\(self.network))" }
}

/// Notification of the characteristic `status`.
package struct ProvisioningStatus: APIValue, CustomStringConvertible {
    package enum State: String, Hashable, Sendable, Codable {
        case joining, joined, failed
    }

    package var state: State
    /// Of a failure: `wrong_passphrase`, `no_network` or another code.
    package var reason: String?
    /// `HOST:PORT` in the local network, once joined.
    package var localAddress: String?
    /// Adds the appliance to a household, once joined; a secret.
    package var claimToken: String?

    package init(
        state: State, reason: String? = nil, localAddress: String? = nil, claimToken: String? = nil
    ) {
        self.state = state
        self.reason = reason
        self.localAddress = localAddress
        self.claimToken = claimToken
    }

    package func validate() throws(ApplianceError) {
        if let reason { try Bounds.identifier(reason, "status.reason") }
        if let localAddress { try Bounds.text(localAddress, 1...120, "status.localAddress") }
        if let claimToken { try Bounds.identifier(claimToken, "status.claimToken") }
        guard self.state != .joined || self.claimToken != nil else {
            throw ApplianceError(.malformed, "status.claimToken: expected a token of a joined appliance")
        }
    }

    /// Without the token.
    package var description: String { "ProvisioningStatus(\(self.state.rawValue), \(self.reason ?? "-"))" }
}
