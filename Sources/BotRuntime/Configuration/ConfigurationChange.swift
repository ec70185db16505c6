/// A difference between two configurations, and what it takes to bring it into force.
public struct ConfigurationChange: Hashable, Sendable, CustomStringConvertible {
    /// What must be done; ordered by how much that is.
    public enum Effect: Int, Hashable, Sendable, Comparable, CaseIterable {
        /// Running workers take it over.
        case live
        /// The worker of ``ConfigurationChange/account`` is to be restarted, or all of them when it is nil; until then
        /// the old value holds.
        case restartsWorker
        /// A worker is to be started.
        case addsAccount
        /// A worker is to be stopped.
        case removesAccount
        /// The whole program is to be restarted; until then the old value holds.
        case restartsSupervisor

        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Accounts and bots are named, not counted: `accounts[greeter].bots[helper].limits.perSender`.
    public var path: String
    /// The account whose part of the file it is; nil for a part that all accounts share.
    public var account: String?
    /// What stood and what stands there, never a secret; nil for nothing.
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
