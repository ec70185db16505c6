import Appliance
import Nostr

extension SimulatedCloud {
    static let applianceRoutes: [Route] = [
        Route("GET", "/v1/appliances") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            return try Self.json(ApplianceList(items: cloud.appliances.map { cloud.record(of: $0) }))
        },
        Route("POST", "/v1/appliances") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            return try cloud.claim(try APICoding.decode(ApplianceClaim.self, from: call.request.body))
        },
        Route("PATCH", "/v1/appliances/*") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            let index = try cloud.index(ofAppliance: call.parameters[0])
            cloud.appliances[index].name = try APICoding.decode(ApplianceRename.self, from: call.request.body).name
            return try Self.json(cloud.record(of: cloud.appliances[index]))
        },
        Route("GET", "/v1/appliances/*/session") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            let index = try cloud.index(ofAppliance: call.parameters[0])
            return try cloud.appliances[index].status.map { try Self.json($0) } ?? Self.empty
        },
        Route("POST", "/v1/appliances/*/commands") { cloud, call, generator in
            _ = try cloud.authorize(call.request, call.now)
            let index = try cloud.index(ofAppliance: call.parameters[0])
            guard cloud.faults.applianceOffline != true else {
                throw Refusal(409, APIProblem.Known.applianceOffline, "the appliance is offline")
            }
            return try cloud.command(index, call, &generator)
        },
        Route("POST", "/v1/appliances/*/emergency-stop") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            let index = try cloud.index(ofAppliance: call.parameters[0])
            guard cloud.faults.applianceOffline != true else {
                throw Refusal(409, APIProblem.Known.applianceOffline, "the appliance is offline")
            }
            return try cloud.stop(index, call)
        },
    ]

    /// The interface of the appliance itself, in the local network.
    static let localRoutes: [Route] = [
        Route("GET", "/lan/v1/status") { cloud, call, _ in
            let index = try cloud.authorizeLocally(call.request)
            return try Self.json(cloud.record(of: cloud.appliances[index]))
        },
        Route("POST", "/lan/v1/commands") { cloud, call, generator in
            try cloud.command(try cloud.authorizeLocally(call.request), call, &generator)
        },
        Route("POST", "/lan/v1/emergency-stop") { cloud, call, _ in
            try cloud.stop(try cloud.authorizeLocally(call.request), call)
        },
        Route("GET", "/camera/stream") { cloud, call, _ in
            _ = try cloud.authorizeLocally(call.request)
            return SimulatedResponse(status: 200, content: .pictures)
        },
        Route("GET", "/camera/snapshot") { cloud, call, _ in
            _ = try cloud.authorizeLocally(call.request)
            return SimulatedResponse(
                status: 200, content: .bytes(SamplePicture.jpeg(number: cloud.requestCount), type: "image/jpeg"))
        },
    ]

    private mutating func claim(_ claim: ApplianceClaim) throws -> SimulatedResponse {
        if let id = self.claimed[claim.claimToken] {
            let appliance = self.appliances[try self.index(ofAppliance: id)]
            return try Self.json(
                ClaimedAppliance(appliance: self.record(of: appliance), localKey: appliance.localKey), status: 201)
        }
        guard var appliance = self.unclaimed[claim.claimToken] else {
            throw Refusal(404, "unknown_claim", "the claim token is not valid")
        }
        guard self.appliances.count < Self.maximumAppliances else {
            throw Refusal(409, "too_many_appliances", "the household has \(Self.maximumAppliances) appliances")
        }
        self.unclaimed[claim.claimToken] = nil
        self.claimed[claim.claimToken] = appliance.id
        appliance.name = claim.name
        self.appliances.append(appliance)
        return try Self.json(
            ClaimedAppliance(appliance: self.record(of: appliance), localKey: appliance.localKey), status: 201)
    }

    private mutating func command(
        _ index: Int, _ call: Call, _ generator: inout any RandomNumberGenerator
    ) throws -> SimulatedResponse {
        let command = try APICoding.decode(CommandRequest.self, from: call.request.body)
        let recipe = self.recipes[.english]?.first { $0.id == command.recipeID }
        let (receipt, events) = self.appliances[index].execute(
            command, recipe: recipe, sessionID: Self.token("session", &generator), now: call.now)
        self.emit(events, of: self.appliances[index].id, call.now)
        return try Self.json(receipt, status: 202)
    }

    private mutating func stop(_ index: Int, _ call: Call) throws -> SimulatedResponse {
        let request = try APICoding.decode(EmergencyStopRequest.self, from: call.request.body)
        let (receipt, events) = self.appliances[index].stop(request, now: call.now)
        guard !self.faults.consume(\.lostStopAcknowledgements) else {
            let others = events.filter { event in
                if case .emergencyStopAcknowledged = event { false } else { true }
            }
            self.emit(others, of: self.appliances[index].id, call.now)
            return SimulatedResponse(status: 0, content: .nothing)
        }
        self.emit(events, of: self.appliances[index].id, call.now)
        return try Self.json(receipt)
    }
}
