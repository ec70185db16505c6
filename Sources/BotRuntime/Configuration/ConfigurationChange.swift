/// A difference between two configurations, and what is needed to apply it.
public struct ConfigurationChange: Hashable, Sendable, CustomStringConvertible {
    /// The way to apply the change, in ascending order of disruption.
    public enum Effect: Int, Hashable, Sendable, Comparable, CaseIterable {
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

        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The path, with names instead of indices: `accounts[greeter].bots[helper].limits.perSender`.
    public var path: String
    /// The account to which this part of the file belongs; nil for a shared part.
    public var account: String?
    /// The old and new value, never a secret; nil if absent.
    public var old: String?
    public var new: String?
    public var effect: Effect

    public init(path: String, account: String?, old: String?, new: String?, effect: Effect) {
        self.path = path
        self.account = account
        self.old = old
        self.new = new
        self.effect = effect
    }

    public var description: String {
        let consequence =
            switch effect {
            case .live: "applies at once"
            case .restartsWorker: account == nil ? "needs a restart of all workers" : "needs a restart of the worker"
            case .addsAccount: "starts a worker"
            case .removesAccount: "stops the worker"
            case .restartsSupervisor: "needs a restart of pikabot"
            }
        return "\(path): \(old ?? "nothing") -> \(new ?? "nothing") (\(consequence))"
    }
}
