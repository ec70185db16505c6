package import Nostr

/// Requests that wait for their turn: emergency stops first, then commands, then everything else.
///
/// Emergency stops have no limit and no order among others: one for each appliance, ahead of every request. A command
/// that has expired is dropped and returned by ``removeExpired(now:)``. The rest is bounded; a new request is refused when
/// there is no room, so that the caller knows.
package struct RequestQueue: Hashable, Sendable {
    package enum Entry: Hashable, Sendable {
        case emergencyStop(applianceID: String)
        case command(CommandRequest, applianceID: String, ApplianceRoute)
        /// Synchronization, by a key; a later entry with the same key replaces an earlier one in its place.
        case background(key: String)
    }

    private struct Waiting: Hashable {
        let command: CommandRequest
        let applianceID: String
        let route: ApplianceRoute
    }

    package let maximumCommands: Int
    package let maximumBackground: Int
    private var stops: [String] = []
    private var commands: [Waiting] = []
    private var background: [String] = []

    package init(maximumCommands: Int = 16, maximumBackground: Int = 256) {
        self.maximumCommands = max(1, maximumCommands)
        self.maximumBackground = max(1, maximumBackground)
    }

    package var count: Int { self.stops.count + self.commands.count + self.background.count }

    /// Adds a stop ahead of everything, and drops the appliance's waiting commands, which it overrides.
    ///
    /// Returns the dropped commands.
    package mutating func appendEmergencyStop(of appliance: String) -> [CommandRequest] {
        let dropped = self.commands.filter { $0.applianceID == appliance }
        self.commands.removeAll { $0.applianceID == appliance }
        if !self.stops.contains(appliance) { self.stops.append(appliance) }
        return dropped.map { $0.command }
    }

    /// Throws `ApplianceError.Code.full`.
    package mutating func append(
        _ command: CommandRequest, to appliance: String, by route: ApplianceRoute
    ) throws(ApplianceError) {
        guard self.commands.count < self.maximumCommands else {
            throw ApplianceError(.full, "\(self.maximumCommands) commands are waiting")
        }
        self.commands.append(Waiting(command: command, applianceID: appliance, route: route))
    }

    /// Throws `ApplianceError.Code.full`.
    package mutating func appendBackground(key: String) throws(ApplianceError) {
        guard !self.background.contains(key) else { return }
        guard self.background.count < self.maximumBackground else {
            throw ApplianceError(.full, "\(self.maximumBackground) requests are waiting")
        }
        self.background.append(key)
    }

    /// Removes and returns the commands that have expired.
    package mutating func removeExpired(now: UnixTime) -> [CommandRequest] {
        let expired = self.commands.filter { $0.command.expiresAt <= now }
        self.commands.removeAll { $0.command.expiresAt <= now }
        return expired.map { $0.command }
    }

    /// Removes and returns the next request; an expired command is skipped and stays for ``removeExpired(now:)``.
    package mutating func popFirst(now: UnixTime) -> Entry? {
        if !self.stops.isEmpty { return .emergencyStop(applianceID: self.stops.removeFirst()) }
        if let index = self.commands.firstIndex(where: { $0.command.expiresAt > now }) {
            let next = self.commands.remove(at: index)
            return .command(next.command, applianceID: next.applianceID, next.route)
        }
        return self.background.isEmpty ? nil : .background(key: self.background.removeFirst())
    }
}
