import Appliance
package import Nostr

extension SimulatedCloud {
    /// The variable parts of a request's path, and its context.
    struct Call: Sendable {
        let request: SimulatedRequest
        let parameters: [String]
        let now: UnixTime
    }

    typealias Handler =
        @Sendable (inout SimulatedCloud, Call, inout any RandomNumberGenerator) throws -> SimulatedResponse

    struct Route: Sendable {
        let method: String
        /// Segments; `*` matches any.
        let pattern: [Substring]
        let handler: Handler

        init(_ method: String, _ pattern: String, _ handler: @escaping Handler) {
            self.method = method
            self.pattern = pattern.split(separator: "/")
            self.handler = handler
        }

        func parameters(_ segments: [Substring]) -> [String]? {
            guard segments.count == self.pattern.count else { return nil }
            var parameters: [String] = []
            for (segment, expected) in zip(segments, self.pattern) {
                if expected == "*" {
                    parameters.append(String(segment))
                } else if expected != segment {
                    return nil
                }
            }
            return parameters
        }
    }

    /// Answers a request.
    package mutating func handle(
        _ request: SimulatedRequest, now: UnixTime, using generator: inout any RandomNumberGenerator
    ) -> SimulatedResponse {
        let isControl = request.path.hasPrefix("/simulator/")
        var response: SimulatedResponse
        if !isControl, self.faults.consume(\.serverErrors) {
            response = Refusal(503, "unavailable", "a fault of the simulator", retryAfter: 1).response
        } else {
            response = self.route(request, now, &generator)
        }
        guard !isControl else { return response }
        response.delay = self.faults.delayMilliseconds ?? 0
        return self.record(request, response)
    }

    private mutating func route(
        _ request: SimulatedRequest, _ now: UnixTime, _ generator: inout any RandomNumberGenerator
    ) -> SimulatedResponse {
        let segments = request.path.split(separator: "/")
        let found = Self.routes.compactMap { route in route.parameters(segments).map { (route, $0) } }
        guard !found.isEmpty else { return Refusal(404, "not_found", "unknown path").response }
        guard let (route, parameters) = found.first(where: { $0.0.method == request.method }) else {
            return Refusal(405, "method_not_allowed", "unknown method for this path").response
        }
        do {
            return try route.handler(&self, Call(request: request, parameters: parameters, now: now), &generator)
        } catch let refusal as Refusal {
            return refusal.response
        } catch let error as ApplianceError {
            return Refusal(400, "malformed", error.message).response
        } catch {
            return Refusal(500, "internal", "internal error").response
        }
    }

    static func json(_ value: some APIValue, status: Int = 200) throws(ApplianceError) -> SimulatedResponse {
        SimulatedResponse(status: status, content: .bytes(try APICoding.encode(value), type: "application/json"))
    }

    static let empty = SimulatedResponse(status: 204, content: .bytes([], type: "application/json"))

    /// Fixed paths before variable ones.
    static let routes: [Route] = loginRoutes + applianceRoutes + householdRoutes + localRoutes + controlRoutes
}
