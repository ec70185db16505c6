public import LoadReport
public import Nostr

/// A load test's plan: agents, groups, load, faults and thresholds.
public struct LoadPlan: Sendable, Hashable {
    public var seed: UInt64
    /// Every group uses all of them.
    public var relays: [RelayURL]
    public var agents: Agents
    public var groups: Groups
    public var stages: [Stage]
    public var faults: [Fault]
    /// Longest wait at the end for actions in flight.
    public var settle: Duration
    /// Conditions by key, such as `< 3s` for `join.p95`.
    public var thresholds: [Threshold]
    public var report: Report

    public struct Agents: Sendable, Hashable {
        public var count: Int
        public var rampPerSecond: Double
        public var state: StateKind
    }

    public enum StateKind: String, Sendable, Hashable, CaseIterable {
        /// In memory: measures the cost of the protocol and the capacity of the machine.
        case memory
        /// One database per agent, as for a worker.
        case disk
    }

    public struct Groups: Sendable, Hashable {
        public var count: Int
        public var sizes: Sizes
        /// Sending members per group; nil for all.
        public var publishers: Int?
        /// Groups that are founded concurrently.
        public var founding: Int
    }

    public enum Sizes: Sendable, Hashable {
        case fixed(Int)
        /// Group number k has `max / k` members, at least 2: a few large ones and many small ones.
        case power(max: Int)
    }

    /// A period of constant load.
    public struct Stage: Sendable, Hashable {
        public var length: Duration
        /// Rate of messages of all agents together, sent without waiting for earlier ones: an open model.
        public var sendRate: PerSecond?
        /// Members who each send, wait until a relay has it, think, and send again: a closed model.
        public var users: Users?
        /// Rate of members that leave, are removed or are added.
        public var churn: PerSecond?
        /// Rate of key renewals by random members.
        public var commitRate: PerSecond?
        /// Members of one group that commit at the same moment, repeatedly.
        public var storm: Storm?
        /// Size of a message in bytes.
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
        /// Time since the start of the first stage.
        public var at: Duration
        public var action: Action

        public enum Action: Sendable, Hashable {
            /// Connections to a relay are cut, and refused for this long.
            case down(relay: Int, length: Duration)
            /// Connections to a relay stay open but forward nothing for this long.
            case stall(relay: Int, length: Duration)
            /// A share of the agents is killed and restarted from its state.
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

/// A rate in events per second.
public struct PerSecond: Sendable, Hashable {
    public var value: Double

    public init(_ value: Double) { self.value = value }

    /// Parses `20/s`, `30/min`, `2.5/s` or `100/h`; nil for anything else, and for a rate of 0.
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
