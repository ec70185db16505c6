import BotConfiguration
import Logging
import Supervisor
import Telemetry

extension Supervisor {
    /// Returns the endpoint for health and metrics at the configured address; nil if absent.
    nonisolated func observation(of configuration: Configuration, registry: MetricRegistry) -> HTTPEndpoint? {
        guard let address = configuration.observe.listen else { return nil }
        let observation = ObservationRoutes(
            accounts: { await self.status.map { ($0.name, $0.isExpected) } }, registry: registry
        ) {
            (account, question, limit) throws(SupervisorError) in
            try await self.ask(account, question, within: limit)
        }
        let probe = ProbeRoute(accounts: { await self.status.map(\.name) }) {
            (account, parameters, limit) throws(SupervisorError) in
            try await self.ask(account, "probe", parameters, within: limit)
        }
        var routes = observation.routes
        routes["/probe"] = { await probe.answer($0) }
        return HTTPEndpoint(
            host: address.host, port: address.port, routes: routes,
            hosts: HostRule(names: configuration.observe.hosts + [address.host]), logger: Logger(label: "endpoint"))
    }
}
