package import Appliance

/// Faults that the simulator causes. Body of `POST /simulator/faults`, whose absent fields leave the fault as it is.
package struct SimulatedFaults: APIValue {
    /// So many of the next authorized requests are answered with 401 `token_expired`.
    package var unauthorized: Int?
    /// So many of the next requests are answered with 503.
    package var serverErrors: Int?
    /// Every answer is delayed by so many milliseconds.
    package var delayMilliseconds: Int?
    /// The acknowledgements of so many of the next emergency stops are lost; the appliance stops nevertheless.
    package var lostStopAcknowledgements: Int?
    /// The appliances have no connection to the cloud.
    package var applianceOffline: Bool?
    /// The appliances do not answer in the local network.
    package var localOffline: Bool?
    /// Closes the WebSockets now, once.
    package var dropSockets: Bool?
    /// Upgrades to a WebSocket are answered with 503.
    package var refuseSockets: Bool?
    /// Parts of the camera's stream have no `Content-Length`.
    package var omitContentLength: Bool?

    package init() {}

    package func validate() throws(ApplianceError) {
        let counts = [self.unauthorized, self.serverErrors, self.lostStopAcknowledgements].compactMap { $0 }
        guard counts.allSatisfy({ (0...1_000_000).contains($0) }),
            self.delayMilliseconds.map({ (0...60_000).contains($0) }) ?? true
        else { throw ApplianceError(.malformed, "expected counts up to 1,000,000 and a delay up to 60,000 ms") }
    }

    mutating func merge(_ update: SimulatedFaults) {
        self.unauthorized = update.unauthorized ?? self.unauthorized
        self.serverErrors = update.serverErrors ?? self.serverErrors
        self.delayMilliseconds = update.delayMilliseconds ?? self.delayMilliseconds
        self.lostStopAcknowledgements = update.lostStopAcknowledgements ?? self.lostStopAcknowledgements
        self.applianceOffline = update.applianceOffline ?? self.applianceOffline
        self.localOffline = update.localOffline ?? self.localOffline
        self.refuseSockets = update.refuseSockets ?? self.refuseSockets
        self.omitContentLength = update.omitContentLength ?? self.omitContentLength
    }

    /// Consumes one occurrence of a counted fault; true if it happens.
    mutating func consume(_ fault: WritableKeyPath<SimulatedFaults, Int?>) -> Bool {
        guard let left = self[keyPath: fault], left > 0 else { return false }
        self[keyPath: fault] = left - 1
        return true
    }
}

/// One request in `GET /simulator/log`. Contains neither tokens nor bodies.
package struct SimulatedLogEntry: APIValue {
    package var number: Int
    package var method: String
    package var path: String
    package var status: Int
    package var idempotencyKey: String?

    package func validate() throws(ApplianceError) {}
}

/// Body of `GET /simulator/log`.
package struct SimulatedLog: APIValue {
    /// The latest 10,000 requests, except those to `/simulator`.
    package var requests: [SimulatedLogEntry]
    /// Starts that an appliance executed.
    package var starts: Int
    /// Emergency stops that an appliance executed.
    package var stops: Int
    /// Open WebSockets.
    package var sockets: Int

    package func validate() throws(ApplianceError) {}
}

/// Body of `GET /simulator/codes`: the one-time codes that a real cloud would send.
package struct SimulatedCodes: APIValue {
    package struct Code: APIValue {
        package var address: String
        package var code: String

        package func validate() throws(ApplianceError) {}
    }

    package var items: [Code]

    package func validate() throws(ApplianceError) {}
}

/// Body of `POST /simulator/appliances` and its answer: an appliance that has joined the Wi-Fi and waits for a claim.
package struct SimulatedPairing: APIValue {
    package var serial: String
    package var claimToken: String?

    package init(serial: String, claimToken: String? = nil) {
        self.serial = serial
        self.claimToken = claimToken
    }

    package func validate() throws(ApplianceError) {
        let isValid =
            (1...32).contains(self.serial.utf8.count)
            && self.serial.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) }
        guard isValid else { throw ApplianceError(.malformed, "serial: expected 1 to 32 letters and digits") }
    }
}
