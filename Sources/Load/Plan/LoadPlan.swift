public import LoadReport
public import Nostr

/// What a load test does: how many agents, in which groups, how busy, what goes wrong, and what must hold.
public struct LoadPlan: Sendable, Hashable {
    public var seed: UInt64
    /// All groups are on all of them.
    public var relays: [RelayURL]
    public var agents: Agents
    public var groups: Groups
    public var stages: [Stage]
    public var faults: [Fault]
    /// How long is waited at the end for what is under way.
    public var settle: Duration
    /// By what they are about, such as `join.p95`: `< 3s`.
    public var thresholds: [Threshold]
    public var report: Report

    public struct Agents: Sendable, Hashable {
        public var count: Int
        public var rampPerSecond: Double
        public var state: StateKind
    }

    public enum StateKind: String, Sendable, Hashable, CaseIterable {
        /// Nothing is written: what the protocol costs, and what the machine can hold.
        case memory
        /// A database for each agent, as a worker has it.
        case disk
    }

    public struct Groups: Sendable, Hashable {
        public var count: Int
        public var sizes: Sizes
        /// Members of each group that send; nil for all.
        public var publishers: Int?
        /// Groups that are founded at the same time.
        public var founding: Int
    }

    public enum Sizes: Sendable, Hashable {
        case fixed(Int)
        /// Group number k has `max / k` members, at least 2: a few large ones and many small ones.
        case power(max: Int)
    }

    /// A time of even load.
    public struct Stage: Sendable, Hashable {
        public var length: Duration
        /// Messages that are due, of all agents together, whether or not earlier ones have gone out: an open model.
        public var sendRate: PerSecond?
        /// Members who each send, wait until a relay has it, think, and send again: a closed model.
        public var users: Users?
        /// Members that leave, are removed or are added.
        public var churn: PerSecond?
        /// Members that renew their keys, in groups of chance.
        public var commitRate: PerSecond?
        /// Members that commit at the same moment in one group, again and again.
        public var storm: Storm?
        /// Bytes of a message.
        public var messageBytes: Int
    }

    public struct Users: Sendable, Hashable {
        public var count: Int
        public var think: Duration
    }

    public struct Storm: Sendable, Hashable {
        public var every: Duration
        public var members: Int
    }

    public struct Fault: Sendable, Hashable {
        /// From the beginning of the first stage.
        public var at: Duration
        public var action: Action

        public enum Action: Sendable, Hashable {
            /// Connections to a relay are cut, and refused for so long.
            case down(relay: Int, length: Duration)
            /// Connections to a relay stay, and carry nothing for so long.
            case stall(relay: Int, length: Duration)
            /// A share of the agents is ended at once and started anew from its state.
            case restartAgents(share: Double)
        }
    }

    public struct Threshold: Sendable, Hashable {
        public var name: String
        public var condition: String
    }

    public struct Report: Sendable, Hashable {
        public var directory: String
        public var formats: Set<ReportFormat>
    }
}

/// How often, in events a second.
public struct PerSecond: Sendable, Hashable {
    public var value: Double

    public init(_ value: Double) { self.value = value }

    /// `20/s`, `30/min`, `2.5/s` or `100/h`; nil for anything else, and for nothing.
    public init?(configurationText text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let count = Double(halves[0]), count.isFinite, count > 0, count <= 1_000_000 else {
            return nil
        }
        switch halves[1] {
        case "s": value = count
        case "min": value = count / 60
        case "h": value = count / 3600
        default: return nil
        }
    }
}
