import Appliance

extension SimulatedCloud {
    /// The simulator's own interface; not part of the API, and without authorization.
    static let controlRoutes: [Route] = [
        Route("GET", "/v1/events") { _, _, _ in throw Refusal(426, "upgrade_required", "expected a WebSocket") },
        Route("POST", "/simulator/faults") { cloud, call, _ in
            let update = try APICoding.decode(SimulatedFaults.self, from: call.request.body)
            cloud.faults.merge(update)
            if update.dropSockets == true { cloud.dropSockets() }
            if let isOffline = update.applianceOffline {
                for appliance in cloud.appliances {
                    let status = LiveEvent.Body.applianceStatus(isOnline: !isOffline, state: appliance.state)
                    cloud.emit([status], of: appliance.id, call.now, byCloud: true)
                }
            }
            return try Self.json(cloud.faults)
        },
        Route("GET", "/simulator/faults") { cloud, _, _ in try Self.json(cloud.faults) },
        Route("GET", "/simulator/codes") { cloud, _, _ in
            let codes = cloud.challenges.map { SimulatedCodes.Code(address: $0.address, code: $0.code) }
            return try Self.json(SimulatedCodes(items: codes))
        },
        Route("GET", "/simulator/log") { cloud, _, _ in try Self.json(cloud.requestLog) },
        Route("POST", "/simulator/appliances") { cloud, call, generator in
            var pairing = try APICoding.decode(SimulatedPairing.self, from: call.request.body)
            guard cloud.unclaimed.count < Self.maximumAppliances else {
                throw Refusal(409, "full", "\(Self.maximumAppliances) appliances wait for a claim")
            }
            let token = Self.token("claim", &generator)
            let id = "appliance-" + pairing.serial.lowercased()
            let isKnown = cloud.appliances.contains { $0.id == id } || cloud.unclaimed.values.contains { $0.id == id }
            guard !isKnown else { throw Refusal(409, "exists", "an appliance has this serial number") }
            cloud.unclaimed[token] = SimulatedAppliance(
                id: id, name: pairing.serial, localKey: Self.token("local", &generator))
            pairing.claimToken = token
            return try Self.json(pairing, status: 201)
        },
    ]

    /// Requests and executed commands so far.
    package var requestLog: SimulatedLog {
        SimulatedLog(
            requests: self.log, starts: self.appliances.reduce(0) { $0 + $1.starts },
            stops: self.appliances.reduce(0) { $0 + $1.stops }, sockets: self.socketCount)
    }
}
