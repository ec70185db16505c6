package import LoadReport
package import Nostr
package import PikaCore

/// A load test's plan: agents, groups, load, faults and thresholds.
package struct LoadPlan: Sendable, Hashable {
    package var seed: UInt64
    /// Every group uses all of them.
    package var relays: [RelayURL]
    package var agents: Agents
    package var groups: Groups
    package var stages: [Stage]
    package var faults: [Fault]
    /// Maximum wait at the end for actions in flight.
    package var settle: Duration
    /// Conditions by key, such as `< 3s` for `join.p95`.
    package var thresholds: [Threshold]
    package var report: Report

    package struct Agents: Sendable, Hashable {
        package var count: Int
        package var rampPerSecond: Double
        package var state: StateKind
    }

    package enum StateKind: String, Sendable, Hashable, CaseIterable {
        /// In memory: measures the cost of the protocol and the capacity of the machine.
        case memory
        /// One database per agent, as for a worker.
        case disk
    }

    package struct Groups: Sendable, Hashable {
        package var count: Int
        package var sizes: Sizes
        /// Sending members per group; nil for all.
        package var publishers: Int?
        /// Groups that are founded concurrently.
        package var founding: Int
        /// The protocol generation of the groups.
        package var groupProtocol: GroupProtocol
    }

    package enum Sizes: Sendable, Hashable {
        case fixed(Int)
        /// Group number k has `max / k` members, at least 2: a few large ones and many small ones.
        case power(max: Int)
    }

    /// A period of constant load.
    package struct Stage: Sendable, Hashable {
        package var length: Duration
        /// Rate of messages of all agents together, sent without waiting for earlier ones: an open model.
        package var sendRate: PerSecond?
        /// Members who each send, wait until a relay has it, think, and send again: a closed model.
        package var users: Users?
        /// Rate of members that leave, are removed or are added.
        package var churn: PerSecond?
        /// Rate of key renewals by random members.
        package var commitRate: PerSecond?
        /// Members of one group that commit at the same moment, repeatedly.
        package var storm: Storm?
        /// Size of a message in bytes.
        package var messageBytes: Int
    }

    package struct Users: Sendable, Hashable {
        package var count: Int
        package var think: Duration
    }

    package struct Storm: Sendable, Hashable {
        package var every: Duration
        package var members: Int
    }

    package struct Fault: Sendable, Hashable {
        /// Time since the start of the first stage.
        package var at: Duration
        package var action: Action

        package enum Action: Sendable, Hashable {
            /// Connections to a relay are cut, and refused for this long.
            case down(relay: Int, length: Duration)
            /// Connections to a relay stay open but forward nothing for this long.
            case stall(relay: Int, length: Duration)
            /// A share of the agents is killed and restarted from its state.
            case restartAgents(share: Double)
        }
    }

    package struct Threshold: Sendable, Hashable {
        package var name: String
        package var condition: String
    }

    package struct Report: Sendable, Hashable {
        package var directory: String
        package var formats: Set<ReportFormat>
    }
}

/// A rate in events per second.
package struct PerSecond: Sendable, Hashable {
    package var value: Double

    package init(_ value: Double) { self.value = value }

    /// Parses `20/s`, `30/min`, `2.5/s` or `100/h`; nil for anything else, and for a rate of 0.
    package init?(configurationText text: String) {
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
