/// A difference between two configurations, and how to apply it.
package struct ConfigurationChange: Hashable, Sendable, CustomStringConvertible {
    /// The way to apply the change, in ascending order of disruption.
    package enum Effect: Int, Hashable, Sendable, Comparable, CaseIterable {
        /// Running workers apply it at once.
        case live
        /// Requires a restart of the worker of ``ConfigurationChange/account``, or of all workers if it is nil; until
        /// then the old value remains in force.
        case restartsWorker
        /// Starts a worker.
        case addsAccount
        /// Stops a worker.
        case removesAccount
        /// Requires a restart of the whole program; until then the old value remains in force.
        case restartsSupervisor

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The path, with names instead of indices: `accounts[greeter].bots[helper].limits.perSender`.
    package var path: String
    /// The account to which this part of the file belongs; nil for a shared part.
    package var account: String?
    /// The old and new value, never a secret; nil if absent.
    package var old: String?
    package var new: String?
    package var effect: Effect

    package init(path: String, account: String?, old: String?, new: String?, effect: Effect) {
        self.path = path
        self.account = account
        self.old = old
        self.new = new
        self.effect = effect
    }

    /// How the change takes effect, in words.
    package var consequence: String {
        switch effect {
        case .live: "applies at once"
        case .restartsWorker: account == nil ? "needs a restart of all workers" : "needs a restart of the worker"
        case .addsAccount: "starts a worker"
        case .removesAccount: "stops the worker"
        case .restartsSupervisor: "needs a restart of pikabot"
        }
    }

    package var description: String {
        "\(path): \(old ?? "nothing") -> \(new ?? "nothing") (\(consequence))"
    }
}
